-- Buildings that were moved from the hub's own workspace into that of a tenant; in the hub's database alone. Until `deleted_at`
-- the building is the hub's and what the tenant has is a copy, from then on it is the tenant's. A move without an end was
-- interrupted: the same command ends it.
CREATE TABLE building_moves (
  building_id TEXT PRIMARY KEY,
  tenant_id   TEXT NOT NULL,
  started_at  INTEGER NOT NULL,
  deleted_at  INTEGER,
  finished_at INTEGER
) STRICT, WITHOUT ROWID;

-- Edges whose building was moved out of this workspace. Nothing of theirs is stored here any more: they need a kit of the tenant.
CREATE TABLE moved_edges (
  site_id   TEXT NOT NULL,
  edge_id   TEXT NOT NULL,
  tenant_id TEXT NOT NULL,
  moved_at  INTEGER NOT NULL,
  PRIMARY KEY (site_id, edge_id)
) STRICT, WITHOUT ROWID;
