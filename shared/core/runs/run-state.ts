/** A run of the rules as people watch it, from the moment it is asked for. */
import type { RunRecord } from '#shared/core/ports.ts'

type RunPhase = 'queued' | 'running' | 'done' | 'failed' | 'cancelled'

/** How far the evaluation of a run is. */
export type RunProgress = {
  step: 'rules' | 'history' | 'evaluation'
  equipment_done: number
  equipment_total: number
  /** Rules that the run has; 0 until they are read. */
  rules: number
}

/** The entry of every run, whatever its end; its results are in its `RunRecord`. */
export type RunState = {
  run_id: string
  building_id: string
  trigger: RunRecord['trigger']
  state: RunPhase
  /** Instants in ms; null while it has not come to that. */
  asked_at: number
  started_at: number | null
  finished_at: number | null
  /** Why it failed, or who cancelled it. */
  reason?: string
}

export const isOver = ({ state }: Pick<RunState, 'state'>): boolean => state !== 'queued' && state !== 'running'

/** Error text of a run that the end of its process cut short. */
export const INTERRUPTED = 'interrupted: the process ended while it ran'
