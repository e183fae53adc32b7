-- Pages and each stored run ask for the newest runs of one building: without it they went through those of all.
CREATE INDEX runs_by_building ON runs (building_id, started_at DESC, run_id, state);
