-- Texts of deployed rules, to go back to one of them. Who and when are not known of one that was stored by hand.
CREATE TABLE rule_versions (
  entry INTEGER PRIMARY KEY AUTOINCREMENT,
  rule_id TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  yaml TEXT NOT NULL,
  deployed_by TEXT,
  deployed_at INTEGER,
  UNIQUE (rule_id, sha256)
) STRICT;
