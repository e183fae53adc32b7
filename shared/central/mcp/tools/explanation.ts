/** One finding in plain words, in the order in which a technician asks: what, since when, why, what causes it, what it costs. */
import type { SnoozeScope } from '#shared/core/findings/snooze.ts'
import type { Building, Equipment } from '#shared/core/model/model.ts'
import { roleOfColumn } from '#shared/core/priority/array-snapshot.ts'
import type { RuleResult } from '#shared/core/findings/finding.ts'
import { formatDuration, MINUTE, parseInstant, SECOND } from '#shared/core/time.ts'
import { aboutText, costText, CARRIER_WORDS, gapText, kindWords, rangeText } from '#shared/central/ui/cost-words.ts'
import { formatParam, roleWords } from '#shared/central/ui/measure.ts'
import { inputWords, inUnitsOf, shownParams, withValuesText } from '#shared/central/ui/measure-text.ts'
import { componentWords, REASON_WORDS, shareOf, SOURCE_WORDS, titleOf } from '#shared/central/ui/words.ts'
import { coldWords, valueWords } from '#shared/central/pages/settings/baseline-words.ts'
import { cell, localInstant } from '../answer-text.ts'
import type { FindingReply, RuleReply } from './replies.ts'

type Explained = {
  finding: FindingReply
  place: Building
  equipment: Equipment | undefined
  /** As it is installed now; undefined when it has gone. */
  rule: RuleReply | undefined
  /** Of the newest run. */
  result: (RuleResult & { finished_at: string }) | undefined
  /** Other episodes of the same fault, newest first. */
  episodes: FindingReply[]
  /** Other findings of the same time on this equipment and on what it is linked to. */
  others: FindingReply[]
}

/** Longest text of a note or a reason that people wrote. */
const NOTE_MAX = 1000

export function explanationText(explained: Explained): string {
  const parts = [
    headText(explained),
    conditionText(explained),
    thresholdText(explained),
    baselineText(explained),
    causeText(explained),
    costSectionText(explained),
    relationText(explained),
    dataText(explained),
  ]
  return parts.filter(Boolean).join('\n\n')
}

const SNOOZE_TEXTS: Record<SnoozeScope, string> = {
  episode: 'this episode only',
  fault: 'also its next episodes',
  equipment: 'all findings of the equipment',
  rule: 'this rule in the building',
}

function headText({ finding, place, equipment }: Explained): string {
  const { from, to, evidence, duration_secs, confirmed_at, severity, kind, rule_id, ack, note, not_a_fault, assignee } = finding
  const at = (instant: string | number) => localInstant(instant, place.timezone)
  const people = [
    `acknowledged: ${ack === 'acked' ? `yes${assignee ? `, ${cell(assignee)} looks after it` : ''}` : 'no'}`,
    note !== undefined && `note of a person: "${cell(note, NOTE_MAX)}"`,
    not_a_fault !== undefined && `marked as no fault, because: "${cell(not_a_fault, NOTE_MAX)}"`,
    finding.snoozed_until !== undefined &&
      `snoozed until ${at(finding.snoozed_until)} (${SNOOZE_TEXTS[finding.snooze_scope ?? 'episode']})${finding.snoozed_by === undefined ? '' : ` by ${cell(finding.snoozed_by)}`}${finding.snooze_reason === undefined ? '' : `, because: "${cell(finding.snooze_reason, NOTE_MAX)}"`}`,
    finding.ended && `ended ${at(finding.ended.at)} without being cured: ${finding.ended.why.replaceAll('_', ' ')}`,
  ]
  return [
    `${titleOf(finding)} – ${cell(equipment?.name ?? finding.equipment_id)} (${finding.equipment_id}) in ${cell(place.name)}`,
    inUnitsOf(evidence.sentence, place.unit_system, Object.keys(evidence.inputs)),
    `State: ${finding.state}. ${to === null ? `Since ${at(from)}` : `From ${at(from)} to ${at(to)}`}, in fault for ${formatDuration(duration_secs * SECOND)}, ${finding.hindsight ? 'found afterwards,' : 'confirmed'} ${at(confirmed_at)}.`,
    `Severity ${severity} of 4 (1 is the most urgent), kind ${kind}, rule ${rule_id}. Times are of ${place.timezone}.`,
    ...people.filter(line => typeof line === 'string').map(line => `${line[0]!.toUpperCase()}${line.slice(1)}.`),
  ].join('\n')
}

const HOLDS = { true: 'true', false: 'false', null: 'could not be evaluated' }

