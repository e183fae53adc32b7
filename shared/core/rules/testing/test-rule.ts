/** Runs the tests that a rule carries in its own file. */
import type { CauseWeight } from '#shared/core/findings/finding.ts'
import type { EquipmentType } from '#shared/core/model/model.ts'
import { isOverride, levelMeanings } from '#shared/core/priority/priority-levels.ts'
import { LEVELS } from '#shared/core/priority/priority-record.ts'
import type { ArraySnapshot } from '#shared/core/priority/array-snapshot.ts'
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { dateOf } from '#shared/core/time-zone.ts'
import type { TypedExpr } from '#shared/core/rules/check/typed-expr.ts'
import { toCanonical } from '#shared/core/rules/language/dimension.ts'
import { MACROS } from '#shared/core/rules/language/macros.ts'
import { getOwn } from '#shared/core/get-own.ts'
import { runRules } from '#shared/core/rules/evaluate/run-rules.ts'
import type { Rule, TestCase, TestRows, WrittenRule } from '#shared/core/rules/check/rule.ts'
import type { RunOutput, RunInput } from '#shared/core/rules/evaluate/run-types.ts'
import { TemplateCache } from '#shared/core/rules/compile/compile-equipment.ts'
import type { EquipmentData, RoleSeries } from '#shared/core/rules/compile/equipment-data.ts'

type TestResult = { name: string; line: number; ok: boolean; problems: string[] }

/**
 * Each test is run as written, and once more with every held sample repeated half-way to the next: the same signal must
 * give the same faults.
 */
export function testRule(rule: WrittenRule): TestResult[] {
  const templates = new TemplateCache()
  return rule.tests.map(test => {
    const written = problemsOf(rule, test, false, templates)
    const problems =
      written.length > 0 ? written : problemsOf(rule, test, true, templates).map(text => `sampled twice as often: ${text}`)
    return { name: test.name, line: test.line, ok: problems.length === 0, problems }
  })
}

/** @param denser with every held sample repeated half-way to the next */
export const inputOf = (rule: Rule, test: TestCase, denser: boolean): RunInput => ({
  building_id: 'test',
  timezone: test.timezone,
  from: test.start,
  to: test.start + test.lengthMs,
  rules: [rule],
  equipment: equipmentOf(rule, test, denser),
  params: { [rule.id]: test.params },
})

/** Whether a test says what it should of a rule, as it is written alone. @param templates of the tests before it */
export const holds = (rule: Rule, test: TestCase, templates: TemplateCache): boolean =>
  problemsOf(rule, test, false, templates).length === 0

function problemsOf(rule: Rule, test: TestCase, denser: boolean, templates: TemplateCache): string[] {
  const output = runRules(inputOf(rule, test, denser), templates)
  const problems = output.failed.map(({ error }) => error)
  const result = output.results.find(({ equipment_id }) => equipment_id === 'test')
  const said = result ? [result.status, result.reason, ...(result.missing_roles ?? [])].filter(Boolean).join(' ') : 'nothing'
  const found = spansOf(output, test)
  if (test.faults && !sameSpans(found, test.faults, test.lengthMs)) {
    problems.push(`faults ${wordsOf(test.faults)} expected, ${wordsOf(found)} found (${said})`)
  }
  if (test.status && result?.status !== test.status) problems.push(`status ${test.status} expected, ${said} found`)
  if (test.reason && result?.reason !== test.reason) problems.push(`reason ${test.reason} expected, ${said} found`)
  const causes = output.days.find(({ equipment_id }) => equipment_id === 'test')?.cause ?? []
  const cause = causes[0]?.component
  if (test.cause && cause !== test.cause) problems.push(`cause ${test.cause} expected, ${cause ?? 'none'} found`)
  if (test.causes && weightsOf(causes) !== weightsOf(test.causes)) {
    problems.push(`causes ${weightsOf(test.causes)} expected, ${weightsOf(causes)} found`)
  }
  return problems
}

/** By name, so that a test may list them in any order. */
const weightsOf = (causes: CauseWeight[]): string =>
  `{ ${causes
    .map(({ component, weight }) => `${component}: ${Number(weight.toFixed(6))}`)
    .toSorted()
    .join(', ')} }`

// ---- faults as spans

type Span = { from: number; to: number | null }

const spansOf = ({ findings }: RunOutput, { start }: TestCase): Span[] =>
  findings
    .filter(({ equipment_id }) => equipment_id === 'test')
    .map(({ from, to }) => ({ from: from - start, to: to === null ? null : to - start }))

/** A fault that lasts to the end of the rows may be written with that end. */
const sameSpans = (found: Span[], wanted: Span[], lengthMs: number): boolean =>
  found.length === wanted.length &&
  found.every(
    ({ from, to }, index) => from === wanted[index]!.from && (to === wanted[index]!.to || (to ?? lengthMs) === wanted[index]!.to),
  )

const wordsOf = (spans: Span[]): string =>
  `[${spans.map(({ from, to }) => `${clock(from)}-${to === null ? '' : clock(to)}`).join(', ')}]`

const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')

function clock(ms: number): string {
  const seconds = (ms % MINUTE) / 1000
  return `${two(ms / HOUR)}:${two((ms % HOUR) / MINUTE)}${seconds ? `:${two(seconds)}` : ''}`
}

