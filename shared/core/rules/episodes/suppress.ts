/**
 * Suppression: a finding on a sensor suppresses those of the rules that read it, a finding on an air handler the symptoms in
 * its zones, and the one that says most of a held point the others of that point.
 */
import type { Finding } from '#shared/core/findings/finding.ts'
import type { RuleInstance } from '#shared/core/rules/compile/compile-rule.ts'
import type { EquipmentTopology } from '#shared/core/rules/compile/topology.ts'
import { READERS, roleOfReaders } from '#shared/core/rules/check/readers.ts'
import type { Rule } from '#shared/core/rules/check/rule.ts'

/** @returns the roles whose readers `names` mean, for a rule that is bound to `role` */
const rolesOfReaders = (names: readonly string[], role: string | undefined): Set<string | undefined> =>
  new Set(names.flatMap(name => (name === READERS ? [role] : (roleOfReaders(name) ?? []))))
/** Share of a finding's span that another one must cover to explain it. */
const OVERLAP_MIN = 0.5
/**
 * A sensor must have been faulty for at least this share of the time in fault of the rule that reads it: a sensor that is
 * out of range for half an hour a night does not explain ten hours of the day.
 */
const BAD_TIME_MIN = 0.25

/** @param pattern a rule id, in which `*` stands for any text */
function matches(pattern: string, id: string): boolean {
  // Each run asks this for every pair of rules, and most patterns are an id.
  if (!pattern.includes('*')) return pattern === id
  return new RegExp(`^${pattern.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('\\*', '.*')}$`).test(id)
}

export const matchesAny = (patterns: readonly string[], id: string): boolean => patterns.some(pattern => matches(pattern, id))

/** @returns ids of the rules that `rule` names in `suppresses`; those that it reaches through `readers` depend on the building */
const suppressedRuleIds = (rule: Rule, rules: Rule[]): string[] =>
  rules.filter(({ id }) => id !== rule.id && matchesAny(rule.program.suppresses, id)).map(({ id }) => id)

/** @returns the leaves whose sensor faults affect the rule, without those that only substitute others */
export const leavesRead = ({
  leaves,
  substitutes: standIns,
}: Pick<RuleInstance, 'leaves' | 'substitutes'>): RuleInstance['leaves'] => leaves.filter(({ role }) => !standIns.has(role))

/** A finding with the properties that decide which other findings explain it. */
export type SourcedFinding = { finding: Finding; instance: FindingSource }
export type FindingSource = Pick<RuleInstance, 'rule' | 'role'> & {
  equipment: Pick<RuleInstance['equipment'], 'equipment_id'>
  leaves: { equipment_id: string; role: string }[]
}

/**
 * Sets `suppressed_by` on every finding that another one explains.
 *
 * Of several the most severe counts, then the earliest, then the smallest id. A suppressed finding still suppresses others,
 * but never the one that suppresses it. What a bad sensor explains is not believed: on its own equipment it suppresses
 * nothing but what that sensor may explain, too.
 *
 * @param until end of the run, at which open episodes are clipped for comparison
 */
export function suppress(findings: SourcedFinding[], topology: Pick<EquipmentTopology, 'reach'>, until: number): void {
  const order = findings.toSorted(bySeverity)
  const byId = new Map(order.map(item => [item.finding.finding_id, item]))
  const byEquipment = Map.groupBy(order, ({ finding }) => finding.equipment_id)
  /** The findings that one of a rule with `suppresses` covers, on its equipment and on what that feeds. */
  function* coveredBy(upper: SourcedFinding): Generator<SourcedFinding> {
    if (upper.instance.rule.program.suppresses.length === 0) return
    for (const equipment_id of topology.reach(upper.finding.equipment_id)) {
      for (const lower of byEquipment.get(equipment_id) ?? []) if (covers(upper.finding, lower.finding, until)) yield lower
    }
  }
  /** By finding on equipment, those on sensors that explain it. */
  const doubts = new Map<SourcedFinding, SourcedFinding[]>()
  for (const sensor of order.filter(isOnSensor)) {
    for (const lower of coveredBy(sensor)) {
      if (isOnSensor(lower) || !doesSuppress(sensor, lower, until)) continue
      doubts.set(lower, [...(doubts.get(lower) ?? []), sensor])
    }
  }
  for (const upper of order) {
    for (const lower of coveredBy(upper)) {
      if (lower.finding.suppressed_by !== undefined) continue
      const sensors = lower.finding.equipment_id === upper.finding.equipment_id ? doubts.get(upper) : undefined
      if (sensors?.every(sensor => !concerns(sensor, lower))) continue
      if (doesSuppress(upper, lower, until) && !isBelow(upper, lower, byId))
        lower.finding.suppressed_by = upper.finding.finding_id
    }
  }
}

const isOnSensor = ({ finding }: SourcedFinding): boolean => finding.kind === 'sensor'

const reads = ({ instance: upper }: SourcedFinding, { instance: lower }: SourcedFinding): boolean => {
  const badRoles = rolesOfReaders(upper.rule.program.suppresses, upper.role)
  return lower.leaves.some(({ equipment_id, role }) => equipment_id === upper.equipment.equipment_id && badRoles.has(role))
}

