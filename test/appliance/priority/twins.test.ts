/** Two devices of one instance, over real sockets. Records of one are never stored as those of the other. */
import test from 'ava'
import { bacnetProtocol } from '#appliance/drivers/bacnet/protocol.ts'
import { openPriorityHistory } from '#appliance/priority/priority-history.ts'
import type { DeviceEntry } from '#appliance/store/catalogue-schema.ts'
import { eventually } from '../../e2e/run-start.ts'
import { SILENT } from '../../support/sites/catalogue-site.ts'
import { virtualClock } from '../../support/virtual-clock.ts'
import { openBacnetDevice } from '#scripts/simulator/bacnet/device.ts'
import { OBJECT_TYPES, type SimObject } from '#scripts/simulator/bacnet/objects.ts'
import { commandedBy } from '#scripts/simulator/building/commands.ts'
import { journalFolder } from '../../support/journal-harness.ts'

const START = Date.UTC(2026, 2, 1)
const INSTANCE = 4001

test('two devices of one instance have separate histories and are visited in turn', async t => {
  const clock = virtualClock(START)
  const outOfService = { b: true }
  const device = async (device_id: 'a' | 'b', command: number): Promise<DeviceEntry> => {
    const objects: SimObject[] = [
      {
        ...{ type: OBJECT_TYPES.AI, instance: 1, name: 'Zone', unit: 'degF', value: () => command },
        outOfService: () => device_id === 'b' && outOfService.b,
      },
      {
        type: OBJECT_TYPES.AO,
        instance: 1,
        name: 'Valve',
        unit: 'percent',
        ...commandedBy([{ at: START, level: 8, value: command }], clock.now, { relinquishDefault: 0 }),
      },
    ]
    const sim = await openBacnetDevice({ device_instance: INSTANCE, name: device_id, objects })
    t.teardown(() => sim.close())
    const point = { unit: 'percent', kind: 'number' as const, poll_secs: 60 }
    return {
      ...{ device_id, name: device_id, enabled: true, protocol: 'bacnet', timeout_ms: 4000, retries: 0 },
      bacnet: { device_instance: INSTANCE, host: sim.host, port: sim.port, max_apdu: 1476 },
      points: [
        { ...point, point_id: `${device_id}.zone`, name: 'Zone', address: 'analog-input,1' },
        { ...point, point_id: `${device_id}.valve`, name: 'Valve', address: 'analog-output,1' },
      ],
    }
  }
  const devices = [await device('a', 10), await device('b', 20)]
  const bacnet = bacnetProtocol({ bind: { address: '127.0.0.1', port: 0 }, now: clock.now, log: SILENT })
  const settings = {
    SERVICE_PRIORITY_SCAN_ENABLED: true,
    SERVICE_PRIORITY_SCAN_INTERVAL_SECS: 3600,
    SERVICE_PRIORITY_SCAN_MAX_POINTS_PER_DEVICE: 100,
    SERVICE_PRIORITY_HISTORY_MAX_RECORDS: 1000,
    SERVICE_EDGE_STORE_DIR: journalFolder(t),
  }
  const { schedule, journal, service } = await openPriorityHistory({
    settings,
    catalogue: { current: () => ({ devices }) },
    bacnet,
    clock,
    log: SILENT,
  })
  t.teardown(() => service.stop())
  const visit = async () => {
    const { device_id } = schedule.trigger()
    await eventually('the end of the visit', 30_000, () => schedule.state().state !== 'visiting' || undefined)
    return device_id
  }
  t.deepEqual([await visit(), await visit()], ['a', 'b'])
  outOfService.b = false
  t.deepEqual([await visit(), await visit(), await visit()], ['a', 'b', 'a'])
  t.throws(() => schedule.trigger(INSTANCE), { code: 'bad_request' })
  const kept = journal.page({ limit: 100 }).records.toReversed()
  t.deepEqual(
    kept.map(({ target, present_value, out_of_service }) => [
      target.device_id,
      target.object_type,
      present_value ?? null,
      out_of_service,
    ]),
    [
      ['a', 'analog-output', 10, false],
      ['b', 'analog-output', 20, false],
      ['b', 'analog-input', 20, true],
      ['a', 'analog-output', 10, false],
      ['b', 'analog-output', 20, false],
      ['b', 'analog-input', null, false],
      ['a', 'analog-output', 10, false],
    ],
  )
  t.like(schedule.state(), { last_device_id: 'a', last_device_instance: INSTANCE, round_secs: 7200 })
})
