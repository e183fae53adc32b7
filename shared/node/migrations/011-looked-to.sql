-- Until when the run that said it had looked at history: of what was said before this was kept, when it was said.
UPDATE latest_results SET body = json_set(body, '$.looked_to', json_extract(body, '$.finished_at'))
WHERE json_extract(body, '$.looked_to') IS NULL;
