/**
 * Joins findings that begin together on several equipment into one: the outage of a gateway, a network or a building.
 *
 * Rules take part by their key `together`, the time within which the findings begin.
 */
import type { EquipmentTopology } from '#shared/core/rules/compile/topology.ts'
import { covers, type SourcedFinding } from './suppress.ts'

/** Number of findings that make an outage; two are enough when one of them concerns a whole equipment. */
const FINDINGS_MIN = 3
const WHOLE_EQUIPMENT_MIN = 2
/** Maximum number of equipment that a sentence names. */
const NAMES_MAX = 8

/**
 * Sets `suppressed_by` on every finding of an outage except one, whose sentence names the equipment of the others.
 *
 * The finding that is shown is one that concerns a whole equipment, if there is one, on the equipment that comes first in
 * `site`. Findings that another rule explains are left alone, and so is one that lasts more than twice as long.
 *
 * @param until end of the run, at which open episodes are clipped for comparison
 */
export function joinOutages(findings: SourcedFinding[], site: Pick<EquipmentTopology, 'equipment'>, until: number): void {
  const place = new Map(site.equipment.map(({ equipment_id }, index) => [equipment_id, index]))
  const rank = ({ finding }: SourcedFinding): number => place.get(finding.equipment_id) ?? place.size
  const open = findings
    .filter(({ finding, instance }) => togetherMs(instance) > 0 && finding.suppressed_by === undefined)
    .toSorted((a, b) => a.finding.from - b.finding.from || (a.finding.finding_id < b.finding.finding_id ? -1 : 1))
  for (let start = 0; start < open.length; ) {
    const first = open[start]!
    const until_from = first.finding.from + togetherMs(first.instance)
    let end = start + 1
    while (end < open.length && open[end]!.finding.from <= until_from) end++
    joinGroup(open.slice(start, end), rank, until)
    start = end
  }
}

/** @returns ms; 0 for a rule that does not take part */
function togetherMs({ rule }: SourcedFinding['instance']): number {
  const { together } = rule.program
  return together.kind === 'const' ? together.value * 1000 : 0
}

const speaksOfWhole = ({ finding }: SourcedFinding): boolean => finding.role === undefined

function joinGroup(group: SourcedFinding[], rank: (one: SourcedFinding) => number, until: number): void {
  const [shown] = group.toSorted(
    (a, b) =>
      Number(speaksOfWhole(b)) - Number(speaksOfWhole(a)) ||
      rank(a) - rank(b) ||
      (a.finding.finding_id < b.finding.finding_id ? -1 : 1),
  )
  if (group.length < (speaksOfWhole(shown!) ? WHOLE_EQUIPMENT_MIN : FINDINGS_MIN)) return
  const joined = group.filter(one => one !== shown && covers(shown!.finding, one.finding, until))
  if (joined.length === 0) return
  for (const { finding } of joined) finding.suppressed_by = shown!.finding.finding_id
  const { finding } = shown!
  finding.evidence = { ...finding.evidence, sentence: `${finding.evidence.sentence} ${othersOf(finding.equipment_id, joined)}` }
}

function othersOf(equipment_id: string, joined: SourcedFinding[]): string {
  const points = joined.filter(one => !speaksOfWhole(one)).length
  const others = [...new Set(joined.map(({ finding }) => finding.equipment_id))].filter(id => id !== equipment_id).toSorted()
  if (others.length === 0) return `${points} more of its sensors fell silent at the same time.`
  const more = others.length > NAMES_MAX ? ` and ${others.length - NAMES_MAX} more` : ''
  return `Sensors of ${others.length} other equipment fell silent at the same time: ${others.slice(0, NAMES_MAX).join(', ')}${more}.`
}
