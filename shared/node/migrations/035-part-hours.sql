-- What each point of a sealed file held in each hour, for plots of months. A part that is older than this table has none.
CREATE TABLE part_hours (
  point INTEGER NOT NULL,
  part  INTEGER NOT NULL,
  -- As shared/node/historian/hours.ts packs it.
  hours BLOB NOT NULL,
  PRIMARY KEY (point, part),
  FOREIGN KEY (point, part) REFERENCES part_points ON DELETE CASCADE
) STRICT;
