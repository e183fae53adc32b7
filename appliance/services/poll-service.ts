import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import {
  newestReadingOf,
  openBoard,
  type PointStatus,
  pointStatusOf,
  type PollStatus,
  pollStatusOf,
  setPlans,
} from '#shared/core/poll/poll-status.ts'
import type { Protocol } from '#shared/core/model/model.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import type { Clock, Sink } from '#shared/core/ports.ts'
import { DeviceError } from '#shared/core/poll/device.ts'
import { Problem } from '#shared/core/problem.ts'
import { type Storing, worstOf } from '#shared/core/storage-status.ts'
import { openPolling, type PolledDevice, type Polling, type PollEvent } from '../flow/poll.ts'
import type { Service } from '#shared/node/service.ts'
import type { FieldProtocol } from '../drivers/protocol.ts'
import type { DeviceConflict } from '../core/catalogue/driver-definition.ts'
import { findDeviceConflicts } from '../drivers/list.ts'
import type { DeviceCatalogue, DeviceEntry } from '../store/catalogue-schema.ts'

type PollServiceOptions = {
  catalogue: DeviceCatalogue
  /** Devices of other protocols belong to another process. */
  protocols: readonly FieldProtocol[]
  /** Each receives every reading at its own pace; one that fails does not delay the others. */
  sinks: readonly Sink[]
  clock: Clock
  log: Logger
}

/** Polls the devices of the catalogue that speak one of the protocols of this process. */
export class PollService implements Service {
  readonly name = 'poll'
  readonly #options: PollServiceOptions
  readonly #board
  readonly #started = new Set<FieldProtocol>()
  readonly #links = new Map<DeviceEntry, Link>()
  #entries: DeviceEntry[]
  #conflicts: ReadonlyMap<string, DeviceConflict>
  #polling: Polling | undefined

  constructor(options: PollServiceOptions) {
    this.#options = options
    this.#entries = this.#ownEntries(options.catalogue)
    this.#conflicts = findDeviceConflicts(options.catalogue)
    this.#board = openBoard(this.#entries, options.clock.now())
  }

  async start(): Promise<void> {
    const { sinks, clock, log } = this.#options
    await this.#startProtocols(this.#entries)
    // Its failure is not handled: it is an internal error, which ends the process.
    this.#polling = openPolling({ sinks, clock, board: this.#board, notify: event => logEvent(log, event) })
    await this.#follow(this.#polling, this.#entries)
  }

