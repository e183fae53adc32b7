/** The appliance's poll service over a building of simulated devices, in a process of its own. */
import pino from 'pino'
import { MINUTE, SECOND } from '#shared/core/time.ts'
import { wallClock } from '#shared/node/clock.ts'
import { bacnetProtocol } from '#appliance/drivers/bacnet/protocol.ts'
import { PollService } from '#appliance/services/poll-service.ts'
import type { DeviceEntry } from '#appliance/store/catalogue-schema.ts'
import { type BuildingOrder, type BuildingReport, type PolledAt, DEVICE_INSTANCE, valueAt } from './order.ts'

const POLL_SECS = 60
const order = JSON.parse(process.argv[2] ?? '') as BuildingOrder
const log = pino({ level: 'silent' })

/** When the last reading of a device came and how many there were. The first gap is no period: a start reads all at once. */
const seen = new Map<string, { at: number; reads: number }>()
const report: BuildingReport = {
  healthy_reads: 0,
  healthy_late: 0,
  healthy_bad: 0,
  slow_reads: 0,
  worst_ms: 0,
  late_cycles: 0,
  points: 0,
  cpu_share: 0,
  rss_mb: 0,
}

const entryOf = ({ host, port, kind }: PolledAt, i: number): DeviceEntry => ({
  device_id: `${kind}-${i}`,
  name: `Device ${i}`,
  enabled: true,
  protocol: 'bacnet',
  bacnet: { device_instance: DEVICE_INSTANCE, host, port, max_apdu: 1476 },
  points: Array.from({ length: order.points }, (_, instance) => ({
    point_id: `${kind}-${i}.${instance}`,
    address: `analog-input,${instance}`,
    name: `Point ${instance}`,
    unit: 'degC',
    kind: 'number' as const,
    poll_secs: POLL_SECS,
  })),
})

function note(device_id: string, at: number): void {
  const isHealthy = device_id.startsWith('healthy')
  if (isHealthy) report.healthy_reads++
  else report.slow_reads++
  const { at: last, reads } = seen.get(device_id) ?? { at, reads: 0 }
  seen.set(device_id, { at, reads: reads + 1 })
  if (!isHealthy || reads < 2) return
  const off = Math.abs(at - last - POLL_SECS * SECOND)
  report.worst_ms = Math.max(report.worst_ms, off)
  if (off > (POLL_SECS * SECOND) / 2) report.healthy_late++
}

const service = new PollService({
  catalogue: { devices: order.devices.map(entryOf) },
  protocols: [bacnetProtocol({ bind: { address: '127.0.0.1', port: 0 }, now: Date.now, log })],
  sinks: [
    {
      write: async readings => {
        for (const { id, t, v } of readings) {
          const [device_id = '', instance = ''] = id.split('.')
          report.points++
          if (v !== valueAt(Number(instance)) && device_id.startsWith('healthy')) report.healthy_bad++
          if (instance === '0') note(device_id, t)
        }
      },
    },
  ],
  clock: wallClock,
  log,
})
await service.start()
const [startedAt, cpu] = [performance.now(), process.cpuUsage()]
await new Promise(resolve => setTimeout(resolve, order.minutes * MINUTE))
const { user, system } = process.cpuUsage(cpu)
process.send?.({
  ...report,
  late_cycles: service.pollStatus().late_cycles,
  cpu_share: (user + system) / 1000 / (performance.now() - startedAt),
  rss_mb: process.memoryUsage.rss() / 1e6,
})
await service.stop()
process.disconnect?.()
