import { errorText } from '#shared/core/error-text.ts'
import type { EngineStates, KeptSamples } from '#shared/core/ports.ts'
import type { RuleRun } from '#shared/core/rules/evaluate/run-rules.ts'
import type { DataNeed } from '#shared/core/rules/compile/data-needs.ts'
import type { EquipmentState } from '#shared/core/rules/evaluate/equipment-state.ts'
import type { EquipmentData } from '#shared/core/rules/compile/equipment-data.ts'
import type { FrameReader, FrameBatch, FrameRequest } from './frame-reader.ts'

/** Samples that are in memory at once: 64 MB of instants and values, unless one equipment alone needs more. */
const SAMPLES_MAX = 4_000_000

/** Where runs go on from. */
export type ResumeSource = {
  building_id: string
  /** Ends of building days whose states still say what history says, the newest first. */
  ends: number[]
  /** From when on history may not be what it was when they were left, ms. */
  changedFrom: number
  states: EngineStates
}

export type EquipmentPorts = {
  /** Called before each piece of work; it throws to end the run. */
  pause: () => Promise<void>
  /** Told before an equipment is evaluated. */
  begin: (step: 'history' | 'evaluation', equipment_done: number) => void
  /** Equipment of which nothing is to be remembered: what kept a rule from running may be gone by the next run. */
  isUnsure: (equipment_id: string) => boolean
}

export type EvaluationOutcome = {
  /** Equipment that went on from what was remembered. */
  resumed: string[]
  /** What was reckoned anew though something was remembered of the building, and what could not be remembered. */
  notes: string[]
}

type EquipmentTask = FrameRequest & { equipment_id: string; why: string | undefined }

/**
 * Evaluates a run's equipment one after the other. History is read for a few at a time, so that memory does not grow with
 * the building; each goes on from the newest state that can be used, or else from `start`.
 */
export async function evaluateEquipment(
  run: RuleRun,
  reader: FrameReader,
  start: number,
  memory: ResumeSource | undefined,
  ports: EquipmentPorts,
): Promise<EvaluationOutcome> {
  const outcome: EvaluationOutcome = { resumed: [], notes: [] }
  const anew: string[] = []
  let lost: string | undefined
  let done = 0
  for (const turns of taskBatches(run, reader, start, memory)) {
    await ports.pause()
    ports.begin('history', done)
    const read = await reader.read(turns)
    for (const [i, turn] of turns.entries()) {
      await ports.pause()
      ports.begin('evaluation', done)
      const { equipment_id, needs, state } = turn
      const first = run.evaluate(equipment_id, read[i]!.frames(), state)
      const why = first.outdated ?? turn.why
      const last = first.outdated !== undefined ? run.evaluate(equipment_id, await readAnew(reader, needs, start)) : first
      if (last.outdated !== undefined) throw new Error(`${equipment_id} cannot be evaluated: ${last.outdated}`)
      if (why === undefined && state) outcome.resumed.push(equipment_id)
      else if (why !== undefined) anew.push(`${equipment_id}: ${why}`)
      if (memory && lost === undefined) {
        const left = ports.isUnsure(equipment_id) ? [] : last.states
        lost = await keep(memory, equipment_id, left, { ...read[i]!, at: why === undefined ? state?.at : undefined })
      }
      done += 1
    }
  }
  if (lost !== undefined) outcome.notes.push(`the state of the rules is not kept: ${lost}`)
  if (anew.length > 0) outcome.notes.push(`${anew.length} of ${done} equipment reckoned anew from history; ${anew[0]}`)
  return outcome
}

/** Equipment in its order, in groups whose history is read together. */
function* taskBatches(
  run: RuleRun,
  reader: FrameReader,
  start: number,
  memory: ResumeSource | undefined,
): Generator<EquipmentTask[]> {
  let group: EquipmentTask[] = []
  let size = 0
  for (const equipment_id of run.order) {
    const { state, kept, why } = memory ? recall(memory, equipment_id) : {}
    const turn = { equipment_id, needs: run.needs(equipment_id), from: state?.at ?? start, state, kept, why }
    const own = reader.sizeOf(turn)
    if (group.length > 0 && (turn.from !== group[0]!.from || size + own > SAMPLES_MAX)) {
      yield group
      group = []
      size = 0
    }
    group.push(turn)
    size += own
  }
  if (group.length > 0) yield group
}

type Recalled = { state?: EquipmentState; kept?: KeptSamples | undefined; why?: string }

/** The newest state that is whole, and the samples that have been read since; `why` there is none. */
function recall({ building_id, ends, changedFrom: open, states }: ResumeSource, equipment_id: string): Recalled {
  let why: string | undefined
  for (const at of ends) {
    const found = states.load(building_id, at, equipment_id)
    if ('state' in found) return { ...found, kept: states.samples(building_id, at, equipment_id, open) }
    why ??= found.why
  }
  return why === undefined ? {} : { why }
}

async function readAnew(reader: FrameReader, needs: DataNeed[], from: number): Promise<EquipmentData[]> {
  const [read] = await reader.read([{ needs, from, state: undefined }])
  return read!.frames()
}

/**
 * Keeps the states that a run has left, or else what it read beyond the one from which it went on.
 *
 * @param read `at` is undefined where it did not go on from one
 * @returns why nothing could be kept; the run is none the worse for it
 */
async function keep(
  { building_id, states }: ResumeSource,
  equipment_id: string,
  left: EquipmentState[],
  { at, fresh, logged: kept }: Pick<FrameBatch, 'fresh' | 'logged'> & { at: number | undefined },
): Promise<string | undefined> {
  try {
    for (const state of left) await states.save(building_id, state)
    if (left.length === 0 && at !== undefined) states.addSamples(building_id, at, equipment_id, fresh, kept)
    return undefined
  } catch (error) {
    return errorText(error)
  }
}
