/** Where the setting up of a building stands. It follows from what is stored, so that it can be left and taken up by anybody. */

export type CommissionFacts = {
  /** Points that are measured or were imported. */
  points: number
  /** Of these, points that have no value or none that can be used; undefined where this process does not poll. */
  silent: number | undefined
  /** Points that belong to no equipment. */
  unplaced: number
  /** Points of equipment without a role, and how many of them have a likely suggestion. */
  withoutRole: number
  likely: number
  /** Points with a role whose values do not fit their unit. */
  doubtful: number
  /** Rules that can run, and those that lack something, over all equipment. */
  canRun: number
  cannotRun: number
  /** End of the newest run, ms; null before the first. */
  lastRunAt: number | null
}

export const COMMISSION_STEPS = ['points', 'equipment', 'roles', 'units', 'coverage', 'run'] as const
export type CommissionStep = (typeof COMMISSION_STEPS)[number]
/** `open` has something left, `later` needs an earlier step first. */
export type StepState = 'done' | 'open' | 'later'

/** @returns the state of each step in order */
export function commissionSteps(facts: CommissionFacts): Record<CommissionStep, StepState> {
  const { points, silent = 0, unplaced, likely, doubtful, canRun, lastRunAt } = facts
  const placed = points - unplaced
  const state = (isPossible: boolean, isDone: boolean): StepState => (isPossible ? (isDone ? 'done' : 'open') : 'later')
  return {
    points: state(true, points > 0 && silent === 0),
    equipment: state(points > 0, unplaced === 0),
    roles: state(placed > 0, likely === 0 && canRun > 0),
    units: state(placed > facts.withoutRole, doubtful === 0),
    coverage: state(placed > facts.withoutRole, canRun > 0),
    run: state(canRun > 0, lastRunAt !== null),
  }
}
