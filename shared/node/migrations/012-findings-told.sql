-- Until when a rule could be evaluated: of what was said before this was kept, until when it had looked.
UPDATE latest_results SET body = json_set(body, '$.evaluated_to', json_extract(body, '$.looked_to'))
WHERE json_extract(body, '$.evaluated_to') IS NULL;

-- Findings that are none any more and of which a hub has still to be told; written with their removal.
CREATE TABLE IF NOT EXISTS withdrawn_findings (
  finding_id  TEXT PRIMARY KEY,
  building_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;
