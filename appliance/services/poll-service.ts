import { isDeepStrictEqual } from 'node:util'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import { errorText } from '#shared/core/error-text.ts'
import { SECOND } from '#shared/core/time.ts'
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
import type { ProtocolTraffic } from '../core/poll/traffic.ts'
import type { DeviceConflict } from '../core/catalogue/driver-definition.ts'
import { findDeviceConflicts } from '../drivers/list.ts'
import type { DeviceCatalogue, DeviceEntry } from '../store/catalogue-schema.ts'

/** A protocol that could not start is tried again this often: its interface may get its address later. */
const START_AGAIN_MS = 10 * SECOND

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
  /** Protocols that could not start, with the reason. Their devices are in fault until they can. */
  readonly #failed = new Map<FieldProtocol, string>()
  readonly #inTurn = createSerialQueue()
  readonly #links = new Map<DeviceEntry, Link>()
  #entries: DeviceEntry[]
  #conflicts: ReadonlyMap<string, DeviceConflict>
  #polling: Polling | undefined
  #startAgain: NodeJS.Timeout | undefined

  constructor(options: PollServiceOptions) {
    this.#options = options
    this.#entries = this.#ownEntries(options.catalogue)
    this.#conflicts = findDeviceConflicts(options.catalogue)
    this.#board = openBoard(this.#entries, options.clock.now())
  }

  async start(): Promise<void> {
    const { sinks, clock, log } = this.#options
    await this.#startProtocols(this.#entries, (protocol, reason) => {
      this.#failed.set(protocol, reason)
      log.error(`${reason}; trying again every ${START_AGAIN_MS / SECOND} s`)
    })
    this.#scheduleStart()
    // Its failure is not handled: it is an internal error, which ends the process.
    this.#polling = openPolling({ sinks, clock, board: this.#board, notify: event => logEvent(log, event) })
    await this.#follow(this.#polling, this.#entries)
  }

  async stop(): Promise<void> {
    clearTimeout(this.#startAgain)
    const running = this.#polling
    this.#polling = undefined
    await this.#inTurn(async () => running?.stop())
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
  reload(catalogue: DeviceCatalogue): Promise<void> {
    return this.#inTurn(() => this.#change(catalogue))
  }

  async #change(catalogue: DeviceCatalogue): Promise<void> {
    const known = new Map(this.#entries.map(entry => [entry.device_id, entry]))
    const next = this.#ownEntries(catalogue).map(entry => {
      const before = known.get(entry.device_id)
      return before && isSameToPoll(before, entry) ? before : entry
    })
    if (this.#polling) {
      await this.#startProtocols(next, (protocol, reason) => {
        if (!this.#failed.has(protocol)) throw new Problem('conflict', `List not changed: ${reason}`)
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

  /** Bytes that each protocol of this process has sent and received. */
  traffic(): ProtocolTraffic[] {
    return this.#options.protocols.map(protocol => ({ protocol: protocol.name, ...protocol.traffic() }))
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

  /** Starts what the entries use and what does not run. @param onFailed may throw, which ends it */
  async #startProtocols(
    entries: readonly DeviceEntry[],
    onFailed: (protocol: FieldProtocol, reason: string) => void,
  ): Promise<void> {
    for (const protocol of this.#options.protocols) {
      const isUsed = entries.some(entry => entry.enabled && entry.protocol === protocol.name)
      if (!isUsed) this.#failed.delete(protocol)
      if (!isUsed || this.#started.has(protocol)) continue
      try {
        await protocol.start()
      } catch (error) {
        onFailed(protocol, errorText(error))
        continue
      }
      this.#started.add(protocol)
      this.#failed.delete(protocol)
    }
  }

  #scheduleStart(): void {
    if (this.#failed.size === 0) return
    this.#startAgain = setTimeout(() => void this.#inTurn(() => this.#tryAgain()), START_AGAIN_MS)
  }

  async #tryAgain(): Promise<void> {
    const { log } = this.#options
    const before = new Map(this.#failed)
    await this.#startProtocols(this.#entries, (protocol, reason) => void this.#failed.set(protocol, reason))
    const changed = [...before].filter(([protocol, reason]) => this.#failed.get(protocol) !== reason)
    for (const [protocol] of changed) {
      const reason = this.#failed.get(protocol)
      if (reason === undefined) log.info(`${protocol.name} has started`)
      else log.error(reason)
    }
    if (!this.#polling) return
    if (changed.length > 0) await this.#follow(this.#polling, this.#entries)
    this.#scheduleStart()
  }

  /** @returns why nothing is sent to a device: its protocol could not start, or it is in conflict with another entry */
  #blockOf(entry: DeviceEntry): string | undefined {
    const failed = [...this.#failed].find(([{ name }]) => name === entry.protocol)?.[1]
    return failed ?? conflictOf(this.#conflicts, entry)
  }

  /** Closes the drivers of devices that were removed or changed before their new drivers are opened. */
  async #follow(polling: Polling, next: DeviceEntry[]): Promise<void> {
    const { protocols, clock, log } = this.#options
    const enabled = next.filter(entry => entry.enabled)
    const gone = [...this.#links].filter(
      ([entry, { blockedBy }]) => !enabled.includes(entry) || blockedBy !== this.#blockOf(entry),
    )
    for (const [entry] of gone) this.#links.delete(entry)
    await polling.follow(Array.from(this.#links.values(), ({ device }) => device))
    await Promise.all(gone.map(([, { device }]) => device.driver.close()))
    this.#entries = next
    setPlans(this.#board, next, clock.now())
    for (const entry of enabled) {
      if (this.#links.has(entry)) continue
      const blockedBy = this.#blockOf(entry)
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

/** `blockedBy`: why the device is not read. */
type Link = { device: PolledDevice; blockedBy: string | undefined }

function conflictOf(conflicts: ReadonlyMap<string, DeviceConflict>, { device_id }: DeviceEntry): string | undefined {
  const conflict = conflicts.get(device_id)
  return conflict?.isRead === false ? conflict.reason : undefined
}

/** A device to which nothing is sent. */
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
