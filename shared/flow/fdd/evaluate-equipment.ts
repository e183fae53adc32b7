import { errorText } from '#shared/core/error-text.ts'
import { DOUBT_PAST_MS } from '#shared/core/series/doubtful.ts'
import type { EngineStates, KeptSamples, SampleLogs } from '#shared/core/ports.ts'
import type { RuleRun } from '#shared/core/rules/evaluate/run-rules.ts'
import type { DataNeed } from '#shared/core/rules/compile/data-needs.ts'
import type { EquipmentState } from '#shared/core/rules/evaluate/equipment-state.ts'
import type { EquipmentData } from '#shared/core/rules/compile/equipment-data.ts'
import type { FrameReader, FrameBatch, FrameRequest } from './frame-reader.ts'

/** Samples that are in memory at once: 64 MB of instants and values, unless one equipment alone needs more. */
const SAMPLES_MAX = 4_000_000
/** Equipment whose saved states are in memory at once: a state takes about 1 MB, and an hour has few samples beside it. */
const STATES_MAX = 4

/** The saved states from which a run resumes. */
export type ResumeSource = {
  building_id: string
  /** Ends of building days whose states still agree with history, the newest first. */
  ends: number[]
  /** History from this instant on may have changed since the states were saved, ms. */
  changedFrom: number
  states: EngineStates
  sampleLogs: SampleLogs
}

type EquipmentPorts = {
  /** Called between pieces of work; throws to end the run. */
  pause: () => Promise<void>
  /** Called before an equipment is evaluated. */
  begin: (step: 'history' | 'evaluation', equipment_done: number) => void
  /** Whether the state of an equipment must not be saved: the reason for which a rule failed may be gone in the next run. */
  isUnsure: (equipment_id: string) => boolean
}

type EvaluationOutcome = {
  /** Equipment that resumed from a saved state. */
  resumed: string[]
  /** For the log: equipment that was evaluated from history although states exist, and states that could not be saved. */
  notes: string[]
}

type EquipmentTask = FrameRequest & { equipment_id: string; problem: string | undefined }

/**
 * Evaluates the equipment of a run one after the other. History is read for a few at a time, so that memory does not grow
 * with the building. Each equipment resumes from the newest usable state, or starts at `start`.
 */
export async function evaluateEquipment(
  run: RuleRun,
  reader: FrameReader,
  start: number,
  source: ResumeSource | undefined,
  ports: EquipmentPorts,
): Promise<EvaluationOutcome> {
  const outcome: EvaluationOutcome = { resumed: [], notes: [] }
  const restarted: string[] = []
  let saveError: string | undefined
  let done = 0
  for (const tasks of taskBatches(run, reader, start, source)) {
    await ports.pause()
    ports.begin('history', done)
    const batches = await reader.read(tasks)
    for (const [i, task] of tasks.entries()) {
      await ports.pause()
      ports.begin('evaluation', done)
      const { equipment_id, needs, state } = task
      const first = run.evaluate(equipment_id, batches[i]!.frames(), state)
      const problem = first.outdated ?? task.problem
      const last = first.outdated !== undefined ? run.evaluate(equipment_id, await readAll(reader, needs, start)) : first
      if (last.outdated !== undefined) throw new Error(`${equipment_id} cannot be evaluated: ${last.outdated}`)
      if (problem === undefined && state) outcome.resumed.push(equipment_id)
      else if (problem !== undefined) restarted.push(`${equipment_id}: ${problem}`)
      if (source && saveError === undefined) {
        const states = ports.isUnsure(equipment_id) ? [] : last.states
        const resumedAt = problem === undefined ? state?.at : undefined
        saveError = await save(source, equipment_id, states, { ...batches[i]!, resumedAt })
      }
      done += 1
    }
  }
  if (saveError !== undefined) outcome.notes.push(`engine state not saved: ${saveError}`)
  if (restarted.length > 0) {
    outcome.notes.push(`${restarted.length} of ${done} equipment evaluated from history without a saved state; ${restarted[0]}`)
  }
  return outcome
}

/** The equipment of a run in its order, in batches whose history is read together. */
function* taskBatches(
  run: RuleRun,
  reader: FrameReader,
  start: number,
  source: ResumeSource | undefined,
): Generator<EquipmentTask[]> {
  let batch: EquipmentTask[] = []
  let size = 0
  for (const equipment_id of run.order) {
    const { state, logged, problem } = source ? loadState(source, equipment_id) : {}
    const from = state ? state.at - DOUBT_PAST_MS : start
    const task: EquipmentTask = { equipment_id, needs: run.needs(equipment_id), from, state, logged, problem }
    const samples = reader.sizeOf(task)
    const isFull = batch.length === STATES_MAX || size + samples > SAMPLES_MAX
    if (batch.length > 0 && (task.from !== batch[0]!.from || isFull)) {
      yield batch
      batch = []
      size = 0
    }
    batch.push(task)
    size += samples
  }
  if (batch.length > 0) yield batch
}

type LoadedState = { state?: EquipmentState; logged?: KeptSamples | undefined; problem?: string }

/** Loads the newest usable state, and the samples that have been read since; `problem` is why there is none. */
function loadState({ building_id, ends, changedFrom, states, sampleLogs }: ResumeSource, equipment_id: string): LoadedState {
  let problem: string | undefined
  for (const at of ends) {
    const found = states.load(building_id, at, equipment_id)
    if ('state' in found) return { ...found, logged: sampleLogs.read(building_id, at, equipment_id, changedFrom) }
    problem ??= found.why
  }
  return problem === undefined ? {} : { problem }
}

async function readAll(reader: FrameReader, needs: DataNeed[], from: number): Promise<EquipmentData[]> {
  const [read] = await reader.read([{ needs, from, state: undefined }])
  return read!.frames()
}

/**
 * Saves the states of an equipment, or else the samples that were read since the one from which it resumed.
 *
 * @param batch `resumedAt` is undefined where the equipment did not resume
 * @returns why nothing could be saved; the results of the run are not affected
 */
async function save(
  { building_id, states, sampleLogs }: ResumeSource,
  equipment_id: string,
  saved: EquipmentState[],
  { resumedAt, fresh, logged }: Pick<FrameBatch, 'fresh' | 'logged'> & { resumedAt: number | undefined },
): Promise<string | undefined> {
  try {
    for (const state of saved) await states.save(building_id, state)
    if (saved.length === 0 && resumedAt !== undefined) sampleLogs.add(building_id, resumedAt, equipment_id, fresh, logged)
    return undefined
  } catch (error) {
    return errorText(error)
  }
}
