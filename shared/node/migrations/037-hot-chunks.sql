-- Samples that are not sealed yet, in place of `hot_samples`: a row holds what one message or one poll brought of one minute of a
-- building, so that taking in a message writes a few rows. What is still in `hot_samples` is moved when history is opened,
-- because the version before may write there again after an update was taken back.
CREATE TABLE hot_chunks (
  chunk    INTEGER PRIMARY KEY,
  building INTEGER NOT NULL,
  -- Whole minutes since 1970 UTC, rounded down.
  minute   INTEGER NOT NULL,
  epoch    INTEGER NOT NULL,
  -- Instants of the earliest and the latest sample, ms since 1970 UTC.
  first    INTEGER NOT NULL,
  last     INTEGER NOT NULL,
  -- Least and greatest key of its points.
  low      INTEGER NOT NULL,
  high     INTEGER NOT NULL,
  samples  INTEGER NOT NULL,
  -- As `shared/node/historian/hot/chunk.ts` packs them. No two chunks of a building have a sample of one point at one instant.
  data     BLOB NOT NULL
) STRICT;
CREATE INDEX hot_chunks_by_minute ON hot_chunks (building, minute, low, high);
