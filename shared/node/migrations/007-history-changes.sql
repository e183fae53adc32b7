-- From when on the rules have to look at a building's history again.
CREATE TABLE IF NOT EXISTS history_changes (
  building     INTEGER PRIMARY KEY REFERENCES history_buildings,
  -- The earliest sample that came or changed since a run took note; NULL when none did.
  changed_from INTEGER,
  -- What is stored of the time before it is what the history said when a run took note; NULL before the first run.
  open_from    INTEGER
) STRICT;
