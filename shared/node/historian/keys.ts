import type { Database } from '../sqlite.ts'

/** The numbers that stand for buildings and points in rows and files. A number is assigned once and never changes. */
type Keys = {
  /** @returns undefined when the building has no history */
  findBuilding(building_id: string): number | undefined
  /** @returns point id → key of the points that have one */
  findPoints(building: number, point_ids: Iterable<string>): Map<string, number>
  countPoints(building: number): number
  /** The greatest key of any point, 0 when there is none. */
  lastPoint(): number
  /** Every point of a building that has a key, key → point id. */
  names(building: number): Map<number, string>
}

/** Looks up keys, also in a database that is open for reading only. */
export function openKeys(db: Database): Keys {
  const building = db.prepare('SELECT building FROM history_buildings WHERE building_id = ?').pluck()
  const point = db.prepare('SELECT point FROM history_points WHERE building = ? AND point_id = ?').pluck()
  const points = db.prepare('SELECT point, point_id FROM history_points WHERE building = ?').raw()
  const count = db.prepare('SELECT count(*) FROM history_points WHERE building = ?').pluck()
  const last = db.prepare('SELECT max(point) FROM history_points').pluck()
  return {
    countPoints: key => count.get(key) as number,
    lastPoint: () => (last.get() as number | null) ?? 0,
    findBuilding: building_id => building.get(building_id) as number | undefined,
    findPoints: (key, point_ids) => {
      const found = new Map<string, number>()
      for (const point_id of point_ids) {
        const known = point.get(key, point_id) as number | undefined
        if (known !== undefined) found.set(point_id, known)
      }
      return found
    },
    names: key => new Map(points.all(key) as [number, string][]),
  }
}

type KeyGiver = {
  (building_id: string, point_ids: Iterable<string>): BuildingKeys
  /** @returns those of the points that have no key yet */
  missing(building_id: string, point_ids: Iterable<string>): string[]
  /** After a transaction of the caller that may have created keys was rolled back. */
  forget(): void
}
type BuildingKeys = { building: number; points: Map<string, number> }

/** Creates missing keys: a key without samples is harmless, samples without a key are not. */
export function openKeyGiver(db: Database): KeyGiver {
  const keys = openKeys(db)
  const addBuilding = db.prepare('INSERT INTO history_buildings (building_id) VALUES (?) RETURNING building').pluck()
  const addPoint = db.prepare('INSERT INTO history_points (building, point_id) VALUES (?, ?) RETURNING point').pluck()
  const known = new Map<string, BuildingKeys>()

  const give = db.transaction((building_id: string, point_ids: string[]) => {
    const building = keys.findBuilding(building_id) ?? (addBuilding.get(building_id) as number)
    const points = keys.findPoints(building, point_ids)
    for (const point_id of point_ids) {
      if (!points.has(point_id)) points.set(point_id, addPoint.get(building, point_id) as number)
    }
    return { building, points }
  })

  const uncached = (building_id: string, point_ids: Iterable<string>): string[] => {
    const points = known.get(building_id)?.points
    const missing = new Set<string>()
    for (const point_id of point_ids) if (!points?.has(point_id)) missing.add(point_id)
    return [...missing]
  }
  const missing = (building_id: string, point_ids: Iterable<string>): string[] => {
    const asked = uncached(building_id, point_ids)
    const building = asked.length === 0 ? undefined : keys.findBuilding(building_id)
    if (building === undefined) return asked
    const found = keys.findPoints(building, asked)
    return asked.filter(point_id => !found.has(point_id))
  }
  const giver = (building_id: string, point_ids: Iterable<string>) => {
    const cached = known.get(building_id)
    const missing = uncached(building_id, point_ids)
    if (cached && missing.length === 0) return cached
    const given = give(building_id, missing)
    const all = { building: given.building, points: new Map([...(cached?.points ?? []), ...given.points]) }
    known.set(building_id, all)
    return all
  }
  return Object.assign(giver, { missing, forget: () => known.clear() })
}
