/** Rings in the graph of who silences whom: a catalogue must have none. */
import { suppressedRuleIds } from '#shared/core/rules/episodes/suppress.ts'
import type { Rule } from '#shared/core/rules/check/rule.ts'

/** @returns each ring once, as the ids along it, the first repeated at its end */
export function cyclesOf(rules: Rule[]): string[][] {
  const below = new Map(rules.map(rule => [rule.id, suppressedRuleIds(rule, rules)]))
  const done = new Set<string>()
  const rings: string[][] = []
  const visit = (id: string, path: string[]): void => {
    const at = path.indexOf(id)
    if (at >= 0) rings.push([...path.slice(at), id])
    if (at >= 0 || done.has(id)) return
    for (const next of below.get(id) ?? []) visit(next, [...path, id])
    done.add(id)
  }
  for (const id of below.keys()) visit(id, [])
  return rings
}
