-- Until when a rule could be evaluated: of what was said before this was kept, until when it had looked.
UPDATE latest_results SET body = json_set(body, '$.evaluated_to', json_extract(body, '$.looked_to'))
WHERE json_extract(body, '$.evaluated_to') IS NULL;

-- Findings that are gone, or ended before the span of the run that saw it, until whoever hears of findings has heard of it.
CREATE TABLE IF NOT EXISTS untold_findings (
  finding_id  TEXT PRIMARY KEY,
  building_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;
