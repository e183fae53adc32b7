-- What is quiet until an instant: one finding, a rule on an equipment, an equipment, or a rule in a building. NULL stands for any.
CREATE TABLE snoozes (
  snooze_id TEXT PRIMARY KEY,
  building_id TEXT NOT NULL,
  equipment_id TEXT,
  rule_id TEXT,
  role TEXT,
  finding_id TEXT,
  until INTEGER NOT NULL,
  reason TEXT,
  created_by TEXT,
  created_at INTEGER NOT NULL,
  -- When a person ended it early.
  ended_at INTEGER
) STRICT;
CREATE INDEX snoozes_by_building ON snoozes (building_id);
-- Snoozes of single findings were part of their notes, where an earlier version still finds them; who set one is in the audit, which
-- is gone through once: it may be longer than all notes together.
CREATE TEMP TABLE snoozed_by (finding_id TEXT NOT NULL, until INTEGER NOT NULL, actor TEXT NOT NULL, PRIMARY KEY (finding_id, until)) WITHOUT ROWID;
INSERT OR REPLACE INTO snoozed_by
  SELECT subject, json_extract(after, '$.snoozed_until'), actor FROM audit
  WHERE subject IN (SELECT finding_id FROM notes WHERE json_extract(body, '$.snoozed_until') IS NOT NULL)
    AND json_extract(after, '$.snoozed_until') IS NOT NULL
  ORDER BY at, id;
INSERT INTO snoozes
  SELECT finding_id, finding.building_id, equipment_id, rule_id, json_extract(finding.body, '$.role'), finding_id,
    json_extract(note.body, '$.snoozed_until'), json_extract(note.body, '$.snooze_reason'),
    (SELECT actor FROM snoozed_by AS by WHERE by.finding_id = note.finding_id AND by.until = json_extract(note.body, '$.snoozed_until')),
    0, NULL
  FROM notes AS note JOIN findings AS finding USING (finding_id)
  WHERE json_extract(note.body, '$.snoozed_until') IS NOT NULL;
DROP TABLE temp.snoozed_by;
