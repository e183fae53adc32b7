-- Rows that are not sealed yet, in place of `samples`: in the order of arrival, but by point within a minute. A write fills the
-- same few pages as in the order of time alone, and a point is found with one step for each minute. What is still in `samples`
-- is moved when history is opened, because the version before may write there again after an update was taken back.
CREATE TABLE hot_samples (
  building INTEGER NOT NULL,
  -- Whole minutes since 1970 UTC, rounded down.
  minute   INTEGER NOT NULL,
  point    INTEGER NOT NULL,
  -- Milliseconds within the minute.
  ms       INTEGER NOT NULL,
  -- NULL where the point gave no usable value.
  value    REAL,
  -- 0 good, 1 uncertain, 2 bad, 3 stale.
  quality  INTEGER NOT NULL,
  epoch    INTEGER NOT NULL,
  ts       INTEGER GENERATED ALWAYS AS (minute * 60000 + ms) VIRTUAL,
  PRIMARY KEY (building, minute, point, ms)
) STRICT, WITHOUT ROWID;
