/** Gathers what the page of trends shows: the chosen points over the chosen time, and points that could be added. */
import { chooseBuilding, refuseUnknownEquipment } from '#shared/core/lookup.ts'
import type { Building, Equipment, Point } from '#shared/core/model/model.ts'
import type { SearchEntry } from '#shared/core/search/search-index.ts'
import type { SavedTrend } from '#shared/core/series/saved-trend.ts'
import { endedAt, type Span } from '#shared/core/series/spans.ts'
import { DAY } from '#shared/core/time.ts'
import { offsetAt } from '#shared/core/time-zone.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { chosenPoints, chosenSpan } from '#shared/central/trend-choice.ts'
import { dataEnds } from '#shared/central/pages/data-freshness.ts'
import { episodesOf, type EquipmentStores } from '#shared/central/pages/equipment/equipment-model.ts'
import { readPointValues } from '#shared/central/pages/equipment/point-values.ts'
import { pointsPlot } from '#shared/central/pages/equipment/points-plot.ts'
import { type PointTree, pointTree } from './point-tree.ts'
import type { Here } from '#shared/central/ui/moment.ts'
import type { Plot } from '#shared/central/ui/plot.ts'
import { type LineName, roleName } from '#shared/central/ui/plot-trace.ts'
import { COMPARE, TREND_DAYS, type TrendsQuery } from '#shared/central/ui/trends-link.ts'

export type TrendsContext = EquipmentStores & Pick<CentralContext, 'search' | 'savedTrends'>
export type TrendsModel = {
  here: Here
  query: TrendsQuery & { building: string; days: number }
  building: Building
  buildings: Building[]
  span: Span
  /** How much earlier what is compared was, ms: the same wall clock of the building at the end of the time; 0 without. */
  shift: number
  /** The chosen points in their order, each with its name on the plot. */
  chosen: { point: Point; name: LineName; equipment: Equipment | undefined; ended_at?: number | undefined }[]
  /** Undefined while no point is chosen. */
  plot: Plot | undefined
  /** Other points of the chosen points' equipment. */
  siblings: Point[]
  /** Points that the search found; undefined while nobody searches. */
  found: SearchEntry[] | undefined
  tree: PointTree
  saved: SavedRow[]
  /** The view that was just deleted. */
  removed?: SavedTrend | undefined
}
/** A saved view, without the points that no longer exist. */
export type SavedRow = {
  trend: SavedTrend
  building: Building | undefined
  gone: number
  /** A time that stays; undefined for the last days. */
  fixed: Span | undefined
}

/** About one bucket for each two pixels of the wide plot. */
const BUCKETS = 480
const FOUND_MAX = 30
const SIBLINGS_MAX = 60

/** @throws Problem unknown_building, unknown_equipment, unknown_point, or bad_request for an impossible time or too many points */
export async function trendsModel(context: TrendsContext, asked: TrendsQuery, at: Here): Promise<TrendsModel> {
  const { model } = context
  const building = chooseBuilding(model, asked.building)
  const { building_id, timezone } = building
  const here = { ...at, timezone }
  const query = { ...asked, building: building_id, days: asked.days ?? TREND_DAYS[0] }
  const equipment = new Map(model.equipment(building_id).map(one => [one.equipment_id, one]))
  refuseUnknownEquipment(building_id, [...equipment.values()], asked.of === undefined ? [] : [asked.of])
  const points = model.points(building_id)
  const picked = chosenPoints(points, query)
  const until = dataEnds(context, [building_id], here.now).get(building_id) ?? here.now
  const span = chosenSpan(query, timezone, until)
  const shift = asked.compare ? shiftOf(span.to, COMPARE[asked.compare].days, timezone) : 0
  const chosen = picked.map(point => ({
    point,
    name: nameOf(point, picked),
    equipment: point.equipment_id === undefined ? undefined : equipment.get(point.equipment_id),
  }))
  const places = new Set(picked.flatMap(({ equipment_id }) => equipment_id ?? []))
  const siblings = points.filter(one => places.has(one.equipment_id ?? '') && !asked.points.includes(one.point_id) && !one.gone)
  const q = asked.q?.trim()
  const found = q ? (await context.search.find({ query: q, kind: 'point', building_id, limit: FOUND_MAX })).hits : undefined
  const drawn =
    picked.length > 0
      ? await plotOf(context, { ...{ building, chosen, places, span, shift, until }, query, now: here.now })
      : undefined
  return {
    here,
    query,
    building,
    buildings: model.buildings(),
    span,
    shift,
    chosen: chosen.map((one, i) => ({ ...one, ended_at: drawn?.ends[i] })),
    plot: drawn?.plot,
    siblings: siblings.slice(0, SIBLINGS_MAX),
    found,
    tree: pointTree(model.equipment(building_id), points, asked.of),
    saved: savedRows(context, { building_id, now: here.now }),
  }
}

/** Those of the building that is shown come first. */
function savedRows(
  { savedTrends, model }: Pick<TrendsContext, 'savedTrends' | 'model'>,
  { building_id, now }: { building_id: string; now: number },
): SavedRow[] {
  const rows = savedTrends.list().map((saved): SavedRow => {
    const known = new Set(model.points(saved.building_id).map(({ point_id }) => point_id))
    const point_ids = saved.point_ids.filter(id => known.has(id))
    const gone = saved.point_ids.length - point_ids.length
    const building = model.building(saved.building_id)
    const { span } = saved
    const fixed = building && 'from' in span ? chosenSpan({ ...span, days: 1 }, building.timezone, now) : undefined
    return { trend: { ...saved, point_ids }, building, gone, fixed }
  })
  const isHere = ({ trend }: SavedRow) => trend.building_id === building_id
  return [...rows.filter(isHere), ...rows.filter(row => !isHere(row))]
}

type Drawn = Pick<TrendsModel, 'building' | 'chosen' | 'span' | 'shift' | 'query'> & {
  places: ReadonlySet<string>
  until: number
  now: number
}

async function plotOf(
  context: TrendsContext,
  { building, chosen, places, span, shift, query, until, now }: Drawn,
): Promise<{ plot: Plot; ends: (number | undefined)[] }> {
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
  const labelled = values.map((value, i) => ({ value, name: chosen[i]!.name }))
  const mark = query.compare && COMPARE[query.compare].mark
  const moved = earlier.map((value, i) => ({
    value: { ...value, buckets: { ...value.buckets, from: value.buckets.from + shift } },
    name: { words: `${chosen[i]!.name.words} ${mark}` },
  }))
  return {
    plot: pointsPlot({ building, values: labelled, earlier: moved, episodes, visits, span, now, until }),
    ends: values.map(({ at, nominalMs }) => endedAt(at, nominalMs, until)),
  }
}

/** @returns ms between an instant and the same wall clock so many days before */
const shiftOf = (ms: number, days: number, timezone: string): number =>
  days * DAY + offsetAt(ms - days * DAY, timezone) - offsetAt(ms, timezone)

/** The role where it is the only one on the plot, else the point's own name. */
const nameOf = ({ role, name, point_id }: Point, all: Point[]): LineName =>
  role !== undefined && all.every(other => other.point_id === point_id || other.role !== role) ? roleName(role) : { words: name }
