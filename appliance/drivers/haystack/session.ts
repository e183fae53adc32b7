/** The session with one Haystack server: one request at a time, with a login when it is needed. */
import { setTimeout as pause } from 'node:timers/promises'
import type { RetryPolicy } from '../protocol.ts'
import { type Cookies, cookieHeader, takeCookies } from './core/headers.ts'
import type { HaystackAuth } from './core/address.ts'
import { HaystackFailure } from './core/failure.ts'
import { type Grid, makeGrid, textOf } from './core/grid.ts'
import type { createSerialQueue } from '#shared/flow/serial-queue.ts'
import { encodeGrid, type Format, formatOf, MEDIA_TYPES } from './codec.ts'
import type { ByteCounts } from '#shared/core/poll/traffic.ts'
import { type HttpAnswer, type HttpConnection, openHttpConnection } from './exchange.ts'
import { readGrid, isRedirect } from './read-grid.ts'
import { logIn } from './login.ts'

export type Server = {
  /** Ends in `/`; the name of the op is appended. */
  endpoint: URL
  auth: HaystackAuth
  /** For scram and basic. */
  username: string | undefined
  /** The API key, or the password. */
  secret: string
  /** PEM of the certificate authorities to trust; those of the system when undefined. */
  ca: string | undefined
}

/** The ops that are used. None of them changes anything in the server or in equipment. */
export const OPS = ['about', 'ops', 'formats', 'filetypes', 'read', 'watchSub', 'watchPoll', 'watchUnsub', 'close'] as const
export type Op = (typeof OPS)[number]

/** `at`: when the whole answer had arrived, on the clock of the session. */
export type GridReply = { grid: Grid; at: number; rttMs: number }
/** A request that gets no answer is repeated `retries` times; `signal` ends it; `traffic` counts its bytes, with those of a login. */
export type RequestOptions = RetryPolicy & { signal: AbortSignal; traffic?: ByteCounts }
type SerialQueue = ReturnType<typeof createSerialQueue>
type LoginStep = 'hello' | 'auth' | 'op'

/** Pause before the second attempt, doubling with each further one. */
const BACKOFF_MS = 200
/** Timeout of the logout. */
const LOGOUT_MS = 1000
/** The server cannot read the format of the request, or cannot write the format of the answer. */
const FORMAT_REFUSED = new Set([406, 415])

/** One login at a server, with its cookies, and the format and version that the server understands. */
export class HaystackSession {
  readonly #server: Server
  readonly #inTurn: SerialQueue
  readonly #now: () => number
  readonly #connection: HttpConnection
  #cookies: Cookies = new Map()
  #token: string | undefined
  #format: Format = 'zinc'
  /** Version of the grids that are sent: a server of version 2 reads no later one. */
  #version: '2.0' | '3.0' = '3.0'
  #isVersionKnown = false

  /** @param inTurn queue of the server: all its sessions share one, so that one request is in flight */
  constructor(server: Server, inTurn: SerialQueue, now: () => number, traffic?: ByteCounts) {
    this.#server = server
    this.#inTurn = inTurn
    this.#now = now
    this.#connection = openHttpConnection(server.endpoint, server.ca, traffic)
  }

  /**
   * @param grid arguments; undefined for ops that take none
   * @throws HaystackFailure: no answer, no grid, or an error grid
   */
  call(op: Op, grid: Grid | undefined, options: RequestOptions): Promise<GridReply> {
    return this.#inTurn(() => this.#callWithRetries(op, grid, options))
  }

