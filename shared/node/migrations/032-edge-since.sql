-- Since when the data of an edge are fresh, and since when it has its version. NULL: nobody knows, as of what came before this.
ALTER TABLE edges ADD COLUMN fresh_since INTEGER;
ALTER TABLE edges ADD COLUMN version_since INTEGER;
