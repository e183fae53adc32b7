-- Views of trends that were deleted and can be brought back. A table of its own: an earlier version of the program lists all of `saved_trends`.
CREATE TABLE removed_trends (
  trend_id TEXT PRIMARY KEY,
  building_id TEXT NOT NULL,
  name TEXT NOT NULL,
  point_ids TEXT NOT NULL,
  span TEXT NOT NULL,
  compare TEXT,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  removed_at INTEGER NOT NULL
) STRICT;
