import type { Logger } from 'pino'
import { openBoard, type PollStatus, pollStatusOf } from '#shared/core/poll/board.ts'
import type { Clock, Sink } from '#shared/core/ports.ts'
import { poll, type PolledDevice, type PollEvent } from '#shared/flow/poll.ts'
import type { Service } from '#shared/node/service.ts'
import type { FieldProtocol } from '../drivers/protocol.ts'
import type { Catalogue, DeviceEntry } from '../store/catalogue-schema.ts'

export type PollService = Service & {
  /** Body of `GET /api/bacnet/poll/status`. */
  pollStatus(): PollStatus
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
  const { catalogue, protocols, sinks, clock, log } = options
  const ours = catalogue.devices.filter(({ protocol }) => protocols.some(({ name }) => name === protocol))
  const used = protocols.filter(({ name }) => ours.some(({ protocol, enabled }) => enabled && protocol === name))
  const board = openBoard(ours, clock.now())
  const stopped = new AbortController()
  let devices: PolledDevice[] = []
  let running: Promise<void> | undefined

  return {
    name: 'poll',
    async start() {
      for (const protocol of used) await protocol.start()
      devices = ours.filter(({ enabled }) => enabled).map(entry => linkDevice(entry, used))
      const points = devices.reduce((sum, { plan }) => sum + plan.points.length, 0)
      log.info({ devices: devices.length, points }, 'polling starts')
      // Nobody handles its rejection: it would be an error of the program, which ends the process.
      running = poll({ devices, sinks, clock, board, notify: event => report(log, event) }, stopped.signal)
    },
    async stop() {
      stopped.abort()
      await running
      running = undefined
      await Promise.all(devices.map(({ driver }) => driver.close()))
      await Promise.all(used.map(protocol => protocol.stop()))
    },
    pollStatus: () => pollStatusOf(board, { running: running !== undefined, now: clock.now() }),
  }
}

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
    case 'sink_failed':
      return log.error(`readings are not kept: ${event.reason}`)
    case 'sink_back':
      return log.warn({ lost: event.lost }, 'readings are kept again')
  }
}