  /** Ends the login, when there is one, and the connection. */
  close(): Promise<void> {
    return this.#inTurn(async () => {
      const options = { timeoutMs: LOGOUT_MS, retries: 0, signal: AbortSignal.timeout(LOGOUT_MS) }
      // A login whose logout is lost expires on the server.
      if (this.#token !== undefined) await this.#callOnce('close', makeGrid([]), options).catch(() => undefined)
      this.#connection.close()
    })
  }

  async #callWithRetries(op: Op, grid: Grid | undefined, options: RequestOptions): Promise<GridReply> {
    for (let tried = 0; ; tried++) {
      try {
        return await this.#callOnce(op, grid, options)
      } catch (error) {
        const isSilent = error instanceof HaystackFailure && error.kind === 'silent'
        if (!isSilent || tried >= options.retries || options.signal.aborted) throw error
        await pause(BACKOFF_MS * 2 ** tried, undefined, { signal: options.signal }).catch(() => undefined)
      }
    }
  }

  async #callOnce(op: Op, grid: Grid | undefined, options: RequestOptions): Promise<GridReply> {
    if (grid && !this.#isVersionKnown) await this.#askVersion(options)
    const encoded = () => grid && encodeGrid({ ...grid, meta: { ...grid.meta, ver: this.#version } }, this.#format)
    let answer = await this.#ask(op, encoded(), options)
    if (FORMAT_REFUSED.has(answer.status) && this.#format === 'zinc') {
      this.#format = 'hayson'
      answer = await this.#ask(op, encoded(), options)
    }
    if (answer.status === 401) this.#token = undefined
    const reply = readGrid(answer, op, this.#server)
    // A server that answers in Hayson although Zinc was accepted may be unable to read Zinc, and may say so with any status.
    if (formatOf(answer.headers['content-type'] ?? '') === 'hayson') this.#format = 'hayson'
    this.#noteVersion(textOf(reply.meta.ver))
    if (op === 'about') {
      this.#noteVersion(textOf(reply.rows[0]?.haystackVersion))
      this.#isVersionKnown = true
    }
    return { grid: reply, at: this.#now(), rttMs: answer.rttMs }
  }

  /** @throws HaystackFailure when there is no answer, or the login is refused; a server that states no version is taken as 3.0 */
  async #askVersion(options: RequestOptions): Promise<void> {
    try {
      await this.#callOnce('about', undefined, options)
    } catch (error) {
      if (!(error instanceof HaystackFailure) || error.kind === 'silent' || error.step === 'auth') throw error
    }
    this.#isVersionKnown = true
  }

  /** A server that writes 2.0, or states that it is version 2, gets grids of 2.0. Version 3 and later read both. */
  #noteVersion(stated: string | undefined): void {
    if (stated?.startsWith('2')) this.#version = '2.0'
  }

  /** Sends a request, and once more with a new login when the server no longer accepts the login or the cookie. */
  async #ask(op: Op, body: string | undefined, options: RequestOptions): Promise<HttpAnswer> {
    const hasLogin = this.#server.auth === 'scram' ? this.#token !== undefined : this.#cookies.size > 0
    const answer = await this.#send(op, body, await this.#authorization(options), 'op', options)
    const isExpired = answer.status === 401 || answer.status === 403 || isRedirect(answer)
    if (!isExpired || !hasLogin) return answer
    this.#token = undefined
    this.#cookies = new Map()
    return this.#send(op, body, await this.#authorization(options), 'op', options)
  }

  /** @returns the `Authorization` header; logs in first when auth scram has no token yet */
  async #authorization(options: RequestOptions): Promise<string> {
    const { auth, username = '', secret } = this.#server
    if (auth === 'bearer') return `Bearer ${secret}`
    if (auth === 'basic') return `Basic ${Buffer.from(`${username}:${secret}`).toString('base64')}`
    if (auth === 'bearer-haystack') return `BEARER authToken=${secret}`
    if (this.#token === undefined) {
      this.#cookies = new Map()
      const ask = (header: string, step: LoginStep) => this.#send('about', undefined, header, step, options)
      this.#token = await logIn(ask, username, secret)
    }
    return `BEARER authToken=${this.#token}`
  }

  async #send(op: Op, body: string | undefined, authorization: string, step: LoginStep, options: RequestOptions) {
    const cookie = cookieHeader(this.#cookies)
    const type = MEDIA_TYPES[this.#format]
    const headers = {
      accept: type,
      authorization,
      ...(cookie !== undefined && { cookie }),
      ...(body !== undefined && {
        'content-type': this.#format === 'zinc' ? `${type}; charset=utf-8` : type,
        'content-length': String(Buffer.byteLength(body)),
      }),
    }
    const method = body === undefined ? 'GET' : 'POST'
    const request = { method, url: new URL(op, this.#server.endpoint), headers, ...(body !== undefined && { body }) } as const
    const answer = await this.#connection.exchange(request, { ...options, step })
    this.#cookies = takeCookies(this.#cookies, answer.headers['set-cookie'] ?? [])
    return answer
  }
}
