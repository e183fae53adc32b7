/** Names that edge and hub reckon alike. */
import type { RuleInstance } from '#shared/core/rules/compile/compile-rule.ts'
import { createHash } from 'node:crypto'

/** @returns 64 hexadecimal digits */
/** Enough to tell versions of one rule on one equipment apart. */
const VERSION_LENGTH = 12

/** @returns another text when the file of the rule is another, or a parameter; of a rule over roles, the file alone counts */
export function versionOf({ rule, role, params }: Pick<RuleInstance, 'rule' | 'role' | 'params'>): string {
  const values = role === undefined ? Object.entries(params).map(([name, { value }]) => [name, value]) : []
  return sha256(JSON.stringify([rule.sha256, values])).slice(0, VERSION_LENGTH)
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The id of an episode: building, rule, equipment, first instant, and the role when the rule runs over every role. */
export const findingId = (building_id: string, rule_id: string, equipment_id: string, from: number, role = ''): string =>
  sha256([building_id, rule_id, equipment_id, from, role].join('\n')).slice(0, 32)
