/** The few words that several pages share. */
import type { EdgeKey } from '#shared/core/model/model.ts'
import { getOwn } from '#shared/core/get-own.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import {
  type Ending,
  type Finding,
  type FindingNote,
  type ParamValue,
  RESULT_REASONS,
  RESULT_STATES,
  type ResultReason,
  type ResultState,
  resultState,
} from '#shared/core/findings/finding.ts'
import type { ReasonCounts, RunCounts } from '#shared/core/ports.ts'
import { say, sayCount, sayNumber, words } from '#shared/node/http/language.ts'
import { edgeHref } from './links.ts'
import { roleWords } from './measure.ts'

/** Why a rule was not evaluated; each stands behind a count or a colon. */
export const REASON_WORDS: Record<ResultReason, string> = words({
  missing_role: 'required point not mapped',
  no_data: 'no data from a point',
  stale: 'stale data',
  gated: 'equipment off, or outside the conditions of the rule',
  settling: 'equipment did not run long enough to settle',
  out_of_range: 'values outside the plausible range',
  sampling: 'samples too far apart',
  insufficient_history: 'not enough history',
  untrusted: 'outside the trusted windows of the package',
})

const LOGIN_ROLES: Record<string, string> = words({ viewer: 'viewer', operator: 'operator', admin: 'admin' })
/** @returns the role of a person in words; that of a program is its name */
export const loginRole = (role: string): string => getOwn(LOGIN_ROLES, role) ?? role

/** States of a result, as they stand behind a count. */
const STATE_WORDS: Record<ResultState, string> = words({
  fault: 'in fault',
  pass: 'passed',
  gated: 'not applicable',
  no_data: 'without data',
})

/** @returns `2 in fault, 110 passed, 3 not applicable (3 equipment off, …), 12 without data (10 not enough history, 2 stale data)` */
export function countWords(counts: RunCounts, reasons: ReasonCounts = {}): string {
  if ('not_evaluated' in counts) {
    return say`${counts.fault} in fault, ${counts.pass} passed, ${counts.not_evaluated} could not be evaluated`
  }
  return RESULT_STATES.map(state => {
    const why = reasonWords(state, reasons)
    return `${sayCount(counts[state] ?? 0)} ${STATE_WORDS[state]}${why && ` (${why})`}`
  }).join(', ')
}

/** @returns `not applicable: 3 equipment off, …`, a line for each state that has reasons */
export const reasonLines = (reasons: ReasonCounts = {}): string[] =>
  RESULT_STATES.flatMap(state => {
    const why = reasonWords(state, reasons)
    return why ? [`${STATE_WORDS[state]}: ${why}`] : []
  })

function reasonWords(state: ResultState, reasons: ReasonCounts): string {
  const own = RESULT_REASONS.filter(reason => resultState({ status: 'not_evaluated', reason }) === state)
  const counted = own.flatMap(reason => (reasons[reason] ? [{ reason, count: reasons[reason] }] : []))
  const listed = counted
    .toSorted((a, b) => b.count - a.count)
    .map(({ reason, count }) => `${sayCount(count)} ${REASON_WORDS[reason]}`)
  return listed.join('; ')
}

/** @returns how many results a run counted */
export const totalOf = (counts: RunCounts): number => Object.values(counts).reduce((sum, count) => sum + count, 0)

export const SOURCE_WORDS: Record<ParamValue['source'], string> = words({
  default: "the rule's default",
  site: 'set for this site',
  type: 'set for this type of equipment',
  equipment: 'set for this equipment',
  request: 'given with the run',
})

/** Why a finding ended that was not cured. */
const ENDING_WORDS: Record<Ending['why'], string> = words({
  rule_removed: 'the rule was removed',
  rule_deactivated: 'the rule was deactivated',
  rule_changed: 'the rule does not apply any more since it was changed',
  not_for_equipment: 'the rule does not apply to this equipment any more',
  point_unmapped: 'a required point is not mapped any more',
})

/**
 * Active, cleared, or ended because nothing evaluates it; acknowledged or not.
 *
 * @param dataEnd the day on which the building's data ended: whether findings that were open then continue is unknown
 */
export function stateWords(
  { state, ended }: Pick<Finding, 'state' | 'ended'>,
  { ack }: Pick<FindingNote, 'ack'>,
  dataEnd?: string,
): string {
  const open = dataEnd === undefined ? say`Active` : say`Open when data ended on ${dataEnd}`
  const words = ended ? say`Ended: ${ENDING_WORDS[ended.why]}` : state === 'active' ? open : say`Cleared`
  return `${words}, ${ack === 'acked' ? say`acknowledged` : say`not acknowledged`}`
}

/** One word for a list: what needs a person first, then who looks after it. @param dataEnd as in `stateWords` */
export function shortStateWords(
  { state, ended }: Pick<Finding, 'state' | 'ended'>,
  { ack, assignee }: Pick<FindingNote, 'ack' | 'assignee'>,
  dataEnd?: string,
): string {
  const open = dataEnd === undefined ? say`Open` : say`Open when data ended on ${dataEnd}`
  const words = ended ? say`Ended` : state === 'active' ? open : say`Cleared`
  return [words, ...(ack === 'acked' ? [say`acknowledged`] : []), ...(assignee === undefined ? [] : [assignee])].join(', ')
}

/** @returns `93 %`, rounded down: 100 % is said of nothing that lacks a sample */
export const shareOf = (share: number): string => `${Math.floor(share * 100)} %`

/** Title of a finding; that of a rule over every role names the role. */
export const titleOf = ({ title, role }: Pick<Finding, 'title' | 'role'>): string =>
  role === undefined ? say(title) : `${say(title)}: ${roleWords(role)}`

/** @returns `12.3 kB`, `4.3 MB`, `270.6 GB`: decimal, as makers of disks count */
export function bytesText(bytes: number): string {
  if (bytes < 1e6) return say`${sayNumber(bytes / 1e3, bytes > 0 && bytes < 1e5 ? 1 : 0)} kB`
  if (bytes < 1e9) return say`${sayNumber(bytes / 1e6, bytes < 1e7 ? 1 : 0)} MB`
  return say`${sayNumber(bytes / 1e9, 1)} GB`
}

/** @returns `outdoor air damper` for `outdoor_air_damper` */
export const componentWords = (component: string): string => say(component.replaceAll('_', ' '))

/** For a building whose own appliance runs its rules: settings made here do not count there. */
export const ruleOwnerText = (building: string, appliance: string): string =>
  say`The rules of ${building} run on the appliance ${appliance}. Parameters, quantities, prices and baselines that you set here do not reach it: set them there.`

/** The appliance that runs the rules of a building itself, as a hub names it. */
export type RuleOwner = EdgeKey & { name: string }

/** @param appliance undefined where this process runs the rules itself */
export const ruleOwnerNotice = (building: string, appliance: RuleOwner | undefined): Html | false =>
  appliance !== undefined &&
  html`<p class="notice">${ruleOwnerText(building, appliance.name)} <a href="${edgeHref(appliance)}">${say`Page of ${appliance.name}`}</a></p>`
