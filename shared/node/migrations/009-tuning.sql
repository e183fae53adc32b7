-- What people set about rules: values of parameters, and baselines that they began anew. An absent role or building is ''.
CREATE TABLE IF NOT EXISTS param_settings (
  rule_id     TEXT NOT NULL,
  param       TEXT NOT NULL,
  role        TEXT NOT NULL,
  scope       TEXT NOT NULL,
  scope_id    TEXT NOT NULL,
  site_id     TEXT NOT NULL,
  building_id TEXT NOT NULL,
  value       REAL NOT NULL,
  unit        TEXT NOT NULL,
  note        TEXT,
  changed_by  TEXT NOT NULL,
  changed_at  INTEGER NOT NULL,
  PRIMARY KEY (rule_id, param, role, scope, scope_id, site_id, building_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS baselines (
  building_id  TEXT NOT NULL,
  equipment_id TEXT NOT NULL,
  rule_id      TEXT NOT NULL,
  role         TEXT NOT NULL,
  name         TEXT NOT NULL,
  body         TEXT NOT NULL,
  PRIMARY KEY (building_id, equipment_id, rule_id, role, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS baseline_resets (
  building_id  TEXT NOT NULL,
  equipment_id TEXT NOT NULL,
  rule_id      TEXT NOT NULL,
  role         TEXT NOT NULL,
  name         TEXT NOT NULL,
  at           INTEGER NOT NULL,
  note         TEXT NOT NULL,
  changed_by   TEXT NOT NULL,
  changed_at   INTEGER NOT NULL,
  PRIMARY KEY (building_id, equipment_id, rule_id, role, name)
) STRICT, WITHOUT ROWID;