function conditionText({ finding, place, rule }: Explained): string {
  const evidence = { ...finding.evidence, params: shownParams(finding) }
  const { unit_system, timezone } = place
  if (finding.hindsight)
    return `The first days were compared with those from ${localInstant(finding.hindsight.normal_from, timezone)} on, as the rule compares a day with days before it.`
  const lets = Object.entries(rule?.lets ?? {}).map(([name, text]) => `  where ${name} is ${text}`)
  return [
    `Condition: ${evidence.expression}`,
    ...lets,
    ...(rule?.gate === undefined ? [] : [`Looked at only while: ${rule.gate}`]),
    `At the worst moment, ${localInstant(evidence.worst_at, timezone)}:`,
    ...evidence.terms.map(({ text, holds }) => `- ${withValuesText(text, evidence, unit_system)}: ${HOLDS[`${holds}`]}`),
    'Values at that moment:',
    ...Object.entries(evidence.inputs).map(([name, value]) => {
      const words = roleOfColumn(name) === undefined ? ` (${roleWords(name)})` : ''
      return `- ${name}${words}: ${inputWords(name, value, unit_system)}`
    }),
  ].join('\n')
}

function thresholdText({ finding, place }: Explained): string {
  const lines = Object.entries(shownParams(finding)).map(
    ([name, { value, unit, source }]) => `- ${name}: ${formatParam(value, unit, place.unit_system)}, ${SOURCE_WORDS[source]}`,
  )
  return lines.length > 0 ? ['Thresholds:', ...lines].join('\n') : ''
}

function baselineText({ finding: { evidence, hindsight }, place }: Explained): string {
  const lines = (evidence.baselines ?? []).map(view => {
    const cold = coldWords(view, place.unit_system)
    return `- ${view.name}: ${valueWords(view, place.unit_system)}${cold === undefined ? `, of ${view.days_used} days` : `, ${cold}`}`
  })
  const days = hindsight ? 'later days' : 'past'
  return lines.length > 0 ? [`Compared with the equipment's own ${days}:`, ...lines].join('\n') : ''
}

function causeText({ finding: { cause } }: Explained): string {
  const lines = cause
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ component, weight }) => `- ${componentWords(component)}, weight ${Number(weight.toFixed(2))}`)
  return lines.length > 0 ? ['Likely cause, the likeliest first:', ...lines].join('\n') : ''
}

function costSectionText({ finding, place, equipment }: Explained): string {
  const { impact, not_priced: gaps = [] } = finding
  const { unit_system } = place
  const range = impact && rangeText(impact, impact.unit, unit_system)
  const nameOf = (equipment_id: string) =>
    equipment_id === finding.equipment_id ? cell(equipment?.name ?? equipment_id) : equipment_id
  const lines = [
    impact && `- ${aboutText(impact, unit_system)}${range && ` (${range})`}: ${kindWords(impact)}`,
    ...(impact?.energy ?? []).map(
      one => `- ${CARRIER_WORDS[one.carrier]}: ${costText({ mid: one.mid, unit: 'kWh' }, unit_system)}`,
    ),
    ...(impact?.basis ?? []).map(line => `- assumed: ${cell(line, NOTE_MAX)}`),
    ...gaps.map(gap => `- not priced for want of ${gapText(gap, nameOf)}`),
  ].filter(line => line !== undefined)
  return lines.length > 0 ? [`Cost${finding.to === null ? ' so far' : ''}:`, ...lines].join('\n') : ''
}

function relationText({ finding, episodes, others, place }: Explained): string {
  const line = (one: FindingReply) =>
    `- ${one.finding_id}: ${titleOf(one)} on ${one.equipment_id}, ${localInstant(one.from, place.timezone)} to ${one.to === null ? 'now' : localInstant(one.to, place.timezone)}`
  const lists = [
    finding.suppressed_by !== undefined && [`Explained by finding ${finding.suppressed_by}, and silent for that reason.`],
    finding.relabelled_by !== undefined && [`Finding ${finding.relabelled_by} is an override that is the most likely cause.`],
    episodes.length > 0 && ['The same fault at other times:', ...episodes.map(line)],
    others.length > 0 && ['Other findings of this time on this equipment and on what it is linked to:', ...others.map(line)],
  ]
  return lists
    .filter(list => list !== false)
    .flat()
    .join('\n')
}

/** Below this share of evaluated time the explanation states it. */
const WHOLE = 0.95

function dataText({ finding, result, place, rule }: Explained): string {
  const end = finding.to === null ? undefined : parseInstant(finding.to)
  const open = end === undefined ? 0 : end - parseInstant(finding.from)! - finding.duration_secs * SECOND
  const lines = [
    open > MINUTE && `- ${formatDuration(open)} of this episode do not count: gaps, or the condition did not hold.`,
    result &&
      result.coverage < WHOLE &&
      `- The run of ${localInstant(result.finished_at, place.timezone)} could evaluate ${shareOf(result.coverage)} of the time that counts.`,
    result?.reason && `- The rest was not evaluated, mostly: ${REASON_WORDS[result.reason]}.`,
    !rule && '- The rule is not installed any more.',
  ].filter(Boolean)
  return lines.length > 0 ? ['How good the data is:', ...lines].join('\n') : 'How good the data is: nothing was left unevaluated.'
}
