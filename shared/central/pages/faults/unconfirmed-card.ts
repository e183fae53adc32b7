/** Conditions that held too briefly to become a fault, or whose samples are too far apart to confirm one. */
import type { RuleResult, Shortfall } from '#shared/core/findings/finding.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { nearness } from '#shared/core/rules/episodes/unconfirmed.ts'
import { equipmentLink } from '#shared/central/ui/links.ts'
import { formatDuration, SECOND } from '#shared/core/time.ts'
import { say, sayCountOf } from '#shared/node/http/language.ts'

export type UnconfirmedResult = Pick<RuleResult, 'rule_id' | 'equipment_id' | 'unconfirmed' | 'sampling' | 'untrusted_secs'>
export type UnconfirmedModel = {
  building_id: string
  results: UnconfirmedResult[]
  titleOf: (rule_id: string) => string
  nameOf: (equipment_id: string) => string
}

/** Longest time of each equipment outside the trusted windows of its package. */
export function untrustedLine({ results, nameOf }: UnconfirmedModel): Html | false {
  const longest = new Map<string, number>()
  for (const { equipment_id, untrusted_secs = 0 } of results) {
    if (untrusted_secs > (longest.get(equipment_id) ?? 0)) longest.set(equipment_id, untrusted_secs)
  }
  if (longest.size === 0) return false
  const listed = [...longest].slice(0, LINES_MAX).map(([id, secs]) => `${nameOf(id)}: ${durationOf(secs)}`)
  return html`<section class="card"><h2>Not judged</h2>
<ul class="log">${listed.map(text => html`<li>${text} outside the trusted windows of its package</li>`)}</ul></section>`
}

/** Lines that the card shows; the API has the others. */
const LINES_MAX = 100

export const isUnconfirmed = ({ unconfirmed, sampling }: UnconfirmedResult): boolean =>
  unconfirmed !== undefined || sampling !== undefined

/** @returns false when there is nothing to say */
export function unconfirmedCard({ building_id, results, titleOf, nameOf }: UnconfirmedModel): Html | false {
  const brief = results.filter(isUnconfirmed).toSorted((a, b) => rankOf(b) - rankOf(a))
  if (brief.length === 0) return false
  const more = brief.length - LINES_MAX
  return html`<section class="card" id="brief"><h2>Too brief or too seldom sampled to count</h2>
<p class="muted">These conditions held in the last run and made no finding. The nearest comes first.</p>
<table class="tried"><thead><tr><th scope="col">Rule</th><th scope="col">Equipment</th><th scope="col">Why it does not count</th></tr></thead>
<tbody>${brief.slice(0, LINES_MAX).map(
    result => html`<tr>
<td data-label="Rule"><div>${say(titleOf(result.rule_id))} <span class="muted">${result.rule_id}</span></div></td>
<td data-label="Equipment"><div>${equipmentLink({ building_id, equipment_id: result.equipment_id }, nameOf(result.equipment_id))}${result.unconfirmed?.role !== undefined && html` <code>${result.unconfirmed.role}</code>`}</div></td>
<td data-label="Why it does not count"><div>${unconfirmedText(result)}</div></td>
</tr>`,
  )}</tbody></table>
${more > 0 && html`<p class="muted">and ${sayCountOf(more, 'other')}</p>`}</section>`
}

const rankOf = ({ unconfirmed }: UnconfirmedResult): number => (unconfirmed ? nearness(unconfirmed) : 0)

/** @returns for example `held for 1 h without a break on 2026-01-14, needs 2 h` */
export function unconfirmedText({ unconfirmed, sampling }: UnconfirmedResult): string {
  if (sampling) return say`sampled every ${durationOf(sampling.every_secs)}, needs every ${durationOf(sampling.needs_secs)}`
  if (!unconfirmed) return ''
  const { date, short } = unconfirmed
  return `${short.map(shortfallWords).join('; ')} (${date})`
}

const HOW: Record<Shortfall['of'], (held: string) => string> = {
  persistence: held => `held for ${held} without a break`,
  daily_minimum: held => `held for ${held} in the day`,
  window: held => `stood still for ${held}`,
}
const shortfallWords = ({ of, held_secs, needs_secs }: Shortfall): string =>
  say`${HOW[of](durationOf(held_secs))}, needs ${durationOf(needs_secs)}`

const durationOf = (secs: number): string => formatDuration(secs * SECOND)
