-- Sampled history: hot rows here, sealed rows in Parquet files that only the manifest (parts, part_points) names.
CREATE TABLE IF NOT EXISTS history_state (
  only_row   INTEGER PRIMARY KEY CHECK (only_row = 1),
  -- Stands in the Parquet folder too, so that a folder is never cleaned by a database that it does not belong to.
  history_id TEXT NOT NULL,
  -- Grows with every seal, merge and load: a hot row carries the epoch in which it was written.
  epoch      INTEGER NOT NULL
) STRICT;
INSERT OR IGNORE INTO history_state VALUES (1, lower(hex(randomblob(16))), 1);

CREATE TABLE IF NOT EXISTS history_buildings (
  building    INTEGER PRIMARY KEY,
  building_id TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE IF NOT EXISTS history_points (
  point    INTEGER PRIMARY KEY,
  building INTEGER NOT NULL REFERENCES history_buildings,
  point_id TEXT NOT NULL,
  UNIQUE (building, point_id)
) STRICT;

-- In the order of arrival: (ts, point) fills at a steady pace where (point, ts) slows down.
CREATE TABLE IF NOT EXISTS samples (
  building INTEGER NOT NULL,
  ts       INTEGER NOT NULL,
  point    INTEGER NOT NULL,
  -- NULL where the point gave no usable value.
  value    REAL,
  -- 0 good, 1 uncertain, 2 bad, 3 stale.
  quality  INTEGER NOT NULL,
  epoch    INTEGER NOT NULL,
  PRIMARY KEY (building, ts, point)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS parts (
  part     INTEGER PRIMARY KEY,
  building INTEGER NOT NULL REFERENCES history_buildings,
  -- UTC, `2026-03`.
  month    TEXT NOT NULL,
  -- Below the Parquet folder.
  file     TEXT NOT NULL UNIQUE,
  bytes    INTEGER NOT NULL,
  -- All of the file's rows, also those of points that do not count any more.
  rows     INTEGER NOT NULL,
  -- Of two parts that hold a sample of the same instant, the higher rank has the valid one.
  rank     INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS parts_by_month ON parts (building, month, rank);

-- Which points of a file count. A point that was replaced since is in the file, but not here.
CREATE TABLE IF NOT EXISTS part_points (
  point   INTEGER NOT NULL REFERENCES history_points,
  part    INTEGER NOT NULL REFERENCES parts ON DELETE CASCADE,
  first   INTEGER NOT NULL,
  last    INTEGER NOT NULL,
  samples INTEGER NOT NULL,
  -- ms between samples where all are equally far apart: then their instants need not be read.
  step    INTEGER,
  PRIMARY KEY (point, part)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS part_points_by_part ON part_points (part);
