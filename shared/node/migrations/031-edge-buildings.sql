-- The buildings that each edge has ever reported for, so that an edge cannot begin new ones without end.
CREATE TABLE edge_buildings (
  site_id     TEXT NOT NULL,
  edge_id     TEXT NOT NULL,
  building_id TEXT NOT NULL,
  PRIMARY KEY (site_id, edge_id, building_id)
) STRICT, WITHOUT ROWID;
INSERT OR IGNORE INTO edge_buildings SELECT site_id, edge_id, building_id FROM edges;
INSERT OR IGNORE INTO edge_buildings
  SELECT DISTINCT site_id, edge_id, building_id FROM points JOIN buildings USING (building_id) WHERE edge_id IS NOT NULL;
-- OR IGNORE would become the conflict clause of the statement that fires the trigger, and its own row would be ignored.
CREATE TRIGGER edge_building_added AFTER INSERT ON edges BEGIN
  INSERT INTO edge_buildings SELECT NEW.site_id, NEW.edge_id, NEW.building_id
  WHERE NOT EXISTS (SELECT 1 FROM edge_buildings WHERE (site_id, edge_id, building_id) = (NEW.site_id, NEW.edge_id, NEW.building_id));
END;
CREATE TRIGGER edge_building_changed AFTER UPDATE OF building_id ON edges WHEN NEW.building_id IS NOT OLD.building_id BEGIN
  INSERT INTO edge_buildings SELECT NEW.site_id, NEW.edge_id, NEW.building_id
  WHERE NOT EXISTS (SELECT 1 FROM edge_buildings WHERE (site_id, edge_id, building_id) = (NEW.site_id, NEW.edge_id, NEW.building_id));
END;
