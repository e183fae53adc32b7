import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import {
  openBoard,
  type PointStatus,
  pointStatusOf,
  type PollStatus,
  pollStatusOf,
  setPlans,
} from '#shared/core/poll/poll-status.ts'
import type { Clock, Sink } from '#shared/core/ports.ts'
import { DeviceError } from '#shared/core/poll/device.ts'
import { Problem } from '#shared/core/problem.ts'
import { type Storing, worstOf } from '#shared/core/storage-status.ts'
import { openPolling, type PolledDevice, type Polling, type PollEvent } from '../flow/poll.ts'
import type { Service } from '#shared/node/service.ts'
import type { FieldProtocol } from '../drivers/protocol.ts'
import type { DeviceConflict } from '../core/catalogue/driver-definition.ts'
import { findDeviceConflicts } from '../store/catalogue-conflicts.ts'
import type { Catalogue, DeviceEntry } from '../store/catalogue-schema.ts'

export type PollService = Service & {
  /** Body of `GET /api/bacnet/poll/status`. */
  pollStatus(): PollStatus
  /** How readings are stored, and what waits for it in memory. */
  storing(): Storing
  /** The newest reading and the state of each point of a device. */
  pointStatus(device_id: string): PointStatus[]
  /**
   * Polls another list from now on. A device that did not change for its driver goes on undisturbed.
   *
   * @throws Problem conflict when a protocol that was not spoken yet cannot start; the old list then goes on
   */
  reload(catalogue: Catalogue): Promise<void>
}

/**
 * Polls the catalogue's devices that speak one of `protocols`; the others belong to another process.
 *
 * @param sinks get every reading, each at its own pace; one that fails does not hold up the others
 */
export function pollService(options: {
  catalogue: Catalogue
  protocols: readonly FieldProtocol[]
  sinks: readonly Sink[]
  clock: Clock
  log: Logger
}): PollService {
  const { protocols, sinks, clock, log } = options
  const oursOf = ({ devices }: Catalogue) => devices.filter(({ protocol }) => protocols.some(({ name }) => name === protocol))
  let entries = oursOf(options.catalogue)
  let conflicts = findDeviceConflicts(options.catalogue)
  const board = openBoard(entries, clock.now())
  const started = new Set<FieldProtocol>()
  const links = new Map<DeviceEntry, Link>()
  let polling: Polling | undefined
  const notify = (event: PollEvent) => report(log, event)

  const startProtocols = async (needed: readonly DeviceEntry[]) => {
    for (const protocol of protocols) {
      const isUsed = needed.some(entry => entry.enabled && entry.protocol === protocol.name)
      if (!isUsed || started.has(protocol)) continue
      await protocol.start()
      started.add(protocol)
    }
  }
  const follow = async (running: Polling, next: DeviceEntry[]) => {
    const enabled = next.filter(entry => entry.enabled)
    const gone = [...links].filter(([entry, { held }]) => !enabled.includes(entry) || held !== heldBy(conflicts, entry))
    for (const [entry] of gone) links.delete(entry)
    await running.follow(Array.from(links.values(), ({ device }) => device))
    await Promise.all(gone.map(([, { device }]) => device.driver.close()))
    entries = next
    setPlans(board, next, clock.now())
    for (const entry of enabled) {
      const held = heldBy(conflicts, entry)
      const device = held === undefined ? linkDevice : heldDevice
      if (!links.has(entry)) links.set(entry, { device: device(entry, protocols, held ?? ''), held })
    }
    await running.follow(enabled.map(entry => links.get(entry)!.device))
    const points = enabled.reduce((sum, entry) => sum + entry.points.length, 0)
    log.info({ devices: enabled.length, points }, 'these are polled')
  }

  return {
    name: 'poll',
    async start() {
      await startProtocols(entries)
      // Nobody handles its failure: it would be an error of the program, which ends the process.
      polling = openPolling({ sinks, clock, board, notify })
      await follow(polling, entries)
    },
    async reload(catalogue) {
      const known = new Map(entries.map(entry => [entry.device_id, entry]))
      const next = oursOf(catalogue).map(entry => {
        const before = known.get(entry.device_id)
        return before && isSameToPoll(before, entry) ? before : entry
      })
      if (polling) {
        await startProtocols(next).catch((error: Error) => {
          throw new Problem('conflict', `List not changed: ${error.message}`)
        })
        conflicts = findDeviceConflicts(catalogue)
        await follow(polling, next)
        return
      }
      conflicts = findDeviceConflicts(catalogue)
      entries = next
      setPlans(board, next, clock.now())
    },
    async stop() {
      const running = polling
      polling = undefined
      await running?.stop()
      await Promise.all(Array.from(links.values(), ({ device }) => device.driver.close()))
      links.clear()
      await Promise.all(Array.from(started, protocol => protocol.stop()))
      started.clear()
    },
    pollStatus() {
      const status = pollStatusOf(board, { running: polling !== undefined, now: clock.now() })
      const devices = status.devices.map(device => {
        const conflict = conflicts.get(device.device_id)?.reason
        return conflict === undefined ? device : { ...device, conflict }
      })
      return { ...status, devices }
    },
    storing: () => polling?.storing() ?? worstOf([]),
    pointStatus: device_id => pointStatusOf(board, device_id, clock.now()),
  }
}

/** Whether two entries make no difference to what is sent and how answers are read. */
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

/** `held`: why the device is not read. */
type Link = { device: PolledDevice; held: string | undefined }

function heldBy(conflicts: ReadonlyMap<string, DeviceConflict>, { device_id }: DeviceEntry): string | undefined {
  const conflict = conflicts.get(device_id)
  return conflict?.isRead === false ? conflict.reason : undefined
}

/** A device that is not read while another entry of the list is the same device. Nothing is sent. */
const heldDevice = (plan: DeviceEntry, _: readonly FieldProtocol[], reason: string): PolledDevice => ({
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

function report(log: Logger, event: PollEvent): void {
  switch (event.kind) {
    case 'device_lost':
      return log.warn({ device_id: event.device_id }, `device ${event.device_id} is lost: ${event.reason}`)
    case 'device_back':
      return log.info({ device_id: event.device_id, away_ms: event.away_ms }, `device ${event.device_id} is back`)
    case 'changes_declined': {
      const { device_id, points, reason } = event
      return log.warn({ device_id, points }, `device ${device_id} does not tell changes of ${points} points: ${reason}`)
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
