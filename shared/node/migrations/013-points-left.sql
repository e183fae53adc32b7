-- Which edge measures a point, and since when nobody does any more, with the role that it had.
ALTER TABLE points ADD COLUMN edge_id TEXT;
ALTER TABLE points ADD COLUMN gone TEXT;

-- What edges said before this was kept is taken anew when they say it the next time: no revision is below zero.
UPDATE edges SET metadata_revision = -1 WHERE metadata_revision IS NOT NULL;
