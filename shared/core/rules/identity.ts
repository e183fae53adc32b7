/** Names that edge and hub reckon alike. */
import { createHash } from 'node:crypto'

/** @returns 64 hexadecimal digits */
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The id of an episode: building, rule, equipment, first instant, and the role when the rule runs over every role. */
export const findingId = (building_id: string, rule_id: string, equipment_id: string, from: number, role = ''): string =>
  sha256([building_id, rule_id, equipment_id, from, role].join('\n')).slice(0, 32)
