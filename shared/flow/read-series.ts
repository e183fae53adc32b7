import type { Finding } from '#shared/core/findings/finding.ts'
import type { Building, Equipment, Point } from '#shared/core/model/model.ts'
import type { ArraySnapshots, FindingReader, HistoryReader, PointSpan } from '#shared/core/ports.ts'
import { type OverridePeriod, overridePeriods } from '#shared/core/priority/override-periods.ts'
import { needBuilding, needEquipment } from '#shared/core/lookup.ts'
import { Problem } from '#shared/core/problem.ts'
import type { Buckets, Series } from '#shared/core/series/series.ts'
import type { ModelStore } from '#shared/core/stores.ts'
import { SECOND } from '#shared/core/time.ts'
import { medianGap } from '#shared/core/series/statistics.ts'

export type SeriesRequest = {
  building_id: string
  /** Points of any equipment of the building; or of one equipment one point, some roles, or what a rule reads. */
  select: { point_ids: string[] } | OfEquipment
  /** `[from, to)`, ms; default: all there is. */
  from?: number
  to?: number
  maxPoints: number
}

type OfEquipment = { equipment_id: string } & ({ point_id: string } | { roles: string[]; rule_id?: string })

/** One value or one bucket; `min`, `max`, `mean` and `last` are the same for a value. Null begins a gap. */
type SeriesPoint = { t: number; min: number | null; max: number | null; mean: number | null; last: number | null }
export type Stretch = { from: number; to: number }
export type ReadSeries = {
  from: number
  to: number
  downsampled: boolean
  /** Width of a bucket, ms; undefined when every sample is there. */
  step: number | undefined
  /** Roles that were asked for and no point has. */
  missing_roles: string[]
  series: { point: Point; points: SeriesPoint[]; no_data: Stretch[] }[]
  faults: Finding[]
  /** When visits saw the points overridden, in each point's own unit; empty where nobody visits. */
  overrides: (OverridePeriod & { point_id: string })[]
}
type SeriesPorts = { model: ModelStore; historian: HistoryReader; findings: FindingReader; priority?: ArraySnapshots }

/** A sample holds for this many times the usual distance between samples. */
const HOLD_STEPS = 3
/** Points of one request. */
export const SERIES_POINTS_MAX = 50
const FAULTS_MAX = 1000

/**
 * The history of some points, whole or in buckets, with its gaps and the faults of the same time.
 *
 * @throws Problem unknown_building, unknown_equipment, unknown_point, or invalid for an impossible span
 */
export async function readSeries(request: SeriesRequest, ports: SeriesPorts): Promise<ReadSeries> {
  const { building_id, maxPoints } = request
  const { points, missing_roles } = selectPoints(request, ports.model)
  const point_ids = points.map(({ point_id }) => point_id)
  const held = await ports.historian.spans(building_id, point_ids)
  const { from, to } = spanOf(request, held)
  const rule_id = 'rule_id' in request.select ? request.select.rule_id : undefined
  if (held.length === 0 || from === to) {
    const series = points.map(point => ({ point, points: [], no_data: to > from ? [{ from, to }] : [] }))
    return { from, to, downsampled: false, step: undefined, missing_roles, series, faults: [], overrides: [] }
  }
  const query = { building_id, point_ids, from, to }
  const filter = { building_id, from, to, limit: FAULTS_MAX, ...(rule_id !== undefined && { rule_id }) }
  const equipment = 'point_ids' in request.select ? points.map(point => point.equipment_id) : [request.select.equipment_id]
  const faults = [...new Set(equipment)].flatMap(equipment_id =>
    equipment_id === undefined ? [] : ports.findings.list({ ...filter, equipment_id }),
  )
  const overrides = await readOverrides({ building_id, point_ids, from, to }, ports)
  const mayFit = held.every(({ samples, first, last }) => share(samples, first, last, from, to) <= maxPoints)
  const whole = mayFit ? await ports.historian.read(query) : []
  if (mayFit && whole.every(({ ts }) => ts.length <= maxPoints)) {
    const series = points.map((point, i) => ({
      point,
      ...fromSamples(whole[i]!, nominalOf(point, medianGap(whole[i]!.ts)), from, to),
    }))
    return { from, to, downsampled: false, step: undefined, missing_roles, series, faults, overrides }
  }
  const buckets = await ports.historian.buckets({ ...query, maxBuckets: maxPoints })
  const spans = new Map(held.map(span => [span.point_id, span]))
  const series = points.map((point, i) => {
    const span = spans.get(point.point_id)
    const usual = span && span.samples > 1 ? (span.last - span.first) / (span.samples - 1) : 0
    return { point, ...fromBuckets(buckets[i]!, nominalOf(point, usual), to) }
  })
  return { from, to, downsampled: true, step: buckets[0]!.step, missing_roles, series, faults, overrides }
}

async function readOverrides(
  { building_id, ...query }: { building_id: string; point_ids: string[]; from: number; to: number },
  { priority }: SeriesPorts,
): Promise<ReadSeries['overrides']> {
  const visits = (await priority?.snapshots(building_id, query)) ?? {}
  return query.point_ids.flatMap(point_id => overridePeriods(visits[point_id] ?? []).map(one => ({ point_id, ...one })))
}

