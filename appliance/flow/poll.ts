/** Reads every device when it is due and passes the readings to the sinks. A failed device or sink delays no other. */
import { type Board, noteChanges, noteDue, noteFailure, noteLate, noteReadings } from '#shared/core/poll/poll-status.ts'
import {
  type Breaker,
  closedBreaker,
  tripBreaker,
  advance,
  earliest,
  planGroups,
  type PollGroup,
  resume,
  startDue,
} from '../core/poll/schedule.ts'
import { DeviceError, type DevicePlan, type FieldDriver } from '#shared/core/poll/device.ts'
import type { Clock, Sink } from '#shared/core/ports.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { type Storing, worstOf } from '#shared/core/storage-status.ts'
import { SECOND } from '#shared/core/time.ts'
import { type SinkEvent, SinkWriter } from './write-readings.ts'
import { createConcurrencyLimit } from './concurrency-limit.ts'

export type PolledDevice = { plan: DevicePlan; driver: FieldDriver<unknown>; addresses: ReadonlyMap<string, unknown> }

/** Events for the log. Each is reported when a state begins and when it ends, not at every poll. */
export type PollEvent =
  | { kind: 'device_lost'; device_id: string; reason: string }
  | { kind: 'device_back'; device_id: string; away_ms: number }
  /** The device reports no changes of these points; they are only polled. */
  | { kind: 'changes_declined'; device_id: string; points: number; reason: string }
  | SinkEvent

type PollParts = {
  sinks: readonly Sink[]
  clock: Clock
  /** Holds the plans of the devices, and perhaps of disabled ones. */
  board: Board
  notify(event: PollEvent): void
}

/** Devices asked at the same time: as many answers as come at once still fit the receive buffer. */
const IN_FLIGHT_MAX = 256
/** Devices that are down and tried again at the same time. */
const PROBES_MAX = 32
/** A device that has not answered by then is waited for without a place among those. */
const HOLD_MS = SECOND

/**
 * Longest time that a reading waits to be written together with others. It never waits for more than half its period: a power cut, or
 * the end of a process that is killed, costs no point more than its newest reading.
 */
const GATHER_MS = 30 * SECOND
/** What is read more often than this is written at once: whoever reads so often wants each reading. */
const GATHERED_FROM_MS = 30 * SECOND
const gatherMs = (periodMs: number): number => (periodMs < GATHERED_FROM_MS ? 0 : Math.min(GATHER_MS, periodMs / 2))

/** The devices that are polled; the list may change meanwhile. */
export type Polling = {
  /**
   * From now on these are polled. A device that is in the list already, as the same object, is not interrupted.
   * Resolves when nothing of those that are gone is under way.
   */
  follow(devices: readonly PolledDevice[]): Promise<void>
  /** Resolves when nothing is under way and the sinks have every reading. */
  stop(): Promise<void>
  /** Of the sink that fares worst. */
  storing(): Storing
  /** Rejects with whatever is not a `DeviceError`: an error of the program. Unhandled it ends the process. */
  failure: Promise<never>
}

/** Polls nothing before it gets a list of devices. */
export function openPolling(parts: PollParts): Polling {
  const { clock } = parts
  const places = {
    inTurn: createConcurrencyLimit(IN_FLIGHT_MAX, HOLD_MS, clock),
    asProbe: createConcurrencyLimit(PROBES_MAX, HOLD_MS, clock),
  }
  const writers = parts.sinks.map(sink => new SinkWriter(sink, clock, parts.notify))
  const keep = (readings: Reading[], periodMs: number) => {
    for (const writer of writers) writer.push(readings, gatherMs(periodMs))
  }
  const { promise: failure, reject: fail } = Promise.withResolvers<never>()
  const loops = new Map<PolledDevice, { stopped: AbortController; over: Promise<void> }>()

  const begin = (device: PolledDevice, groups: readonly PollGroup[]) => {
    const stopped = new AbortController()
    const loop = { ...parts, device, ...places, keep }
    const both = [pollDevice(loop, groups, stopped.signal), watchDevice(loop, stopped.signal)]
    loops.set(device, { stopped, over: Promise.all(both).then(() => undefined, fail) })
  }
  const endAllBut = async (devices: ReadonlySet<PolledDevice>) => {
    const ending = [...loops].filter(([device]) => !devices.has(device))
    for (const [device, { stopped }] of ending) {
      loops.delete(device)
      stopped.abort()
    }
    await Promise.all(ending.map(([, { over }]) => over))
  }
  return {
    failure,
    storing: () => worstOf(writers.map(writer => writer.storing())),
    async follow(devices) {
      await endAllBut(new Set(devices))
      const groups = Map.groupBy(planGroups(devices.map(({ plan }) => plan)), ({ device_id }) => device_id)
      for (const device of devices) {
        if (!loops.has(device)) begin(device, groups.get(device.plan.device_id) ?? [])
      }
    },
    async stop() {
      await endAllBut(new Set())
      await Promise.all(writers.map(writer => writer.close()))
    },
  }
}

