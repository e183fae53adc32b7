import type { Building, Equipment, Point } from '#shared/core/model/model.ts'
import { needBuilding } from '#shared/core/lookup.ts'
import { type DataError, Problem } from '#shared/core/problem.ts'
import type { Assignment, ModelStore } from '#shared/core/stores.ts'
import type { Database } from '../sqlite.ts'
import { toRecord, toRow, upsert } from './row.ts'

const BUILDING = ['building_id', 'name', 'site_id', 'timezone', 'unit_system', 'lat', 'lon'] as const
const EQUIPMENT = ['building_id', 'equipment_id', 'name', 'equipment_type', 'parent_id', 'feeds'] as const
const POINT = [
  'building_id',
  'point_id',
  'equipment_id',
  'name',
  'role',
  'unit',
  'kind',
  'source',
  'poll_secs',
  'states',
  'edge_id',
  'gone',
] as const

/**
 * The function is long because both writes share the prepared statements.
 *
 * @throws Problem unknown_building, unknown_equipment or unknown_point from `put` and `assign`; nothing is changed then
 */
export function modelStore(db: Database): ModelStore {
  const buildings = db.prepare('SELECT * FROM buildings ORDER BY building_id')
  const timezones = db.prepare('SELECT DISTINCT timezone FROM buildings').pluck()
  const building = db.prepare('SELECT * FROM buildings WHERE building_id = ?')
  const equipment = db.prepare('SELECT * FROM equipment WHERE building_id = ? ORDER BY equipment_id')
  const hasEquipment = db.prepare('SELECT 1 FROM equipment WHERE building_id = ? AND equipment_id = ?')
  const points = db.prepare('SELECT * FROM points WHERE building_id = ? ORDER BY point_id')
  const revision = db.prepare('SELECT revision FROM model_revisions WHERE building_id = ?').pluck()
  const revisions = db.prepare('SELECT building_id, revision FROM model_revisions').raw()
  const putBuilding = db.prepare(upsert('buildings', ['building_id'], BUILDING))
  const putEquipment = db.prepare(upsert('equipment', ['building_id', 'equipment_id'], EQUIPMENT))
  const putPoint = db.prepare(upsert('points', ['building_id', 'point_id'], POINT))
  const dropEmpty = db.prepare(
    `DELETE FROM buildings WHERE building_id = @building_id ${['equipment', 'points', 'energy_prices']
      .map(table => `AND NOT EXISTS (SELECT 1 FROM ${table} WHERE building_id = @building_id)`)
      .join(' ')}`,
  )
  const clear = db.prepare('UPDATE points SET role = NULL, equipment_id = NULL WHERE building_id = ? AND point_id = ?')

  const findBuilding: ModelStore['building'] = building_id => {
    const row = building.get(building_id)
    return row ? toRecord<Building>(row) : undefined
  }
  const need = (building_id: string) => needBuilding({ building: findBuilding }, building_id)
  const revisionOf = (building_id: string) => (revision.get(building_id) as number | undefined) ?? 0
  const pointsOf = cachedRecords(db, revisionOf, building_id => points.all(building_id).map(toPoint))
  const equipmentOf = cachedRecords(db, revisionOf, building_id =>
    equipment.all(building_id).map(row => toRecord<Equipment>(row, ['feeds'])),
  )

  const assign = (building_id: string, assignments: Assignment[], mode: 'merge' | 'replace') => {
    need(building_id)
    const known = new Map(pointsOf(building_id).map(point => [point.point_id, point]))
    const errors = assignments.flatMap((each, i) => complaint(each, i, known, id => !!hasEquipment.get(building_id, id)))
    const [first] = errors
    if (first) {
      const code = first.pointer.endsWith('point_id') ? 'unknown_point' : 'unknown_equipment'
      throw new Problem(code, `nothing was saved: ${first.message}`, errors)
    }

    const named = new Set(assignments.map(({ point_id }) => point_id))
    const others = mode === 'merge' ? [] : [...known.values()].filter(p => p.role !== undefined && !named.has(p.point_id))
    for (const { point_id } of others) clear.run(building_id, point_id)
    let saved = 0
    for (const { point_id, equipment_id, role, unit } of assignments) {
      const point = known.get(point_id)!
      const next = { ...point, equipment_id, role, unit: unit ?? point.unit }
      if (point.equipment_id === next.equipment_id && point.role === next.role && point.unit === next.unit) continue
      putPoint.run(toRow(next, POINT))
      saved += 1
    }
    return { saved, unchanged: assignments.length - saved, removed: others.length }
  }

  const put: ModelStore['put'] = model => {
    if (model.building) putBuilding.run(toRow(model.building, BUILDING))
    for (const each of model.equipment ?? []) {
      need(each.building_id)
      putEquipment.run(toRow(each, EQUIPMENT))
    }
    for (const each of model.points ?? []) {
      need(each.building_id)
      if (each.equipment_id !== undefined && !hasEquipment.get(each.building_id, each.equipment_id)) {
        throw new Problem(
          'unknown_equipment',
          `point ${each.point_id} names equipment ${each.equipment_id}, which does not exist`,
        )
      }
      putPoint.run(toRow(each, POINT))
    }
  }

  return {
    buildings: () => buildings.all().map(row => toRecord<Building>(row)),
    timezones: () => timezones.all() as string[],
    building: findBuilding,
    equipment: building_id => [...equipmentOf(building_id)],
    points: building_id => [...pointsOf(building_id)],
    revision: revisionOf,
    revisions: () => new Map(revisions.all() as [string, number][]),
    put: db.transaction(put),
    dropEmpty: building_id => void dropEmpty.run({ building_id }),
    assign: db.transaction(assign),
  }
}

/** Buildings whose points or equipment are held parsed: one request asks for the same several times. */
const CACHED_MAX = 4

/**
 * The points or the equipment of a building as they were parsed at its present revision: a list with names of equipment reads no
 * points. Records are frozen, because several readers share them. Within a transaction nothing is cached: what is rolled back takes
 * its revision back, and a later change has the same.
 */
function cachedRecords<T extends object>(
  db: Database,
  revisionOf: (building_id: string) => number,
  read: (building_id: string) => T[],
): (building_id: string) => readonly T[] {
  const cached = new Map<string, { records: readonly T[]; revision: number }>()
  return building_id => {
    if (db.inTransaction) return read(building_id)
    const revision = revisionOf(building_id)
    const known = cached.get(building_id)
    if (known?.revision === revision) return known.records
    const records = read(building_id)
    for (const record of records) Object.freeze(record)
    cached.delete(building_id)
    cached.set(building_id, { records, revision })
    if (cached.size > CACHED_MAX) cached.delete(cached.keys().next().value!)
    return records
  }
}

const toPoint = (row: unknown) => toRecord<Point>(row, ['source', 'states', 'gone'])

type PointerError = DataError & { pointer: string }

function complaint(
  { point_id, equipment_id }: Assignment,
  i: number,
  known: Map<string, Point>,
  isEquipment: (equipment_id: string) => boolean,
): PointerError[] {
  const errors: PointerError[] = []
  if (!known.has(point_id)) errors.push({ pointer: `/assignments/${i}/point_id`, message: `there is no point ${point_id}` })
  if (!isEquipment(equipment_id)) {
    errors.push({ pointer: `/assignments/${i}/equipment_id`, message: `there is no equipment ${equipment_id}` })
  }
  return errors
}
