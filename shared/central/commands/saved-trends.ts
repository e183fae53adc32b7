/** Commands on views of trends that are saved with a name, which the page and the API both call. */
import { randomUUID } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import { needBuilding } from '#shared/core/lookup.ts'
import { ID } from '#shared/core/model/model.ts'
import { Problem } from '#shared/core/problem.ts'
import type { SavedTrend, TrendSpan } from '#shared/core/series/saved-trend.ts'
import { oneOf } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { chosenPoints, chosenSpan } from '#shared/central/trend-choice.ts'
import { TRACES_MAX } from '#shared/central/ui/plot.ts'
import { COMPARE, type Compare, TREND_DAYS } from '#shared/central/ui/trends-link.ts'
import { type Actor, invalidField } from './command.ts'

/** Views of one workspace: the page lists them all. */
const TRENDS_MAX = 200
export const TREND_NAME = Type.String({ minLength: 1, maxLength: 100 })
export const COMPARE_NAME = oneOf(Object.keys(COMPARE) as Compare[])
/** An instant in UTC, or a wall clock of the building. */
export const TREND_TIME = Type.String({ maxLength: 40 })
const TREND_POINTS = Type.Array(ID, { minItems: 1, maxItems: TRACES_MAX, uniqueItems: true })
/** What a view holds; `days`, or `from` and `to`. */
export const NEW_TREND = {
  building_id: ID,
  name: TREND_NAME,
  point_ids: TREND_POINTS,
  days: Type.Optional(Type.Unsafe<(typeof TREND_DAYS)[number]>({ type: 'integer', enum: [...TREND_DAYS] })),
  from: Type.Optional(TREND_TIME),
  to: Type.Optional(TREND_TIME),
  compare: Type.Optional(COMPARE_NAME),
}
type NewTrend = Pick<SavedTrend, 'building_id' | 'name' | 'point_ids' | 'compare'> & { days?: number; from?: string; to?: string }

type Context = Pick<CentralContext, 'savedTrends' | 'model' | 'clock'>

/** @throws Problem not_found */
function needTrend({ savedTrends }: Pick<Context, 'savedTrends'>, trend_id: string): SavedTrend {
  const trend = savedTrends.get(trend_id)
  if (!trend) throw new Problem('not_found', `There is no saved view ${trend_id}`)
  return trend
}

/**
 * Saves a view, for everyone who may read this workspace.
 *
 * @throws Problem unknown_building, unknown_point, bad_request for a time that cannot be shown, invalid that names the field, and
 *   conflict for a name that the building has, or beyond `TRENDS_MAX`
 */
export function saveTrend(context: Context, { caller, audit }: Actor, given: NewTrend): SavedTrend {
  const { savedTrends, model, clock } = context
  const { building_id, point_ids, compare } = given
  const { timezone } = needBuilding(model, building_id)
  chosenPoints(model.points(building_id), { building: building_id, points: point_ids, compare })
  const span = spanOf(given)
  chosenSpan('days' in span ? span : { ...span, days: TREND_DAYS[0] }, timezone, clock.now())
  const name = freeName(context, { building_id, name: given.name })
  needRoom(context)
  const made = { created_by: caller!.subject, created_at: clock.now() }
  const trend: SavedTrend = { trend_id: randomUUID(), building_id, name, point_ids, span, ...(compare && { compare }), ...made }
  savedTrends.put(trend)
  audit({ subject: name, building_id, after: trend })
  return trend
}

/** @throws Problem not_found, invalid for a blank name, conflict for one that the building has */
export function renameTrend(context: Context, { audit }: Actor, trend_id: string, name: string): SavedTrend {
  const before = needTrend(context, trend_id)
  const after = { ...before, name: freeName(context, { ...before, name }) }
  context.savedTrends.put(after)
  audit({ subject: after.name, building_id: before.building_id, before: { name: before.name }, after: { name: after.name } })
  return after
}

/** @throws Problem not_found */
export function removeTrend(context: Context, { audit }: Actor, trend_id: string): void {
  const before = needTrend(context, trend_id)
  context.savedTrends.remove(trend_id, context.clock.now())
  audit({ subject: before.name, building_id: before.building_id, before })
}

/**
 * Lists a deleted view again, as it was.
 *
 * @throws Problem not_found, and conflict where the building has its name meanwhile, or beyond `TRENDS_MAX`
 */
export function restoreTrend(context: Context, { audit }: Actor, trend_id: string): SavedTrend {
  const trend = context.savedTrends.removed(trend_id)
  if (!trend) throw new Problem('not_found', `There is no deleted view ${trend_id}`)
  freeName(context, trend)
  needRoom(context)
  context.savedTrends.put(trend)
  audit({ subject: trend.name, building_id: trend.building_id, after: trend })
  return trend
}

/** @throws Problem conflict */
function needRoom({ savedTrends }: Context): void {
  if (savedTrends.list().length >= TRENDS_MAX)
    throw new Problem('conflict', `There are ${TRENDS_MAX} saved views; delete one first`)
}

/** @returns the last days unless a time is given. @throws Problem invalid where it is both, or half a time */
function spanOf({ days, from, to }: NewTrend): TrendSpan {
  if (from === undefined && to === undefined) return { days: days ?? TREND_DAYS[0] }
  if (days !== undefined) throw invalidField('days', 'give either days, or from and to')
  if (from === undefined || to === undefined) throw invalidField(from === undefined ? 'from' : 'to', 'give from and to together')
  return { from, to }
}

/** @returns the name without blanks around it */
function freeName({ savedTrends }: Context, { building_id, trend_id, name }: Partial<SavedTrend> & { name: string }): string {
  const trimmed = name.trim()
  if (trimmed === '') throw invalidField('name', 'Give the view a name')
  const same = savedTrends.list().find(one => one.building_id === building_id && one.name.toLowerCase() === trimmed.toLowerCase())
  if (same && same.trend_id !== trend_id) throw new Problem('conflict', `This building has a saved view ${same.name} already`)
  return trimmed
}
