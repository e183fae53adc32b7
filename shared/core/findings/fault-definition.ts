/** The definition of a fault, from the rule that finds it. */
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
/** A stored definition; times in ms since 1970 UTC. */
export type StoredDefinition = FaultDefinition & {
  /** When its text last changed. */
  updated_at: number
  /** Since when no rule finds it. */
  retired_at?: number
}

/** The properties of a rule that a definition repeats. */
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
