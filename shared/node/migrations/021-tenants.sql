-- Tenants of a hub that serves several customers, who may enter them, and what each may use. NULL is no limit.
CREATE TABLE IF NOT EXISTS tenants (
  tenant_id               TEXT PRIMARY KEY,
  name                    TEXT NOT NULL,
  max_bytes               INTEGER,
  max_series              INTEGER,
  max_requests_per_minute INTEGER,
  created_by              TEXT NOT NULL,
  created_at              INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS tenant_members (
  username  TEXT NOT NULL,
  tenant_id TEXT NOT NULL,
  PRIMARY KEY (username, tenant_id)
) STRICT, WITHOUT ROWID;
