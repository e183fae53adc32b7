/** Whether the tests of a rule notice the mistakes that somebody could make in it. */
import { isNode, LineCounter, parse, parseDocument } from 'yaml'
import { TemplateCache } from '#shared/core/rules/compile/compile-equipment.ts'
import { parseRule } from '#shared/core/rules/check/parse-rule.ts'
import { holds } from '#shared/core/rules/testing/test-rule.ts'
import type { WrittenRule, TestCase } from '#shared/core/rules/check/rule.ts'
import { mutantsOf, type Path } from './mutants.ts'

export type Tried = {
  rule_id: string
  /** `rules/ahu/fan/ahu-filter.yaml:14` */
  place: string
  mutant: string
  /** Name of the test that goes red; null when the mutant lives. */
  killed_by: string | null
}
/** A mutant that is accepted, with the reason: no reading distinguishes it from the rule, or none that is worth a test. */
type Spared = { rule: string; mutant: string; reason: string }

/** Of a hundred mistakes, how many must be noticed at least. */
export const KILLED_MIN = 0.95

/**
 * @param text the rule's file, for lines
 * @param chosen which of its mutants, by their number
 * @returns every chosen mutant that is a valid rule, in the order of the rule's keys
 */
export function tryMutants(rule: WrittenRule, text: string, chosen: (index: number) => boolean = () => true): Tried[] {
  const lineOf = lineFinder(text)
  let tests = rule.tests.toSorted((a, b) => a.offsets.length - b.offsets.length)
  return mutantsOf(rule).flatMap(({ path, words, body }, index): Tried[] => {
    if (!chosen(index)) return []
    // JSON is YAML.
    const parsed = parseRule(JSON.stringify(body), rule.filename)
    if (!parsed.ok) return []
    const templates = new TemplateCache()
    const killer = tests.find(test => !holds(parsed.rule, test, templates))
    if (killer) tests = firstOf(killer, tests)
    return [{ rule_id: rule.id, place: `${rule.filename}:${lineOf(path)}`, mutant: words, killed_by: killer?.name ?? null }]
  })
}

/** The test that has just noticed a mistake is the likeliest to notice the next. */
const firstOf = (test: TestCase, tests: TestCase[]): TestCase[] => [test, ...tests.filter(other => other !== test)]

function lineFinder(text: string): (path: Path) => number {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  return path => {
    const node = document.getIn(path, true)
    return isNode(node) ? lines.linePos(node.range?.[0] ?? 0).line : 1
  }
}

/**
 * @param text YAML: rule id -> mutant -> reason
 * @throws Error that names the entry which is not so
 */
export function readSpared(text: string): Spared[] {
  const listed = (parse(text) ?? {}) as Record<string, Record<string, unknown>>
  return Object.entries(listed).flatMap(([rule, mutants]) =>
    Object.entries(mutants ?? {}).map(([mutant, reason]) => {
      if (typeof reason !== 'string' || reason.trim() === '') throw new Error(`${rule}: ${mutant}: a reason is missing`)
      return { rule, mutant, reason }
    }),
  )
}

type Judgement = { killed: number; total: number; unexplained: Tried[]; outdated: Spared[]; fine: boolean }

/** @param rules ids that were tried: what is spared of others is not asked for */
export function judge(tried: Tried[], spared: Spared[], rules: ReadonlySet<string>): Judgement {
  const key = (rule: string, mutant: string) => `${rule}\n${mutant}`
  const alive = tried.filter(({ killed_by }) => killed_by === null)
  const listed = new Set(spared.map(({ rule, mutant }) => key(rule, mutant)))
  const living = new Set(alive.map(({ rule_id, mutant }) => key(rule_id, mutant)))
  const unexplained = alive.filter(({ rule_id, mutant }) => !listed.has(key(rule_id, mutant)))
  const outdated = spared.filter(({ rule, mutant }) => rules.has(rule) && !living.has(key(rule, mutant)))
  const killed = tried.length - alive.length
  const fine = killed >= KILLED_MIN * tried.length && unexplained.length === 0 && outdated.length === 0
  return { killed, total: tried.length, unexplained, outdated, fine }
}
