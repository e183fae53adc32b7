/** Who silences whom: a bad sensor what reads it, an air handler's fault its zones' symptoms. */
import type { Finding } from '#shared/core/findings/finding.ts'
import type { RuleInstance } from '#shared/core/rules/compile/compile-rule.ts'
import type { EquipmentTopology } from '#shared/core/rules/compile/topology.ts'
import type { Rule } from '#shared/core/rules/check/rule.ts'

/** By `activityKey`: index of each day on which a rule was active, with that of the day on which this became known. */
export type Activity = Map<string, ReadonlyMap<number, number>>
export const activityKey = (equipment_id: string, rule_id: string, role = ''): string => [equipment_id, rule_id, role].join('\n')

/** In `suppresses` and `relabels`: every rule that reads the role of which this one speaks. */
export const READERS = 'readers'
/** A finding is explained by one that covers at least this share of its span. */
const OVERLAP_MIN = 0.5
/**
 * A bad sensor must have been bad for at least this share of its reader's time in fault: one that is out of range for half
 * an hour a night says nothing of what its readers found in ten hours of the day.
 */
const BAD_TIME_MIN = 0.25

/** @param pattern a rule's id, in which `*` stands for anything */
const matches = (pattern: string, id: string): boolean =>
  new RegExp(`^${pattern.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('\\*', '.*')}$`).test(id)

export const matchesAny = (patterns: readonly string[], id: string): boolean => patterns.some(pattern => matches(pattern, id))

/** @returns ids of `rules` that `rule` names in `suppresses`; those that it reaches through `readers` depend on the plant */
export const suppressedRuleIds = (rule: Rule, rules: Rule[]): string[] =>
  rules.filter(({ id }) => id !== rule.id && matchesAny(rule.program.suppresses, id)).map(({ id }) => id)

/** What a bad sensor among them makes doubtful: not a role that stands in for one that is there. */
export const leavesRead = ({
  leaves,
  substitutes: standIns,
}: Pick<RuleInstance, 'leaves' | 'substitutes'>): RuleInstance['leaves'] => leaves.filter(({ role }) => !standIns.has(role))

/** Whose activity keeps a day out of the baselines of `instance`: its own, and that of every rule that silences or relabels it. */
export function baselineExclusions(
  instance: RuleInstance,
  rules: Rule[],
  plant: Pick<EquipmentTopology, 'upstream'>,
): { key: string; rule_id: string }[] {
  const { rule, equipment, role } = instance
  const spoilers = [{ key: activityKey(equipment.equipment_id, rule.id, role), rule_id: rule.id }]
  const above = [equipment.equipment_id, ...plant.upstream(equipment.equipment_id)]
  for (const { id: rule_id, program } of rules) {
    if (rule_id === rule.id) continue
    const names = [...program.suppresses, ...program.relabels]
    if (names.includes(READERS)) {
      for (const leaf of leavesRead(instance)) spoilers.push({ key: activityKey(leaf.equipment_id, rule_id, leaf.role), rule_id })
    }
    if (!matchesAny(names, rule.id)) continue
    const roles = program.each ? Object.keys(equipment.roles) : ['']
    for (const id of above) for (const each of roles) spoilers.push({ key: activityKey(id, rule_id, each), rule_id })
  }
  return spoilers
}

/** A finding with what tells who explains it. */
export type SourcedFinding = { finding: Finding; instance: FindingSource }
export type FindingSource = Pick<RuleInstance, 'rule' | 'role'> & {
  equipment: Pick<RuleInstance['equipment'], 'equipment_id'>
  leaves: { equipment_id: string; role: string }[]
}

/**
 * Sets `suppressed_by` on every finding that another one explains.
 *
 * Of several the most severe counts, then the earliest, then the smallest id. A silenced finding still silences others,
 * but never the one that silences it.
 *
 * @param until end of the run, where an open episode is cut for comparing
 */
export function suppress(judged: SourcedFinding[], plant: Pick<EquipmentTopology, 'reach'>, until: number): void {
  const order = judged.toSorted(bySeverity)
  const byId = new Map(order.map(item => [item.finding.finding_id, item]))
  const byEquipment = Map.groupBy(order, ({ finding }) => finding.equipment_id)
  for (const upper of order) {
    if (upper.instance.rule.program.suppresses.length === 0) continue
    for (const equipment_id of plant.reach(upper.finding.equipment_id)) {
      for (const lower of byEquipment.get(equipment_id) ?? []) {
        if (lower.finding.suppressed_by !== undefined || !covers(upper.finding, lower.finding, until)) continue
        if (silences(upper, lower, until) && !isBelow(upper, lower, byId)) lower.finding.suppressed_by = upper.finding.finding_id
      }
    }
  }
}

/** The order in which findings explain others. */
export const bySeverity = ({ finding: a }: SourcedFinding, { finding: b }: SourcedFinding): number =>
  a.severity - b.severity || a.from - b.from || (a.finding_id < b.finding_id ? -1 : 1)

/** Whether `upper` is itself silenced by `lower`, over any number of steps. */
function isBelow(upper: SourcedFinding, lower: SourcedFinding, byId: Map<string, SourcedFinding>): boolean {
  let by = upper.finding.suppressed_by
  while (by !== undefined && by !== lower.finding.finding_id) by = byId.get(by)?.finding.suppressed_by
  return by !== undefined
}

/** Told of two findings of which the second is on the first one's equipment or on what that feeds. */
function silences(
  { instance: upper, finding: bad }: SourcedFinding,
  { instance: lower, finding }: SourcedFinding,
  until: number,
): boolean {
  if (upper.rule.id === lower.rule.id) return false
  const { suppresses } = upper.rule.program
  const at = upper.equipment.equipment_id
  // What is missing of one equipment's data says nothing of the data of what it feeds.
  if (upper.rule.kind === 'data' && lower.rule.kind === 'data' && at !== lower.equipment.equipment_id) return false
  const reads = lower.leaves.some(({ equipment_id, role }) => equipment_id === at && role === upper.role)
  if (matchesAny(suppresses, lower.rule.id)) return true
  // A rule that names another explains it, and is not silenced by it for reading the same sensor.
  if (!suppresses.includes(READERS) || !reads || matchesAny(lower.rule.program.suppresses, upper.rule.id)) return false
  return trueSecsWithin(bad, finding, until) >= BAD_TIME_MIN * finding.duration_secs
}

const endOf = ({ to }: Finding, until: number): number => to ?? until
const common = (a: Finding, b: Finding, until: number): number =>
  Math.min(endOf(a, until), endOf(b, until)) - Math.max(a.from, b.from)

/** Whether `upper` lasts through enough of `lower`'s span to explain it. */
export function covers(upper: Finding, lower: Finding, until: number): boolean {
  const ms = common(upper, lower, until)
  return ms > 0 && ms >= OVERLAP_MIN * (endOf(lower, until) - lower.from)
}

/**
 * Time in fault of `upper` within the span of `lower`, taken as spread evenly over its episode: that is what a run that goes
 * on still knows of days gone by.
 */
const trueSecsWithin = (upper: Finding, lower: Finding, until: number): number =>
  (common(upper, lower, until) / (endOf(upper, until) - upper.from)) * upper.duration_secs
