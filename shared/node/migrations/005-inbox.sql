-- How far a hub has stored each stream of each edge.
CREATE TABLE IF NOT EXISTS marks (
  edge_id TEXT NOT NULL,
  stream  TEXT NOT NULL,
  seq     INTEGER NOT NULL,
  PRIMARY KEY (edge_id, stream)
) STRICT, WITHOUT ROWID;
