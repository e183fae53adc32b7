-- An edge id is unique within its site alone: until here two sites could not have edges of the same id on one hub.
CREATE TABLE edges_by_site (
  edge_id            TEXT NOT NULL,
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
  status_body        TEXT NOT NULL,
  PRIMARY KEY (site_id, edge_id)
) STRICT, WITHOUT ROWID;
INSERT INTO edges_by_site SELECT * FROM edges;
DROP TABLE edges;
ALTER TABLE edges_by_site RENAME TO edges;

-- How far a hub has stored each stream of each edge, and which message the mark stands at. Every mark was of an edge in the table.
CREATE TABLE edge_marks (
  site_id    TEXT NOT NULL,
  edge_id    TEXT NOT NULL,
  stream     TEXT NOT NULL,
  seq        INTEGER NOT NULL,
  message_id TEXT,
  PRIMARY KEY (site_id, edge_id, stream)
) STRICT, WITHOUT ROWID;
INSERT INTO edge_marks
SELECT site_id, edge_id, stream, seq, message_id
FROM marks JOIN edges USING (edge_id) LEFT JOIN mark_messages USING (edge_id, stream);
DROP TABLE mark_messages;
DROP TABLE marks;
