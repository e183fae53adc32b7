/**
 * A simulated Haystack server on a real socket. It follows the specification and does not use the library of the product, so
 * that the two cannot share an error. Its profiles behave like servers of three families.
 */
import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { type SimAccount, type SimAuth, simLogin } from './login.ts'
import { HTTP_FAULTS, type HttpFault } from './http-faults.ts'
import {
  readQuestion,
  type SimCell,
  type SimGrid,
  type SimQuestion,
  type SimRow,
  writeHaysonGrid,
  writeZincGrid,
} from './values.ts'

export type SimProfile = {
  auth: SimAuth
  formats: ('zinc' | 'hayson')[]
  /** Version of the grids that it writes. */
  ver: string
  /** Content type of Zinc. */
  zincType: string
  /** `none`: no such ops. `forgetful`: a watch is dropped at its first poll. `single`: every request opens another watch. */
  watches: 'good' | 'none' | 'forgetful' | 'single'
  /** Ops are named by def (`^op:read`) or by name. */
  opStyle: 'def' | 'name'
  /** Answers short ids in their absolute form. */
  absolute: boolean
  cookie: boolean
  gzip: boolean
  /** It writes its format whatever is accepted, and refuses another one in requests with this status. */
  readsOnly?: number
}

/** Observed behaviour of the three families. */
export const PROFILES = {
  skyspark: {
    auth: 'scram',
    formats: ['zinc', 'hayson'],
    ver: '3.0',
    zincType: 'text/zinc; charset=utf-8',
    watches: 'good',
    opStyle: 'def',
    absolute: true,
    cookie: true,
    gzip: true,
  },
  haxall: {
    auth: 'scram',
    formats: ['hayson'],
    ver: '3.0',
    zincType: 'text/zinc',
    watches: 'good',
    opStyle: 'def',
    absolute: false,
    cookie: false,
    gzip: false,
  },
  nhaystack: {
    auth: 'basic',
    formats: ['zinc'],
    ver: '2.0',
    zincType: 'text/plain; charset=utf-8',
    watches: 'none',
    opStyle: 'name',
    absolute: false,
    cookie: false,
    gzip: false,
  },
} as const satisfies Record<string, SimProfile>

type SimPoint = { id: string; tags: SimRow }
export type HaystackServerOptions = {
  profile: SimProfile
  points: SimPoint[]
  account?: SimAccount
  tls?: { cert: string; key: string }
}
type Watch = { ids: Set<string>; sent: Map<string, string>; aliveUntil: number; leaseMs: number }

export const ACCOUNT: SimAccount = { username: 'plenum, reader', password: 'key-of-the-site' }
const BASE = '/api/demo/'
const LONGEST_LEASE_MIN = 60

