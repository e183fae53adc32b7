/** Broadcasts: on several interfaces, and through a broadcast manager in another network. */
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import pino from 'pino'
import type { UnconfirmedRequest } from '#appliance/drivers/bacnet/core/frame.ts'
import { broadcastOf, isSameSubnet } from '#appliance/drivers/bacnet/core/address.ts'
import { readBind, type BacnetTransport, type Bind, openBacnetTransport } from '#appliance/drivers/bacnet/transport.ts'
import { startRegistration } from '#appliance/drivers/bacnet/bbmd-registration.ts'
import { type Interface, interfaceTo } from '#appliance/drivers/bacnet/interfaces.ts'
import { SILENT } from '../../../support/sites/catalogue-site.ts'
import { openUdpPeer } from '../../../support/udp-peer.ts'
import { hex } from '../../../support/wire.ts'

const OTHER_NETWORK = '203.0.113.9'
const I_AM = 'c4020003e9220400910021e7'

async function open(t: ExecutionContext, bind: Partial<Bind>, log = SILENT): Promise<BacnetTransport> {
  const transport = await openBacnetTransport({ address: '127.0.0.1', port: 0, ...bind }, () => 1_000, log)
  t.teardown(() => transport.close())
  return transport
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await setTimeout(5)
}

/** A broadcast manager that answers registrations with the code that `answerWith` gives, or not at all. */
async function openManager(t: ExecutionContext, answerWith: () => string | undefined) {
  const manager = await openUdpPeer(t, (_, __, send) => {
    const code = manager.raw.at(-1)![1] === 0x05 ? answerWith() : undefined
    if (code) send(hex(`81000006${code}`))
  })
  const bbmd = { host: manager.host, port: manager.port, ttlSecs: 1 }
  /** Resolves after the manager has received `count` datagrams. */
  const hears = async (count: number) => {
    while (manager.raw.length < count) await once(manager.socket, 'message')
  }
  return { manager, bbmd, hears }
}

test('a foreign device registers, and again at half of the lifetime', async t => {
  const { manager, bbmd, hears } = await openManager(t, () => '0000')
  const transport = await open(t, { bbmd })
  await hears(3)
  await until(() => transport.diagnostics().bbmd!.state === 'registered')
  t.deepEqual(new Set(manager.raw.map(bytes => bytes.toString('hex'))), new Set(['810500060001']))
  const { host, port } = manager
  t.like(transport.diagnostics().bbmd, { host, port, ttl_secs: 1, state: 'registered' })
  t.is(transport.counters().malformed, 0)
})

test('a manager that refuses is asked again and is one line in the log, and so is its change of mind', async t => {
  const lines: string[] = []
  const log = pino(
    { base: null, timestamp: false },
    { write: line => void lines.push((JSON.parse(line) as { msg: string }).msg) },
  )
  const bbmd = { host: '127.0.0.1', port: 47_808, ttlSecs: 1 }
  const { promise: sentFive, resolve } = Promise.withResolvers<void>()
  let sent = 0
  const send = () => {
    // The answers come before the next timer, however busy the machine is.
    setImmediate((code: number) => foreign.take(bbmd, code), ++sent < 4 ? 0x30 : 0)
    if (sent === 5) resolve()
  }
  const foreign = startRegistration(bbmd, send, log)
  t.teardown(() => foreign.close())
  await sentFive
  t.is(foreign.report().state, 'registered')
  t.deepEqual(lines, [
    'broadcast manager 127.0.0.1:47808 refuses to register this process as a foreign device',
    'broadcast manager 127.0.0.1:47808 has registered this process',
  ])
})

test('a manager that does not answer is asked on, and found when it is back', async t => {
  let isAwake = false
  const { bbmd, hears } = await openManager(t, () => (isAwake ? '0000' : undefined))
  const transport = await open(t, { bbmd })
  await hears(2)
  t.is(transport.diagnostics().bbmd!.state, 'silent')
  isAwake = true
  await until(() => transport.diagnostics().bbmd!.state === 'registered')
  t.pass()
})

