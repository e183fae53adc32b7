-- Most findings are of the past, and pages and alerts ask for those that last: of each building, and of all, the newest first.
CREATE INDEX findings_active ON findings (building_id, "from" DESC, finding_id) WHERE state = 'active';
CREATE INDEX findings_active_by_start ON findings ("from" DESC, finding_id) WHERE state = 'active';
