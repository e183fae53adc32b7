/** Alters every rule in every small way, runs its own tests, and lists the alterations that no test noticed. */
import { readFileSync } from 'node:fs'
import type { WrittenRule } from '#shared/core/rules/check/rule.ts'
import { FACTOR } from './lib/mutants.ts'
import { judge, KILLED_MIN, readSpared, type Tried, tryMutants } from './lib/mutation.ts'

type Out = (line: string) => void

/** @returns whether enough was noticed, and every survivor has its reason */
export function mutate(rules: WrittenRule[], { json, survivors }: { json: boolean; survivors: string }, out: Out): boolean {
  const spared = readSpared(readFileSync(survivors, 'utf8'))
  const tried: Tried[] = []
  for (const [index, rule] of rules.entries()) {
    const own = tryMutants(rule, readFileSync(rule.filename, 'utf8'))
    tried.push(...own)
    const lived = own.filter(({ killed_by }) => killed_by === null).length
    if (!json) out(`${index + 1}/${rules.length} ${rule.id}: ${own.length - lived} of ${own.length} noticed`)
  }
  if (json) for (const line of tried) out(JSON.stringify(line))
  const { killed, total, unexplained, outdated, fine } = judge(tried, spared, new Set(rules.map(({ id }) => id)))
  if (json) return fine
  for (const { place, rule_id, mutant } of unexplained) out(`${place}: ${rule_id}: nobody notices ${mutant}`)
  for (const { rule, mutant } of outdated) out(`${survivors}: ${rule}: ${mutant}: is noticed now, or is not there any more`)
  const share = total > 0 ? (100 * killed) / total : 100
  out(
    `${rules.length} rules, ${total} mutants (figures times and by ${FACTOR}): ${killed} noticed, ${share.toFixed(1)} % ` +
      `(at least ${100 * KILLED_MIN} %), ${total - killed - unexplained.length} spared with a reason, ${unexplained.length} without`,
  )
  return fine
}
