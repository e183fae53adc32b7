-- Views of trends with a name, for all people of the workspace.
CREATE TABLE saved_trends (
  trend_id TEXT PRIMARY KEY,
  building_id TEXT NOT NULL,
  name TEXT NOT NULL,
  -- JSON: the points, and either the last days or a fixed time.
  point_ids TEXT NOT NULL,
  span TEXT NOT NULL,
  compare TEXT,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
