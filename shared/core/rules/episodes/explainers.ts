/** The rules that have a say in what is told of one rule. */
import { matchesAny, READERS } from './suppress.ts'
import type { Rule } from '#shared/core/rules/check/rule.ts'

/** @returns `asked` and those of `rules` that may silence or relabel them, over any number of steps: their baselines depend on them too */
export function withExplainers(asked: Rule[], rules: Rule[]): Rule[] {
  const found = new Map(asked.map(rule => [rule.id, rule]))
  const explain = ({ program }: Rule, id: string): boolean => {
    const names = [...program.suppresses, ...program.relabels]
    return names.includes(READERS) || matchesAny(names, id)
  }
  for (const { id } of found.values()) {
    for (const other of rules) if (explain(other, id)) found.set(other.id, other)
  }
  return [...found.values()]
}