// ---- the plant of a test

function equipmentOf(rule: Rule, test: TestCase, denser: boolean): EquipmentData[] {
  const [first] = rule.equipment
  const type: EquipmentType = test.equipment ?? (first === undefined || first === 'any' ? 'ahu' : first)
  const series = (rows: TestRows, own: boolean) => seriesOf(rows, test, denser, own ? { ...rule.roles, ...rule.optional } : {})
  const rows = { ...proven(rule, test), ...renamed(test.rows) }
  const equipment: EquipmentData[] = [
    {
      equipment_id: 'test',
      equipment_type: type,
      roles: series(rows, true),
      visits: visitsIn(test, { ...rule.roles, ...rule.optional }),
      feeds: test.zones.map((_, index) => `zone-${index}`),
    },
  ]
  for (const [index, zone] of test.zones.entries()) {
    equipment.push({ equipment_id: `zone-${index}`, equipment_type: 'vav', roles: series(renamed(zone), false), feeds: [] })
  }
  if (test.parent) {
    equipment.push({ equipment_id: 'parent', equipment_type: 'ahu', roles: series(renamed(test.parent), false), feeds: ['test'] })
  }
  return equipment
}

/** Visits are instants: there is nothing to repeat between two of them. */
function visitsIn(
  { visits, start, offsets, timezone }: TestCase,
  units: Record<string, string>,
): Record<string, ArraySnapshot[]> {
  const meanings = levelMeanings()
  return Object.fromEntries(
    Object.entries(visits).map(([role, seen]) => [
      role,
      seen.flatMap((visit, row): ArraySnapshot[] => {
        if (!visit) return []
        const figure = (value: number) => toCanonical(value, units[role], true)
        const slots = Array.from({ length: LEVELS }, (_, i) => (i + 1 in visit.slots ? figure(visit.slots[i + 1]!) : null))
        const active = slots.findIndex(slot => slot !== null) + 1
        const t = start + offsets[row]!
        const overridden = isOverride(active || null, meanings)
        return [{ t, slots, fallback: figure(visit.fallback), date: dateOf(t, timezone), overridden }]
      }),
    ]),
  )
}

/** A macro's row stands for its best proof: `fan_on: 0x6` is a fan status. */
const renamed = (rows: TestRows): TestRows =>
  Object.fromEntries(Object.entries(rows).map(([name, values]) => [getOwn(MACROS, name)?.proofs[0]!.role ?? name, values]))

/** Roles that a test leaves out are healthy: a macro without any of its roles in the test holds throughout. */
function proven(rule: Rule, test: TestCase): TestRows {
  const given = new Set([...Object.keys(renamed(test.rows)), ...Object.keys(renamed(test.parent ?? {}))])
  const rows: TestRows = {}
  for (const name of macrosOf(rule)) {
    const { proofs } = MACROS[name]!
    if (!proofs.some(({ role }) => given.has(role))) rows[proofs[0]!.role] = test.offsets.map(() => 1)
  }
  return rows
}

function macrosOf({ program }: Rule): string[] {
  const names = new Set<string>()
  const visit = (typed: TypedExpr): void => {
    if (typed.kind === 'ref' && getOwn(MACROS, typed.name)) names.add(typed.name)
    if (typed.kind === 'op' || typed.kind === 'baseline') for (const arg of typed.args) visit(arg)
  }
  for (const { typed } of program.lets) visit(typed)
  for (const { of, on, when } of program.baselines) for (const typed of [of, ...on, when]) if (typed) visit(typed)
  for (const typed of [program.gate, program.when]) if (typed) visit(typed)
  return [...names]
}

function seriesOf(rows: TestRows, test: TestCase, denser: boolean, units: Record<string, string>): Record<string, RoleSeries> {
  return Object.fromEntries(
    Object.entries(rows).map(([role, values]) => {
      const samples = samplesOf(values, test, units[role])
      const series = denser ? repeated(samples, test.nominalMs) : samples
      return [role, { ...series, point_id: role, nominalMs: test.nominalMs }]
    }),
  )
}

type Samples = { ts: Float64Array; values: Float64Array }

function samplesOf(rows: (number | null)[], { start, offsets }: TestCase, unit: string | undefined): Samples {
  const [ts, values] = [new Float64Array(rows.length), new Float64Array(rows.length)]
  let n = 0
  for (const [row, value] of rows.entries()) {
    if (value === null) continue
    ts[n] = start + offsets[row]!
    values[n++] = toCanonical(value, unit, true)
  }
  return { ts: ts.subarray(0, n), values: values.subarray(0, n) }
}

/** The same step function with twice the samples; where a hold runs out before the next sample nothing is added. */
function repeated(samples: Samples, nominalMs: number): Samples {
  const [ts, values] = [new Float64Array(2 * samples.ts.length), new Float64Array(2 * samples.ts.length)]
  let n = 0
  for (const [i, at] of samples.ts.entries()) {
    ts[n] = at
    values[n++] = samples.values[i]!
    const next = samples.ts[i + 1]
    if (next === undefined || next - at > 3 * nominalMs) continue
    ts[n] = (at + next) / 2
    values[n++] = samples.values[i]!
  }
  return { ts: ts.subarray(0, n), values: values.subarray(0, n) }
}
