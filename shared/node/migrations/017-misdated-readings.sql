-- Readings whose own time cannot be right, kept apart from history: a clock that lost its battery, or one that runs ahead.
CREATE TABLE IF NOT EXISTS misdated_readings (
  -- In the order of arrival.
  entry       INTEGER PRIMARY KEY,
  building_id TEXT NOT NULL,
  point_id    TEXT NOT NULL,
  -- Who sent it; NULL for what this process read itself.
  edge_id     TEXT,
  -- What the reading says, and what the clock here said when it came; ms since 1970 UTC.
  observed_at INTEGER NOT NULL,
  arrived_at  INTEGER NOT NULL,
  -- NULL where the point gave no usable value.
  value       REAL,
  -- What the sender said of it: good, uncertain, bad, stale.
  quality     TEXT NOT NULL
) STRICT;
-- A reading that comes again, as after a power cut, is kept once.
CREATE UNIQUE INDEX IF NOT EXISTS misdated_once
  ON misdated_readings (building_id, point_id, observed_at, coalesce(value, 'none'));
