-- Named users and tokens of scripts, which an admin adds. Passwords and tokens are stored as hashes alone.
CREATE TABLE IF NOT EXISTS users (
  username             TEXT PRIMARY KEY,
  name                 TEXT NOT NULL,
  role                 TEXT NOT NULL,
  password_hash        TEXT NOT NULL,
  must_change_password INTEGER NOT NULL,
  password_expires_at  INTEGER,
  locked_at            INTEGER,
  last_login_at        INTEGER,
  created_by           TEXT NOT NULL,
  created_at           INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS api_tokens (
  token_id     TEXT PRIMARY KEY,
  name         TEXT NOT NULL UNIQUE,
  role         TEXT NOT NULL,
  -- 'read' or 'role'
  scope        TEXT NOT NULL,
  -- The one building that the token may see; NULL for all.
  building_id  TEXT,
  secret_hash  TEXT NOT NULL,
  expires_at   INTEGER NOT NULL,
  last_used_at INTEGER,
  created_by   TEXT NOT NULL,
  created_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The audit log is filtered by person, action and building, newest first.
ALTER TABLE audit ADD COLUMN building_id TEXT;
CREATE INDEX IF NOT EXISTS audit_by_actor ON audit (actor, at DESC, id DESC);
CREATE INDEX IF NOT EXISTS audit_by_action ON audit (action, at DESC, id DESC);
CREATE INDEX IF NOT EXISTS audit_by_building ON audit (building_id, at DESC, id DESC) WHERE building_id IS NOT NULL;
