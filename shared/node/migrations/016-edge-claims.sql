-- Why what an edge says of itself is not taken, until it is.
CREATE TABLE IF NOT EXISTS edge_refusals (
  site_id TEXT NOT NULL,
  edge_id TEXT NOT NULL,
  reason  TEXT NOT NULL,
  since   INTEGER NOT NULL,
  PRIMARY KEY (site_id, edge_id)
) STRICT, WITHOUT ROWID;

-- An edge came to speak for a building for which another edge of its site spoke already; a warning until a person confirms it.
CREATE TABLE IF NOT EXISTS building_takeovers (
  building_id  TEXT NOT NULL,
  edge_id      TEXT NOT NULL,
  from_edge_id TEXT NOT NULL,
  site_id      TEXT NOT NULL,
  since        INTEGER NOT NULL,
  confirmed_at INTEGER,
  confirmed_by TEXT,
  PRIMARY KEY (building_id, edge_id, from_edge_id)
) STRICT, WITHOUT ROWID;
