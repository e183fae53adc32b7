import test, { type ExecutionContext } from 'ava'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import fastify from 'fastify'
import pino from 'pino'
import { webService } from '#hub/web/proxy.ts'
import { openAuth } from '#shared/node/auth/token.ts'
import { limitWaiting } from '#shared/node/http/open-connections.ts'
import { route } from '#shared/node/http/route.ts'
import { openHttp } from '#shared/node/http/server.ts'
import { freePort } from '#scripts/lib/free-port.ts'

const PER_NETWORK = 256
const ALL = 1_024
const REQUEST = 'GET /api/thing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'

/** Answers `GET /api/thing`; closed with the test. @returns its port */
async function serve(t: ExecutionContext, trustedProxies: string[] = []): Promise<number> {
  const settings = { secret: 'a'.repeat(40), passwords: { admin: 'a', agent: 'b', viewer: 'c' }, trustedProxies }
  const service = await openHttp({
    ...{ name: 'test', host: '127.0.0.1', port: 0, trustedProxies, version: '1.2.3', audit: undefined },
    routes: [route({ method: 'GET', path: '/api/thing', auth: 'public', summary: 'A thing', handle: () => ({ ok: true }) })],
    auth: openAuth({ settings, epochs: { get: () => 0, set: () => undefined }, now: Date.now }),
    log: pino({ level: 'silent' }),
  })
  await service.start()
  t.teardown(() => service.stop())
  return Number(new URL(service.url()).port)
}

/** At once, because the kernel forgets connections beyond those that wait to be accepted. */
const WAVE = 100

/** Opens `most` connections that send nothing and `more` beyond them. @returns those that are open when the server has ended `more` */
async function hold(t: ExecutionContext, port: number, most: number, more: number): Promise<Socket[]> {
  const sockets: Socket[] = []
  t.teardown(() => sockets.forEach(socket => socket.destroy()))
  let ended = 0
  const refused = new Promise<void>(resolve => {
    const open = (count: number) =>
      Array.from({ length: count }, async () => {
        const socket = connect(port, '127.0.0.1').on('error', () => undefined)
        socket.resume().once('close', () => ++ended === more && resolve())
        sockets.push(socket)
        await new Promise(connected => socket.once('connect', connected))
      })
    void (async () => {
      while (sockets.length < most + more) await Promise.all(open(Math.min(WAVE, most + more - sockets.length)))
    })()
  })
  await refused
  return sockets.filter(({ destroyed }) => !destroyed)
}

const openOf = (sockets: Socket[]): number => sockets.filter(({ destroyed }) => !destroyed).length

/** @returns the first line of the answer; empty when the server hangs up without one */
async function ask(port: number, localAddress = '127.0.0.1'): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  let text = ''
  socket.on('data', data => (text += data)).on('error', () => undefined)
  socket.write(REQUEST)
  await new Promise(resolve => socket.once('close', resolve))
  return text.split('\r\n')[0]!
}

test('a network with too many connections gets no further one, others are answered, and a closed one makes room', async t => {
  const port = await serve(t)
  const held = await hold(t, port, PER_NETWORK, 20)
  t.is(await ask(port), '')
  t.is(await ask(port, '127.0.0.2'), 'HTTP/1.1 200 OK')
  t.is(openOf(held), PER_NETWORK)
  held[0]!.destroy()
  await once(held[0]!, 'close')
  const answers = new Set<string>()
  for (let i = 0; i < 100 && !answers.has('HTTP/1.1 200 OK'); i++) answers.add(await ask(port))
  t.true(answers.has('HTTP/1.1 200 OK'))
})

/** Sends so many requests at once and reads nothing before the server has ended the connection, or has answered them all. */
async function sendAtOnce(port: number, count: number): Promise<number> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  let text = ''
  socket.on('data', data => (text += data))
  const more = REQUEST.replace('Connection: close\r\n', '')
  socket.write(more.repeat(count - 1) + REQUEST)
  await new Promise(resolve => socket.once('close', resolve))
  return text.split('HTTP/1.1 200 OK').length - 1
}

test('a connection may have four requests that wait, and is ended with more of them', async t => {
  const port = await serve(t)
  t.is(await sendAtOnce(port, 4), 4)
  t.is(await sendAtOnce(port, 200), 0)
  t.is(await ask(port), 'HTTP/1.1 200 OK')
})

test('a connection whose client reads nothing is ended, one that waits for its answer or reads slowly is not', async t => {
  const big = Buffer.alloc(2 ** 24)
  let finish = () => undefined as unknown
  const app = fastify()
  limitWaiting(app, 1500)
  app.get('/big', () => big)
  app.get('/late', (_request, reply) => void (finish = () => reply.send('late')))
  await app.listen({ port: 0, host: '127.0.0.1' })
  t.teardown(() => app.close())
  const { port } = app.server.address() as AddressInfo
  const open = async (path: string) => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    const taken = once(app.server, 'connection') as Promise<[Socket]>
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
    return { socket, taken: (await taken)[0] }
  }
  const { socket: patient } = await open('/late')
  const { socket: deaf, taken } = await open('/big')
  deaf.pause()
  await once(taken, 'close')
  t.true(deaf.bytesRead < big.length)
  deaf.destroy()
  const answered = once(patient, 'data')
  finish()
  t.regex(String(await answered), /late/)
  patient.destroy()
})

test('a proxy in front has as many connections as all together, and no more', async t => {
  const port = await serve(t, ['127.0.0.1', '10.0.0.0/8'])
  const held = await hold(t, port, ALL, 20)
  t.is(await ask(port), '')
  t.is(openOf(held), ALL)
})

test('the web component has the same bound', async t => {
  const port = await freePort()
  const web = webService({ host: '127.0.0.1', port, upstream: '127.0.0.1:1', resolver: 'auto', pages: true })
  await web.start()
  t.teardown(() => web.stop())
  const held = await hold(t, port, PER_NETWORK, 1)
  t.is(await ask(port), '')
  t.is(openOf(held), PER_NETWORK)
})
