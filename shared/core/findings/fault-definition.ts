/** What a fault is, in the words of the rule that finds it. */
import type { EquipmentType } from '#shared/core/model/model.ts'
import type { FindingKind, Severity } from './finding.ts'

export type FaultDefinition = {
  /** The rule's id. */
  fault_id: string
  title: string
  category: FindingKind
  severity: Severity
  equipment_types: (EquipmentType | 'any')[]
  description: string
  source: string
}
/** As it is kept; times in ms since 1970 UTC. */
export type StoredDefinition = FaultDefinition & {
  /** When one of its words changed last. */
  updated_at: number
  /** Since when no rule finds it any more. */
  retired_at?: number
}

/** What a rule says of itself that a definition repeats. */
type DefinitionSource = {
  id: string
  title: string
  kind: FindingKind
  severity: Severity
  equipment: (EquipmentType | 'any')[]
  source: string
  condition: string
  gate?: string
}

export function definitionOf({
  id,
  title,
  kind,
  severity,
  equipment,
  source,
  condition,
  gate,
}: DefinitionSource): FaultDefinition {
  const description = [
    `Fault when: ${condition.trim()}.`,
    ...(gate === undefined ? [] : [`Evaluated while: ${gate.trim()}.`]),
  ].join(' ')
  return { fault_id: id, title, category: kind, severity, equipment_types: equipment, description, source }
}
