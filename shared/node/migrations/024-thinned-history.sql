-- Whether a part holds one value for each quarter of an hour: what came in between was given up to make room.
ALTER TABLE parts ADD COLUMN thinned INTEGER NOT NULL DEFAULT 0 CHECK (thinned IN (0, 1));
