/** One HTTP request and its whole answer, with a limit on everything: time to each step, size, redirects. */
import { Agent as HttpAgent, type IncomingHttpHeaders, type IncomingMessage, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { isIP, type Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import { createGunzip } from 'node:zlib'
import { explainCode, HaystackFailure, type Step } from './core/failure.ts'

type Outgoing = { method: 'GET' | 'POST'; url: URL; headers: Record<string, string>; body?: string }
export type Answer = { status: number; headers: IncomingHttpHeaders; body: Buffer; rttMs: number }
/** `timeoutMs`: longest silence, while connecting as between the parts of an answer. `step`: what the request is for. */
type Terms = { timeoutMs: number; step: Step; signal: AbortSignal }

type Line = {
  /** @throws HaystackFailure naming the step that failed; statuses and redirects are answers */
  exchange(outgoing: Outgoing, terms: Terms): Promise<Answer>
  close(): void
}

/** Largest answer after unpacking: 200,000 rows of current values. */
const ANSWER_MAX_BYTES = 8 * 2 ** 20
/** An answer that drips may take so many times the longest silence, and no more. */
const TOTAL_FACTOR = 10

/**
 * One connection to one server, kept open between requests. Certificates are always verified.
 *
 * @param ca PEM of the authorities to trust; those of the system when undefined
 */
export function openLine(endpoint: URL, ca: string | undefined): Line {
  const keep = { keepAlive: true, maxSockets: 1 }
  const isSecure = endpoint.protocol === 'https:'
  const agent = isSecure ? new HttpsAgent({ ...keep, secureContext: trust(ca) }) : new HttpAgent(keep)
  const open = isSecure ? httpsRequest : httpRequest
  return {
    async exchange(outgoing, terms) {
      const first = await attempt(open, agent, outgoing, terms)
      // The server may close an idle connection at the very moment it is used again; that says nothing of the server.
      const last = first === 'stale' ? await attempt(open, agent, outgoing, terms) : first
      if (last === 'stale') throw new HaystackFailure('the server broke the connection off', { step: terms.step, kind: 'silent' })
      return last
    },
    close: () => agent.destroy(),
  }
}

/** Made once: it holds some hundred certificates. */
function trust(ca: string | undefined): SecureContext {
  if (ca !== undefined) return createSecureContext({ ca })
  // A slim image has no authorities of its own; Node brings some.
  const system = getCACertificates('system')
  return createSecureContext({ ca: system.length ? system : getCACertificates('default') })
}

type Agent = HttpAgent | HttpsAgent

async function attempt(open: typeof httpRequest, agent: Agent, { method, url, headers, body }: Outgoing, terms: Terms) {
  const startedAt = performance.now()
  const stop = new AbortController()
  const silence = setTimeout(() => stop.abort(), terms.timeoutMs)
  const late = AbortSignal.any([stop.signal, AbortSignal.timeout(TOTAL_FACTOR * terms.timeoutMs)])
  const signal = AbortSignal.any([late, terms.signal])
  const request = open(url, { method, agent, headers: { 'accept-encoding': 'gzip', ...headers }, signal })
  const progress = watchProgress(request, url, terms.step, () => silence.refresh())
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.on('response', resolve).on('error', reject).end(body)
    })
    const content = await readBody(response, () => silence.refresh(), signal)
    return { status: response.statusCode!, headers: response.headers, body: content, rttMs: performance.now() - startedAt }
  } catch (error) {
    request.destroy()
    const isBroken = ['ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '')
    if (request.reusedSocket && isBroken && !signal.aborted && !progress.answered()) return 'stale'
    throw failureOf(error as NodeJS.ErrnoException, { progress, terms, url, isLate: late.aborted })
  } finally {
    clearTimeout(silence)
  }
}

/** Tells how far a request has come. */
function watchProgress(request: ReturnType<typeof httpRequest>, url: URL, purpose: Step, onMove: () => void) {
  let step: Step = isIP(url.hostname.replace(/^\[|\]$/g, '')) ? 'tcp' : 'dns'
  let hasAnswered = false
  const move = (next: Step) => {
    step = next
    onMove()
  }
  request.on('socket', (socket: Socket) => {
    if (!socket.connecting) return move(purpose)
    socket.once('lookup', (error: Error | null) => error ?? move('tcp'))
    socket.once('connect', () => move(url.protocol === 'https:' ? 'tls' : purpose))
    socket.once('secureConnect', () => move(purpose))
  })
  request.once('response', () => {
    hasAnswered = true
    onMove()
  })
  return { step: () => step, answered: () => hasAnswered }
}

async function readBody(response: IncomingMessage, onPart: () => void, signal: AbortSignal): Promise<Buffer> {
  const encoding = response.headers['content-encoding'] ?? 'identity'
  const isPacked = encoding === 'gzip' || encoding === 'x-gzip'
  if (!isPacked && encoding !== 'identity') {
    throw new HaystackFailure(`the answer is packed with ${encoding}, which was not asked for`, { step: 'op' })
  }
  const parts: Buffer[] = []
  let bytes = 0
  const collect = async (source: AsyncIterable<Buffer>) => {
    for await (const part of source) {
      onPart()
      bytes += part.length
      if (bytes > ANSWER_MAX_BYTES) {
        throw new HaystackFailure(`the answer has more than ${ANSWER_MAX_BYTES / 2 ** 20} MiB`, {
          step: 'op',
          advice: 'ask for fewer points at a time: spread them over several devices of the catalogue',
        })
      }
      parts.push(part)
    }
  }
  const source: Readable = response
  await (isPacked ? pipeline(source, createGunzip(), collect, { signal }) : pipeline(source, collect, { signal }))
  return Buffer.concat(parts)
}

type Progress = ReturnType<typeof watchProgress>

type Failed = { progress: Progress; terms: Terms; url: URL; isLate: boolean }

function failureOf(error: NodeJS.ErrnoException, { progress, terms, url, isLate }: Failed): HaystackFailure {
  if (error instanceof HaystackFailure) return error
  const step = progress.step()
  if (terms.signal.aborted) return new HaystackFailure('it was called off', { step, kind: 'silent', cause: error })
  if (isLate) return new HaystackFailure(lateness(progress, terms.timeoutMs, url), { step, kind: 'silent', cause: error })
  if (progress.answered()) {
    const isUnpacking = error.code?.startsWith('Z_') ?? false
    const says = isUnpacking ? `the answer cannot be unpacked: ${error.message}` : 'the answer broke off'
    return new HaystackFailure(says, { step, kind: isUnpacking ? 'fault' : 'silent', cause: error })
  }
  const { says, advice } = explainCode(error)
  const isAnswer = step === 'tls' || error.code?.startsWith('HPE_')
  const kind = isAnswer ? 'fault' : 'silent'
  return new HaystackFailure(`${url.host}: ${says}`, { step, advice, kind, cause: error })
}

function lateness(progress: Progress, timeoutMs: number, { host }: URL): string {
  if (progress.answered()) return `the answer of ${host} stalls, or takes more than ${TOTAL_FACTOR * timeoutMs} ms`
  switch (progress.step()) {
    case 'dns':
      return `no name server answers within ${timeoutMs} ms`
    case 'tcp':
      return `no connection to ${host} within ${timeoutMs} ms`
    case 'tls':
      return `no TLS handshake with ${host} within ${timeoutMs} ms`
    default:
      return `no answer from ${host} within ${timeoutMs} ms`
  }
}
