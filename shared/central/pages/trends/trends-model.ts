/** Gathers what the page of trends shows: the chosen points over the chosen time, and points that could be added. */
import { chooseBuilding } from '#shared/core/lookup.ts'
import type { Building, Equipment, Point } from '#shared/core/model/model.ts'
import { Problem } from '#shared/core/problem.ts'
import type { SearchEntry } from '#shared/core/search/search-index.ts'
import type { Span } from '#shared/core/series/spans.ts'
import { DAY, MINUTE } from '#shared/core/time.ts'
import { instantsOf, offsetAt } from '#shared/core/time-zone.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { readInstant } from '#shared/central/api/record-views.ts'
import { dataEnds } from '#shared/central/pages/data-freshness.ts'
import { episodesOf, type EquipmentStores } from '#shared/central/pages/equipment/equipment-model.ts'
import { readPointValues } from '#shared/central/pages/equipment/point-values.ts'
import { pointsPlot } from '#shared/central/pages/equipment/points-plot.ts'
import type { Here } from '#shared/central/ui/moment.ts'
import { type Plot, TRACES_MAX } from '#shared/central/ui/plot.ts'
import { COMPARE, TREND_DAYS, type TrendsQuery } from '#shared/central/ui/trends-link.ts'

export type TrendsContext = EquipmentStores & Pick<CentralContext, 'search'>
export type TrendsModel = {
  here: Here
  query: TrendsQuery & { building: string; days: number }
  building: Building
  buildings: Building[]
  span: Span
  /** How much earlier what is compared was, ms: the same wall clock of the building at the end of the time; 0 without. */
  shift: number
  /** The chosen points in their order, each with its name on the plot. */
  chosen: { point: Point; label: string; equipment: Equipment | undefined }[]
  /** Undefined while no point is chosen. */
  plot: Plot | undefined
  /** Other points of the chosen points' equipment. */
  siblings: Point[]
  /** Points that the search found; undefined while nobody searches. */
  found: SearchEntry[] | undefined
}

/** About one bucket for each two pixels of the wide plot. */
const BUCKETS = 480
/** Shortest and longest time that can be shown. */
const SPAN_MIN = 2 * MINUTE
const SPAN_MAX = 5 * 366 * DAY
const FOUND_MAX = 30
const SIBLINGS_MAX = 60
/** Points that can be compared with an earlier time: each is two lines. */
export const COMPARED_MAX = TRACES_MAX / 2
const LOCAL = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::\d\d)?$/

/** @throws Problem unknown_building, unknown_point, or bad_request for an impossible time or too many points */
export async function trendsModel(context: TrendsContext, asked: TrendsQuery, at: Here): Promise<TrendsModel> {
  const { model } = context
  const building = chooseBuilding(model, asked.building)
  const { building_id, timezone } = building
  const here = { ...at, timezone }
  const query = { ...asked, building: building_id, days: asked.days ?? TREND_DAYS[0] }
  const equipment = new Map(model.equipment(building_id).map(one => [one.equipment_id, one]))
  const points = model.points(building_id)
  const known = new Map(points.map(point => [point.point_id, point]))
  if (asked.points.length > TRACES_MAX) throw new Problem('bad_request', `A plot holds at most ${TRACES_MAX} points`)
  const picked = asked.points.map(point_id => {
    const point = known.get(point_id)
    if (!point) throw new Problem('unknown_point', `Building ${building_id} has no point ${point_id}`)
    return point
  })
  const until = (await dataEnds(context, [building_id], here.now)).get(building_id) ?? here.now
  const span = spanOf(query, timezone, until)
  if (asked.compare && picked.length > COMPARED_MAX)
    throw new Problem('bad_request', `At most ${COMPARED_MAX} points are compared with an earlier time`)
  const shift = asked.compare ? shiftOf(span.to, COMPARE[asked.compare].days, timezone) : 0
  const chosen = picked.map(point => ({
    point,
    label: labelOf(point, picked),
    equipment: point.equipment_id === undefined ? undefined : equipment.get(point.equipment_id),
  }))
  const places = new Set(picked.flatMap(({ equipment_id }) => equipment_id ?? []))
  const siblings = points.filter(one => places.has(one.equipment_id ?? '') && !asked.points.includes(one.point_id) && !one.gone)
  const q = asked.q?.trim()
  const found = q ? (await context.search.find({ query: q, kind: 'point', building_id, limit: FOUND_MAX })).hits : undefined
  return {
    here,
    query,
    building,
    buildings: model.buildings(),
    span,
    shift,
    chosen,
    plot:
      picked.length > 0
        ? await plotOf(context, { ...{ building, chosen, places, span, shift, until }, query, now: here.now })
        : undefined,
    siblings: siblings.slice(0, SIBLINGS_MAX),
    found,
  }
}

