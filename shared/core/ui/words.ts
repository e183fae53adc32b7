/** The few words that several pages share. */
import type { Finding, FindingNote, ParamValue, ResultReason } from '../finding.ts'
import { formatCount } from './measure.ts'

export const REASON_WORDS: Record<ResultReason, string> = {
  missing_role: 'for want of a point',
  no_data: 'for want of data',
  stale: 'on stale data',
  gated: 'because the equipment did not run',
  settling: 'while settling after a start',
  out_of_range: 'on values out of the plausible range',
  sampling: 'because samples are too far apart to see it',
  insufficient_history: 'for want of history',
}

export const SOURCE_WORDS: Record<ParamValue['source'], string> = {
  default: "the rule's default",
  site: 'set for this site',
  type: 'set for this type of equipment',
  equipment: 'set for this equipment',
  request: 'given with the run',
}

/** Active or cleared, acknowledged or not: four states in words. */
export function stateWords({ state }: Pick<Finding, 'state'>, { ack }: Pick<FindingNote, 'ack'>): string {
  return `${state === 'active' ? 'Active' : 'Cleared'}, ${ack === 'acked' ? 'acknowledged' : 'not acknowledged'}`
}

/** @returns `1 message`, `4,120 messages` */
export const countOf = (n: number, what: string): string => `${formatCount(n)} ${what}${n === 1 ? '' : 's'}`

/** @returns `93 %`, rounded down: 100 % is said of nothing that lacks a sample */
export const shareOf = (share: number): string => `${Math.floor(share * 100)} %`

/** What a finding is called; a rule over every role names the role of which it speaks. */
export const titleOf = ({ title, role }: Pick<Finding, 'title' | 'role'>): string =>
  role === undefined ? title : `${title}: ${role}`

/** @returns `outdoor air damper` for `outdoor_air_damper` */
export const componentWords = (component: string): string => component.replaceAll('_', ' ')
