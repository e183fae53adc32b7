-- Sessions that were signed out before their token expired, and the networks from which each user has signed in.
CREATE TABLE IF NOT EXISTS ended_sessions (
  session    TEXT PRIMARY KEY,
  username   TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ended_sessions_by_user ON ended_sessions (username);

CREATE TABLE IF NOT EXISTS known_networks (
  username TEXT NOT NULL,
  network  TEXT NOT NULL,
  seen_at  INTEGER NOT NULL,
  PRIMARY KEY (username, network)
) STRICT, WITHOUT ROWID;

-- Rows of refused logins are counted and trimmed by their action.
CREATE INDEX IF NOT EXISTS audit_refused_logins ON audit (id) WHERE action = 'login_refused';
