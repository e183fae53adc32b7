-- What a run said of each rule and equipment is kept of a building's newest run alone: with all of them, five hundred runs of a
-- large building were a gigabyte, and a list of them more than a process has. Of the others it is counted.
CREATE TABLE IF NOT EXISTS run_results (
  building_id TEXT PRIMARY KEY,
  run_id      TEXT NOT NULL,
  body        TEXT NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO run_results
SELECT building_id, run_id, json_extract(body, '$.results') FROM runs AS run
WHERE state = 'done' AND json_type(body, '$.results') = 'array' AND NOT EXISTS (
  SELECT 1 FROM runs AS newer WHERE newer.building_id = run.building_id AND newer.state = 'done'
    AND (newer.started_at > run.started_at OR (newer.started_at = run.started_at AND newer.run_id < run.run_id)));

UPDATE runs SET body = json_remove(json_set(body, '$.counts', json_object(
  'fault', (SELECT count(*) FROM json_each(body, '$.results') WHERE value ->> 'status' = 'fault'),
  'pass', (SELECT count(*) FROM json_each(body, '$.results') WHERE value ->> 'status' = 'pass'),
  'not_evaluated', (SELECT count(*) FROM json_each(body, '$.results') WHERE value ->> 'status' = 'not_evaluated'))), '$.results')
WHERE state = 'done' AND json_type(body, '$.results') = 'array';
