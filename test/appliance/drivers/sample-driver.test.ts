/** The example of CONTRIBUTING.md: the driver passes the conformance suite, and the appliance loads and polls it. */
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test, { type ExecutionContext } from 'ava'
import { DRIVERS, sectionOf } from '#appliance/drivers/list.ts'
import { PollService } from '#appliance/services/poll-service.ts'
import { openCatalogue } from '#appliance/store/catalogue.ts'
import { ConfigError } from '#appliance/store/json-file.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { wallClock } from '#shared/node/clock.ts'
import { driverConformance } from '../../conformance/driver.ts'
import { SILENT, site } from '../../support/sites/catalogue-site.ts'
import { type SampleAddress, sampleDefinition, sampleDriver, sampleProtocol } from './sample-driver.ts'

const NOW = 1_000

/** The simulated device: it holds 10, 11 and 12 under the numbers 0, 1 and 2. */
async function openSampleDevice(t: ExecutionContext) {
  let isSilent = false
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket.on('error', () => undefined))
    createInterface({ input: socket }).on('line', line => {
      const index = Number(line.split(' ')[1])
      if (!isSilent) socket.write(`${index} ${index < 3 ? 10 + index : '?'}\n`)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { host: '127.0.0.1', port, silence: () => void (isSilent = true) }
}

driverConformance<SampleAddress>(test, 'Sample driver', async t => {
  const { host, port, silence } = await openSampleDevice(t)
  const conversion = { kind: 'number', scale: 1, offset: 0 } as const
  return {
    driver: sampleDriver({ host, port }, 1500, () => NOW),
    address: point_id => ({ index: point_id === 'missing' ? 99 : Number(point_id.slice(1)), conversion }),
    silence,
    now: NOW,
  }
})

async function openList(t: ExecutionContext, entry: object) {
  const dir = await mkdtemp(join(tmpdir(), 'plenum-sample-'))
  t.teardown(() => rm(dir, { recursive: true }))
  await writeFile(join(dir, 'field-devices.json'), JSON.stringify({ devices: [entry] }))
  const protocols = [sampleProtocol({ now: () => NOW })]
  const list = await openCatalogue(dir, site, protocols, [...DRIVERS, sampleDefinition])
  return { catalogue: list.current(), protocols }
}

const entryFor = (host: string, port: number, address = '2') => ({
  ...{ device_id: 'meter', name: 'Meter', enabled: true, protocol: 'sample', sample: { host, port } },
  points: [{ point_id: 'meter.power', address, name: 'Power', unit: 'kW', kind: 'number', poll_secs: 1, scale: 2 }],
})

test('an entry of the sample driver is loaded from the list of field devices and polled', async t => {
  const { host, port } = await openSampleDevice(t)
  const { catalogue, protocols } = await openList(t, entryFor(host, port))
  const [entry] = catalogue.devices
  t.is(sampleDefinition.formatLocation(sectionOf(entry!, sampleDefinition)), `${host}:${port}`)

  const first = Promise.withResolvers<Reading[]>()
  const sink = { write: async (readings: Reading[]) => first.resolve(readings) }
  const polling = new PollService({ catalogue, protocols, sinks: [sink], clock: wallClock, log: SILENT })
  await polling.start()
  t.deepEqual((await first.promise)[0], { id: 'meter.power', t: NOW, v: 24, q: 'good' })
  t.is(polling.pollStatus().devices[0]?.state, 'ok')
  await polling.stop()
})

test('a stop ends when every driver has closed', async t => {
  const { host, port } = await openSampleDevice(t)
  const { catalogue, protocols } = await openList(t, entryFor(host, port))
  const closing = Promise.withResolvers<void>()
  const slow = protocols.map(protocol => ({
    ...protocol,
    link: (...given: Parameters<typeof protocol.link>) => {
      const device = protocol.link(...given)
      return { ...device, driver: { ...device.driver, close: () => closing.promise } }
    },
  }))
  const polling = new PollService({ catalogue, protocols: slow, sinks: [], clock: wallClock, log: SILENT })
  await polling.start()
  let stopped = false
  const stop = polling.stop().then(() => void (stopped = true))
  for (let i = 0; i < 100; i++) await new Promise(setImmediate)
  t.false(stopped)
  closing.resolve()
  await stop
})

test('an entry whose section or address the sample driver does not accept is refused with its place', async t => {
  for (const [entry, pointer] of [
    [entryFor('127.0.0.1', 70_000), '/devices/0/sample/port'],
    [entryFor('127.0.0.1', 1, 'x'), '/devices/0/points/0/address'],
  ] as const) {
    const error = await t.throwsAsync(openList(t, entry), { instanceOf: ConfigError })
    t.deepEqual(
      (error as ConfigError).complaints.map(one => one.pointer),
      [pointer],
    )
  }
})
