-- Which message the mark of a stream stands at: an edge whose message there is another has gone back in time.
CREATE TABLE IF NOT EXISTS mark_messages (
  edge_id    TEXT NOT NULL,
  stream     TEXT NOT NULL,
  message_id TEXT,
  PRIMARY KEY (edge_id, stream)
) STRICT, WITHOUT ROWID;