export async function openHaystackServer({ profile, points, account = ACCOUNT, tls }: HaystackServerOptions) {
  const login = simLogin(profile.auth, account, profile.cookie)
  const records = new Map(points.map(({ id, tags }) => [id, tags]))
  const watches = new Map<string, Watch>()
  /** `at` of `performance.now`. */
  const asked: {
    op: string
    method: string
    headers: IncomingMessage['headers']
    question: SimQuestion
    at: number
    version?: string
  }[] = []
  const mischief = new Map<string, { how: HttpFault; times: number }>()
  let trap: { isCaught: (question: SimQuestion) => boolean; how: HttpFault } | undefined
  const sockets = new Set<Socket>()
  let connections = 0
  let inFlight = 0
  let busiest = 0
  let watchCount = 0
  /** Whether each connection is closed after its answer, without a header that announces it. */
  let closesIdle = false
  /** How far the server's clock is ahead, ms. */
  let aheadMs = 0
  const now = () => Date.now() + aheadMs

  const fail = (dis: string): SimGrid => ({ meta: { err: { kind: 'marker' }, dis, errTrace: 'at sim' }, rows: [] })
  const keyOf = (asked: string) => (records.has(asked) ? asked : asked.replace(/^p:demo:r:/, ''))
  const row = (asked: string): SimRow => {
    const id = keyOf(asked)
    const tags = records.get(id)
    if (!tags) return {}
    return { id: { ref: profile.absolute ? `p:demo:r:${id}` : id, dis: `Point ${id}` }, ...tags }
  }

  const ops: Record<string, (question: SimQuestion, request: IncomingMessage) => SimGrid> = {
    about: () => ({
      rows: [{ haystackVersion: profile.ver, serverName: 'Sim', productName: 'Simulated', productVersion: '1.0', tz: 'UTC' }],
    }),
    ops: () => ({
      rows: Object.keys(ops).map(name => (profile.opStyle === 'def' ? { def: { sym: `op:${name}` } } : { name, summary: name })),
    }),
    [profile.opStyle === 'def' ? 'filetypes' : 'formats']: () => ({
      rows: profile.formats.map(name => ({
        mime: name === 'zinc' ? 'text/zinc' : 'application/vnd.haystack+json',
        receive: { kind: 'marker' },
      })),
    }),
    read: ({ ids, filter, limit = 1000 }) => {
      if (filter === undefined) return { rows: ids.map(row), cols: ['id', ...tagNames()] }
      if (filter === 'point' || filter === 'equip') {
        const found = [...records].filter(([, tags]) => (tags.equip !== undefined) === (filter === 'equip'))
        return { rows: found.slice(0, limit).map(([id]) => row(id)), cols: ['id', ...tagNames()] }
      }
      const wanted = /^dis == "(.*)"$/.exec(filter)?.[1]
      if (wanted === undefined) return fail(`axon::ParseErr: ${filter}`)
      const found = [...records].filter(([, tags]) => tags.dis === wanted).slice(0, limit)
      return { rows: found.map(([id]) => row(id)), cols: ['id', ...tagNames()] }
    },
    close: (_question, request) => {
      login.logOut(request)
      return { rows: [] }
    },
    ...(profile.watches === 'none' ? {} : { watchSub, watchPoll, watchUnsub }),
  }

  function tagNames(): string[] {
    return [...new Set([...records.values()].flatMap(tags => Object.keys(tags)))]
  }

  function watchSub({ watchId, leaseMin = 1, ids }: SimQuestion): SimGrid {
    const id = profile.watches === 'single' || watchId === undefined ? `w-${++watchCount}` : watchId
    if (watchId !== undefined && !alive(watchId)) return fail(`haystack::UnknownWatchErr: ${watchId}`)
    const leaseMs = Math.min(leaseMin, LONGEST_LEASE_MIN) * 60_000
    const watch = watches.get(id) ?? { ids: new Set(), sent: new Map(), aliveUntil: now() + leaseMs, leaseMs }
    watches.set(id, watch)
    for (const one of ids.filter(one => records.has(keyOf(one)))) {
      watch.ids.add(one)
      watch.sent.set(one, JSON.stringify(records.get(keyOf(one))))
    }
    if (profile.watches === 'forgetful') watches.delete(id)
    return {
      meta: { watchId: id, lease: { num: leaseMs / 60_000, unit: 'min' } },
      rows: ids.map(row),
      cols: ['id', ...tagNames()],
    }
  }

  function alive(id: string): Watch | undefined {
    const watch = watches.get(id)
    if (watch && watch.aliveUntil > now()) return watch
    watches.delete(id)
    return undefined
  }

  function watchPoll({ watchId = '' }: SimQuestion): SimGrid {
    const watch = alive(watchId)
    if (!watch) return fail(`haystack::UnknownWatchErr: ${watchId}`)
    watch.aliveUntil = now() + watch.leaseMs
    const changed = [...watch.ids].filter(id => watch.sent.get(id) !== JSON.stringify(records.get(keyOf(id))))
    for (const id of changed) watch.sent.set(id, JSON.stringify(records.get(keyOf(id))))
    return { meta: { watchId }, rows: changed.filter(id => records.has(keyOf(id))).map(row), cols: ['id', ...tagNames()] }
  }

  function watchUnsub({ watchId = '' }: SimQuestion): SimGrid {
    watches.delete(watchId)
    return { rows: [] }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    busiest = Math.max(busiest, ++inFlight)
    response.on('close', () => inFlight--)
    const op = request.url!.slice(BASE.length)
    const isHayson = /json/.test(request.headers['content-type'] ?? '')
    const sent = await text(request)
    const question = readQuestion(sent, isHayson)
    const version = /^ver:"([\d.]+)"/.exec(sent)?.[1]
    asked.push({
      op,
      method: request.method!,
      headers: request.headers,
      question,
      at: performance.now(),
      ...(version !== undefined && { version }),
    })
    if (closesIdle) response.on('finish', () => request.socket.destroy())
    if (act(op, response) || !login.admit(request, response)) return
    if (trap?.isCaught(question)) return void HTTP_FAULTS[trap.how](response)
    // A server of version 2 refuses grids of a later version.
    if (profile.ver === '2.0' && version === '3.0') return void response.writeHead(400).end('Unsupported version')
    const wantsHayson = /json/.test(request.headers.accept ?? '')
    const format = wantsHayson || profile.readsOnly !== undefined ? 'hayson' : 'zinc'
    if (!profile.formats.includes(format)) return void response.writeHead(406).end()
    if (request.method === 'POST' && !profile.formats.includes(isHayson ? 'hayson' : 'zinc'))
      return void response.writeHead(profile.readsOnly ?? 415).end()
    const grid = request.url!.startsWith(BASE) ? ops[op]?.(question, request) : undefined
    if (!grid) return void response.writeHead(404, { 'content-type': 'text/html' }).end('<html>no such page</html>')
    const body = format === 'zinc' ? writeZincGrid(grid, profile.ver) : writeHaysonGrid(grid, profile.ver)
    const type = format === 'zinc' ? profile.zincType : 'application/vnd.haystack+json; version=4; charset=utf-8'
    const isCompressed = profile.gzip && /gzip/.test(request.headers['accept-encoding'] ?? '')
    if (profile.cookie && profile.auth === 'basic') response.setHeader('set-cookie', 'session=s1; Path=/; HttpOnly')
    response.writeHead(200, { 'content-type': type, ...(isCompressed && { 'content-encoding': 'gzip' }) })
    response.end(isCompressed ? gzipSync(body) : body)
  }

  function act(op: string, response: ServerResponse): boolean {
    const planned = mischief.get(op) ?? mischief.get('*')
    if (!planned || planned.times-- <= 0) return false
    HTTP_FAULTS[planned.how](response)
    return true
  }

  const server = tls ? createHttpsServer(tls) : createHttpServer()
  server.on('request', (request: IncomingMessage, response: ServerResponse) => void serve(request, response))
  server.on('connection', (socket: Socket) => {
    connections++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  return {
    port,
    endpoint: `${tls ? 'https' : 'http'}://127.0.0.1:${port}${BASE}`,
    login,
    asked,
    /** Names of the requested ops, in order. */
    ops: () => asked.map(({ op }) => op),
    connections: () => connections,
    /** Maximum number of requests in flight at once. */
    busiest: () => busiest,
    watches,
    set: (id: string, tags: SimRow) => void records.set(id, { ...records.get(id), ...tags }),
    remove: (id: string) => void records.delete(id),
    /** Answers the next `times` requests for `op` (`*`: any) with a fault. */
    misbehave: (how: HttpFault, op = '*', times = Infinity) => void mischief.set(op, { how, times }),
    /** Answers requests for which `isCaught` is true with a fault. */
    spoil: (how: HttpFault, isCaught: (question: SimQuestion) => boolean) => void (trap = { isCaught, how }),
    behave: () => {
      mischief.clear()
      trap = undefined
    },
    advance: (ms: number) => void (aheadMs += ms),
    closeIdle: () => void (closesIdle = true),
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A point with a current value. */
export const simPoint = (id: string, curVal: SimCell, tags: SimRow = {}): SimPoint => ({
  id,
  tags: { dis: `Point ${id}`, point: { kind: 'marker' }, curVal, curStatus: 'ok', ...tags },
})
