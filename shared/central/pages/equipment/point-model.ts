/** Gathers what the page of one point shows. */
import type { Finding } from '#shared/core/findings/finding.ts'
import { needBuilding } from '#shared/core/lookup.ts'
import type { Building, Equipment, Point } from '#shared/core/model/model.ts'
import type { ArraySnapshot } from '#shared/core/priority/array-snapshot.ts'
import { type LevelMeaning, levelMeanings } from '#shared/core/priority/priority-levels.ts'
import { Problem } from '#shared/core/problem.ts'
import { mergeSpans, totalLength } from '#shared/core/series/spans.ts'
import { DAY } from '#shared/core/time.ts'
import { dataEnds } from '#shared/central/pages/data-freshness.ts'
import type { RuleView } from '#shared/central/fdd/rule-views.ts'
import type { Here } from '#shared/central/ui/moment.ts'
import type { Plot } from '#shared/central/ui/plot.ts'
import { episodesOf, type EquipmentStores } from './equipment-model.ts'
import { readPointValues, type PointValue } from './point-values.ts'
import { roleName } from '#shared/central/ui/plot-trace.ts'
import { pointsPlot } from './points-plot.ts'

export const POINT_DAYS = [1, 7, 30] as const
/** About one bucket for each two pixels of the wide plot. */
const BUCKETS = 480

/** Of the span that the page shows, in the point's own unit. */
type PointStatistics = { min: number; max: number; mean: number; samples: number; coverage: number }
export type PointModel = {
  here: Here
  building: Building
  equipment: Equipment | undefined
  dataEnd: number | undefined
  now: PointValue
  days: number
  plot: Plot
  /** Undefined where the span has no usable value. */
  statistics: PointStatistics | undefined
  /** The newest visit to its priority array; undefined where none is known. */
  array: ArraySnapshot | undefined
  /** [16], P1 first; of the levels of its priority array. */
  meanings: LevelMeaning[]
  /** Rules for equipment of its kind that read its role. */
  rules: RuleView[]
  /** Open findings of its equipment whose rule read its role. */
  open: Finding[]
}

/** @throws Problem unknown_building or unknown_point */
export async function pointModel(
  context: EquipmentStores,
  asked: { building_id: string; point_id: string; days: number; here: Here },
): Promise<PointModel> {
  const { building_id, point_id, days } = asked
  const building = needBuilding(context.model, building_id)
  const point = context.model.points(building_id).find(one => one.point_id === point_id)
  if (!point) throw new Problem('unknown_point', `Building ${building_id} has no point ${point_id}`)
  const equipment = context.model.equipment(building_id).find(one => one.equipment_id === point.equipment_id)
  const here = { ...asked.here, timezone: building.timezone }
  const dataEnd = dataEnds(context, [building_id], here.now).get(building_id)
  const until = dataEnd ?? here.now
  const span = { from: until - days * DAY, to: until + 1 }
  const [values, visits, catalogue] = await Promise.all([
    readPointValues(context, [point], span, BUCKETS),
    context.priority?.snapshots(building_id, { ...span, point_ids: [point_id] }),
    context.rules.catalogue(),
  ])
  const now = values[0]!
  const seen = visits?.[point_id] ?? []
  const rules = catalogue.rules.filter(rule => readsRole(rule, point, equipment))
  const episodes = equipment ? episodesOf(context, equipment, span).map(({ finding }) => finding) : []
  const ofPoint = episodes.filter(
    ({ evidence, suppressed_by }) =>
      point.role !== undefined && Object.hasOwn(evidence.inputs, point.role) && suppressed_by === undefined,
  )
  return {
    here,
    building,
    equipment,
    dataEnd,
    now,
    days,
    plot: pointsPlot({
      building,
      values: [{ value: now, name: point.role === undefined ? { words: point.name } : roleName(point.role) }],
      episodes: ofPoint,
      visits: { [point_id]: seen },
      span,
      now: here.now,
      until,
    }),
    statistics: statisticsOf(now, span),
    array: seen.at(-1),
    meanings: context.priority?.levels() ?? levelMeanings(),
    rules,
    open: ofPoint.filter(({ state }) => state === 'active'),
  }
}

const readsRole = ({ equipment: types, roles, optional }: RuleView, { role }: Point, equipment: Equipment | undefined): boolean =>
  role !== undefined &&
  equipment !== undefined &&
  types.includes(equipment.equipment_type) &&
  (Object.hasOwn(roles, role) || Object.hasOwn(optional, role))

const totalOf = (count: Float64Array): number => count.reduce((sum, n) => sum + n, 0)

function statisticsOf({ buckets, gaps }: PointValue, { from, to }: { from: number; to: number }): PointStatistics | undefined {
  const { min, max, mean, count } = buckets
  const samples = totalOf(count)
  if (samples === 0) return undefined
  const filled = [...count.keys()].filter(i => count[i]! > 0)
  return {
    min: filled.reduce((least, i) => Math.min(least, min[i]!), Infinity),
    max: filled.reduce((most, i) => Math.max(most, max[i]!), -Infinity),
    mean: filled.reduce((sum, i) => sum + mean[i]! * count[i]!, 0) / samples,
    samples,
    coverage: 1 - totalLength(mergeSpans(gaps)) / (to - from),
  }
}
