-- Runs are kept from the moment they are asked for, whatever becomes of them; only one that is done has a record as its body.
ALTER TABLE runs ADD COLUMN state TEXT NOT NULL DEFAULT 'done';
ALTER TABLE runs ADD COLUMN asked_at INTEGER;
