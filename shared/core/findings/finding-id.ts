/** Hashes and ids that appliance and hub calculate in the same way. */
import { createHash } from 'node:crypto'
import type { ParamValue } from './finding.ts'

/** Long enough to distinguish the versions of one rule on one equipment. */
const VERSION_LENGTH = 12

type VersionedRule = { rule: { sha256: string }; role?: string; params: Record<string, ParamValue> }

/**
 * @returns a text that changes with the file of the rule and with its parameters; for a rule that runs over roles, only with
 *   the file
 */
export function versionOf({ rule, role, params }: VersionedRule): string {
  const values = role === undefined ? Object.entries(params).map(([name, { value }]) => [name, value]) : []
  return sha256(JSON.stringify([rule.sha256, values])).slice(0, VERSION_LENGTH)
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** @returns the id of an episode, from building, rule, equipment, first instant, and the role when the rule runs over roles */
export const findingId = (building_id: string, rule_id: string, equipment_id: string, from: number, role = ''): string =>
  sha256([building_id, rule_id, equipment_id, from, role].join('\n')).slice(0, 32)
