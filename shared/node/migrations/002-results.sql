-- What the rules found, what people said of it, and the runs. The body is the record; columns beside it serve queries.
CREATE TABLE IF NOT EXISTS findings (
  finding_id   TEXT PRIMARY KEY,
  building_id  TEXT NOT NULL,
  equipment_id TEXT NOT NULL,
  rule_id      TEXT NOT NULL,
  state        TEXT NOT NULL,
  "from"       INTEGER NOT NULL,
  "to"         INTEGER,
  body         TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS findings_by_start ON findings ("from" DESC, finding_id);
CREATE INDEX IF NOT EXISTS findings_by_equipment ON findings (building_id, equipment_id, rule_id, "from" DESC);

-- No reference to findings: a note outlives a run that does not find its episode, and comes back with it.
CREATE TABLE IF NOT EXISTS notes (
  finding_id TEXT PRIMARY KEY,
  body       TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS runs (
  run_id      TEXT PRIMARY KEY,
  building_id TEXT NOT NULL,
  started_at  INTEGER NOT NULL,
  body        TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS runs_by_start ON runs (started_at DESC, run_id);

-- What the newest run that looked said of each rule and equipment.
CREATE TABLE IF NOT EXISTS latest_results (
  building_id  TEXT NOT NULL,
  equipment_id TEXT NOT NULL,
  rule_id      TEXT NOT NULL,
  body         TEXT NOT NULL,
  PRIMARY KEY (building_id, equipment_id, rule_id)
) STRICT, WITHOUT ROWID;
