import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { errorText } from '#shared/core/error-text.ts'
import { SECOND } from '#shared/core/time.ts'

const ANSWER_MS = 15 * SECOND
/** Longest answer that is read, bytes: a kit without its key has 5,000. */
const ANSWER_MAX = 64 * 1024

/**
 * Asks a hub that cannot be verified yet. Nothing that is sent is secret, and what comes is checked with the fingerprint that a
 * person has brought; redirects are not followed.
 *
 * @returns the status and the JSON of the answer
 * @throws Error with the reason when there is no such answer
 */
export async function askHub(url: URL, body?: object): Promise<{ status: number; body: Record<string, unknown> }> {
  const text = body && JSON.stringify(body)
  const headers = { 'content-type': 'application/json', ...(text && { 'content-length': Buffer.byteLength(text) }) }
  const options = { method: text ? 'POST' : 'GET', headers: text ? headers : {}, signal: AbortSignal.timeout(ANSWER_MS) }
  const { status, answer } = await exchange(url, options, text).catch((error: unknown) => {
    throw new Error(`${url.origin} does not answer: ${errorText(error)}`)
  })
  try {
    return { status, body: { ...(JSON.parse(answer) as Record<string, unknown>) } }
  } catch {
    throw new Error(`${url.origin} answers ${status} with something else than JSON: is it a hub?`)
  }
}

type Options = { method: string; headers: Record<string, string | number>; signal: AbortSignal }

function exchange(url: URL, options: Options, text: string | undefined): Promise<{ status: number; answer: string }> {
  return new Promise((resolve, reject) => {
    const secure = { ...options, rejectUnauthorized: false, agent: false as const }
    const request = url.protocol === 'https:' ? httpsRequest(url, secure) : httpRequest(url, { ...options, agent: false })
    request.on('error', reject)
    request.on('response', response => {
      const parts: Buffer[] = []
      let bytes = 0
      response.on('error', reject)
      response.on('data', (part: Buffer) => {
        bytes += part.length
        if (bytes > ANSWER_MAX) request.destroy(new Error(`the answer has more than ${ANSWER_MAX} bytes`))
        else parts.push(part)
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, answer: Buffer.concat(parts).toString() }))
    })
    request.end(text)
  })
}
