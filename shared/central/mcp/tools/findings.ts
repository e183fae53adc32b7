/** Findings: the list, and one of them explained as its page explains it. */
import { Type } from '@sinclair/typebox'
import type { Building, Equipment } from '#shared/core/model/model.ts'
import { ID } from '#shared/core/model/model.ts'
import type { RuleResult } from '#shared/core/findings/finding.ts'
import { formatDuration, SECOND } from '#shared/core/time.ts'
import { inUnitsOf } from '#shared/central/ui/measure-text.ts'
import { type CentralClient, segment } from '../central-client.ts'
import { cell, clip, localInstant, pageText, table } from '../answer-text.ts'
import { BUILDING_INPUT, EQUIPMENT_INPUT, INSTANT, LIST, rowLimit, readBuilding, readBuildings, tool } from '../tool.ts'
import { explanationText } from './explanation.ts'
import type { FindingReply, RuleReply } from './replies.ts'
import { strict } from '#shared/node/http/route.ts'

type FindingPage = { findings: FindingReply[]; next_cursor?: string }

/** Other episodes of the same fault, and faults beside it, that an explanation lists. */
const OTHERS_MAX = 10

export const listFindingsTool = tool({
  name: 'list_findings',
  title: 'Faults found',
  effect: 'reads',
  description:
    'Faults and other findings of the rules, newest first: where, since when, how long, how urgent (severity 1 is the most urgent) and one sentence of evidence. state "active" is what is wrong now. from and to keep what overlaps that time.',
  input: strict({
    building_id: Type.Optional(BUILDING_INPUT),
    equipment_id: Type.Optional(EQUIPMENT_INPUT),
    rule_id: Type.Optional(ID),
    state: Type.Optional(Type.Union([Type.Literal('active'), Type.Literal('cleared')])),
    from: Type.Optional(INSTANT),
    to: Type.Optional(INSTANT),
    ...LIST,
  }),
  async answer({ limit, cursor, ...filter }, client) {
    const places = new Map((await readBuildings(client)).map(one => [one.building_id, one]))
    const fetch = async (count: number) => {
      const { findings, next_cursor } = await client.get<FindingPage>('/api/fdd/findings', { ...filter, limit: count, cursor })
      return { items: findings, next_cursor }
    }
    return pageText(fetch, items => findingsText(items, places), rowLimit({ limit }))
  },
})

const COLUMNS = [
  'finding_id',
  'building_id',
  'equipment_id',
  'fault',
  'severity',
  'state',
  'since',
  'until',
  'time in fault',
  'evidence',
]

/** @returns a table of findings, times in the zone of each building */
function findingsText(findings: FindingReply[], places: ReadonlyMap<string, Building>): string {
  if (findings.length === 0) return 'No finding fits.'
  return table(
    COLUMNS,
    findings.map(one => {
      const { timezone, unit_system } = places.get(one.building_id) ?? { timezone: 'UTC', unit_system: 'si' as const }
      return [
        one.finding_id,
        one.building_id,
        one.equipment_id,
        cell(one.role === undefined ? one.title : `${one.title}: ${one.role}`),
        String(one.severity),
        stateText(one),
        localInstant(one.from, timezone),
        one.to === null ? 'now' : localInstant(one.to, timezone),
        formatDuration(one.duration_secs * SECOND),
        cell(inUnitsOf(one.evidence.sentence, unit_system, Object.keys(one.evidence.inputs))),
      ]
    }),
  )
}

function stateText({ state, urgency, ack, suppressed_by, snoozed_until, snooze_scope, not_a_fault }: FindingReply): string {
  const more = [
    urgency === 'urgent' && 'urgent',
    ack === 'acked' && 'acknowledged',
    suppressed_by !== undefined && `explained by ${suppressed_by}`,
    snoozed_until !== undefined && `snoozed${snooze_scope === 'episode' ? '' : ` with its ${snooze_scope}`}`,
    not_a_fault !== undefined && 'marked as no fault',
  ]
  return [state, ...more.filter(Boolean)].join(', ')
}

export const explainFindingTool = tool({
  name: 'explain_finding',
  title: 'Why a fault is flagged',
  effect: 'reads',
  description:
    'One finding explained: the sentence, since when, the condition term by term with the values of the worst moment, thresholds and who set them, baselines, likely cause, cost with its assumptions, what explains it or is explained by it, its other episodes, and how good the data is.',
  input: strict({ finding_id: Type.String({ ...ID, description: 'of list_findings' }) }),
  async answer({ finding_id }, client) {
    const { finding } = await client.get<{ finding: FindingReply }>(`/api/fdd/findings/${segment(finding_id)}`)
    const { building_id, equipment_id, rule_id } = finding
    const of = { building_id, equipment_id }
    const [place, { equipment }, rule, { results }, { findings: episodes }, beside] = await Promise.all([
      readBuilding(client, building_id),
      client.get<{ equipment: Equipment[] }>('/api/model/equipment', { building_id, limit: 1000 }),
      readRule(client, rule_id),
      client.get<{ results: (RuleResult & { finished_at: string })[] }>('/api/fdd/results', { ...of, rule_id }),
      client.get<FindingPage>('/api/fdd/findings', { ...of, rule_id, limit: OTHERS_MAX + 1 }),
      client.get<FindingPage>('/api/fdd/findings', {
        building_id,
        from: finding.from,
        ...(finding.to !== null && { to: finding.to }),
        limit: 200,
      }),
    ])
    const near = namesNear(equipment_id, equipment)
    const others = beside.findings.filter(one => one.rule_id !== rule_id && near.has(one.equipment_id))
    return clip(
      explanationText({
        finding,
        place,
        equipment: equipment.find(one => one.equipment_id === equipment_id),
        rule,
        result: results[0],
        episodes: episodes.filter(one => one.finding_id !== finding_id).slice(0, OTHERS_MAX),
        others: others.slice(0, OTHERS_MAX),
      }),
    )
  },
})

/** A rule that is gone explains nothing, and its findings stay. */
const readRule = (client: CentralClient, rule_id: string): Promise<RuleReply | undefined> =>
  client
    .get<{ rule: RuleReply }>(`/api/fdd-rules/${segment(rule_id)}`)
    .then(({ rule }) => rule)
    .catch(error => {
      if (error.code === 'unknown_rule') return undefined
      throw error
    })

/** The equipment itself, what stands above it, and what it feeds. */
function namesNear(equipment_id: string, equipment: Equipment[]): Set<string> {
  const own = equipment.find(one => one.equipment_id === equipment_id)
  const above = equipment.filter(one => one.equipment_id === own?.parent_id || one.feeds?.includes(equipment_id))
  const below = equipment.filter(one => one.parent_id === equipment_id)
  return new Set([equipment_id, ...(own?.feeds ?? []), ...[...above, ...below].map(one => one.equipment_id)])
}
