CREATE TABLE alert_routes (
  route_id TEXT PRIMARY KEY,
  body TEXT NOT NULL,
  -- Signs webhooks; it is shown once.
  secret TEXT NOT NULL,
  digest_at INTEGER NOT NULL
) STRICT;
CREATE TABLE alert_states (key TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT;
CREATE TABLE alert_deliveries (
  delivery_id TEXT PRIMARY KEY,
  route_id TEXT NOT NULL,
  -- Key of the alert; null for a digest or a test.
  alert_key TEXT,
  message TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  state TEXT NOT NULL,
  error TEXT,
  finished_at INTEGER
) STRICT;
CREATE INDEX alert_deliveries_due ON alert_deliveries (state, due_at);
CREATE INDEX alert_deliveries_age ON alert_deliveries (created_at);
