/** The list of faults as a file, for a contractor or a maintenance system. Like the API it is in English. */
import { csvLine } from '#shared/core/csv/write-csv.ts'
import type { Finding } from '#shared/core/findings/finding.ts'
import type { Building } from '#shared/core/model/model.ts'
import { formatInstant, HOUR } from '#shared/core/time.ts'
import { inUnitsOf } from '#shared/central/ui/measure-text.ts'
import type { FaultRow } from './fault-list.ts'

const HEADER = [
  ...['building_id', 'building', 'equipment_id', 'equipment', 'rule_id', 'fault', 'role', 'kind', 'priority', 'urgency', 'state'],
  ...['first_seen', 'last_seen', 'hours_in_fault', 'episodes', 'ack', 'assignee', 'snoozed_until', 'note', 'not_a_fault'],
  ...['snooze_scope', 'snooze_reason', 'snoozed_by'],
  ...['sentence', 'cost_low', 'cost_likely', 'cost_high', 'cost_unit', 'finding_id'],
]

type Names = { buildings: readonly Building[]; equipmentName: (finding: Finding) => string }

/** @returns a line for each row of the list, in its order; times are UTC, and a fault that lasts has no `last_seen` */
export function faultsCsv(rows: readonly FaultRow[], { buildings, equipmentName }: Names): string {
  const byId = new Map(buildings.map(building => [building.building_id, building]))
  const lineOf = ({ finding, note, priority, urgency, first, last, inFaultMs, episodes, cost }: FaultRow): string => {
    const { building_id, equipment_id, rule_id, title, role, kind, state, evidence, finding_id } = finding
    const building = byId.get(building_id)
    const sentence = building
      ? inUnitsOf(evidence.sentence, building.unit_system, Object.keys(evidence.inputs))
      : evidence.sentence
    const { ack, assignee, snoozed_until, note: text, not_a_fault, snooze_scope, snooze_reason, snoozed_by } = note
    return csvLine([
      ...[
        building_id,
        building?.name,
        equipment_id,
        equipmentName(finding),
        rule_id,
        title,
        role,
        kind,
        priority,
        urgency,
        state,
      ],
      ...[formatInstant(first), instant(last), (inFaultMs / HOUR).toFixed(2), episodes],
      ...[ack, assignee, instant(snoozed_until), text, not_a_fault, snooze_scope, snooze_reason, snoozed_by, sentence],
      ...[figure(cost?.low), figure(cost?.mid), figure(cost?.high), cost?.unit, finding_id],
    ])
  }
  return [csvLine(HEADER), ...rows.map(lineOf)].join('')
}

const instant = (ms: number | null | undefined): string | null => (ms === null || ms === undefined ? null : formatInstant(ms))
const figure = (value: number | undefined): string | undefined => value?.toFixed(2)
