/**
 * Fits the weights of causes by likelihood. A rule in fault says with its weights how likely each of its causes is; what is
 * left to 1 is how likely it is none of them. A fit multiplies the weight of each component by a factor, so that the
 * conditions of a rule keep their meaning.
 */
import { sha256 } from '#shared/core/findings/finding-id.ts'

/** One finding in a building whose fault is known. */
export type JudgedFinding = {
  rule_id: string
  /** Of the building. */
  seed: number
  /** By component, as the finding gives them. */
  weights: Readonly<Record<string, number>>
  /** Components that name the fault; empty where the rule lists none of them. */
  right: readonly string[]
}
/** By component; that of `ANOTHER` for what a rule does not list. */
type CauseFactors = ReadonlyMap<string, number>

/** Any cause that the rule does not list. */
export const ANOTHER = 'another cause'
/** What stays for it where the weights sum to nearly 1 or more. */
const ANOTHER_MIN = 0.1
/** Findings that the judgement of the rule's author counts for, for each component. */
const JUDGEMENT = 2
const STEPS = 100

export const JUDGED: CauseFactors = new Map()

/** Half of the buildings: without any order, because the simulator goes through its faults in the order of seeds. */
export const isForFitting = ({ seed }: Pick<JudgedFinding, 'seed'>): boolean =>
  parseInt(sha256(String(seed)).slice(0, 2), 16) % 2 === 1

/** @returns by component, how likely it is before any factor */
function priorOf({ weights }: JudgedFinding): [string, number][] {
  const listed = Object.entries(weights)
  return [...listed, [ANOTHER, Math.max(ANOTHER_MIN, 1 - listed.reduce((sum, [, weight]) => sum + weight, 0))]]
}

/** The factors that make the findings of one rule most likely, with the judgement as prior (minorization–maximization). */
export function fitFactors(findings: readonly JudgedFinding[]): CauseFactors {
  let factors = new Map(findings.flatMap(finding => priorOf(finding).map(([component]) => [component, 1])))
  const components = [...factors.keys()]
  for (let step = 0; step < STEPS; step++) {
    const counted = new Map(components.map(component => [component, JUDGEMENT]))
    const expected = new Map(components.map(component => [component, JUDGEMENT]))
    for (const finding of findings) {
      const shares = sharesOf(finding, factors)
      for (const [component, { weight, sum }] of shares) expected.set(component, expected.get(component)! + weight / sum)
      const right = finding.right.length > 0 ? finding.right : [ANOTHER]
      const whole = right.reduce((sum, component) => sum + shares.get(component)!.share, 0)
      for (const component of right) counted.set(component, counted.get(component)! + shares.get(component)!.share / whole)
    }
    factors = new Map(components.map(component => [component, counted.get(component)! / expected.get(component)!]))
  }
  return factors
}

/** @returns by component, its weight before the factor, its share of 1 after it, and the sum of all weights after it */
function sharesOf(finding: JudgedFinding, factors: CauseFactors): Map<string, { weight: number; share: number; sum: number }> {
  const prior = priorOf(finding)
  const after = (component: string, weight: number) => (factors.get(component) ?? 1) * weight
  const sum = prior.reduce((total, [component, weight]) => total + after(component, weight), 0)
  return new Map(prior.map(([component, weight]) => [component, { weight, share: after(component, weight) / sum, sum }]))
}

/** Natural logarithm of the likelihood of what was right. */
export function logLikelihood(findings: readonly JudgedFinding[], factors: CauseFactors): number {
  return findings.reduce((total, finding) => {
    const shares = sharesOf(finding, factors)
    const right = finding.right.length > 0 ? finding.right : [ANOTHER]
    return total + Math.log(right.reduce((sum, component) => sum + shares.get(component)!.share, 0))
  }, 0)
}

/** @returns how many findings name the fault first, of those whose rule lists it */
export function firstRight(findings: readonly JudgedFinding[], factors: CauseFactors): { right: number; of: number } {
  const listed = findings.filter(({ right }) => right.length > 0)
  const isFirst = (finding: JudgedFinding): boolean => {
    const shares = [...sharesOf(finding, factors)].filter(([component]) => component !== ANOTHER)
    return finding.right.includes(shares.reduce((a, b) => (b[1].share > a[1].share ? b : a))[0])
  }
  return { right: listed.filter(isFirst).length, of: listed.length }
}
