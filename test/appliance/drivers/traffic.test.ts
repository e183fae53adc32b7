/** The bytes that a protocol counts are those that the other side received and sent. */
import { once } from 'node:events'
import { createServer as createHttp } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import test from 'ava'
import { type ByteCounts, noTraffic } from '#shared/core/poll/traffic.ts'
import { openBacnetTransport } from '#appliance/drivers/bacnet/transport.ts'
import { openHttpConnection } from '#appliance/drivers/haystack/exchange.ts'
import { SharedBus } from '#appliance/drivers/modbus/bus.ts'
import { tcpLink } from '#appliance/drivers/modbus/tcp-link.ts'
import { openUdpPeer } from '../../support/udp-peer.ts'
import { SILENT } from '../../support/sites/catalogue-site.ts'

const never = new AbortController().signal

test('BACnet/IP counts each datagram, whatever becomes of it', async t => {
  const traffic = noTraffic()
  const answers = [Buffer.alloc(31, 1), Buffer.alloc(700, 2)]
  const peer = await openUdpPeer(t, (_request, _reply, send) => answers.forEach(send))
  const transport = await openBacnetTransport({ address: '127.0.0.1', port: 0 }, Date.now, SILENT, Math.random, traffic)
  t.teardown(() => transport.close())
  await transport.whoIs({ to: 'host', host: peer.host, port: peer.port })
  while (transport.counters().received < 2) await new Promise(resolve => setImmediate(resolve))
  t.deepEqual(traffic, { sent_bytes: peer.raw[0]!.length, received_bytes: 731 })
})

test('Modbus TCP counts requests and answers', async t => {
  const traffic = noTraffic()
  let seen = 0
  const server = createServer(socket =>
    socket.on('data', (request: Buffer) => {
      seen += request.length
      // The same transaction and unit, one register.
      socket.write(Buffer.concat([request.subarray(0, 4), Buffer.from([0, 5]), request.subarray(6, 8), Buffer.from([2, 0, 7])]))
    }),
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const connection = await tcpLink('127.0.0.1', port, undefined, traffic).open(5000, never)
  t.teardown(async () => {
    await connection.close()
    server.close()
  })
  for (let i = 0; i < 3; i++) t.is((await connection.read(1, { table: 'holding', address: i, count: 1 }, 5000)).state, 'data')
  t.deepEqual(traffic, { sent_bytes: seen, received_bytes: 33 })
})

test('units behind one Modbus server have the bytes of their own requests', async t => {
  const server = createServer(socket =>
    socket.on('data', (request: Buffer) => {
      // Unit 2 declines with an exception, which is two bytes shorter than a register.
      const pdu = request[6] === 2 ? Buffer.from([2, 0x83, 2]) : Buffer.from([1, 3, 2, 0, 7])
      socket.write(Buffer.concat([request.subarray(0, 4), Buffer.from([0, pdu.length]), pdu]))
    }),
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const total = noTraffic()
  const bus = new SharedBus(tcpLink('127.0.0.1', (server.address() as AddressInfo).port, undefined, total), Date.now)
  t.teardown(async () => {
    await bus.close()
    server.close()
  })
  const units = [noTraffic(), noTraffic()]
  const read = (unit: number, traffic: ByteCounts) =>
    bus.read(unit, { table: 'holding', address: 0, count: 1 }, { timeoutMs: 5000, retries: 0, traffic }, never)
  await Promise.all([1, 2, 1].map(unit => read(unit, units[unit - 1]!)))
  t.deepEqual(units, [
    { sent_bytes: 24, received_bytes: 22 },
    { sent_bytes: 12, received_bytes: 9 },
  ])
  t.deepEqual(total, { sent_bytes: 36, received_bytes: 31 })
})

test('Haystack counts requests and answers with their headers, over one connection', async t => {
  const traffic = noTraffic()
  const sockets = new Set<Socket>()
  const server = createHttp((request, reply) => {
    request.resume().on('end', () => reply.end('x'.repeat(5000)))
  }).listen(0, '127.0.0.1')
  server.on('connection', socket => sockets.add(socket))
  await once(server, 'listening')
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api`)
  const connection = openHttpConnection(url, undefined, traffic)
  t.teardown(() => {
    connection.close()
    server.close()
  })
  const options = { timeoutMs: 5000, step: 'op' as const, signal: never }
  for (const body of ['a', 'b'.repeat(900)]) await connection.exchange({ method: 'POST', url, headers: {}, body }, options)
  const sum = (of: (socket: Socket) => number) => [...sockets].reduce((total, socket) => total + of(socket), 0)
  while (traffic.received_bytes < 10_000) await new Promise(resolve => setImmediate(resolve))
  t.is(sockets.size, 1)
  t.deepEqual(traffic, { sent_bytes: sum(one => one.bytesRead), received_bytes: sum(one => one.bytesWritten) })
})
