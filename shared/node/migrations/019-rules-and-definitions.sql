-- Counts the changes of a building's model, so that what is reckoned from it is kept until it changes. Triggers count every
-- writer's changes, in the writer's own transaction; an update that changes nothing does not count.
CREATE TABLE IF NOT EXISTS model_revisions (
  building_id TEXT PRIMARY KEY,
  revision    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER IF NOT EXISTS building_added AFTER INSERT ON buildings BEGIN
  INSERT INTO model_revisions VALUES (NEW.building_id, 1) ON CONFLICT DO UPDATE SET revision = revision + 1;
END;
CREATE TRIGGER IF NOT EXISTS building_changed AFTER UPDATE ON buildings
WHEN (NEW.name, NEW.site_id, NEW.timezone, NEW.unit_system, NEW.lat, NEW.lon)
  IS NOT (OLD.name, OLD.site_id, OLD.timezone, OLD.unit_system, OLD.lat, OLD.lon) BEGIN
  INSERT INTO model_revisions VALUES (NEW.building_id, 1) ON CONFLICT DO UPDATE SET revision = revision + 1;
END;

CREATE TRIGGER IF NOT EXISTS equipment_added AFTER INSERT ON equipment BEGIN
  INSERT INTO model_revisions VALUES (NEW.building_id, 1) ON CONFLICT DO UPDATE SET revision = revision + 1;
END;
CREATE TRIGGER IF NOT EXISTS equipment_changed AFTER UPDATE ON equipment
WHEN (NEW.name, NEW.equipment_type, NEW.parent_id, NEW.feeds) IS NOT (OLD.name, OLD.equipment_type, OLD.parent_id, OLD.feeds) BEGIN
  INSERT INTO model_revisions VALUES (NEW.building_id, 1) ON CONFLICT DO UPDATE SET revision = revision + 1;
END;
CREATE TRIGGER IF NOT EXISTS equipment_removed AFTER DELETE ON equipment BEGIN
  INSERT INTO model_revisions VALUES (OLD.building_id, 1) ON CONFLICT DO UPDATE SET revision = revision + 1;
END;

CREATE TRIGGER IF NOT EXISTS point_added AFTER INSERT ON points BEGIN
  INSERT INTO model_revisions VALUES (NEW.building_id, 1) ON CONFLICT DO UPDATE SET revision = revision + 1;
END;
CREATE TRIGGER IF NOT EXISTS point_changed AFTER UPDATE ON points
WHEN (NEW.equipment_id, NEW.name, NEW.role, NEW.unit, NEW.kind, NEW.source, NEW.poll_secs, NEW.states, NEW.edge_id, NEW.gone)
  IS NOT (OLD.equipment_id, OLD.name, OLD.role, OLD.unit, OLD.kind, OLD.source, OLD.poll_secs, OLD.states, OLD.edge_id, OLD.gone) BEGIN
  INSERT INTO model_revisions VALUES (NEW.building_id, 1) ON CONFLICT DO UPDATE SET revision = revision + 1;
END;
CREATE TRIGGER IF NOT EXISTS point_removed AFTER DELETE ON points BEGIN
  INSERT INTO model_revisions VALUES (OLD.building_id, 1) ON CONFLICT DO UPDATE SET revision = revision + 1;
END;

-- The faults that rules find, in the rules' own words as they were last synchronised.
CREATE TABLE IF NOT EXISTS fault_definitions (
  fault_id        TEXT PRIMARY KEY,
  title           TEXT NOT NULL,
  category        TEXT NOT NULL,
  severity        INTEGER NOT NULL,
  equipment_types TEXT NOT NULL,
  description     TEXT NOT NULL,
  source          TEXT NOT NULL,
  updated_at      INTEGER NOT NULL,
  -- Since when no rule finds it any more: findings of the past keep their words. ms since 1970 UTC.
  retired_at      INTEGER
) STRICT, WITHOUT ROWID;
