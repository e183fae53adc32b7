/** What an operator reads and writes about a discovery: why it may be empty, and what may be asked. */
import test from 'ava'
import { completeRequest, formOf, readForm } from '#appliance/drivers/bacnet/core/discovery/request.ts'
import { type NetworkFacts, diagnose } from '#appliance/drivers/bacnet/core/discovery/diagnosis.ts'
import {
  type DeviceResult,
  type Discovery,
  DISCOVERY_DEFAULTS,
  createDiscovery,
} from '#appliance/drivers/bacnet/core/discovery/discovery.ts'

const facts: NetworkFacts = {
  bind: { address: '0.0.0.0', port: 47_808 },
  error: null,
  holder: 'this process',
  machine: [
    { name: 'lo', address: '127.0.0.1', netmask: '255.0.0.0' },
    { name: 'ens3', address: '10.0.0.5', netmask: '255.255.255.0' },
  ],
  speaking: [
    {
      address: '0.0.0.0',
      port: 47_808,
      broadcast_addresses: ['10.0.0.255'],
      deafness: null,
      ...{ sent: 2, received: 0, malformed: 0, unmatched: 0, unconfirmed: 0 },
    },
  ],
  manager: null,
}
const [loopback, ot] = facts.machine as [NetworkFacts['machine'][0], NetworkFacts['machine'][0]]
const [speaking] = facts.speaking as [NetworkFacts['speaking'][0]]
for (const [name, more, discovered, first] of [
  [
    'another program has the port',
    { error: 'bind EADDRINUSE', holder: 'process 4711 (bacserv)' },
    {},
    /^UDP port 47808 of 0\.0\.0\.0 is held by process 4711 \(bacserv\)/,
  ],
  [
    'the address is not of this machine',
    { error: 'bind EADDRNOTAVAIL', holder: null },
    {},
    /cannot be used \(bind EADDRNOTAVAIL\): check that SERVICE_BACNET_BIND/,
  ],
  ['there is no network', { machine: [loopback] }, {}, /no network but itself/],
  [
    'only loopback is bound',
    { bind: { address: '127.0.0.1', port: 47_808 }, speaking: [{ ...speaking, address: '127.0.0.1' }] },
    {},
    /^127\.0\.0\.1 reaches this machine alone/,
  ],
  [
    'a container bridge',
    { machine: [loopback, { name: 'eth0', address: '172.17.0.2', netmask: '255.255.0.0' }] },
    {},
    /container bridge/,
  ],
  [
    'several networks',
    { machine: [loopback, ot, { name: 'ens4', address: '192.168.1.5', netmask: '255.255.255.0' }] },
    {},
    /several networks \(ens3 10\.0\.0\.5, ens4 192\.168\.1\.5\)/,
  ],
  [
    'broadcasts are not heard',
    { speaking: [{ ...speaking, deafness: 'taken' }] },
    {},
    /^Broadcasts at 0\.0\.0\.0 are not heard: taken/,
  ],
  ['another port', { bind: { address: '0.0.0.0', port: 47_809 } }, {}, /answer by broadcast answer to 47808/],
  [
    'the manager refuses',
    { manager: { host: '10.1.0.1', port: 47_808, registered: false, error: 'it is refused' } },
    {},
    /^The broadcast manager 10\.1\.0\.1:47808 has not taken us in: it is refused/,
  ],
  ['nothing comes in', {}, {}, /^Nothing came in at all/],
  ['others are heard', { speaking: [{ ...speaking, received: 9 }] }, {}, /^Datagrams come in, but nobody answers/],
  [
    'devices answer outside the bounds',
    {},
    { ignored: [{ host: '10.0.0.9', port: 47_808, device_instance: 9, why: 'outside', reason: 'x', count: 4 }] },
    /^1 device answered outside the bounds/,
  ],
  ['no call went out', {}, { calls_sent: 0 }, /^No call could be sent/],
  ['devices were found', {}, { devices: [{} as DeviceResult] }, undefined],
] as [string, Partial<NetworkFacts>, Partial<Discovery>, RegExp | undefined][]) {
  test(`why is it empty: ${name}`, t => {
    const discovery = { ...createDiscovery('j', DISCOVERY_DEFAULTS, 0), calls_sent: 2, ...discovered }
    const { next_steps } = diagnose(discovery, { ...facts, ...more })
    if (first) t.regex(next_steps[0]!, first)
    else t.deepEqual(next_steps, [])
  })
}

for (const [name, address, isBridge] of [
  ['eth0', '172.17.0.2', true],
  ['eth1', '172.31.255.254', true],
  ['eth0', '10.0.0.5', false],
  ['eth0', '172.32.0.2', false],
  ['enp3s0', '172.17.0.2', false],
] as const) {
  test(`${name} with ${address} is ${isBridge ? 'taken for' : 'not taken for'} a container bridge`, t => {
    const discovery = { ...createDiscovery('j', DISCOVERY_DEFAULTS, 0), calls_sent: 2 }
    const machine = [loopback, { name, address, netmask: '255.255.0.0' }]
    const { next_steps } = diagnose(discovery, { ...facts, machine })
    t.is(
      next_steps.some(step => step.includes('container bridge')),
      isBridge,
    )
  })
}

test('a request is completed, and what does not fit together names its field', t => {
  const read = completeRequest({ low: 5, addresses: ['10.0.0.1', '10.0.0.1:47808', '10.0.0.2:1'] })
  t.deepEqual(read, {
    request: {
      ...DISCOVERY_DEFAULTS,
      low: 5,
      addresses: [
        { host: '10.0.0.1', port: 47_808 },
        { host: '10.0.0.2', port: 1 },
      ],
    },
  })
  const wrong = completeRequest({
    low: 9,
    high: 5,
    network: 7,
    addresses: ['10.0.0', '10.0.0.256', '10.0.0.1:', '1.2.3.4:0', '1.2.3.4:65536'],
  })
  t.deepEqual('errors' in wrong && wrong.errors.map(({ pointer }) => pointer), [
    ...[0, 1, 2, 3, 4].map(i => `/addresses/${i}`),
    '/low',
    '/network',
  ])
})

test('the form is read, told what is wrong with it, and filled with what was asked before', t => {
  const asked = { low: '1', high: ' 99 ', network: '2001', addresses: '', seconds: '', requests_per_second: '5' }
  const read = readForm(asked)
  t.deepEqual(read, { request: { ...DISCOVERY_DEFAULTS, low: 1, high: 99, network: 2001, requests_per_second: 5 } })
  t.deepEqual(formOf('request' in read ? read.request : undefined), {
    low: '1',
    high: '99',
    network: '2001',
    requests_per_second: '5',
  })
  t.deepEqual(formOf(), {})
  const wrong = readForm({
    low: '-1',
    high: '4194303',
    network: 'everything',
    seconds: '1.5',
    addresses: 'router.example, 10.0.0.1',
  })
  t.deepEqual('errors' in wrong && wrong.errors.map(({ pointer }) => pointer), [
    '/low',
    '/high',
    '/seconds',
    '/network',
    '/addresses/0',
  ])
})
