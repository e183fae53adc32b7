/** Result of a backtest: findings of another value of a parameter, or of another text of a rule, beside the present ones. */
import type { BacktestReport } from '#shared/flow/fdd/backtest.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { type EpisodeChange, type ComparedEpisode, countChanges } from '#shared/core/rules/report/compare-findings.ts'
import { formatDuration } from '#shared/core/time.ts'
import type { UnitSystem } from '#shared/central/ui/measure.ts'
import { sentenceText } from '#shared/central/ui/measure-text.ts'
import { type Here, moment } from '#shared/central/ui/moment.ts'
import { REASON_WORDS } from '#shared/central/ui/words.ts'
import { say, sayCountOf, words } from '#shared/node/http/language.ts'

export type BacktestModel = Pick<BacktestReport, 'from' | 'to' | 'equipment' | 'failed'>
/** A value of a parameter, or a text of a rule, beside the rule of its id where one is deployed. */
type Proposal = { proposed: 'value' | 'text'; is_deployed: boolean }
/** Episodes that the page lists. */
const LISTED_MAX = 200
const CHANGE_WORDS: Record<EpisodeChange, string> = words({ appears: 'appears', goes: 'goes away', stays: 'stays' })

export function backtestResult(
  { from, to, is_deployed, equipment, failed, proposed }: BacktestModel & Proposal,
  nameOf: (equipment_id: string) => string,
  system: UnitSystem,
  here: Here,
): Html {
  const sum = (side: 'before' | 'after') => equipment.reduce((total, one) => total + one[side].episodes, 0)
  const words = proposed === 'value' ? say`as it is set` : say`as it is deployed`
  const [appear, go, stay] = (['appears', 'goes', 'stays'] as const).map(change => countChanges(equipment, change))
  const episodes = equipment.flatMap(one => one.episodes.map(episode => ({ equipment_id: one.equipment_id, ...episode })))
  const silent = equipment.filter(({ result_after }) => result_after?.status === 'not_evaluated')
  const compared = say`${sayCountOf(sum('before'), 'episode')} ${words}, ${sum('after')} with this ${proposed}: ${appear} would appear, ${go} would go away, ${stay} would stay.`
  const alone = say`${sayCountOf(sum('after'), 'episode')} with this text; no rule of this id is deployed to compare with.`
  return html`<p class="lead">${is_deployed ? compared : alone}</p>
<p class="muted">Tried on ${equipment.length} equipment, ${moment(from, here)} to ${moment(to, here)}. Nothing was stored.</p>
${episodes.length > 0 && episodeTable(episodes.slice(0, LISTED_MAX), nameOf, system, here)}
${episodes.length > LISTED_MAX && html`<p class="muted">and ${episodes.length - LISTED_MAX} more</p>`}
${silent.length > 0 && html`<p>Not evaluated: ${silent.map(({ equipment_id, result_after }) => `${nameOf(equipment_id)}${result_after?.reason ? `: ${REASON_WORDS[result_after.reason]}` : ''}`).join('; ')}.</p>`}
${failed.map(({ equipment_id, error }) => html`<p class="error">${nameOf(equipment_id)}: ${error}</p>`)}`
}

const episodeTable = (
  episodes: (ComparedEpisode & { equipment_id: string })[],
  nameOf: (equipment_id: string) => string,
  system: UnitSystem,
  here: Here,
): Html => html`<table class="tried"><thead><tr><th scope="col">Episode</th><th scope="col">Equipment</th><th scope="col">When</th><th scope="col">In fault</th><th scope="col">What it says</th></tr></thead>
<tbody>${episodes.map(
  ({ change, finding, before_secs, equipment_id }) => html`<tr class="${change}">
<td data-label="Episode"><div>${CHANGE_WORDS[change]}${finding.suppressed_by !== undefined && html` <span class="muted">silenced</span>`}</div></td>
<td data-label="Equipment"><div>${nameOf(equipment_id)}</div></td>
<td data-label="When"><div>${moment(finding.from, here)}</div></td>
<td data-label="In fault"><div>${formatDuration(finding.duration_secs * 1000)}${before_secs !== undefined && before_secs !== finding.duration_secs && html` <span class="muted">now ${formatDuration(before_secs * 1000)}</span>`}</div></td>
<td data-label="What it says"><div>${sentenceText(finding.evidence.sentence, system, Object.keys(finding.evidence.inputs))}</div></td>
</tr>`,
)}</tbody></table>`
