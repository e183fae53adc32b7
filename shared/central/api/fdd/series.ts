import { Type } from '@sinclair/typebox'
import { ID } from '#shared/core/model/model.ts'
import { needRule } from '#shared/core/lookup.ts'
import { Problem } from '#shared/core/problem.ts'
import { nearestRoles, ROLES } from '#shared/core/model/role.ts'
import { formatInstant, SECOND } from '#shared/core/time.ts'
import { SERIES_POINTS_MAX, type ReadSeries, readSeries, type SeriesRequest, type Stretch } from '#shared/flow/read-series.ts'
import { oneOf, route, type Route, strict } from '#shared/node/http/route.ts'
import type { CentralParts } from '#shared/central/context.ts'
import { csvLine } from '#shared/core/csv/write-csv.ts'
import { SERIES_ANSWER } from '#shared/central/api/schemas/record-schemas.ts'
import { instantOrNull, readInstant } from '#shared/central/api/record-views.ts'

/** Buckets of a plot twice as wide as a large screen. */
const MAX_POINTS_DEFAULT = 2000
const MAX_POINTS = 20_000
const CSV_DISPOSITION = 'attachment; filename="series.csv"'

export const seriesRoutes = (context: CentralParts): Route[] => [
  route({
    method: 'GET',
    path: '/api/fdd/series',
    auth: 'viewer',
    summary: 'History of points, of roles, or of what a rule reads: the full span unless told otherwise; JSON or CSV',
    answers: ['application/json', 'text/csv'],
    query: strict({
      building_id: ID,
      equipment_id: Type.Optional(ID),
      point_id: Type.Optional(ID),
      point_ids: Type.Optional(Type.String({ maxLength: 7000, description: 'points of any equipment, by comma' })),
      roles: Type.Optional(Type.String({ maxLength: 4000, description: 'role names, by comma' })),
      rule_id: Type.Optional(ID),
      from: Type.Optional(Type.String({ maxLength: 40 })),
      to: Type.Optional(Type.String({ maxLength: 40 })),
      format: Type.Optional(oneOf(['json', 'csv'])),
      max_points: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_POINTS, default: MAX_POINTS_DEFAULT })),
    }),
    reply: SERIES_ANSWER,
    problems: ['unknown_building', 'unknown_equipment', 'unknown_point', 'unknown_rule', 'invalid', 'query_failed'],
    handle: async ({ query, request, reply }) => {
      const { building_id, max_points: maxPoints = MAX_POINTS_DEFAULT } = query
      const from = readInstant('from', query.from)
      const to = readInstant('to', query.to)
      const select = await selectionOf(query, context)
      const span = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
      const found = await readSeries({ building_id, select, maxPoints, ...span }, context)
      const isCsv = query.format === 'csv' || (query.format === undefined && request.headers.accept?.includes('text/csv'))
      if (isCsv) return reply.type('text/csv; charset=utf-8').header('content-disposition', CSV_DISPOSITION).send(toCsv(found))
      return {
        ok: true,
        building_id,
        ...(query.equipment_id !== undefined && { equipment_id: query.equipment_id }),
        ...toJson(found),
      }
    },
  }),
]

type Selection = { equipment_id?: string; point_id?: string; point_ids?: string; roles?: string; rule_id?: string }

/** @throws Problem bad_request unless exactly one is given, and the equipment where it needs one; unknown_rule */
async function selectionOf(given: Selection, { rules }: CentralParts): Promise<SeriesRequest['select']> {
  const { equipment_id, point_id, point_ids, roles, rule_id } = given
  if ([point_id, point_ids, roles, rule_id].filter(one => one !== undefined).length !== 1)
    throw new Problem('bad_request', 'Give one of point_id, point_ids, roles and rule_id')
  if (point_ids !== undefined) return { point_ids: readPointIds(point_ids) }
  if (equipment_id === undefined)
    throw new Problem('bad_request', 'Give the equipment_id as well', [{ pointer: '/equipment_id', message: 'is missing' }])
  if (point_id !== undefined) return { equipment_id, point_id }
  if (rule_id === undefined) return { equipment_id, roles: readRoles(roles!) }
  const rule = needRule((await rules.catalogue()).byId, rule_id)
  return { equipment_id, roles: [...Object.keys(rule.roles), ...Object.keys(rule.optional)], rule_id }
}

/** @throws Problem bad_request for more points than one request may ask for */
function readPointIds(text: string): string[] {
  const point_ids = [...new Set(text.split(',').filter(Boolean))]
  if (point_ids.length === 0 || point_ids.length > SERIES_POINTS_MAX)
    throw new Problem('bad_request', `point_ids names 1 to ${SERIES_POINTS_MAX} points`, [
      { pointer: '/point_ids', message: `names ${point_ids.length} points` },
    ])
  return point_ids
}

/** @throws Problem bad_request that names every word which is no role */
function readRoles(text: string): string[] {
  const roles = [...new Set(text.split(',').map(role => role.trim()))]
  const errors = roles
    .filter(role => !ROLES[role])
    .map(role => ({
      pointer: '/roles',
      message: `${role || 'an empty name'} is no role`,
      hint: `nearest are ${nearestRoles(role).join(', ')}`,
    }))
  if (roles.length > SERIES_POINTS_MAX)
    errors.push({ pointer: '/roles', message: `more than ${SERIES_POINTS_MAX} roles`, hint: 'ask in parts' })
  if (errors.length > 0) throw new Problem('bad_request', errors[0]!.message, errors)
  return roles
}

const stretch = ({ from, to }: Stretch) => ({ from: formatInstant(from), to: formatInstant(to) })

function toJson({ from, to, downsampled, step, missing_roles, series, faults, overrides }: ReadSeries) {
  return {
    from: formatInstant(from),
    to: formatInstant(to),
    downsampled,
    ...(step !== undefined && { step_secs: step / SECOND }),
    missing_roles,
    series: series.map(({ point: { point_id, name, role, unit, states }, points, no_data }) => ({
      point_id,
      name,
      role: role ?? null,
      unit,
      ...(states && { states }),
      points: points.map(({ t, ...values }) => ({ t: formatInstant(t), ...values })),
      no_data: no_data.map(stretch),
    })),
    faults: faults.map(one => {
      const { finding_id, rule_id, severity } = one
      return { finding_id, rule_id, severity, from: formatInstant(one.from), to: instantOrNull(one.to) }
    }),
    no_data: common(series.map(({ no_data }) => no_data)).map(stretch),
    overrides: overrides.map(({ point_id, slot, value, ...span }) => ({
      point_id,
      ...stretch(span),
      slot,
      value: Number.isNaN(value) ? null : value,
    })),
  }
}

/** Stretches in which no point has data. */
function common(lists: Stretch[][]): Stretch[] {
  const [first = [], ...rest] = lists
  return rest.reduce(
    (left, right) =>
      left.flatMap(a =>
        right.flatMap(b => {
          const [from, to] = [Math.max(a.from, b.from), Math.min(a.to, b.to)]
          return from < to ? [{ from, to }] : []
        }),
      ),
    first,
  )
}

/** One line for each value or bucket, in the point's own unit. */
function toCsv({ series }: ReadSeries): string {
  const lines = series.flatMap(({ point: { point_id, role = '', unit }, points }) =>
    points
      .filter(({ mean }) => mean !== null)
      .map(({ t, min, max, mean, last }) => csvLine([formatInstant(t), point_id, role, unit, min, max, mean, last])),
  )
  return [csvLine(['timestamp_utc', 'point_id', 'role', 'unit', 'min', 'max', 'mean', 'last']), ...lines].join('')
}
