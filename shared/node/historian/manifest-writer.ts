import type { Database } from '../sqlite.ts'
import type { NewPart } from './manifest.ts'

export type ManifestWriter = {
  /** Begins an operation and returns its epoch: hot chunks of this epoch and later are not part of it. Durable when it returns. */
  nextEpoch(): number
  /** Changes the list in one transaction. */
  commit<T>(change: (list: ManifestChange) => T): T
  /** Increases with every commit. */
  version(): number
  /** The last instant of a point that is in a file; -Infinity when there is none. */
  lastSealed(point: number): number
}
type ManifestChange = {
  add(building: number, rank: number, parts: NewPart[], isThinned?: boolean): void
  /** Drops parts. Their files may be removed after the transaction. */
  drop(parts: number[]): void
  /** Drops points from all parts, and parts that become empty. @returns the files of those parts */
  dropPoints(building: number, points: number[]): string[]
}

/** Leaves out epochs, so that a process that wrote files before and still does so gives them other names. */
export const skipEpochs = (db: Database): void => void db.exec('UPDATE history_state SET epoch = epoch + 1000')

/** The manifest as the only writing process changes it. */
export function openManifestWriter(db: Database): ManifestWriter {
  const next = db.prepare('UPDATE history_state SET epoch = epoch + 1 RETURNING epoch').pluck()
  const last = db.prepare('SELECT max(last) FROM part_points WHERE point = ?').pluck()
  const list = openChange(db)
  const lastSealed = new Map<number, number>()
  let version = 0
  return {
    nextEpoch: () => next.get() as number,
    commit: change => {
      const result = db.transaction(change)(list)
      version += 1
      lastSealed.clear()
      return result
    },
    version: () => version,
    lastSealed: point => {
      const known = lastSealed.get(point)
      if (known !== undefined) return known
      const found = (last.get(point) as number | null) ?? -Infinity
      lastSealed.set(point, found)
      return found
    },
  }
}

function openChange(db: Database): ManifestChange {
  const addPart = db
    .prepare('INSERT INTO parts (building, month, file, bytes, rows, rank, thinned) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING part')
    .pluck()
  const addPoint = db
    .prepare(
      `INSERT INTO part_points SELECT point, @part, @first, @last, @samples, @step FROM history_points
     WHERE building = @building AND point_id = @point_id RETURNING point`,
    )
    .pluck()
  const addHours = db.prepare('INSERT INTO part_hours VALUES (?, ?, ?)')
  const drop = db.prepare('DELETE FROM parts WHERE part = ?')
  const dropPoint = db.prepare('DELETE FROM part_points WHERE point = ?')
  const dropEmpty = db
    .prepare('DELETE FROM parts WHERE building = ? AND part NOT IN (SELECT part FROM part_points) RETURNING file')
    .pluck()
  return {
    add: (building, rank, parts, isThinned = false) => {
      for (const { file, month, bytes, rows, points } of parts) {
        const part = addPart.get(building, month, file, bytes, rows, rank, Number(isThinned))
        for (const point of points) {
          const key = addPoint.get({ building, part, ...point }) as number | undefined
          if (key === undefined) throw new Error(`point ${point.point_id} has no key`)
          addHours.run(key, part, point.hours)
        }
      }
    },
    drop: parts => {
      for (const part of parts) drop.run(part)
    },
    dropPoints: (building, points) => {
      for (const point of points) dropPoint.run(point)
      return dropEmpty.all(building) as string[]
    },
  }
}
