-- What is counted and searched of active findings in many buildings: the body of one has some kilobytes.
CREATE TABLE active_findings (
  building_id   TEXT NOT NULL,
  finding_id    TEXT NOT NULL,
  equipment_id  TEXT NOT NULL,
  rule_id       TEXT NOT NULL,
  role          TEXT,
  kind          TEXT,
  severity      INTEGER,
  "from"        INTEGER NOT NULL,
  suppressed_by TEXT,
  title         TEXT,
  PRIMARY KEY (building_id, finding_id)
) STRICT, WITHOUT ROWID;
INSERT INTO active_findings
  SELECT building_id, finding_id, equipment_id, rule_id, body ->> '$.role', body ->> '$.kind', body ->> '$.severity', "from",
    body ->> '$.suppressed_by', body ->> '$.title'
  FROM findings WHERE state = 'active';
-- Triggers, so that an update that is taken back, and a building that is moved, leave nothing out.
CREATE TRIGGER finding_added AFTER INSERT ON findings WHEN NEW.state = 'active' BEGIN
  INSERT INTO active_findings VALUES (NEW.building_id, NEW.finding_id, NEW.equipment_id, NEW.rule_id, NEW.body ->> '$.role',
    NEW.body ->> '$.kind', NEW.body ->> '$.severity', NEW."from", NEW.body ->> '$.suppressed_by', NEW.body ->> '$.title');
END;
CREATE TRIGGER finding_changed AFTER UPDATE ON findings BEGIN
  DELETE FROM active_findings WHERE building_id = OLD.building_id AND finding_id = OLD.finding_id;
  INSERT INTO active_findings SELECT NEW.building_id, NEW.finding_id, NEW.equipment_id, NEW.rule_id, NEW.body ->> '$.role',
    NEW.body ->> '$.kind', NEW.body ->> '$.severity', NEW."from", NEW.body ->> '$.suppressed_by', NEW.body ->> '$.title'
    WHERE NEW.state = 'active';
END;
CREATE TRIGGER finding_removed AFTER DELETE ON findings WHEN OLD.state = 'active' BEGIN
  DELETE FROM active_findings WHERE building_id = OLD.building_id AND finding_id = OLD.finding_id;
END;
