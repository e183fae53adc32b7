/** Changes around a fault: findings, thresholds, rules and overrides. */
import { Type } from '@sinclair/typebox'
import type { ListedSetting } from '#shared/flow/fdd/tune-param.ts'
import { formatInstant, DAY, parseInstant } from '#shared/core/time.ts'
import { strict } from '#shared/node/http/route.ts'
import { type CentralClient, CentralError } from '../central-client.ts'
import type { Building } from '#shared/core/model/model.ts'
import { cell, clip, localInstant } from '../answer-text.ts'
import { BUILDING_INPUT, EQUIPMENT_INPUT, INSTANT, readBuilding, tool, type Tool } from '../tool.ts'
import type { FindingReply, RuleReply } from './replies.ts'

type ChangesAsked = { place: Building; equipment_id: string | undefined; from: number; to: number }
/** Lines about overrides of a time; the products know them in different places. */
export type OverrideSource = (client: CentralClient, asked: ChangesAsked) => Promise<string[]>

/** A time without an end is looked at for so long. */
const SPAN = DAY
/** Lines of one kind. */
const LINES_MAX = 40
/** Findings that overlap the time and are looked through. */
const FINDINGS_MAX = 500

/** @param overridesOf where this product knows overrides from */
export const whatChanged = (overridesOf: OverrideSource): Tool =>
  tool({
    name: 'what_changed',
    title: 'What changed in a time',
    effect: 'reads',
    description:
      'What changed in a building around an instant: findings that began or ended, thresholds that people set, rules switched on or off, overrides that visits saw. Without to it is the day from "from" on. Put "from" some hours before a fault began.',
    input: strict({
      building_id: BUILDING_INPUT,
      equipment_id: Type.Optional(EQUIPMENT_INPUT),
      from: INSTANT,
      to: Type.Optional(INSTANT),
    }),
    async answer({ building_id, equipment_id, from, to }, client) {
      const place = await readBuilding(client, building_id)
      const start = instantOf('from', from)
      const asked = { place, equipment_id, from: start, to: to === undefined ? start + SPAN : instantOf('to', to) }
      const [findings, settings, rules, overrides] = await Promise.all([
        findingLines(client, asked),
        settingLines(client, asked),
        ruleLines(client, asked),
        overridesOf(client, asked),
      ])
      const at = (ms: number) => localInstant(ms, place.timezone)
      return clip(
        [
          `${cell(place.name)}${equipment_id === undefined ? '' : `, ${equipment_id}`}, from ${at(asked.from)} to ${at(asked.to)} (${place.timezone}):`,
          section('Findings that began or ended', findings),
          section('Thresholds that were set', settings),
          section('Rules that were switched', rules),
          section('Overrides', overrides),
        ].join('\n\n'),
        'ask for a shorter time or one equipment',
      )
    },
  })

function instantOf(field: string, text: string): number {
  const ms = parseInstant(text)
  if (ms !== undefined) return ms
  throw new CentralError('bad_request', `${field} takes an instant with its offset, such as 2026-03-01T08:00:00-06:00`)
}

function section(title: string, lines: string[]): string {
  const more = lines.length > LINES_MAX ? [`- and ${lines.length - LINES_MAX} more`] : []
  return [
    `${title}: ${lines.length === 0 ? 'none' : ''}`.trimEnd(),
    ...lines.slice(0, LINES_MAX).map(line => `- ${line}`),
    ...more,
  ].join('\n')
}

const within = (instant: string, { from, to }: ChangesAsked): boolean => {
  const ms = parseInstant(instant)!
  return ms >= from && ms < to
}

async function findingLines(client: CentralClient, asked: ChangesAsked): Promise<string[]> {
  const { place, equipment_id, from, to } = asked
  const query = {
    building_id: place.building_id,
    equipment_id,
    from: formatInstant(from),
    to: formatInstant(to),
    limit: FINDINGS_MAX,
  }
  const { findings } = await client.get<{ findings: FindingReply[] }>('/api/fdd/findings', query)
  const events = findings.flatMap(one => {
    const words = `${cell(one.title)} on ${one.equipment_id} (${one.finding_id})`
    return [
      { at: one.from, text: `began: ${words}` },
      { at: one.to, text: `ended: ${words}` },
    ]
  })
  return events
    .filter((one): one is { at: string; text: string } => one.at !== null && within(one.at, asked))
    .toSorted((a, b) => parseInstant(a.at)! - parseInstant(b.at)!)
    .map(({ at, text }) => `${localInstant(at, place.timezone)} ${text}`)
}

type SettingReply = Omit<ListedSetting, 'changed_at'> & { changed_at: string }

async function settingLines(client: CentralClient, asked: ChangesAsked): Promise<string[]> {
  const { building_id, timezone } = asked.place
  const { settings } = await client.get<{ settings: SettingReply[] }>('/api/fdd/params', { building_id, limit: 1000 })
  return settings
    .filter(({ changed_at }) => within(changed_at, asked))
    .map(
      ({ changed_at, changed_by, rule_id, param, scope, scope_id, value, unit }) =>
        `${localInstant(changed_at, timezone)} ${cell(changed_by)} set ${param} of ${rule_id} to ${value} ${unit} for ${scope} ${scope_id}`,
    )
}

async function ruleLines(client: CentralClient, asked: ChangesAsked): Promise<string[]> {
  const { rules } = await client.get<{ rules: RuleReply[] }>('/api/fdd-rules', { limit: 1000 })
  return rules
    .filter(({ changed_at }) => changed_at !== undefined && within(changed_at, asked))
    .map(
      ({ id, active, changed_by, changed_at }) =>
        `${localInstant(changed_at, asked.place.timezone)} ${cell(changed_by)} switched ${id} ${active ? 'on' : 'off'}`,
    )
}