/** Whether the first finding's rule names that of the second, or the second one's reads the sensor that the first one says is bad. */
const concerns = (upper: SourcedFinding, lower: SourcedFinding): boolean =>
  matchesAny(upper.instance.rule.program.suppresses, lower.instance.rule.id) || reads(upper, lower)

/**
 * What a rule found while it still compared with first days that were not normal is explained by the finding on these days.
 */
export function explainByHindsight(findings: SourcedFinding[]): void {
  for (const { finding: seen } of findings.filter(({ finding }) => finding.hindsight)) {
    for (const { finding } of findings) {
      const isOwn = finding.rule_id === seen.rule_id && finding.equipment_id === seen.equipment_id && finding.role === seen.role
      if (!isOwn || finding === seen || finding.from < seen.to! || finding.from >= seen.confirmed_at) continue
      finding.suppressed_by ??= seen.finding_id
    }
  }
}

/** The order in which findings explain others. */
export const bySeverity = ({ finding: a }: SourcedFinding, { finding: b }: SourcedFinding): number =>
  a.severity - b.severity || a.from - b.from || (a.finding_id < b.finding_id ? -1 : 1)

/** Whether `upper` is itself suppressed by `lower`, over any number of steps. */
function isBelow(upper: SourcedFinding, lower: SourcedFinding, byId: Map<string, SourcedFinding>): boolean {
  let by = upper.finding.suppressed_by
  while (by !== undefined && by !== lower.finding.finding_id) by = byId.get(by)?.finding.suppressed_by
  return by !== undefined
}

/** Whether the first finding suppresses the second, which is on the same equipment or on equipment that it feeds. */
function doesSuppress(above: SourcedFinding, below: SourcedFinding, until: number): boolean {
  const { instance: upper, finding: bad } = above
  const { instance: lower, finding } = below
  if (upper.rule.id === lower.rule.id) return false
  const { suppresses } = upper.rule.program
  const at = upper.equipment.equipment_id
  // Missing data of one equipment does not explain missing data of the equipment that it feeds.
  if (upper.rule.kind === 'data' && lower.rule.kind === 'data' && at !== lower.equipment.equipment_id) return false
  // That one point is held explains nothing of another one.
  const areOverrides = upper.rule.kind === 'override' && lower.rule.kind === 'override'
  if (areOverrides && (at !== lower.equipment.equipment_id || upper.role !== lower.role)) return false
  if (matchesAny(suppresses, lower.rule.id)) return true
  // A rule that names another one explains it, and is not suppressed by it for reading the same sensor.
  if (!reads(above, below) || matchesAny(lower.rule.program.suppresses, upper.rule.id)) return false
  return trueSecsWithin(bad, finding, until) >= BAD_TIME_MIN * finding.duration_secs
}

const endOf = ({ to }: Finding, until: number): number => to ?? until
const common = (a: Finding, b: Finding, until: number): number =>
  Math.min(endOf(a, until), endOf(b, until)) - Math.max(a.from, b.from)

/** Whether `upper` covers enough of `lower`'s span to explain it. */
export function covers(upper: Finding, lower: Finding, until: number): boolean {
  const ms = common(upper, lower, until)
  return ms > 0 && ms >= OVERLAP_MIN * (endOf(lower, until) - lower.from)
}

/**
 * Time in fault of `upper` within the span of `lower`. It is taken as spread evenly over the episode, because a resumed run
 * knows no more of past days.
 */
const trueSecsWithin = (upper: Finding, lower: Finding, until: number): number =>
  (common(upper, lower, until) / (endOf(upper, until) - upper.from)) * upper.duration_secs

/** Whether a rule names the component as a cause. */
export const accuses = ({ program }: Rule, component: string): boolean =>
  program.causes.some(one => one.component === component && one.weight > 0)

/**
 * @returns `requested` and those of `rules` that may suppress or relabel them, over any number of steps; they also affect their
 *   baselines; and those that may have told already what a rule finds in hindsight
 */
export function withExplainers(requested: Rule[], rules: Rule[]): Rule[] {
  const found = new Map(requested.map(rule => [rule.id, rule]))
  const explains = ({ program }: Rule, id: string): boolean => {
    const names = [...program.suppresses, ...program.relabels]
    return names.some(name => name === READERS || roleOfReaders(name) !== undefined) || matchesAny(names, id)
  }
  const tells = (other: Rule, { program: { hindsight } }: Rule): boolean =>
    [hindsight?.above[0], hindsight?.below[0]].some(cause => cause && accuses(other, cause.component))
  for (const rule of found.values()) {
    for (const other of rules)
      if (!found.has(other.id) && (explains(other, rule.id) || tells(other, rule))) found.set(other.id, other)
  }
  return [...found.values()]
}

/** @returns each cycle of rules that suppress each other, as the ids along it with the first repeated; a catalogue must have none */
export function suppressionCycles(rules: Rule[]): string[][] {
  const below = new Map(rules.map(rule => [rule.id, suppressedRuleIds(rule, rules)]))
  const done = new Set<string>()
  const cycles: string[][] = []
  const visit = (id: string, path: string[]): void => {
    const at = path.indexOf(id)
    if (at >= 0) cycles.push([...path.slice(at), id])
    if (at >= 0 || done.has(id)) return
    for (const next of below.get(id) ?? []) visit(next, [...path, id])
    done.add(id)
  }
  for (const id of below.keys()) visit(id, [])
  return cycles
}