type Drawn = Pick<TrendsModel, 'building' | 'chosen' | 'span' | 'shift' | 'query'> & {
  places: ReadonlySet<string>
  until: number
  now: number
}

async function plotOf(
  context: TrendsContext,
  { building, chosen, places, span, shift, query, until, now }: Drawn,
): Promise<Plot> {
  const { building_id } = building
  const points = chosen.map(({ point }) => point)
  const before = { from: span.from - shift, to: span.to - shift }
  const [values, earlier, visits = {}] = await Promise.all([
    readPointValues(context, points, span, BUCKETS),
    shift > 0 ? readPointValues(context, points, before, BUCKETS) : [],
    context.priority?.snapshots(building_id, { ...span, point_ids: points.map(({ point_id }) => point_id) }),
  ])
  const episodes = [...places]
    .flatMap(equipment_id => episodesOf(context, { building_id, equipment_id }, span))
    .map(({ finding }) => finding)
    .filter(({ suppressed_by }) => suppressed_by === undefined)
  const labelled = values.map((value, i) => ({ value, label: chosen[i]!.label }))
  const mark = query.compare && COMPARE[query.compare].mark
  const moved = earlier.map((value, i) => ({
    value: { ...value, buckets: { ...value.buckets, from: value.buckets.from + shift } },
    label: `${chosen[i]!.label} ${mark}`,
  }))
  return pointsPlot({ building, values: labelled, earlier: moved, episodes, visits, span, now, until })
}

/** @returns ms between an instant and the same wall clock so many days before */
const shiftOf = (ms: number, days: number, timezone: string): number =>
  days * DAY + offsetAt(ms - days * DAY, timezone) - offsetAt(ms, timezone)

/** The role where it is the only one on the plot, else the point's own name. */
const labelOf = ({ role, name, point_id }: Point, all: Point[]): string =>
  role !== undefined && all.every(other => other.point_id === point_id || other.role !== role) ? role : name

/** @throws Problem bad_request that names the end which is no time, or says what is wrong with the span */
function spanOf({ from, to, days }: TrendsQuery & { days: number }, timezone: string, until: number): Span {
  if (from === undefined && to === undefined) return { from: until - days * DAY, to: until + 1 }
  const end = to === undefined ? until + 1 : localInstant('to', to, timezone)
  const start = from === undefined ? end - days * DAY : localInstant('from', from, timezone)
  if (end - start < SPAN_MIN) throw new Problem('bad_request', 'The time ends before it begins, or is shorter than two minutes')
  if (end - start > SPAN_MAX) throw new Problem('bad_request', 'The time is longer than five years')
  return { from: start, to: end }
}

/** An instant in UTC, as zooming writes it, or the wall clock of the building; of an hour that the clock repeats the first, of one that it skips the next. */
function localInstant(name: string, text: string, timezone: string): number {
  if (text.endsWith('Z')) return readInstant(name, text)
  const [, year, month, day, hour, minute] = (LOCAL.exec(text) ?? []).map(Number)
  const wall = Date.UTC(year!, month! - 1, day, hour, minute)
  if (Number.isNaN(wall)) throw new Problem('bad_request', `${name} is no time such as 2026-11-20T14:00`)
  const [first] = instantsOf(wall, timezone)
  return first ?? wall - offsetAt(wall - DAY, timezone)
}
