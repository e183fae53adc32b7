/** Builds the output of a run from the reports of its equipment: which finding explains which, and the days with their causes. */
import type { CauseWeight, Finding } from '#shared/core/findings/finding.ts'
import { rankCauses } from './evidence.ts'
import { joinOutages } from '#shared/core/rules/episodes/outage.ts'
import type { EquipmentTopology } from '#shared/core/rules/compile/topology.ts'
import { relabel } from '#shared/core/rules/episodes/relabel.ts'
import { explainByHindsight, suppress } from '#shared/core/rules/episodes/suppress.ts'
import type { EquipmentDay, RunOutput } from '#shared/core/rules/evaluate/run-types.ts'
import type { ReportedFinding, EquipmentReport } from './findings-report.ts'

/**
 * @param until end of the run
 * @param isReported whether the findings of a rule are part of the output
 */
export function collectOutput(
  reports: EquipmentReport[],
  until: number,
  site: EquipmentTopology,
  isReported: IsReported,
): Omit<RunOutput, 'failed'> {
  const findings = reports.flatMap(({ findings: own }) => own)
  // The days of a finding in hindsight are already without those on which another rule explains it.
  const episodes = findings.filter(({ finding }) => !finding.hindsight)
  suppress(episodes, site, until)
  joinOutages(episodes, site, until)
  relabel(episodes, site, until)
  explainByHindsight(findings)
  const reported = findings.filter(each => each.isReported && isReported(each.finding))
  return {
    findings: reported.map(({ finding }) => finding).toSorted(inOrder),
    results: reports
      .flatMap(({ results }) => results.filter(isReported))
      .map(result => ({ result, key: `${result.equipment_id}\n${result.rule_id}` }))
      .toSorted((a, b) => (a.key < b.key ? -1 : 1))
      .map(({ result }) => result),
    days: daysOf(reported),
    baselines: reports.flatMap(({ baselines }) => baselines.filter(isReported)),
  }
}

type IsReported = (one: { rule_id: string }) => boolean

const inOrder = (a: Finding, b: Finding): number =>
  a.from - b.from ||
  (`${a.equipment_id}\n${a.rule_id}\n${a.finding_id}` < `${b.equipment_id}\n${b.rule_id}\n${b.finding_id}` ? -1 : 1)

function daysOf(reported: ReportedFinding[]): EquipmentDay[] {
  const days = new Map<string, { equipment_id: string; date: string; rules: Set<string>; sums: Map<string, number> }>()
  for (const { finding, instance, days: faulty } of reported) {
    if (finding.suppressed_by !== undefined || instance.rule.program.causes.length === 0) continue
    const { equipment_id, rule_id } = finding
    for (const { date, cause } of faulty) {
      const key = `${equipment_id}\n${date}`
      const day = days.get(key) ?? { equipment_id, date, rules: new Set(), sums: new Map() }
      days.set(key, day)
      if (day.rules.has(rule_id)) continue
      day.rules.add(rule_id)
      for (const each of cause) addWeight(day.sums, each)
      if (finding.relabelled_by !== undefined) addWeight(day.sums, finding.cause[0]!)
    }
  }
  return [...days.values()]
    .map(({ equipment_id, date, rules, sums }) => ({
      equipment_id,
      date,
      rule_ids: [...rules].toSorted(),
      cause: rankCauses(sums),
    }))
    .toSorted((a, b) => (`${a.date}\n${a.equipment_id}` < `${b.date}\n${b.equipment_id}` ? -1 : 1))
}

/** Weights may be negative: evidence against a component counts too. */
const addWeight = (sums: Map<string, number>, { component, weight }: CauseWeight): void =>
  void sums.set(component, (sums.get(component) ?? 0) + weight)
