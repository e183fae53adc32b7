/** History as a small table: at most a few hundred buckets, one column for each point, units in the head. */
import { Type } from '@sinclair/typebox'
import { type Building, ID } from '#shared/core/model/model.ts'
import { parseInstant, formatDuration, SECOND } from '#shared/core/time.ts'
import { formatFigure, formatValue, measureOf } from '#shared/central/ui/measure.ts'
import { strict } from '#shared/node/http/route.ts'
import { CentralError } from '../central-client.ts'
import { ANSWER_BYTES_MAX, bytesOf, cell, clip, localInstant, table } from '../answer-text.ts'
import { BUILDING_INPUT, EQUIPMENT_INPUT, INSTANT, readBuilding, tool } from '../tool.ts'

const ROWS_DEFAULT = 48
/** A table of more rows is for a plot and not for a reader. */
const ROWS_MAX = 200
/** Overrides and faults that are named below the table. */
const SPANS_MAX = 20

type Bucket = { t: string; min: number | null; max: number | null; mean: number | null; last: number | null }
type Column = { point_id: string; name: string; role: string | null; unit: string; points: Bucket[] }
export type SeriesReply = {
  from: string
  to: string
  downsampled: boolean
  step_secs?: number
  missing_roles: string[]
  series: Column[]
  faults: { finding_id: string; rule_id: string; from: string; to: string | null }[]
  no_data: { from: string; to: string }[]
  overrides: OverrideSpan[]
}
type OverrideSpan = { point_id: string; from: string; to: string; slot: number; value: number | null }

export const readSeriesTool = tool({
  name: 'read_series',
  title: 'History as a table',
  effect: 'reads',
  description:
    'History of one point, of some roles of an equipment, or of everything a rule reads, as a small table in units of the building. A long span becomes buckets: the mean, with the lowest and highest in brackets. Below stand gaps, faults and overrides of that time. Give exactly one of point_id, roles and rule_id.',
  input: strict({
    building_id: BUILDING_INPUT,
    equipment_id: EQUIPMENT_INPUT,
    point_id: Type.Optional(Type.String({ ...ID, description: 'of list_points' })),
    roles: Type.Optional(Type.String({ maxLength: 1000, description: 'role names by comma, such as sa_t,sa_t_sp' })),
    rule_id: Type.Optional(Type.String({ ...ID, description: 'of list_rules: everything that this rule reads' })),
    from: Type.Optional(INSTANT),
    to: Type.Optional(INSTANT),
    rows: Type.Optional(Type.Integer({ minimum: 1, maximum: ROWS_MAX, description: `${ROWS_DEFAULT} unless told otherwise` })),
  }),
  async answer({ rows = ROWS_DEFAULT, ...query }, client) {
    const given = [query.point_id, query.roles, query.rule_id].filter(one => one !== undefined)
    if (given.length !== 1) throw new CentralError('bad_request', 'Give exactly one of point_id, roles and rule_id')
    const place = await readBuilding(client, query.building_id)
    let asked = rows
    for (;;) {
      const reply = await client.get<SeriesReply>('/api/fdd/series', { ...query, max_points: asked })
      const text = seriesText(reply, place)
      if (bytesOf(text) <= ANSWER_BYTES_MAX || asked <= 2) return clip(text, 'ask for fewer roles or rows')
      asked = Math.max(2, Math.floor((asked * ANSWER_BYTES_MAX) / bytesOf(text) / 1.1))
    }
  },
})

function seriesText(reply: SeriesReply, place: Building): string {
  const { from, to, downsampled, step_secs = 0, series, missing_roles } = reply
  const at = (instant: string) => localInstant(instant, place.timezone)
  const parts = [
    `From ${at(from)} to ${at(to)} (${place.timezone}), ${downsampled ? `means of ${formatDuration(step_secs * SECOND)} with lowest and highest` : 'every sample'}.`,
    missing_roles.length > 0 && `No point has the role ${missing_roles.join(', ')}.`,
    series.every(({ points }) => points.length === 0) ? 'No history is kept of this time.' : tableText(reply, place),
    spansText(
      'Without data',
      reply.no_data.map(one => `${at(one.from)} to ${at(one.to)}`),
    ),
    spansText(
      'Faults of this time',
      reply.faults.map(one => `${one.finding_id} (${one.rule_id}), ${at(one.from)} to ${one.to === null ? 'now' : at(one.to)}`),
    ),
    overridesText(reply, place),
  ]
  return parts.filter(Boolean).join('\n\n')
}

function tableText({ series }: SeriesReply, place: Building): string {
  const columns = series.map(column => ({ ...column, by: new Map(column.points.map(one => [one.t, one])) }))
  const instants = [...new Set(series.flatMap(({ points }) => points.map(({ t }) => t)))].toSorted(
    (a, b) => parseInstant(a)! - parseInstant(b)!,
  )
  const heads = columns.map(({ name, role, unit }) => {
    const { label } = measureOf(unit, place.unit_system, role ?? '')
    return `${cell(role ?? name, 60)}${label && ` ${label}`}`
  })
  const rows = instants.map(t => [
    localInstant(t, place.timezone),
    ...columns.map(column => bucketText(column.by.get(t), column, place)),
  ])
  return table(['time', ...heads], rows)
}

function bucketText(bucket: Bucket | undefined, { unit, role }: Column, { unit_system }: Building): string {
  if (!bucket || bucket.mean === null) return '–'
  const measure = measureOf(unit, unit_system, role ?? '')
  const [mean, min, max] = [bucket.mean, bucket.min, bucket.max].map(value => formatFigure(value, measure))
  return min === max ? mean! : `${mean} (${min} to ${max})`
}

/** @returns overrides that visits saw, newest last; empty where none was */
export function overridesText({ overrides, series }: Pick<SeriesReply, 'overrides' | 'series'>, place: Building): string {
  const columns = new Map(series.map(column => [column.point_id, column]))
  const lines = overrides.map(({ point_id, from, to, slot, value }) => {
    const { role = null, unit = 'count' } = columns.get(point_id) ?? {}
    const measure = measureOf(unit, place.unit_system, role ?? '')
    return `${role ?? point_id} held at ${formatValue(value, measure)} by priority ${slot}, seen from ${localInstant(from, place.timezone)} to ${localInstant(to, place.timezone)}`
  })
  return spansText('Overrides seen in this time', lines)
}

function spansText(title: string, lines: string[]): string {
  if (lines.length === 0) return ''
  const more = lines.length > SPANS_MAX ? [`and ${lines.length - SPANS_MAX} more`] : []
  return [`${title}:`, ...lines.slice(0, SPANS_MAX).map(line => `- ${line}`), ...more].join('\n')
}
