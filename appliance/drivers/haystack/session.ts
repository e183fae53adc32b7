/** The session with one Haystack server: one request at a time, with a login when it is needed. */
import { setTimeout as pause } from 'node:timers/promises'
import type { RetryPolicy } from '../protocol.ts'
import { type Cookies, cookieHeader, takeCookies } from './core/cookies.ts'
import type { HaystackAuth } from './core/endpoint.ts'
import { HaystackFailure } from './core/failure.ts'
import { type Grid, makeGrid, textOf } from './core/grid.ts'
import type { createSerialQueue } from '#shared/flow/serial-queue.ts'
import { encodeGrid, type Format, MEDIA_TYPES } from './codec.ts'
import { type Answer, openLine } from './exchange.ts'
import { readGrid, isRedirect } from './read-grid.ts'
import { logIn } from './login.ts'

export type Server = {
  /** Ends in `/`; the names of ops are added to it. */
  endpoint: URL
  auth: HaystackAuth
  /** For scram and basic. */
  username: string | undefined
  /** The API key, or the password. */
  secret: string
  /** PEM of the authorities to trust; those of the system when undefined. */
  ca: string | undefined
}

/** The ops that are used. None of them changes anything in the server or in equipment. */
export const OPS = [
  'about',
  'ops',
  'formats',
  'filetypes',
  'read',
  'nav',
  'watchSub',
  'watchPoll',
  'watchUnsub',
  'hisRead',
  'close',
] as const
export type Op = (typeof OPS)[number]

/** `at`: when the answer was whole, on the clock given to the session. */
export type Reply = { grid: Grid; at: number; rttMs: number }
/** Further attempts follow when the server does not answer; `signal` ends the request. */
export type RequestOptions = RetryPolicy & { signal: AbortSignal }

export type Session = {
  /**
   * @param grid arguments; undefined for ops that take none
   * @throws HaystackFailure: no answer, no grid, or an error grid
   */
  call(op: Op, grid: Grid | undefined, options: RequestOptions): Promise<Reply>
  /** Ends the login, when there is one, and the connection. */
  close(): Promise<void>
}

/** Pause before the second attempt, doubling with each further one. */
const BACKOFF_MS = 200
/** Timeout of the logout. */
const GOODBYE_MS = 1000
/** The server does not speak the format of the question, or of the answer that we want. */
const OTHER_FORMAT = new Set([406, 415])

/** @param inTurn of the server: what is said to it, by whatever session, is said one after the other */
export function openSession(server: Server, inTurn: ReturnType<typeof createSerialQueue>, now: () => number): Session {
  const line = openLine(server.endpoint, server.ca)
  let cookies: Cookies = new Map()
  let token: string | undefined
  let format: Format = 'zinc'
  /** Of the grids that are sent: a server of version 2 takes none of a later one. */
  let version: '2.0' | '3.0' = '3.0'
  let hasAskedVersion = false

  async function send(
    op: Op,
    body: string | undefined,
    authorization: string,
    step: 'hello' | 'auth' | 'op',
    options: RequestOptions,
  ) {
    const cookie = cookieHeader(cookies)
    const type = `${MEDIA_TYPES[format]}${format === 'zinc' ? '; charset=utf-8' : ''}`
    const headers = {
      accept: MEDIA_TYPES[format],
      authorization,
      ...(cookie === undefined ? {} : { cookie }),
      ...(body === undefined ? {} : { 'content-type': type, 'content-length': String(Buffer.byteLength(body)) }),
    }
    const outgoing = {
      method: body === undefined ? ('GET' as const) : ('POST' as const),
      url: new URL(op, server.endpoint),
      headers,
    }
    const answer = await line.exchange({ ...outgoing, ...(body === undefined ? {} : { body }) }, { ...options, step })
    cookies = takeCookies(cookies, answer.headers['set-cookie'] ?? [])
    return answer
  }

  async function authorization(options: RequestOptions): Promise<string> {
    const { auth, username = '', secret } = server
    if (auth === 'bearer') return `Bearer ${secret}`
    if (auth === 'basic') return `Basic ${Buffer.from(`${username}:${secret}`).toString('base64')}`
    if (auth === 'bearer-haystack') return `BEARER authToken=${secret}`
    if (token === undefined) {
      cookies = new Map()
      token = await logIn((header, step) => send('about', undefined, header, step, options), username, secret)
    }
    return `BEARER authToken=${token}`
  }

  /** Asks, and once more as a stranger when the server has forgotten the login, or the session that its cookie names. */
  async function ask(op: Op, body: string | undefined, options: RequestOptions): Promise<Answer> {
    const isKnown = server.auth === 'scram' ? token !== undefined : cookies.size > 0
    const answer = await send(op, body, await authorization(options), 'op', options)
    const isForgotten = answer.status === 401 || answer.status === 403 || isRedirect(answer)
    if (!isForgotten || !isKnown) return answer
    token = undefined
    cookies = new Map()
    return send(op, body, await authorization(options), 'op', options)
  }

  /** A server that writes 2.0, or says that it is that, is written to so. Version 3 and later read both. */
  function noteVersion(stated: string | undefined): void {
    if (stated?.startsWith('2')) version = '2.0'
  }

  /** @throws HaystackFailure when there is no answer, or the login is refused; else what the server does not say is 3.0 */
  async function askVersion(options: RequestOptions): Promise<void> {
    try {
      await call('about', undefined, options)
    } catch (error) {
      if (!(error instanceof HaystackFailure) || error.kind === 'silent' || error.step === 'auth') throw error
    }
    hasAskedVersion = true
  }

  async function call(op: Op, grid: Grid | undefined, options: RequestOptions): Promise<Reply> {
    if (grid && !hasAskedVersion) await askVersion(options)
    const encoded = () => grid && encodeGrid({ ...grid, meta: { ...grid.meta, ver: version } }, format)
    let answer = await ask(op, encoded(), options)
    if (OTHER_FORMAT.has(answer.status) && format === 'zinc') {
      format = 'hayson'
      answer = await ask(op, encoded(), options)
    }
    if (answer.status === 401) token = undefined
    const reply = readGrid(answer, op, server)
    noteVersion(textOf(reply.meta.ver))
    if (op === 'about') {
      noteVersion(textOf(reply.rows[0]?.haystackVersion))
      hasAskedVersion = true
    }
    return { grid: reply, at: now(), rttMs: answer.rttMs }
  }

  async function persist(op: Op, grid: Grid | undefined, options: RequestOptions): Promise<Reply> {
    for (let tried = 0; ; tried++) {
      try {
        return await call(op, grid, options)
      } catch (error) {
        const isSilent = error instanceof HaystackFailure && error.kind === 'silent'
        if (!isSilent || tried >= options.retries || options.signal.aborted) throw error
        await pause(BACKOFF_MS * 2 ** tried, undefined, { signal: options.signal }).catch(() => undefined)
      }
    }
  }

  return {
    call: (op, grid, options) => inTurn(() => persist(op, grid, options)),
    close: () =>
      inTurn(async () => {
        const options = { timeoutMs: GOODBYE_MS, retries: 0, signal: AbortSignal.timeout(GOODBYE_MS) }
        // The server forgets a login by itself when this does not reach it.
        if (token !== undefined) await call('close', makeGrid([]), options).catch(() => undefined)
        line.close()
      }),
  }
}
