-- What energy costs in a building; a carrier without a price is NULL.
CREATE TABLE IF NOT EXISTS energy_prices (
  building_id TEXT PRIMARY KEY REFERENCES buildings,
  currency    TEXT NOT NULL,
  electricity REAL,
  fuel        REAL
) STRICT, WITHOUT ROWID;
