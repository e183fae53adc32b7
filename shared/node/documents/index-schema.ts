/** `Plen` in ASCII: the file says what it is. */
export const APPLICATION_ID = 0x506c656e
/** Raised with every change of the tables; a program reads no other version. */
export const INDEX_VERSION = 1

/** The tables of words that a search looks into. */
export const WORD_TABLES = ['section_words', 'route_words'] as const

/** Words are compared by their stem (porter), so that "overrides" finds "override". Titles and texts are stored once. */
export const INDEX_SCHEMA = `
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${INDEX_VERSION};
CREATE TABLE sections (
  rowid INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  path TEXT NOT NULL,
  level INTEGER NOT NULL,
  title TEXT NOT NULL,
  chapters TEXT NOT NULL,
  tag TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX sections_path ON sections (path);
CREATE VIRTUAL TABLE section_words USING fts5 (
  title, chapters, text, content = 'sections', content_rowid = 'rowid', tokenize = 'porter unicode61'
);
CREATE TABLE playbooks (
  task_type TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  section_id TEXT NOT NULL REFERENCES sections (id),
  text TEXT NOT NULL,
  steps TEXT NOT NULL
) STRICT;
CREATE TABLE routes (
  rowid INTEGER PRIMARY KEY,
  method TEXT NOT NULL,
  path TEXT NOT NULL,
  role TEXT NOT NULL,
  summary TEXT NOT NULL,
  products TEXT NOT NULL,
  query TEXT NOT NULL,
  body TEXT NOT NULL,
  source TEXT NOT NULL,
  UNIQUE (path, method)
) STRICT;
CREATE VIRTUAL TABLE route_words USING fts5 (
  summary, path, query, body, content = 'routes', content_rowid = 'rowid', tokenize = 'porter unicode61'
);
`
