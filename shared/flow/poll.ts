/** Reads every device when it is due and hands the readings to the sinks. A dead device or sink holds up nobody else. */
import { type Board, noteDue, noteFailure, noteLate, noteReadings } from '#shared/core/poll/board.ts'
import { type Breaker, closedBreaker, tripBreaker } from '#shared/core/poll/breaker.ts'
import { DeviceError, type DevicePlan, type FieldDriver } from '#shared/core/poll/device.ts'
import { advance, earliest, planGroups, type PollGroup, resume, startDue } from '#shared/core/poll/schedule.ts'
import type { Clock, Sink } from '#shared/core/ports.ts'
import type { Reading } from '#shared/core/reading.ts'

export type PolledDevice = { plan: DevicePlan; driver: FieldDriver<unknown>; addresses: ReadonlyMap<string, unknown> }

/** What is worth a line in the log: each when it begins and when it is over, not each time. */
export type PollEvent =
  | { kind: 'device_lost'; device_id: string; reason: string }
  | { kind: 'device_back'; device_id: string; away_ms: number }
  | { kind: 'sink_failed'; reason: string }
  | { kind: 'sink_back'; lost: number }

export type PollParts = {
  sinks: readonly Sink[]
  clock: Clock
  /** Holds the plans of the devices, and perhaps of disabled ones. */
  board: Board
  notify(event: PollEvent): void
}

/** Devices asked at the same time. Dead ones wait out their timeouts here, so it is many more than answer at once. */
const IN_FLIGHT_MAX = 256
/** Readings that may wait for a sink before devices wait with them: a minute of a large site. */
const WAITING_MAX = 50_000

/** The devices that are polled; the list may change meanwhile. */
export type Polling = {
  /**
   * From now on these are polled. A device that is in the list already, as the same object, goes on undisturbed.
   * Resolves when nothing of those that are gone is under way.
   */
  follow(devices: readonly PolledDevice[]): Promise<void>
  /** Resolves when nothing is under way and the sinks have every reading. */
  stop(): Promise<void>
  /** Rejects with whatever is not a `DeviceError`: an error of the program. Unhandled it ends the process. */
  failure: Promise<never>
}

/** Polls nothing until told to follow a list. */
export function openPolling(parts: PollParts): Polling {
  const inSlot = slots(IN_FLIGHT_MAX)
  const keepers = parts.sinks.map(sink => keeper(sink, parts.notify))
  const keep = async (readings: Reading[]) => {
    await Promise.all(keepers.map(({ push }) => push(readings)))
  }
  const { promise: failure, reject: fail } = Promise.withResolvers<never>()
  const loops = new Map<PolledDevice, { stopped: AbortController; over: Promise<void> }>()

  const begin = (device: PolledDevice, groups: readonly PollGroup[]) => {
    const stopped = new AbortController()
    const over = pollDevice({ ...parts, device, inSlot, keep }, groups, stopped.signal).catch(fail)
    loops.set(device, { stopped, over })
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
    async follow(devices) {
      await endAllBut(new Set(devices))
      const groups = Map.groupBy(planGroups(devices.map(({ plan }) => plan)), ({ device_id }) => device_id)
      for (const device of devices) {
        if (!loops.has(device)) begin(device, groups.get(device.plan.device_id) ?? [])
      }
    },
    async stop() {
      await endAllBut(new Set())
      await Promise.all(keepers.map(({ flush }) => flush()))
    },
  }
}

type LoopParts = PollParts & {
  device: PolledDevice
  inSlot: ReturnType<typeof slots>
  keep(readings: Reading[]): Promise<void>
}

async function pollDevice(parts: LoopParts, groups: readonly PollGroup[], signal: AbortSignal): Promise<void> {
  const { clock, board, device, inSlot } = parts
  const { device_id } = device.plan
  let dues = startDue(groups, clock.now())
  let breaker = closedBreaker(clock.now())
  for (let due = earliest(dues); due; due = earliest(dues)) {
    const at = breaker.retryAt ?? due.at
    noteDue(board, device_id, at)
    await clock.sleep(at - clock.now(), signal)
    if (signal.aborted) return
    const { group } = due
    const error = await inSlot(() => readGroup(parts, group, signal))
    if (signal.aborted) return
    const wasDown = breaker.retryAt !== null
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
    await keep(readings)
    return undefined
  } catch (error) {
    if (!(error instanceof DeviceError)) throw error
    if (!signal.aborted) noteFailure(board, plan.device_id, error, driver.report(), clock.now())
    return error
  }
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

/** Lets `max` tasks run at a time; the others wait in the order they came. */
function slots(max: number): <T>(task: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let free = max
  return async task => {
    if (free === 0) await new Promise<void>(resolve => waiting.push(resolve))
    else free--
    try {
      return await task()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free++
    }
  }
}

/** Writes to one sink, one batch at a time: what comes while a batch is written goes with the next, in one fsync. */
function keeper(sink: Sink, notify: PollParts['notify']) {
  let waiting: Reading[] = []
  let writing: Promise<void> | undefined
  /** Readings lost since the sink failed; null while it works. */
  let lost: number | null = null

  async function drain(): Promise<void> {
    while (waiting.length) {
      const batch = waiting
      waiting = []
      try {
        await sink.write(batch)
        if (lost !== null) notify({ kind: 'sink_back', lost })
        lost = null
      } catch (error) {
        if (lost === null) notify({ kind: 'sink_failed', reason: (error as Error).message })
        lost = (lost ?? 0) + batch.length
      }
    }
    writing = undefined
  }
  return {
    /** Resolves at once unless too much waits already. */
    async push(readings: Reading[]): Promise<void> {
      waiting = waiting.concat(readings)
      writing ??= drain()
      if (waiting.length > WAITING_MAX) await writing
    },
    async flush(): Promise<void> {
      await writing
    },
  }
}