test('a manager that refuses a broadcast has lost the registration and gets a new one', t => {
  const lines: string[] = []
  const log = pino({ base: null }, { write: line => void lines.push((JSON.parse(line) as { msg: string }).msg) })
  const bbmd = { host: '10.9.0.1', port: 47_808, ttlSecs: 300 }
  let sent = 0
  const foreign = startRegistration(bbmd, () => void sent++, log)
  t.teardown(() => foreign.close())
  for (const code of [0, 0x60, 0x60, 0]) t.true(foreign.take(bbmd, code))
  t.deepEqual([sent, foreign.report().state, foreign.report().registrations], [2, 'registered', 2])
  t.deepEqual(
    lines.map(line => line.replace('broadcast manager 10.9.0.1:47808 ', '')),
    ['has registered this process', 'has lost the registration: registering again', 'has registered this process'],
  )
})

test('a manager that also answers broadcasts is asked to renew all the same', async t => {
  const bbmd = { host: '10.9.0.1', port: 47_808, ttlSecs: 1 }
  const { promise: renewed, resolve } = Promise.withResolvers<void>()
  let sent = 0
  const foreign = startRegistration(bbmd, () => void (++sent === 2 && resolve()), SILENT)
  // An answer to a broadcast every 50 ms, a tenth of the time until the renewal.
  const answers = setInterval(() => sent === 1 && foreign.take(bbmd, 0), 50)
  t.teardown(() => foreign.close())
  t.teardown(() => clearInterval(answers))
  await renewed
  t.is(foreign.report().registrations, 1)
})

test('a result from somebody else registers nobody', async t => {
  const { bbmd, hears } = await openManager(t, () => undefined)
  const transport = await open(t, { bbmd })
  await hears(1)
  const stranger = await openUdpPeer(t, () => undefined)
  const { port } = transport.diagnostics().interfaces[0]!
  stranger.socket.send(hex('810000060000'), port, '127.0.0.1')
  await until(() => transport.counters().received > 0)
  t.is(transport.counters().malformed, 1)
  t.not(transport.diagnostics().bbmd!.state, 'registered')
})

test('Who-Is goes to the manager to be passed on, and what it passes back is heard with its origin', async t => {
  const { manager, bbmd, hears } = await openManager(t, () => '0000')
  const transport = await open(t, { bbmd })
  await hears(1)
  const heard: UnconfirmedRequest[] = []
  transport.listen(message => heard.push(message))
  t.deepEqual(await transport.whoIs({ to: 'local' }), [
    { from: '127.0.0.1', to: { host: manager.host, port: manager.port }, error: null },
  ])
  await transport.whoIs({ to: 'everywhere' }, { low: 1, high: 2 })
  const isCall = (bytes: Buffer) => bytes[1] === 0x09
  while (manager.raw.filter(isCall).length < 2) await once(manager.socket, 'message')
  t.deepEqual(
    manager.raw.filter(isCall).map(bytes => bytes.toString('hex')),
    ['8109000801001008', '810900100120ffff00ff100809011902'],
  )
  const { port } = transport.diagnostics().interfaces[0]!
  manager.socket.send(hex(`8104001a cb007109bac0 0100 1000 ${I_AM}`), port, '127.0.0.1')
  await until(() => heard.length > 0)
  t.deepEqual(heard, [{ host: OTHER_NETWORK, port: 47_808, service: 0, payload: hex(I_AM) }])
})

test('a broadcast is sent and heard on the network of the address that is bound', async t => {
  const transport = await open(t, {})
  const [own] = transport.diagnostics().interfaces
  t.like(own, { address: '127.0.0.1', broadcast_addresses: ['127.255.255.255'], deafness: null, sent: 0 })
  const device = await openUdpPeer(t, () => undefined, '127.255.255.255')
  const arrived = once(device.socket, 'message')
  t.deepEqual(await transport.whoIs({ to: 'network', network: 700, port: device.port }), [
    { from: '127.0.0.1', to: { host: '127.255.255.255', port: device.port }, error: null },
  ])
  await arrived
  t.is(device.raw[0]!.toString('hex'), hex('810b000c 0120 02bc 00 ff 1008').toString('hex'))

  const speaker = await openUdpPeer(t, () => undefined)
  speaker.socket.setBroadcast(true)
  const heard = new Promise<UnconfirmedRequest>(resolve => transport.listen(resolve))
  speaker.socket.send(hex(`810b0014 0100 1000 ${I_AM}`), own!.port, '127.255.255.255')
  t.deepEqual(await heard, { host: '127.0.0.1', port: speaker.port, service: 0, payload: hex(I_AM) })
  t.like(transport.diagnostics().interfaces[0], { sent: 1, received: 1, unconfirmed: 1, malformed: 0 })
})

