/** Two entries of one device instance: both are shown as in conflict, neither stops the others, and nothing of them is mixed. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { DeviceStatus } from '#shared/core/poll/poll-status.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { worstOf } from '#shared/core/storage-status.ts'
import { readPollReport, writePollReport } from '#shared/core/telemetry/poll-report.ts'
import { simulatedClock } from '#shared/node/clock.ts'
import { bacnetProtocol } from '#appliance/drivers/bacnet/protocol.ts'
import { devicesBody, type DeviceRow, type DevicesModel } from '#appliance/pages/devices.view.ts'
import { pollCheck } from '#appliance/services/health-checks.ts'
import { PollService } from '#appliance/services/poll-service.ts'
import { openCatalogue } from '#appliance/store/catalogue.ts'
import { findDeviceConflicts } from '#appliance/drivers/list.ts'
import type { DeviceEntry } from '#appliance/store/catalogue-schema.ts'
import { type BacnetDevice, openBacnetDevice } from '#scripts/simulator/bacnet/device.ts'
import { OBJECT_TYPES } from '#scripts/simulator/bacnet/objects.ts'
import { memoryCatalogue, SILENT, site } from '../../support/sites/catalogue-site.ts'

const entry = (
  device_id: string,
  device_instance: number,
  bacnet: Partial<DeviceEntry['bacnet']> = {},
  more: Partial<DeviceEntry> = {},
): DeviceEntry => ({
  ...{ device_id, name: device_id, enabled: true, protocol: 'bacnet', timeout_ms: 1000 },
  bacnet: { device_instance, host: '10.0.0.1', ...bacnet },
  points: [{ point_id: `${device_id}.t`, address: 'analog-input,1', name: 'T', unit: 'degC', kind: 'number', poll_secs: 60 }],
  ...more,
})

const A = entry('a', 7)
for (const [what, other, expected] of [
  ['of another instance', entry('b', 8), {}],
  ['that is switched off', entry('b', 7, {}, { enabled: false }), {}],
  ['of another protocol', entry('b', 7, {}, { protocol: 'modbus' }), {}],
  ['of the same instance at another host', entry('b', 7, { host: '10.0.0.2' }), { a: true, b: true }],
  ['of the same instance at another port', entry('b', 7, { port: 47_809 }), { a: true, b: true }],
  ['of the same instance behind a router', entry('b', 7, { network: 5, mac: '0a' }), { a: true, b: true }],
  ['of the same instance at the same address', entry('b', 7, { port: 47_808 }), { a: true, b: false }],
] as const) {
  test(`a device ${what} is in conflict: ${JSON.stringify(expected)}`, t => {
    const found = findDeviceConflicts({ devices: [A, entry('c', 9), other] })
    t.deepEqual(Object.fromEntries([...found].map(([id, { isRead }]) => [id, isRead])), expected)
  })
}

test('of three entries of one instance each names the others that it stands against', t => {
  const found = findDeviceConflicts({ devices: [A, entry('b', 7), entry('c', 7, { host: '10.0.0.2' })] })
  t.deepEqual(Object.fromEntries([...found].map(([id, { reason }]) => [id, reason])), {
    a: 'b has the same device instance 7 and address, and is not read',
    b: 'has the device instance 7 and the address of a: it is not read',
    c: 'device instance 7 is also that of a, b, at another address; every device needs its own',
  })
})

test('a file with such pairs opens', async t => {
  const dir = await mkdtemp(join(tmpdir(), 'plenum-conflicts-'))
  t.teardown(() => rm(dir, { recursive: true }))
  const output = { ...A.points[0]!, address: 'analog-output,1' }
  const twin = (device_id: string, bacnet: Partial<DeviceEntry['bacnet']> = {}) => ({
    ...entry(device_id, 7, bacnet),
    points: [{ ...output, point_id: device_id }],
  })
  await writeFile(
    join(dir, 'field-devices.json'),
    JSON.stringify({ devices: [twin('a'), twin('b'), twin('c', { host: '10.0.0.2' })] }),
  )
  const protocols = [bacnetProtocol({ bind: { address: '127.0.0.1', port: 0 }, now: Date.now, log: SILENT })]
  t.is((await openCatalogue(dir, site, protocols)).current().devices.length, 3)
})

async function polled(t: ExecutionContext, instances: number[]) {
  const sims = await Promise.all(
    instances.map((device_instance, i) =>
      openBacnetDevice({
        ...{ device_instance, name: `d${i}` },
        objects: [{ type: OBJECT_TYPES.AI, instance: 1, name: 'T', value: () => i }],
      }),
    ),
  )
  t.teardown(() => Promise.all(sims.map(sim => sim.close())))
  const at = ({ host, port }: BacnetDevice) => ({ host, port, max_apdu: 1476 })
  // A minute in half a second.
  const clock = simulatedClock({ speed: 120, epochMs: Date.UTC(2026, 2, 1), atMs: Date.now() })
  const kept: Reading[] = []
  const open = (devices: DeviceEntry[]) => {
    const protocols = [bacnetProtocol({ bind: { address: '127.0.0.1', port: 0 }, now: clock.now, log: SILENT })]
    const list = memoryCatalogue({ devices })
    const sinks = [{ write: async (readings: Reading[]) => void kept.push(...readings) }]
    const service = new PollService({ catalogue: list.current(), protocols, sinks, clock, log: SILENT })
    list.onChange(next => service.reload(next))
    t.teardown(() => service.stop())
    return { service, list }
  }
  const until = async (ready: () => boolean) => {
    for (let tries = 0; tries < 1500 && !ready(); tries++) await new Promise(resolve => setTimeout(resolve, 20))
    t.true(ready(), 'it did not come to pass within 30 s')
  }
  return { sims, at, open, kept, until }
}

test('two devices of one instance at two addresses are both read, and shown as in conflict', async t => {
  const { sims, at, open, kept, until } = await polled(t, [7, 7, 8])
  const { service } = open(sims.map((sim, i) => entry(`d${i}`, sim.device_instance, at(sim))))
  await service.start()
  await until(() => service.pollStatus().points_ok === 3)
  await until(() => kept.length >= 3)
  for (const i of [0, 1, 2]) t.is(kept.find(({ id }) => id === `d${i}.t`)?.v, i)
  const status = service.pollStatus()
  t.deepEqual(
    status.devices.map(({ conflict }) => conflict),
    [
      'device instance 7 is also that of d1, at another address; every device needs its own',
      'device instance 7 is also that of d0, at another address; every device needs its own',
      undefined,
    ],
  )
  t.like(pollCheck(status, worstOf([]), 0, []), { status: 'warn', devices_in_conflict: 2 })
  const report = readPollReport(JSON.parse(JSON.stringify(writePollReport(status))))
  t.deepEqual(report.ok && report.value.devices.map(({ conflict }) => conflict !== undefined), [true, true, false])
})

test('a device that stands on the list twice is read once, the others go on, and it is read under the other name when that is alone', async t => {
  const { sims, at, open, until } = await polled(t, [7, 8])
  const [once, other] = [entry('once', 7, at(sims[0]!)), entry('other', 8, at(sims[1]!))]
  const again = entry('again', 7, at(sims[0]!))
  const { service, list } = open([once, again, other])
  await service.start()
  const states = () => Object.fromEntries(service.pollStatus().devices.map(({ device_id, state }) => [device_id, state]))
  await until(() => service.pollStatus().points_ok === 2 && states()['again'] === 'fault')
  t.deepEqual(states(), { once: 'ok', again: 'fault', other: 'ok' })
  t.regex(service.pollStatus().devices[1]!.last_error!, /^has the device instance 7 and the address of once: it is not read$/)
  await list.change(() => ({ devices: [again, other] }))
  await until(() => states()['again'] === 'ok')
  const checked = pollCheck(service.pollStatus(), service.storing(), 0, service.traffic())
  t.like(checked, { status: 'ok', devices_in_conflict: 0 })
  t.true(Number(checked['bacnet_sent_bytes']) > 100 && Number(checked['bacnet_received_bytes']) > 100, JSON.stringify(checked))
})

test('the page of devices names the conflict of a device that is read, and once that of one that is not', t => {
  const poll = (conflict: string, last_error: string | null): DeviceStatus => ({
    ...{
      device_id: 'a',
      state: last_error === null ? 'ok' : 'fault',
      since: '2026-03-01T00:00:00Z',
      rtt_ms_p50: 1,
      rtt_ms_p95: 1,
    },
    ...{
      reads: 1,
      reads_1h: 0,
      errors_1h: 0,
      errors: 0,
      last_ok_at: null,
      last_error,
      next_due_at: null,
      batch_size: 1,
      conflict,
    },
  })
  const row = (status: DeviceStatus): DeviceRow => ({
    ...status,
    name: 'A',
    where: null,
    protocol: 'bacnet',
    poll: status,
    points: 1,
    points_ok: 1,
  })
  const body = devicesBody({
    here: { now: Date.UTC(2026, 2, 1), timezone: 'UTC' },
    rows: [row(poll('shares its instance', null)), row(poll('is not read', 'is not read'))],
    ...{
      running: true,
      traffic: [],
      counts: { ok: 1 } as DevicesModel['counts'],
      state: undefined,
      part: { page: 1, pages: 1 },
      q: '',
      refusal: undefined,
      links: [],
      user: undefined,
      csrf: '',
    },
  }).text
  t.regex(body, /In conflict: shares its instance/)
  t.is(body.match(/is not read/g)?.length, 1)
})
