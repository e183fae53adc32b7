/** Explains a rule in plain sentences for people who do not read YAML. */
import { impactKindSpec } from '#shared/core/impact/kinds.ts'
import { formatDuration } from '#shared/core/time.ts'
import { branchesOf } from '#shared/core/rules/language/branches.ts'
import { roleAlternatives } from '#shared/core/rules/check/role-alternatives.ts'
import type { TypedExpr } from '#shared/core/rules/check/typed-expr.ts'
import { READERS, roleOfReaders } from '#shared/core/rules/check/readers.ts'
import type { BaselineSpec, RuleParam, Program, WrittenRule } from '#shared/core/rules/check/rule.ts'

const SEVERITIES = { 1: 'critical', 2: 'high', 3: 'medium', 4: 'advisory' } as const

/** @returns lines of plain text, in the order of evaluation */
export function explainRule(rule: WrittenRule): string[] {
  return [
    `${rule.id}: ${rule.title}`,
    `A ${rule.kind} rule for ${rule.equipment.join(', ')}, severity ${rule.severity} (${SEVERITIES[rule.severity]}). Source: ${rule.source}.`,
    ...eachWords(rule.program),
    ...listed(
      items => `It needs: ${items}.`,
      Object.entries(rule.roles).map(([role, unit]) => `${role} (${unit})`),
    ),
    ...listed(items => `It needs one of: ${items}.`, [roleAlternatives(rule).join('; ')].filter(Boolean)),
    ...listed(
      items => `Optional: ${items}.`,
      Object.entries(rule.optional).map(([role, unit]) => `${role} (${unit})`),
    ),
    ...conditionWords(rule),
    ...Object.entries(rule.params).map(paramWords),
    ...evaluationWords(rule),
    ...listed(items => `Points to: ${items}.`, writtenCauses(rule).map(causeWords)),
    ...effectWords(rule.program),
  ]
}

/** @returns when a rule finds its fault, in words: without its inputs, their alternatives, parameters and causes, which a page shows itself */
export const explainCondition = (rule: WrittenRule): string[] => [
  ...eachWords(rule.program),
  ...conditionWords(rule),
  ...evaluationWords(rule),
  ...effectWords(rule.program),
]

const eachWords = ({ each }: Program): string[] =>
  each ? [`It runs once for every ${each.which === 'any' ? '' : `${each.which} `}role, called ${each.name} here.`] : []

const conditionWords = (rule: WrittenRule): string[] => [
  ...gateWords(rule),
  ...faultWords(rule.program.expression),
  ...letWords(rule),
]

function faultWords(expression: string): string[] {
  const branches = branchesOf(expression)
  if (!branches) return [`Fault when: ${expression}.`]
  const { when, first, otherwise } = branches
  return [`While ${when}, fault when: ${first}.`, `Otherwise, fault when: ${otherwise}.`]
}

const evaluationWords = (rule: WrittenRule): string[] => [
  ...rule.program.baselines.map(spec => baselineWords(spec, rule)),
  ...timeWords(rule.program),
  `The result is "pass" only when ${Math.round(rule.program.min_coverage * 100)} % of the gated time could be evaluated; otherwise "not evaluated".`,
]

const effectWords = (program: Program): string[] => [
  ...impactWords(program),
  ...listed(items => `Suppresses: ${items}.`, program.suppresses.map(namedWords)),
  ...listed(items => `Named as the likely cause of findings of: ${items}.`, program.relabels.map(namedWords)),
]

/** The wasted energy, with the expression of the file. */
function impactWords({ impact }: Program): string[] {
  if (!impact || impact.kind === 'none') return []
  const { words } = impactKindSpec(impact.kind)
  const wasted = impact.text === undefined ? `It wastes ${words}.` : `It wastes ${words}: ${impact.text}.`
  return impact.because === undefined ? [wasted] : [wasted, impact.because]
}

const namedWords = (name: string): string => {
  const role = roleOfReaders(name)
  if (role !== undefined) return `every rule that reads ${role}`
  return name === READERS ? 'every rule that reads the role' : name
}

const listed = (sentence: (items: string) => string, items: string[]): string[] =>
  items.length > 0 ? [sentence(items.join(', '))] : []

function gateWords({ body, program }: WrittenRule): string[] {
  const guard = program.guard ? ['Also gated while outdoor and return air are less than 3 K apart.'] : []
  return typeof body.gate === 'string' ? [`Evaluated only while: ${body.gate.trim()}.`, ...guard] : guard
}

const letWords = ({ body }: WrittenRule): string[] =>
  Object.entries((body.let ?? {}) as Record<string, unknown>).map(
    ([name, text]) => `In it ${name} stands for: ${String(text).trim()}.`,
  )

function paramWords([name, { default: value, min, max, unit, perRole }]: [string, RuleParam]): string {
  const others = Object.entries(perRole ?? {}).map(([role, own]) => `${role} ${own}`)
  const words = `  ${name} = ${value}, from ${min} to ${max} ${unit === 'any' ? "in the role's own unit" : unit}`
  return others.length > 0 ? `${words}; for ${others.join(', ')}` : words
}

function baselineWords({ name, on, days, min_days, fallback }: BaselineSpec, { body }: WrittenRule): string {
  const asked = JSON.stringify([body.let, body.when]).includes(`cold(${name})`)
  const without = fallback ? 'a physical value stands in' : 'the rule is not evaluated'
  const cold = asked ? 'the rule goes by limits that need no history' : without
  const kind = on.length > 0 ? 'what a model fitted to' : 'the median of'
  const expects = on.length > 0 ? ' expects for the moment' : ''
  return `  base(${name}) is ${kind} up to ${days} past days of this equipment${expects}; until there are ${min_days}, ${cold}.`
}

/** A component to which a rule points. `when`: the condition under which it does, as it is written. */
export type WrittenCause = { component: string; weight: number; when?: string }

export const writtenCauses = ({ body }: WrittenRule): WrittenCause[] =>
  Object.entries((body.cause ?? {}) as Record<string, number | Record<string, number>>).flatMap(([component, weight]) =>
    typeof weight === 'number'
      ? [{ component, weight }]
      : Object.entries(weight).map(([when, own]) => ({ component, weight: own, when })),
  )

const causeWords = ({ component, weight, when }: WrittenCause): string =>
  when === undefined ? `${component} ${weight}` : `${component} ${weight} when ${when}`

function timeWords({ smooth, settle, persistence, daily_minimum, clear, sampling, together }: Program): string[] {
  const sentences: [TypedExpr, (words: string) => string][] = [
    [smooth, words => `Numbers are averaged over ${words}.`],
    [settle, words => `After the gate opens it waits ${words}.`],
    [persistence, words => `The fault must last ${words} without a break.`],
    [daily_minimum, words => `It must add up to ${words} within a building day.`],
    [clear, words => `It ends when it has been away for ${words}.`],
    [sampling, words => `It needs samples every ${words} or more often.`],
    [together, words => `Findings that begin within ${words} of each other are one outage.`],
  ]
  return sentences.flatMap(([typed, words]) => {
    if (typed.kind === 'param') return [words(typed.name)]
    return typed.kind === 'const' && typed.value > 0 ? [words(formatDuration(typed.value * 1000))] : []
  })
}