type LoopParts = PollParts & {
  device: PolledDevice
  inTurn: ReturnType<typeof createConcurrencyLimit>
  asProbe: ReturnType<typeof createConcurrencyLimit>
  /** @param periodMs after which these points are read again */
  keep(readings: Reading[], periodMs: number): void
}

async function pollDevice(parts: LoopParts, groups: readonly PollGroup[], signal: AbortSignal): Promise<void> {
  const { clock, board, device, inTurn, asProbe } = parts
  const { device_id } = device.plan
  let dues = startDue(groups, clock.now())
  let breaker = closedBreaker(clock.now())
  for (let due = earliest(dues); due; due = earliest(dues)) {
    const at = breaker.retryAt ?? due.at
    noteDue(board, device_id, at)
    await clock.sleep(at - clock.now(), signal)
    if (signal.aborted) return
    const { group } = due
    const wasDown = breaker.retryAt !== null
    const inPlace = wasDown ? asProbe : inTurn
    const error = await inPlace(async () => (signal.aborted ? undefined : readGroup(parts, group, signal)))
    if (signal.aborted) return
    breaker = judge(parts, breaker, error)
    const next = advance(dues, due, clock.now())
    dues = error || wasDown ? resume(next.dues, clock.now()) : next.dues
    if (!error && !wasDown) noteLate(board, next.late)
  }
}

/** One read of one group, onto the board and into the sinks. @returns the error of a device that failed as a whole */
async function readGroup({ device, board, clock, keep }: LoopParts, group: PollGroup, signal: AbortSignal) {
  const { plan, driver, addresses } = device
  try {
    const points = group.point_ids.map(point_id => ({ point_id, address: addresses.get(point_id) }))
    const readings = await driver.read(points, signal)
    noteReadings(board, plan.device_id, readings, driver.report(), clock.now())
    keep(readings, group.periodMs)
    return undefined
  } catch (error) {
    if (!(error instanceof DeviceError)) throw error
    if (!signal.aborted) noteFailure(board, plan.device_id, error, driver.report(), clock.now())
    return error
  }
}

/** Passes changes that the device reports to the poll status and the sinks. */
async function watchDevice({ device, board, clock, keep, notify }: LoopParts, signal: AbortSignal): Promise<void> {
  const { plan, driver, addresses } = device
  const { device_id } = plan
  const points = plan.points.filter(({ cov }) => cov).map(({ point_id }) => ({ point_id, address: addresses.get(point_id) }))
  if (points.length === 0) return
  const periodMs = Math.min(...plan.points.map(({ poll_secs }) => poll_secs)) * SECOND
  await driver.watch?.(
    points,
    {
      changed(readings) {
        noteChanges(board, device_id, readings, clock.now())
        keep(readings, periodMs)
      },
      declined: (count, reason) => notify({ kind: 'changes_declined', device_id, points: count, reason }),
    },
    signal,
  )
}

function judge({ device, clock, notify }: LoopParts, breaker: Breaker, error: DeviceError | undefined): Breaker {
  const { device_id } = device.plan
  const now = clock.now()
  if (error) {
    if (breaker.retryAt === null) notify({ kind: 'device_lost', device_id, reason: error.message })
    return tripBreaker(breaker, now)
  }
  if (breaker.retryAt === null) return breaker
  notify({ kind: 'device_back', device_id, away_ms: now - breaker.since })
  return closedBreaker(now)
}