/** The requested span, cut to the span of history; its length is zero when history is all before `from` or all after `to`. */
function spanOf(asked: Pick<SeriesRequest, 'from' | 'to'>, held: PointSpan[]): Stretch {
  const given = [asked.from ?? [], asked.to ?? []].flat()
  if (held.length + given.length === 0) return { from: 0, to: 0 }
  const from = asked.from ?? Math.min(...given, ...held.map(({ first }) => first))
  const to = asked.to ?? Math.max(...given, ...held.map(({ last }) => last + 1))
  if (from > to || (from === to && given.length === 2)) throw new Problem('invalid', 'The span ends before it begins')
  return { from, to }
}

/** Samples to be expected in a stretch, were they spread evenly. */
function share(samples: number, first: number, last: number, from: number, to: number): number {
  const overlap = Math.min(last, to) - Math.max(first, from)
  return overlap <= 0 ? 0 : (samples * overlap) / Math.max(1, last - first)
}

const nominalOf = ({ poll_secs }: Point, usual: number) => (poll_secs === undefined ? usual : poll_secs * SECOND)

function selectPoints({ building_id, select }: SeriesRequest, model: ModelStore): { points: Point[]; missing_roles: string[] } {
  if ('point_ids' in select)
    return { points: namedPoints(needBuilding(model, building_id), select.point_ids, model), missing_roles: [] }
  const { equipment_id } = select
  const own = needEquipment(model, building_id, equipment_id)
  const equipment = model.equipment(building_id)
  const points = model.points(building_id)
  if ('point_id' in select) {
    const point = points.find(one => one.point_id === select.point_id && one.equipment_id === equipment_id)
    if (!point) throw new Problem('unknown_point', `Equipment ${equipment_id} has no point ${select.point_id}`)
    return { points: [point], missing_roles: [] }
  }
  const places = [equipment_id, ...feedersOf(own, equipment), ...weatherOf(equipment)]
  const holders = select.roles.map(role => ({
    role,
    point: places.map(place => points.find(point => point.equipment_id === place && point.role === role)).find(Boolean),
  }))
  const found = holders.flatMap(({ point }) => point ?? [])
  if (found.length === 0) throw new Problem('unknown_point', `Equipment ${equipment_id} has none of ${select.roles.join(', ')}`)
  const missing_roles = holders.filter(({ point }) => !point).map(({ role }) => role)
  return { points: found.slice(0, SERIES_POINTS_MAX), missing_roles }
}

/** @throws Problem unknown_point that names every id which the building does not have */
function namedPoints({ building_id }: Building, point_ids: string[], model: ModelStore): Point[] {
  const known = new Map(model.points(building_id).map(point => [point.point_id, point]))
  const unknown = point_ids.filter(point_id => !known.has(point_id))
  if (unknown.length > 0) throw new Problem('unknown_point', `Building ${building_id} has no point ${unknown.join(', ')}`)
  return point_ids.map(point_id => known.get(point_id)!)
}

const feedersOf = ({ equipment_id, parent_id }: Equipment, equipment: Equipment[]) => [
  ...(parent_id === undefined ? [] : [parent_id]),
  ...equipment.filter(({ feeds = [] }) => feeds.includes(equipment_id)).map(one => one.equipment_id),
]
const weatherOf = (equipment: Equipment[]) =>
  equipment.filter(({ equipment_type }) => equipment_type === 'weather').map(one => one.equipment_id)

type Drawn = { points: SeriesPoint[]; no_data: Stretch[] }
const gapAt = (t: number): SeriesPoint => ({ t, min: null, max: null, mean: null, last: null })

function fromSamples({ ts, values }: Series, nominal: number, from: number, to: number): Drawn {
  const drawn: Drawn = { points: [], no_data: [] }
  let known = from
  for (let i = 0; i < ts.length; i++) {
    const [t, value] = [ts[i]!, values[i]!]
    if (Number.isNaN(value)) continue
    if (t > known) openGap(drawn, known, t)
    drawn.points.push({ t, min: value, max: value, mean: value, last: value })
    known = Math.min(t + HOLD_STEPS * nominal, ts[i + 1] ?? Number.POSITIVE_INFINITY)
  }
  if (known < to) openGap(drawn, known, to)
  return drawn
}

function fromBuckets({ from, step, min, max, mean, last, count }: Buckets, nominal: number, to: number): Drawn {
  const drawn: Drawn = { points: [], no_data: [] }
  let known = from
  for (let i = 0; i < count.length; i++) {
    if (!count[i]) continue
    const t = from + i * step
    if (t > known) openGap(drawn, known, t)
    drawn.points.push({ t, min: min[i]!, max: max[i]!, mean: mean[i]!, last: last[i]! })
    known = Math.max(t + step, t + HOLD_STEPS * nominal)
  }
  if (known < to) openGap(drawn, known, to)
  return drawn
}

function openGap({ points, no_data }: Drawn, from: number, to: number): void {
  no_data.push({ from, to })
  if (points.length) points.push(gapAt(from))
}
