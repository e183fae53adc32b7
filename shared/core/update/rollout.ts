/**
 * A roll-out of one update over the boxes of a hub: one box, then ten, then the rest. It stops by itself where a box refuses the
 * update, goes back, or does not come back healthy. Each step is decided here from what the boxes report.
 */
import { nameTable } from '../name-table.ts'
import { MINUTE } from '../time.ts'
import type { SystemReport } from './update-wire.ts'

/** Boxes that have to be healthy with the update before more get it. */
const FIRST = 1
const NEXT = 10
/** Boxes that are sent the file at the same time. */
const SENDING_MAX = 3
/** A box tries a version for 25 minutes at most, after it has written and started it. */
const COME_BACK_MS = 60 * MINUTE
const RETRY_MS = 5 * MINUTE

/** `waiting` for its turn or for its connection; `installing` until it is healthy with the update. */
export const BOX_STATES = ['waiting', 'sending', 'installing', 'done', 'failed'] as const
type BoxState = (typeof BOX_STATES)[number]
export type RolloutBox = {
  site_id: string
  edge_id: string
  state: BoxState
  /** When it got into this state, ms. */
  since: number
  reason: string
  /** Time of the last update that the box had when this one was sent to it. */
  before: string | null
}
export const ROLLOUT_STATES = ['running', 'stopped', 'finished'] as const
export type Bundle = { version: string; compatible: string; bytes: number; sha256: string }
export type Rollout = Bundle & {
  started_at: number
  started_by: string
  state: (typeof ROLLOUT_STATES)[number]
  /** Why it stopped. */
  reason: string
  boxes: RolloutBox[]
}
/** What the hub knows of a box now. `is_healthy`: its session is open and its data fresh. */
export type BoxReport = {
  site_id: string
  edge_id: string
  version: string
  online: boolean
  is_healthy: boolean
  system: SystemReport | undefined
}

const nameOf = ({ site_id, edge_id }: { site_id: string; edge_id: string }) => `${site_id}/${edge_id}`

/**
 * Takes in what the boxes report: who is done, who failed, and whether the roll-out stops or is at its end. Boxes that are new, of
 * the kind that the update is for, wait for their turn.
 *
 * @param now ms
 */
export function advanceRollout(rollout: Rollout, reports: readonly BoxReport[], now: number): Rollout {
  const byName = new Map(reports.map(report => [nameOf(report), report]))
  const known = new Set(rollout.boxes.map(nameOf))
  const added = reports
    .filter(report => report.system?.compatible === rollout.compatible && !known.has(nameOf(report)))
    .map(({ site_id, edge_id }): RolloutBox => ({ site_id, edge_id, state: 'waiting', since: now, reason: '', before: null }))
  const boxes = [...rollout.boxes, ...added].map(box => judge(box, rollout, byName.get(nameOf(box)), now))
  if (rollout.state !== 'running') return { ...rollout, boxes }
  const failed = boxes.find(({ state }) => state === 'failed')
  if (failed) return { ...rollout, boxes, state: 'stopped', reason: `${nameOf(failed)}: ${failed.reason}` }
  return { ...rollout, boxes, state: boxes.every(({ state }) => state === 'done') ? 'finished' : 'running' }
}

/** Why a roll-out has stopped that somebody stopped. */
export const stoppedBy = (name: string): string => `it was stopped by ${name}`

const WENT_WRONG = nameTable<string>({
  refused: 'it refused the update',
  failed: 'it could not install the update',
  rolled_back: 'it went back to the version before',
})

function judge(box: RolloutBox, { version }: Bundle, report: BoxReport | undefined, now: number): RolloutBox {
  if (box.state === 'done' || box.state === 'failed') return box
  const become = (state: BoxState, reason: string): RolloutBox => ({ ...box, state, reason, since: now })
  const last = report?.system?.last
  // The state of an update is its system's word; before any, the version that runs is all there is.
  const isOnTrial = last?.version === version && last.state !== 'confirmed'
  if (report?.version === version && report.is_healthy && !isOnTrial)
    return become('done', box.state === 'installing' ? '' : 'ran it already')
  // A file whose signature is wrong has no version.
  const isAboutThis = last && last.at !== box.before && (last.version === version || last.version === '')
  const wrong = isAboutThis && WENT_WRONG[last.state]
  if (wrong && box.state === 'installing') return become('failed', `${wrong}: ${last.reason}`)
  if (box.state === 'installing' && now - box.since > COME_BACK_MS)
    return become('failed', `it did not come back healthy within ${COME_BACK_MS / MINUTE} min`)
  return box
}

/** @returns the boxes that are to be sent the update now */
export function nextBoxes({ state, boxes }: Rollout, reports: readonly BoxReport[], now: number): RolloutBox[] {
  if (state !== 'running') return []
  const online = new Set(reports.filter(report => report.online).map(nameOf))
  const count = (...states: BoxState[]) => boxes.filter(box => states.includes(box.state)).length
  const done = count('done')
  const allowed = done < FIRST ? FIRST : done < FIRST + NEXT ? FIRST + NEXT : boxes.length
  const room = Math.min(allowed - count('sending', 'installing', 'done'), SENDING_MAX - count('sending'))
  const ready = boxes.filter(
    box => box.state === 'waiting' && online.has(nameOf(box)) && (box.reason === '' || now - box.since >= RETRY_MS),
  )
  return ready.slice(0, Math.max(0, room))
}

/** @returns the roll-out with one box in another state */
export function withBox(
  rollout: Rollout,
  of: { site_id: string; edge_id: string },
  change: Pick<RolloutBox, 'state' | 'since' | 'reason'> & { before?: string | null },
): Rollout {
  return { ...rollout, boxes: rollout.boxes.map(box => (nameOf(box) === nameOf(of) ? { ...box, ...change } : box)) }
}

/** What failed, or was being sent when the hub ended, waits for its turn again. */
export const waitAgain = (rollout: Rollout, states: readonly BoxState[], now: number): Rollout => ({
  ...rollout,
  boxes: rollout.boxes.map(box => (states.includes(box.state) ? { ...box, state: 'waiting', since: now, reason: '' } : box)),
})
