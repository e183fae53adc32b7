-- What people have chosen for the pages; NULL is no choice.
CREATE TABLE preferences (
  subject TEXT PRIMARY KEY,
  language TEXT,
  unit_system TEXT
) STRICT, WITHOUT ROWID;
