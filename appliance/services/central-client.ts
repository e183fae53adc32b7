/** HTTP client of the central on this box. */
import { decodeWith, fields, integer, list, optional, type MemberPath, text, uuid } from '#shared/core/telemetry/read.ts'
import { MESSAGE_POINTS_MAX } from '#shared/core/telemetry/telemetry.ts'
import { SECOND } from '#shared/core/time.ts'

/** The result of a message that was posted. */
export type IngestAnswer = {
  status: string
  through_seq: number
  through_id?: string
  rejected: { pointer: string; reason: string }[]
}

/** Longest wait for an answer: a transaction on a busy SD card takes seconds. */
const ANSWER_MS = 15 * SECOND
/** Longest answer that is read, bytes: 500 refused readings have 100 kB. */
const ANSWER_MAX = 256 * 1024

/** @param signal aborts requests in flight */
export function centralClient({ url, token }: { url: string; token: string }, signal: AbortSignal) {
  const base = url.replace(/\/+$/, '')
  /**
   * @returns the body of an answer of 2xx, or of 409 when messages before this one are missing
   * @throws Error with the reason when the request was not accepted
   */
  return async (path: string, body: object): Promise<Record<string, unknown>> => {
    const response = await fetch(base + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
    }).catch((error: Error) => {
      throw new Error(`${base} does not answer: ${((error.cause as Error | undefined) ?? error).message}`)
    })
    const answer = parse(await readText(response))
    if (response.ok || (response.status === 409 && 'through_seq' in answer)) return answer
    const why = typeof answer['detail'] === 'string' ? answer['detail'] : 'with no reason given'
    throw new Error(`${base} answers ${response.status}: ${why}`)
  }
}

/** Decodes the answer to a message. @throws Error when it has another form, as that of another program on the port */
export function readIngestAnswer(body: Record<string, unknown>): IngestAnswer {
  const read = decodeWith(() => {
    const from = fields(body, '')
    const rejected = body['rejected'] === undefined ? [] : list(from, 'rejected', 2 * MESSAGE_POINTS_MAX, readRefused)
    return {
      status: body['ok'] === true ? text(from, 'status', 20) : 'gap',
      through_seq: integer(from, 'through_seq', 0),
      ...optional(from, 'through_id', uuid),
      rejected,
    }
  })
  if (!read.ok) throw new Error(`the answer of central is not readable: ${read.reason}`)
  return read.value
}

function readRefused(value: unknown, path: MemberPath) {
  const from = fields(value, path)
  return { pointer: text(from, 'pointer'), reason: text(from, 'reason') }
}

/** @throws Error when the answer is longer than central ever sends */
async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > ANSWER_MAX) throw new Error(`the answer has more than ${ANSWER_MAX} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function parse(body: string): Record<string, unknown> {
  try {
    return { ...(JSON.parse(body) as Record<string, unknown>) }
  } catch {
    return {}
  }
}
