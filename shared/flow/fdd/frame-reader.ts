import type { Equipment, Point } from '#shared/core/model/model.ts'
import type { Historian, KeptSamples, ReadSamples } from '#shared/core/ports.ts'
import { roleOfColumn, type ArraySnapshot } from '#shared/core/priority/array-snapshot.ts'
import type { DataNeed } from '#shared/core/rules/compile/data-needs.ts'
import type { EquipmentState } from '#shared/core/rules/evaluate/equipment-state.ts'
import type { EquipmentOutline } from '#shared/core/rules/compile/topology.ts'
import type { EquipmentData } from '#shared/core/rules/compile/equipment-data.ts'
import { getOwn } from '#shared/core/get-own.ts'
import { firstAtOrAfter } from '#shared/core/rules/compile/step-signal.ts'
import { appendSeries, type Series } from '#shared/core/series/series.ts'
import { MINUTE, SECOND } from '#shared/core/time.ts'
import { frameOf, type RolePoint, roleSeries, rolesOf } from './build-frames.ts'

/** Interval of a point without a stated one; used only to estimate the size of an answer. */
const SPACING_MS = MINUTE

/** A request for the data of one equipment's rules from one instant on. `logged`: samples read since the state was saved. */
export type FrameRequest = {
  needs: DataNeed[]
  from: number
  state: EquipmentState | undefined
  logged?: KeptSamples | undefined
}

export type FrameBatch = {
  /** The data of the equipment, built on demand. */
  frames(): EquipmentData[]
  /** The samples that were read from history: all of them, or those after `logged`. */
  fresh: ReadSamples
  logged: KeptSamples | undefined
}

export type FrameReader = {
  /** The equipment of the building, without samples. */
  outlines: EquipmentOutline[]
  /** The approximate number of samples of a request. */
  sizeOf(reading: FrameRequest): number
  /** Reads history once for all requests, from the end of the logged samples on. @returns one batch for each request */
  read(readings: FrameRequest[]): Promise<FrameBatch[]>
}

type ReaderInput = {
  building_id: string
  equipment: Equipment[]
  points: Point[]
  /** The end of all requests, ms. */
  to: number
  /** Visits to priority arrays by point, in the point's own unit. */
  visits: Record<string, ArraySnapshot[]>
  /** By point, the instant of its first sample ever, ms; a point without samples is left out. */
  firsts: Readonly<Record<string, number>>
}

/** Reads the history that rules need, for some equipment at a time. */
export function createFrameReader(input: ReaderInput, historian: Pick<Historian, 'read'>): FrameReader {
  const { building_id, equipment, points, to, visits, firsts } = input
  const byId = new Map(equipment.map(each => [each.equipment_id, each]))
  const pointsOf = rolesOf(points)
  const roles = new Map(equipment.map(({ equipment_id }) => [equipment_id, pointsOf(equipment_id)]))
  const neededOf = ({ equipment_id, roles: wanted }: DataNeed): RolePoint[] =>
    (roles.get(equipment_id) ?? []).filter(({ role }) => wanted.includes(role))

  return {
    outlines: equipment.map(({ equipment_id, equipment_type, feeds = [], parent_id }) => {
      const own = roles.get(equipment_id)!
      const visited = own.filter(({ point_id }) => visits[point_id]).map(({ role }) => role)
      const first = Object.fromEntries(
        own.flatMap(({ role, point_id }) => {
          const at = getOwn(firsts, point_id)
          return at === undefined ? [] : [[role, at] as const]
        }),
      )
      const shape = { equipment_id, equipment_type, feeds, roles: own.map(({ role }) => role), visited, first }
      return { ...shape, ...(parent_id !== undefined && { parent_id }) }
    }),
    sizeOf({ needs, from }) {
      const spacings = needs.flatMap(neededOf).map(({ poll_secs }) => (poll_secs === undefined ? SPACING_MS : poll_secs * SECOND))
      return spacings.reduce((sum, ms) => sum + (to - from) / ms, 0)
    },
    async read(readings) {
      const asked = readings.map(reading => {
        const points = [...new Set(reading.needs.flatMap(neededOf).map(({ point_id }) => point_id))]
        // If one point has no logged samples, all points of the request are read from the beginning.
        const logged = points.every(id => reading.logged?.series.has(id)) ? reading.logged : undefined
        return { ...reading, points, logged, from: logged?.to ?? reading.from }
      })
      const from = Math.min(...asked.map(each => each.from))
      const point_ids = [...new Set(asked.flatMap(({ points }) => points))]
      const series = point_ids.length ? await historian.read({ building_id, point_ids, from, to }) : []
      const read = new Map(point_ids.map((point_id, i) => [point_id, series[i]!]))
      return asked.map(({ needs, state, points, logged, from: since }): FrameBatch => {
        const fresh = new Map(points.map(id => [id, after(since, read.get(id)!)]))
        const seriesOf = (id: string) => (logged ? appendSeries(logged.series.get(id)!, fresh.get(id)!) : fresh.get(id)!)
        const frames = () => needs.map(need => frameFor(need, state, seriesOf))
        return { frames, fresh: { from: since, to, series: fresh }, logged }
      })
    },
  }

  function frameFor(
    { equipment_id, roles: wanted, visits: visited }: DataNeed,
    state: FrameRequest['state'],
    seriesOf: (point_id: string) => Series,
  ) {
    const { nominal = {} } = state ?? {}
    const own = roles.get(equipment_id) ?? []
    const points = own.filter(({ role }) => wanted.includes(role))
    const series = points.map(point =>
      roleSeries(point, seriesOf(point.point_id), nominal[`${equipment_id}\n${point.role}`], state?.at),
    )
    const seen = own.filter(({ role, point_id }) => visited.includes(role) && visits[point_id])
    const frame = frameOf(byId.get(equipment_id)!, points, series, seen, visits)
    return { ...frame, visitMs: pinnedVisits(equipment_id, nominal) }
  }
}

function after(from: number, { ts, values }: Series): Series {
  const first = firstAtOrAfter(ts, from)
  return first === 0 ? { ts, values } : { ts: ts.subarray(first), values: values.subarray(first) }
}

/** Usual intervals between visits by role, derived from more visits than are read now. */
function pinnedVisits(equipment_id: string, nominal: Record<string, number>): Record<string, number> {
  const columns = Object.entries(nominal).map(([key, ms]) => [...key.split('\n'), ms] as [string, string, number])
  return Object.fromEntries(
    columns.flatMap(([id, column, ms]) => {
      const role = id === equipment_id ? roleOfColumn(column) : undefined
      return role === undefined ? [] : [[role, ms]]
    }),
  )
}
