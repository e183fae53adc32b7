/** Asks central over HTTP, as any other program does: the tools read nothing that the API does not answer. */
import { errorText } from '#shared/core/error-text.ts'
import { SECOND } from '#shared/core/time.ts'

/** Longest wait for one answer. A model waits for a tool; an import checks a package meanwhile. */
const ANSWER_MS = 60 * SECOND
/** Largest answer that is read, bytes: coverage of a building with 500 equipment has about 3 MB. */
const ANSWER_MAX = 16 * 1024 * 1024

/** A refusal of central, or no answer from it. `message` says what is wrong in words that may be shown. */
export class CentralError extends Error {
  override name = 'CentralError'
  /** Of the problem table; `central_unreachable` and `central_timeout` where nothing answered. */
  readonly code: string
  /** Advice for the caller, one line each. */
  readonly hints: string[]
  constructor(code: string, message: string, hints: string[] = []) {
    super(message)
    this.code = code
    this.hints = hints
  }
}

type Query = Record<string, string | number | boolean | undefined>

export type CentralClient = {
  /** @param path with its leading slash, ids escaped. @throws CentralError */
  get<T>(path: string, query?: Query): Promise<T>
  /** @param body a form is sent as multipart, anything else as JSON. @throws CentralError */
  post<T>(path: string, body: unknown, headers?: Record<string, string>): Promise<T>
}

/**
 * A client of one caller. It follows no redirect, so that the token never goes to another host.
 *
 * @param base `http://host:port` of central or of web, without a path
 * @param token sent as `Authorization: Bearer`; undefined where central asks for no login
 */
export function openCentralClient(base: string, token: string | undefined): CentralClient {
  async function ask<T>(path: string, init: RequestInit): Promise<T> {
    const headers = {
      accept: 'application/json',
      ...init.headers,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    }
    const signal = AbortSignal.timeout(ANSWER_MS)
    const answer = await fetch(base + path, { ...init, headers, redirect: 'error', signal }).catch(error => {
      throw unreachable(error)
    })
    const text = await readText(answer).catch(error => {
      throw error instanceof CentralError ? error : unreachable(error)
    })
    const body = parse(text)
    // Health answers 503 with its whole body when a check fails, which is an answer and not a refusal.
    if (answer.ok || (answer.status === 503 && body?.['checks'] !== undefined)) {
      if (body) return body as T
      throw new CentralError('central_unreachable', 'What answers at SERVICE_API_BASE is not central: its answer is no JSON')
    }
    throw refusalOf(answer.status, body)
  }
  return {
    get: (path, query = {}) => ask(`${path}${searchOf(query)}`, {}),
    post: (path, body, headers = {}) =>
      body instanceof FormData
        ? ask(path, { method: 'POST', body, headers })
        : ask(path, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } }),
  }
}

/** @returns one segment of a path */
export const segment = (id: string): string => encodeURIComponent(id)

function searchOf(query: Query): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  return search.size === 0 ? '' : `?${search}`
}

async function readText(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length
    if (bytes > ANSWER_MAX) throw new CentralError('too_large', 'The answer of central is too large for a tool; ask for less')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function unreachable(error: unknown): CentralError {
  if ((error as Error).name === 'TimeoutError') {
    return new CentralError('central_timeout', `Central did not answer within ${ANSWER_MS / SECOND} s`)
  }
  const { cause } = error as Error
  const why = errorText(cause ?? error)
  return new CentralError('central_unreachable', `Central does not answer${why && ` (${why})`}`, [
    'Check that central runs and that SERVICE_API_BASE names it',
  ])
}

type ProblemBody = {
  code?: string
  detail?: string
  errors?: { pointer?: string; row?: number; column?: string; message: string; hint?: string }[]
  agent_hints?: { action: string; example: string }[]
}
/** Places of wrong data that one tool error lists. */
const ERRORS_SHOWN = 10

function refusalOf(status: number, body: Record<string, unknown> | undefined): CentralError {
  const { code, detail, errors = [], agent_hints: hints = [] } = (body ?? {}) as ProblemBody
  if (code === undefined || detail === undefined) {
    return new CentralError('central_unreachable', `What answers at SERVICE_API_BASE is not central (HTTP ${status})`)
  }
  const own = code === 'unauthenticated' ? ['The token is missing, wrong, expired or ended: get a new one'] : []
  const places = errors.slice(0, ERRORS_SHOWN).map(({ pointer, row, column, message, hint }) => {
    const at = pointer ?? [row !== undefined && `row ${row}`, column].filter(Boolean).join(', ')
    return `${at ? `${at}: ` : ''}${message}${hint ? ` (${hint})` : ''}`
  })
  return new CentralError(code, detail, [
    ...own,
    ...places,
    ...hints.map(({ action, example }) => `${action} Example: ${example}`),
  ])
}
