/** The rows of a building in a workspace's database: how they are copied into another database, and deleted. */
import { copyChunks } from '#shared/node/historian/hot/copy.ts'
import type { Database } from '#shared/node/sqlite.ts'

/** Name of the attached database that rows are copied from. */
const SOURCE = 'source'

type MovedTable = {
  table: string
  /** Chooses the rows of `@building_id` in a database: `main`, or the attached one. */
  rows: (database: string) => string
  /** A key that the target assigns itself. */
  without?: string
}

const ofBuilding = (table: string): MovedTable => ({ table, rows: () => 'building_id = @building_id' })
const ofEdges = (table: string): MovedTable => ({
  table,
  rows: database => `(site_id, edge_id) IN (SELECT site_id, edge_id FROM ${database}.edges WHERE building_id = @building_id)`,
})

/** In the order of references: a row is copied after what it refers to, and deleted before it. */
const MOVED: MovedTable[] = [
  ...['buildings', 'equipment', 'points', 'energy_prices', 'quantities', 'param_settings'].map(ofBuilding),
  ...['findings', 'untold_findings', 'latest_results', 'runs', 'run_results'].map(ofBuilding),
  {
    table: 'notes',
    rows: database => `finding_id IN (SELECT finding_id FROM ${database}.findings WHERE building_id = @building_id)`,
  },
  ...['baselines', 'baseline_resets', 'building_takeovers', 'saved_trends', 'removed_trends', 'snoozes'].map(ofBuilding),
  { ...ofBuilding('misdated_readings'), without: 'entry' },
  ...['edges'].map(ofBuilding),
  ...['edge_marks', 'edge_refusals'].map(ofEdges),
]

/** Settings of the building's whole site. They are copied and stay, because other buildings of the site use them too. */
const SITE_SETTINGS = `INSERT OR IGNORE INTO main.param_settings SELECT * FROM ${SOURCE}.param_settings
  WHERE building_id = '' AND site_id = (SELECT site_id FROM ${SOURCE}.buildings WHERE building_id = @building_id)`

/** Finds for rows that are `given` with a point and a part the `new` point and the `part` of the target. */
const INTO_PART = `JOIN ${SOURCE}.parts AS old_part ON old_part.part = given.part
   JOIN ${SOURCE}.history_buildings AS owner ON owner.building = old_part.building
   JOIN ${SOURCE}.history_points AS old ON old.point = given.point
   JOIN main.parts AS part ON part.file = old_part.file
   JOIN main.history_points AS new ON new.building = part.building AND new.point_id = old.point_id
   WHERE owner.building_id = @building_id`

/** Numbers of building and points differ in the two databases; `file` names a part in both. */
const HISTORY = [
  'INSERT INTO main.history_buildings (building_id) VALUES (@building_id)',
  `INSERT INTO main.history_points (building, point_id)
   SELECT target.building, given.point_id FROM ${SOURCE}.history_points AS given
   JOIN ${SOURCE}.history_buildings AS owner USING (building) JOIN main.history_buildings AS target USING (building_id)
   WHERE owner.building_id = @building_id`,
  `INSERT INTO main.parts (building, month, file, bytes, rows, rank)
   SELECT target.building, month, file, bytes, rows, rank FROM ${SOURCE}.parts AS given
   JOIN ${SOURCE}.history_buildings AS owner USING (building) JOIN main.history_buildings AS target USING (building_id)
   WHERE owner.building_id = @building_id`,
  `INSERT INTO main.part_points
   SELECT new.point, part.part, first, last, samples, step FROM ${SOURCE}.part_points AS given
   ${INTO_PART}`,
  `INSERT INTO main.part_hours
   SELECT new.point, part.part, hours FROM ${SOURCE}.part_hours AS given
   ${INTO_PART}`,
  `INSERT INTO main.history_changes
   SELECT target.building, changed_from, open_from FROM ${SOURCE}.history_changes AS given
   JOIN ${SOURCE}.history_buildings AS owner USING (building) JOIN main.history_buildings AS target USING (building_id)
   WHERE owner.building_id = @building_id`,
  // Of two parts the later one has the valid samples, so what is sealed from now on must come after what was moved.
  `UPDATE main.history_state SET epoch = max(epoch, (SELECT epoch FROM ${SOURCE}.history_state))`,
]

const OF_HISTORY = 'building = (SELECT building FROM history_buildings WHERE building_id = @building_id)'
/** Rows that are deleted with a building and copied nowhere else. */
const FORGOTTEN = [
  `DELETE FROM part_points WHERE part IN (SELECT part FROM parts WHERE ${OF_HISTORY})`,
  ...['parts', 'hot_chunks', 'history_changes', 'history_points'].map(table => `DELETE FROM ${table} WHERE ${OF_HISTORY}`),
  'DELETE FROM history_buildings WHERE building_id = @building_id',
  // An alert of a building that is gone would be taken for one that has recovered.
  "DELETE FROM alert_states WHERE json_extract(body, '$.condition.building_id') = @building_id",
  'DELETE FROM model_revisions WHERE building_id = @building_id',
]

/** Copies the rows of a building from the database that is attached as `source`; inside the caller's transaction. */
export function copyRows(db: Database, building_id: string): void {
  for (const { table, rows, without } of MOVED) {
    const names = db.prepare(`SELECT format('"%w"', name) FROM pragma_table_info(?) WHERE name IS NOT ?`).pluck()
    const columns = names.all(table, without ?? null).join(', ')
    const sql = `INSERT INTO main.${table} (${columns}) SELECT ${columns} FROM ${SOURCE}.${table} WHERE ${rows(SOURCE)}`
    db.prepare(sql).run({ building_id })
  }
  db.prepare(SITE_SETTINGS).run({ building_id })
  for (const sql of HISTORY) db.prepare(sql).run(sql.includes('@building_id') ? { building_id } : {})
  copyChunks(db, SOURCE, building_id)
}

/** Deletes the rows of a building; inside the caller's transaction. */
export function deleteRows(db: Database, building_id: string): void {
  for (const { table, rows } of MOVED.toReversed()) db.prepare(`DELETE FROM ${table} WHERE ${rows('main')}`).run({ building_id })
  for (const sql of FORGOTTEN) db.prepare(sql).run({ building_id })
}

/** Runs work with another database attached as the source of `copyRows`. */
export function withSource<T>(db: Database, path: string, work: () => T): T {
  db.prepare(`ATTACH DATABASE ? AS ${SOURCE}`).run(path)
  try {
    return work()
  } finally {
    db.exec(`DETACH DATABASE ${SOURCE}`)
  }
}