  async stop(): Promise<void> {
    const running = this.#polling
    this.#polling = undefined
    await running?.stop()
    await Promise.all(Array.from(this.#links.values(), ({ device }) => device.driver.close()))
    this.#links.clear()
    await Promise.all(Array.from(this.#started, protocol => protocol.stop()))
    this.#started.clear()
  }

  /**
   * Polls another catalogue from now on. Polling of a device continues undisturbed when its entry is the same for its driver.
   *
   * @throws Problem conflict when a protocol that is new to the list cannot start; the old list is then polled on
   */
  async reload(catalogue: DeviceCatalogue): Promise<void> {
    const known = new Map(this.#entries.map(entry => [entry.device_id, entry]))
    const next = this.#ownEntries(catalogue).map(entry => {
      const before = known.get(entry.device_id)
      return before && isSameToPoll(before, entry) ? before : entry
    })
    if (this.#polling) {
      await this.#startProtocols(next).catch((error: Error) => {
        throw new Problem('conflict', `List not changed: ${error.message}`)
      })
    }
    this.#conflicts = findDeviceConflicts(catalogue)
    if (this.#polling) return this.#follow(this.#polling, next)
    this.#entries = next
    setPlans(this.#board, next, this.#options.clock.now())
  }

  /** Body of `GET /api/bacnet/poll/status`. */
  pollStatus(): PollStatus {
    const status = pollStatusOf(this.#board, { running: this.#polling !== undefined, now: this.#options.clock.now() })
    const devices = status.devices.map(device => {
      const conflict = this.#conflicts.get(device.device_id)?.reason
      return conflict === undefined ? device : { ...device, conflict }
    })
    return { ...status, devices }
  }

  /** State of the sinks, and the readings that wait for them in memory. */
  storing(): Storing {
    return this.#polling?.storing() ?? worstOf([])
  }

  /** The newest reading and the state of each point of a device. */
  pointStatus(device_id: string): PointStatus[] {
    return pointStatusOf(this.#board, device_id, this.#options.clock.now())
  }

  /** The newest reading of a point; undefined before the first, and of a point that is not polled here. */
  newestReading(point_id: string): Reading | undefined {
    return newestReadingOf(this.#board, point_id)
  }

  /** The newest reading of each point, with the protocol of its device. */
  newestReadings(): { protocol: Protocol; readings: Reading[] }[] {
    return this.#entries.map(({ device_id, protocol }) => ({
      protocol,
      readings: this.pointStatus(device_id).flatMap(({ last }) => last ?? []),
    }))
  }

  #ownEntries({ devices }: DeviceCatalogue): DeviceEntry[] {
    return devices.filter(({ protocol }) => this.#options.protocols.some(({ name }) => name === protocol))
  }

  async #startProtocols(entries: readonly DeviceEntry[]): Promise<void> {
    for (const protocol of this.#options.protocols) {
      const isUsed = entries.some(entry => entry.enabled && entry.protocol === protocol.name)
      if (!isUsed || this.#started.has(protocol)) continue
      await protocol.start()
      this.#started.add(protocol)
    }
  }

  /** Closes the drivers of devices that were removed or changed before their new drivers are opened. */
  async #follow(polling: Polling, next: DeviceEntry[]): Promise<void> {
    const { protocols, clock, log } = this.#options
    const enabled = next.filter(entry => entry.enabled)
    const gone = [...this.#links].filter(
      ([entry, { blockedBy }]) => !enabled.includes(entry) || blockedBy !== conflictOf(this.#conflicts, entry),
    )
    for (const [entry] of gone) this.#links.delete(entry)
    await polling.follow(Array.from(this.#links.values(), ({ device }) => device))
    await Promise.all(gone.map(([, { device }]) => device.driver.close()))
    this.#entries = next
    setPlans(this.#board, next, clock.now())
    for (const entry of enabled) {
      if (this.#links.has(entry)) continue
      const blockedBy = conflictOf(this.#conflicts, entry)
      const device = blockedBy === undefined ? linkDevice(entry, protocols) : blockedDevice(entry, blockedBy)
      this.#links.set(entry, { device, blockedBy })
    }
    await polling.follow(enabled.map(entry => this.#links.get(entry)!.device))
    const points = enabled.reduce((sum, entry) => sum + entry.points.length, 0)
    log.info({ devices: enabled.length, points }, 'polling the devices of the list')
  }
}

/** Whether two entries lead to the same requests and the same reading of answers. */
const isSameToPoll = (a: DeviceEntry, b: DeviceEntry): boolean => isDeepStrictEqual(polledPart(a), polledPart(b))

const polledPart = (entry: DeviceEntry) => ({
  ...entry,
  name: undefined,
  points: entry.points.map(point => ({
    ...point,
    name: undefined,
    role: undefined,
    equipment_id: undefined,
    priority_history: undefined,
  })),
})

/** `blockedBy`: the conflict because of which the device is not read. */
type Link = { device: PolledDevice; blockedBy: string | undefined }

function conflictOf(conflicts: ReadonlyMap<string, DeviceConflict>, { device_id }: DeviceEntry): string | undefined {
  const conflict = conflicts.get(device_id)
  return conflict?.isRead === false ? conflict.reason : undefined
}

/** A device to which nothing is sent, because another entry of the list is the same device. */
const blockedDevice = (plan: DeviceEntry, reason: string): PolledDevice => ({
  plan,
  driver: {
    read: async () => {
      throw new DeviceError('fault', reason)
    },
    report: () => ({ rtts: [], batch_size: null, point_error: null }),
    close: async () => undefined,
  },
  addresses: new Map(),
})

function linkDevice(plan: DeviceEntry, protocols: readonly FieldProtocol[]): PolledDevice {
  const protocol = protocols.find(({ name }) => name === plan.protocol)!
  return { plan, ...protocol.link(plan) }
}

function logEvent(log: Logger, event: PollEvent): void {
  switch (event.kind) {
    case 'device_lost':
      return log.warn({ device_id: event.device_id }, `device ${event.device_id} does not answer: ${event.reason}`)
    case 'device_back':
      return log.info({ device_id: event.device_id, away_ms: event.away_ms }, `device ${event.device_id} answers again`)
    case 'changes_declined': {
      const { device_id, points, reason } = event
      return log.warn(
        { device_id, points },
        `device ${device_id} declined COV subscriptions for ${points} points, which are polled: ${reason}`,
      )
    }
    case 'sink_failed':
      return log.error(`readings cannot be stored: waiting to try again: ${event.reason}`)
    case 'sink_full':
      return log.error({ waiting: event.waiting }, 'write queue full: dropping oldest readings')
    case 'reading_refused':
      return log.error({ point_id: event.point_id }, `reading of ${event.point_id} refused: dropping it: ${event.reason}`)
    case 'sink_back':
      return log[event.lost ? 'warn' : 'info']({ lost: event.lost }, 'readings are stored again')
    case 'sink_left':
      return log.error({ lost: event.lost }, 'readings not stored before the stop: lost')
  }
}
