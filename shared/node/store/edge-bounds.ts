import { type EdgeBounds, type EdgeLimits, limitExcess } from '#shared/core/telemetry/edge-bounds.ts'
import { SECOND } from '#shared/core/time.ts'
import type { Database } from '../sqlite.ts'

/** Rows are counted at most this often, because an edge that is refused may send again many times a second. */
const COUNTED_MS = 10 * SECOND
/** Most buildings or edges whose count is remembered. */
const COUNTS_MAX = 10_000

/** Counts what is stored of edges, and refuses what would exceed the limits. */
export function openEdgeBounds(db: Database, limits: EdgeLimits): EdgeBounds {
  const reportedFor = db.prepare('SELECT building_id FROM edge_buildings WHERE site_id = ? AND edge_id = ?').pluck()
  const pointsOf = db
    .prepare(
      `SELECT count(*) FROM edge_buildings AS own JOIN points USING (building_id)
       WHERE own.site_id = ? AND own.edge_id = ? AND points.edge_id = own.edge_id`,
    )
    .pluck()
  const ownPoints = db.prepare('SELECT point_id FROM points WHERE building_id = ? AND edge_id = ?').pluck()
  const equipmentIds = db.prepare('SELECT equipment_id FROM equipment WHERE building_id = ?').pluck()
  const isPoint = db.prepare('SELECT 1 FROM points WHERE building_id = ? AND point_id = ?').pluck()
  const isStream = db.prepare('SELECT 1 FROM edge_marks WHERE site_id = ? AND edge_id = ? AND stream = ?').pluck()
  const isFinding = db.prepare('SELECT 1 FROM findings WHERE finding_id = ?').pluck()
  const streams = createCounts(db.prepare('SELECT count(*) FROM edge_marks WHERE site_id = ? AND edge_id = ?').pluck())
  const findings = createCounts(
    db
      .prepare(
        `SELECT count(*) FROM edge_buildings AS own JOIN findings USING (building_id) WHERE own.site_id = ? AND own.edge_id = ?`,
      )
      .pluck(),
  )
  const unlisted = createCounts(
    db
      .prepare(
        `SELECT count(*) FROM history_points JOIN history_buildings AS of USING (building) WHERE of.building_id = ?
         AND NOT EXISTS (SELECT 1 FROM points WHERE points.building_id = of.building_id AND points.point_id = history_points.point_id)`,
      )
      .pluck(),
  )
  const newIds = (stored: unknown[], ids: string[]): number => {
    const known = new Set(stored)
    return new Set(ids.filter(id => !known.has(id))).size
  }

  return {
    refusalOf({ site_id, edge_id }, { building: { building_id }, equipment, points }) {
      const edge = `of edge ${edge_id}`
      const buildings = reportedFor.all(site_id, edge_id)
      const added = newIds(buildings, [building_id])
      const addedPoints = newIds(
        ownPoints.all(building_id, edge_id),
        points.map(({ point_id }) => point_id),
      )
      const held = equipmentIds.all(building_id)
      const addedEquipment = newIds(
        held,
        equipment.map(({ equipment_id }) => equipment_id),
      )
      return (
        limitExcess('buildings', { held: buildings.length, added, max: limits.buildings, what: `buildings ${edge}` }) ??
        limitExcess('points', {
          ...{ held: pointsOf.get(site_id, edge_id) as number, added: addedPoints },
          ...{ max: limits.points, what: `points ${edge}` },
        }) ??
        limitExcess('points', {
          ...{ held: held.length, added: addedEquipment },
          ...{ max: limits.points, what: `equipment of building ${building_id}` },
        })
      )
    },
    excessOf(message, newSeries) {
      const { site_id, edge_id, building_id, stream } = message
      const begun = isStream.get(site_id, edge_id, stream) === undefined ? 1 : 0
      const series = newSeries.filter(point_id => isPoint.get(building_id, point_id) === undefined).length
      const ids = new Set(message.findings.map(({ finding_id }) => finding_id))
      const found = [...ids].filter(finding_id => isFinding.get(finding_id) === undefined).length
      const check = (limit: keyof EdgeLimits, counts: Counts, key: string[], added: number, what: string) =>
        added === 0 ? undefined : limitExcess(limit, { held: counts.of(key), added, max: limits[limit], what })
      const excess =
        check('streams', streams, [site_id, edge_id], begun, `streams of edge ${edge_id}`) ??
        check('points', unlisted, [building_id], series, `series of building ${building_id} that are of no point`) ??
        check('findings', findings, [site_id, edge_id], found, `findings of the buildings of edge ${edge_id}`)
      if (excess !== undefined) return excess
      streams.add([site_id, edge_id], begun)
      unlisted.add([building_id], series)
      findings.add([site_id, edge_id], found)
      return undefined
    },
  }
}

type Counts = {
  of(key: string[]): number
  /** What is about to be stored. */
  add(key: string[], amount: number): void
}

/** @param count gives the rows of a key */
function createCounts(count: { get(...key: string[]): unknown }): Counts {
  const known = new Map<string, { rows: number; at: number }>()
  return {
    of(key) {
      const name = JSON.stringify(key)
      const now = performance.now()
      const held = known.get(name)
      if (held && now - held.at < COUNTED_MS) return held.rows
      if (known.size >= COUNTS_MAX) known.clear()
      const rows = count.get(...key) as number
      known.set(name, { rows, at: now })
      return rows
    },
    add(key, amount) {
      const held = amount > 0 ? known.get(JSON.stringify(key)) : undefined
      if (held) held.rows += amount
    },
  }
}
