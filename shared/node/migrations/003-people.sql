-- Who did what, which rules are off, whose tokens ended, and what is known of the machines' ratings.
CREATE TABLE IF NOT EXISTS audit (
  id         INTEGER PRIMARY KEY,
  at         INTEGER NOT NULL,
  actor      TEXT NOT NULL,
  role       TEXT NOT NULL,
  action     TEXT NOT NULL,
  subject    TEXT NOT NULL,
  before     TEXT,
  after      TEXT,
  request_id TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS audit_by_time ON audit (at DESC, id DESC);

CREATE TABLE IF NOT EXISTS rule_states (
  rule_id    TEXT PRIMARY KEY,
  active     INTEGER NOT NULL,
  changed_by TEXT NOT NULL,
  changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS token_epochs (
  username TEXT PRIMARY KEY,
  epoch    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS quantities (
  quantity_id TEXT PRIMARY KEY,
  building_id TEXT,
  body        TEXT NOT NULL
) STRICT, WITHOUT ROWID;