test('our own Who-Is comes back and is not counted', async t => {
  const transport = await open(t, {})
  const { port } = transport.diagnostics().interfaces[0]!
  transport.listen(() => t.fail('nobody else spoke'))
  await transport.whoIs({ to: 'local', port })
  const speaker = await openUdpPeer(t, () => undefined)
  speaker.socket.send(Buffer.of(0), port, '127.0.0.1')
  await until(() => transport.counters().received > 0)
  t.like(transport.counters(), { received: 1, malformed: 1, unconfirmed: 0 })
})

test('each address has a socket of its own, and the counts are those of all', async t => {
  const transport = await open(t, { furtherAddresses: ['127.0.0.2'] })
  const { interfaces } = transport.diagnostics()
  t.deepEqual(
    interfaces.map(({ address }) => address),
    ['127.0.0.1', '127.0.0.2'],
  )
  const sent = await transport.whoIs({ to: 'local' })
  t.deepEqual(
    sent.map(({ from, error }) => [from, error]),
    [
      ['127.0.0.1', null],
      ['127.0.0.2', null],
    ],
  )
  t.is(transport.counters().sent, 2)
})

test('when one address cannot be had, none is kept', async t => {
  await t.throwsAsync(open(t, { furtherAddresses: [OTHER_NETWORK] }), { message: /cannot use UDP port 0 of 203\.0\.113\.9/ })
})

test('a peer is asked from the interface on whose network it is, else from the first', t => {
  const at = (address: string, netmask: string) => ({ address, subnets: () => [{ address, netmask }] }) as unknown as Interface
  const interfaces = [at('10.1.0.5', '255.255.255.0'), at('10.2.0.5', '255.255.0.0')] as const
  t.deepEqual(
    ['10.1.0.9', '10.2.7.7', '10.1.1.9', '192.168.0.1'].map(host => interfaceTo(host, interfaces).address),
    ['10.1.0.5', '10.2.0.5', '10.1.0.5', '10.1.0.5'],
  )
})

test('the broadcast address of a network is its last', t => {
  t.is(broadcastOf('10.20.30.40', '255.255.255.0'), '10.20.30.255')
  t.is(broadcastOf('192.168.5.9', '255.255.252.0'), '192.168.7.255')
  t.is(broadcastOf('10.0.0.1', '255.0.0.0'), '10.255.255.255')
  t.is(broadcastOf('10.0.0.1', '255.255.255.255'), undefined)
  t.is(broadcastOf('10.0.0.1', '255.255.255.254'), undefined)
  t.true(isSameSubnet('192.168.4.1', '192.168.7.254', '255.255.252.0'))
  t.false(isSameSubnet('192.168.8.1', '192.168.7.254', '255.255.252.0'))
})

test('the settings say where BACnet/IP is spoken', t => {
  const settings = {
    SERVICE_BACNET_BIND: '10.0.0.5, 10.1.0.5',
    SERVICE_BACNET_PORT: 47_809,
    SERVICE_BACNET_MAX_REQUESTS_PER_SECOND: 20,
    SERVICE_BACNET_BBMD: undefined,
    SERVICE_BACNET_BBMD_TTL_SECS: 300,
  }
  const bind = { address: '10.0.0.5', furtherAddresses: ['10.1.0.5'], port: 47_809, maxRequestsPerSecond: 20 }
  t.deepEqual(readBind(settings), bind)
  const bbmd = { host: '10.9.0.1', port: 47_808, ttlSecs: 300 }
  t.deepEqual(readBind({ ...settings, SERVICE_BACNET_BBMD: '10.9.0.1' }), { ...bind, bbmd })
  t.deepEqual(readBind({ ...settings, SERVICE_BACNET_BBMD: '10.9.0.1:47810' }), { ...bind, bbmd: { ...bbmd, port: 47_810 } })
})
