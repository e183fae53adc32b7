/** Samples that come from elsewhere: from another workspace, or from where an earlier version kept them. */
import type { Database } from '../../sqlite.ts'
import { HotChunk, type HotRow, inOrder } from './chunk.ts'
import { type ChunkMinute, openChunks } from './chunks.ts'
import { openRowInsert } from './rows.ts'

/**
 * Copies the chunks of a building from a database that is attached as `source`, inside the transaction of the caller. The keys of
 * its points are other ones there, and are in both databases already.
 */
export function copyChunks(db: Database, source: string, building_id: string): void {
  const chunks = db.prepare(
    `SELECT target.building, minute, epoch, data FROM ${source}.hot_chunks AS given
     JOIN ${source}.history_buildings AS owner ON owner.building = given.building
     JOIN main.history_buildings AS target ON target.building_id = owner.building_id
     WHERE owner.building_id = ?`,
  )
  const keys = db
    .prepare(
      `SELECT old.point, new.point FROM ${source}.history_points AS old
       JOIN ${source}.history_buildings AS owner ON owner.building = old.building
       JOIN main.history_buildings AS target ON target.building_id = owner.building_id
       JOIN main.history_points AS new ON new.building = target.building AND new.point_id = old.point_id
       WHERE owner.building_id = ?`,
    )
    .raw()
  const keyOf = new Map(keys.all(building_id) as [number, number][])
  const { add } = openChunks(db)
  for (const { epoch, data, ...of } of chunks.all(building_id) as {
    building: number
    minute: number
    epoch: number
    data: Buffer
  }[]) {
    const rows = new HotChunk(data).rows().map(row => ({ ...row, point: keyOf.get(row.point)! }))
    add(of, epoch, rows.toSorted(inOrder))
  }
}

/** Where earlier versions kept samples, oldest first: how a table tells the minute of a row, and the rows of `@minute`. */
const EARLIER = [
  {
    table: 'samples',
    minute: 'CAST(floor(ts / 60000.0) AS INTEGER)',
    within: 'ts >= @minute * 60000 AND ts < (@minute + 1) * 60000',
    ms: 'ts - @minute * 60000',
  },
  { table: 'hot_samples', minute: 'minute', within: 'minute = @minute', ms: 'ms' },
]

/** Minutes that are moved in one transaction. */
const MOVED_MINUTES = 200

/**
 * Moves samples to `hot_chunks` from the tables that it has taken the place of. They are there after the update that brought it, and
 * again when an update was taken back and the version before has run meanwhile: its samples are newer and count.
 */
export function moveEarlierSamples(db: Database): void {
  for (const earlier of EARLIER) moveFrom(db, earlier)
}

function moveFrom(db: Database, { table, minute, within, ms }: (typeof EARLIER)[number]): void {
  const minutes = db.prepare(
    `SELECT DISTINCT building, ${minute} AS minute FROM ${table} ORDER BY building, minute LIMIT ${MOVED_MINUTES}`,
  )
  const part = `FROM ${table} WHERE building = @building AND ${within}`
  const rows = db.prepare(`SELECT point, ${ms} AS ms, value, quality ${part}`)
  const remove = db.prepare(`DELETE ${part}`)
  const insert = openRowInsert(db)
  type Earlier = Omit<HotRow, 'value'> & { value: number | null }
  const move = db.transaction((some: ChunkMinute[]) => {
    for (const of of some) {
      const found = rows.all(of) as Earlier[]
      insert(
        of,
        found.map(row => ({ ...row, value: row.value ?? Number.NaN })),
      )
      remove.run(of)
    }
  })
  // Nothing is locked where there is nothing to move.
  for (let some = minutes.all(); some.length > 0; some = minutes.all()) move(some as ChunkMinute[])
}
