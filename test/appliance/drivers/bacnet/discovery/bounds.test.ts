/** Devices also answer calls of others: what is beyond the bounds of a discovery is set apart with the reason. */
import test from 'ava'
import {
  type DiscoveryRequest,
  DISCOVERY_DEFAULTS,
  createDiscovery,
  addLogLine,
} from '#appliance/drivers/bacnet/core/discovery/discovery.ts'
import { noteIAm } from '#appliance/drivers/bacnet/core/discovery/heard-devices.ts'
import { scanDevice, type ScanParts } from '#appliance/drivers/bacnet/flow/scan-device.ts'
import { hex } from '../../../../support/wire.ts'

/** The I-Am of device 1001. */
const I_AM = hex('c4020003e9 2205c4 9103 2203e7')
const station = (network: number) => ({ network, mac: Buffer.of(9) })
const at = (host: string, network?: number) => ({ host, port: 47_808, ...(network && { station: station(network) }) })

for (const [what, request, from, reason] of [
  ['the lowest instance', { low: 1001, high: 2000 }, at('10.0.0.1'), undefined],
  ['the highest instance', { low: 1, high: 1001 }, at('10.0.0.1'), undefined],
  ['an instance that is too low', { low: 1002, high: 2000 }, at('10.0.0.1'), 'its instance is not in 1002 to 2000'],
  ['an instance that is too high', { low: 1, high: 1000 }, at('10.0.0.1'), 'its instance is not in 1 to 1000'],
  ['a device of the local network', { network: 'local' }, at('10.0.0.1'), undefined],
  ['one behind a router', { network: 'local' }, at('10.0.0.1', 7), 'it is on network 7, behind a router'],
  ['one behind a router where all are called', { network: 'all' }, at('10.0.0.1', 7), undefined],
  ['one of the network that is called', { network: 7 }, at('10.0.0.1', 7), undefined],
  ['one of another network', { network: 7 }, at('10.0.0.1', 8), 'it is not on network 7'],
  ['one of the local network where another is called', { network: 7 }, at('10.0.0.1'), 'it is not on network 7'],
  ['one whose address was asked', { addresses: [{ host: '10.0.0.1', port: 47_808 }] }, at('10.0.0.1'), undefined],
  [
    'one whose address was not asked',
    { addresses: [{ host: '10.0.0.1', port: 47_808 }] },
    at('10.0.0.2'),
    'its address was not asked',
  ],
] as [string, Partial<DiscoveryRequest>, ReturnType<typeof at>, string | undefined][]) {
  test(`${what} is ${reason ? 'set apart' : 'taken'}`, t => {
    const discovery = createDiscovery('d', { ...DISCOVERY_DEFAULTS, ...request }, 0)
    for (let i = 0; i < 2; i++) noteIAm(discovery, { ...from, service: 0, payload: I_AM })
    t.is(discovery.devices.length, reason ? 0 : 1)
    t.deepEqual(
      discovery.ignored.map(one => [one.device_instance, one.why, one.reason, one.count]),
      reason ? [[1001, 'outside', reason, 2]] : [],
    )
  })
}

test('the log of a discovery keeps its newest 500 lines and counts them all', t => {
  const discovery = createDiscovery('d', DISCOVERY_DEFAULTS, 0)
  for (let n = 1; n <= 500; n++) addLogLine(discovery, n, `line ${n}`)
  t.deepEqual(discovery.log[0], { n: 1, at: 1, text: 'line 1' })
  for (let n = 501; n <= 507; n++) addLogLine(discovery, n, `line ${n}`)
  t.is(discovery.lines, 507)
  t.is(discovery.log.length, 500)
  t.deepEqual([discovery.log[0]!.n, discovery.log.at(-1)!.text], [8, 'line 507'])
})

test('senders beyond the hundred that are listed are not, and repetitions of those that are go on being counted', t => {
  const discovery = createDiscovery('d', { ...DISCOVERY_DEFAULTS, low: 1, high: 1 }, 0)
  for (let host = 1; host <= 120; host++) noteIAm(discovery, { ...at(`10.0.0.${host}`), service: 0, payload: I_AM })
  noteIAm(discovery, { ...at('10.0.0.1'), service: 0, payload: I_AM })
  t.is(discovery.i_ams.heard, 121)
  t.deepEqual([discovery.ignored.length, discovery.ignored[0]!.count], [100, 2])
})

test('a device is said to wait, then to be read while it is, and then how that ended', async t => {
  const discovery = createDiscovery('d', DISCOVERY_DEFAULTS, 0)
  const device = noteIAm(discovery, { ...at('10.0.0.1'), service: 0, payload: I_AM })!
  const seen = [device.outcome]
  const ask = () => {
    seen.push(device.outcome)
    return Promise.resolve({ state: 'silent' as const, reason: 'no answer' })
  }
  await scanDevice({ ask, pace: () => Promise.resolve(), now: () => 0 } as ScanParts, device, new AbortController().signal)
  t.deepEqual([...new Set([...seen, device.outcome])], ['waiting', 'reading', 'timeout'])
  t.is(device.reason, 'no answer, though it answered the call')
})
