/** Snoozes: what stays quiet until an instant, in how wide a scope, who said so and why. */
import { sha256 } from './finding-id.ts'
import type { Finding, FindingNote } from './finding.ts'

/**
 * `episode`: one finding. `fault`: one rule on one equipment, so its next episodes too. `equipment`: every finding of an
 * equipment. `rule`: one rule in a building.
 */
export const SNOOZE_SCOPES = ['episode', 'fault', 'equipment', 'rule'] as const
export type SnoozeScope = (typeof SNOOZE_SCOPES)[number]

/** What a snooze covers: findings that have each of the given fields. */
export type SnoozeTarget = {
  building_id: string
  equipment_id?: string
  rule_id?: string
  /** Of a rule that runs over roles. */
  role?: string
  finding_id?: string
}

export type Snooze = SnoozeTarget & {
  /** The same for every snooze of this target, so that a new one replaces the last. */
  snooze_id: string
  /** Findings are quiet before it, ms. */
  until: number
  reason?: string
  /** Absent for one of an earlier version that nothing is known of but its end. */
  created_by?: string
  /** ms; 0 for one of an earlier version. */
  created_at: number
  /** When a person ended it early; it can be taken up again until `until`. */
  ended_at?: number
}

export const snoozeScope = ({ finding_id, equipment_id, rule_id }: SnoozeTarget): SnoozeScope =>
  finding_id !== undefined ? 'episode' : equipment_id === undefined ? 'rule' : rule_id === undefined ? 'equipment' : 'fault'

/** @returns what a snooze of `scope` covers that a person sets at this finding */
export function snoozeTarget(
  { building_id, equipment_id, rule_id, role, finding_id }: Pick<Finding, keyof SnoozeTarget>,
  scope: SnoozeScope,
): SnoozeTarget {
  if (scope === 'equipment') return { building_id, equipment_id }
  if (scope === 'rule') return { building_id, rule_id }
  const fault = { building_id, equipment_id, rule_id, ...(role !== undefined && { role }) }
  return scope === 'fault' ? fault : { ...fault, finding_id }
}

export const snoozeId = ({ building_id, equipment_id, rule_id, role, finding_id }: SnoozeTarget): string =>
  finding_id ?? sha256(JSON.stringify([building_id, equipment_id, rule_id, role].map(part => part ?? null))).slice(0, 32)

/** How an audit row names a target: the finding, or `building/equipment/rule` with `*` for any. */
export const snoozeSubject = ({ building_id, equipment_id = '*', rule_id = '*', role, finding_id }: SnoozeTarget): string =>
  finding_id ?? [building_id, equipment_id, rule_id, ...(role === undefined ? [] : [role])].join('/')

/** Why a finding stays quiet: a person said that it is no fault, or snoozed it until an instant. */
export type Silence = { not_a_fault?: string; snoozed_until?: number }

/** A note, and the snooze that covers the finding, where one is in force. */
export type ShownNote = FindingNote & {
  snoozed_until?: number
  /** Why it is snoozed. */
  snooze_reason?: string
  snoozed_by?: string
  snooze_scope?: SnoozeScope
  snooze_id?: string
}
