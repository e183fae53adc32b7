-- The building model. Lists and bodies are JSON text; names are those of the wire.
CREATE TABLE IF NOT EXISTS buildings (
  building_id TEXT PRIMARY KEY,
  name        TEXT NOT NULL,
  site_id     TEXT NOT NULL,
  timezone    TEXT NOT NULL,
  unit_system TEXT NOT NULL,
  lat         REAL,
  lon         REAL
) STRICT;

CREATE TABLE IF NOT EXISTS equipment (
  building_id    TEXT NOT NULL REFERENCES buildings,
  equipment_id   TEXT NOT NULL,
  name           TEXT NOT NULL,
  equipment_type TEXT NOT NULL,
  parent_id      TEXT,
  feeds          TEXT,
  PRIMARY KEY (building_id, equipment_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS points (
  building_id  TEXT NOT NULL REFERENCES buildings,
  point_id     TEXT NOT NULL,
  equipment_id TEXT,
  name         TEXT NOT NULL,
  role         TEXT,
  unit         TEXT NOT NULL,
  kind         TEXT NOT NULL,
  source       TEXT NOT NULL,
  poll_secs    REAL,
  states       TEXT,
  PRIMARY KEY (building_id, point_id),
  FOREIGN KEY (building_id, equipment_id) REFERENCES equipment DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS edges (
  edge_id            TEXT PRIMARY KEY,
  site_id            TEXT NOT NULL,
  building_id        TEXT NOT NULL,
  name               TEXT NOT NULL,
  version            TEXT NOT NULL,
  last_seen_at       INTEGER,
  status             TEXT NOT NULL,
  connector_url      TEXT,
  online             INTEGER NOT NULL,
  session_changed_at INTEGER,
  last_data_at       INTEGER,
  metadata_revision  INTEGER,
  status_body        TEXT NOT NULL
) STRICT, WITHOUT ROWID;
