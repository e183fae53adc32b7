/** Runs a set of rules over the equipment of one building. */
import { createRun } from './open-run.ts'
import { outlineOf } from '#shared/core/rules/compile/building-signals.ts'
import type { RunOutput, RunInput } from './run-types.ts'

/**
 * Finds the episodes of every rule on every equipment of its types within `[from, to)`.
 *
 * The answer depends on the input alone: not on the order of rules, equipment or samples. A rule that throws fails on
 * that equipment and is listed; the others go on.
 *
 * @throws RangeError when the time zone is unknown or the span is longer than ten years
 */
export function runRules(input: RunInput): RunOutput {
  const run = createRun({ ...input, equipment: input.equipment.map(outlineOf) })
  for (const equipment_id of run.order) run.evaluate(equipment_id, input.equipment)
  return run.finish()
}
