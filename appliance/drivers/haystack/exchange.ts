/** Sends one HTTP request and reads its answer, with limits on time and size. Redirects are not followed. */
import {
  Agent as HttpAgent,
  type ClientRequest,
  type RequestOptions,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as httpRequest,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { isIP, type Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import { createGunzip } from 'node:zlib'
import { addTraffic, type ByteCounts, noTraffic } from '#shared/core/poll/traffic.ts'
import { explainCode, HaystackFailure, type Step } from './core/failure.ts'

type HttpRequest = { method: 'GET' | 'POST'; url: URL; headers: Record<string, string>; body?: string }
export type HttpAnswer = { status: number; headers: IncomingHttpHeaders; body: Buffer; rttMs: number }
/** `timeoutMs`: longest silence, while connecting and between the parts of an answer. `step`: purpose of the request. `traffic`: counts its bytes. */
type ExchangeOptions = { timeoutMs: number; step: Step; signal: AbortSignal; traffic?: ByteCounts }

export type HttpConnection = {
  /** @throws HaystackFailure with the step that failed; every status and redirect is an answer */
  exchange(request: HttpRequest, options: ExchangeOptions): Promise<HttpAnswer>
  close(): void
}

/** Maximum size of an answer after decompression, bytes: 200,000 rows of current values. */
const ANSWER_MAX_BYTES = 8 * 2 ** 20
/** Maximum duration of a request, as a multiple of `timeoutMs`: an answer may arrive in slow parts. */
const TOTAL_FACTOR = 10

/**
 * One connection to one server, kept open between requests. Certificates are always verified.
 *
 * @param ca PEM of the authorities to trust; those of the system when undefined
 * @param traffic counts the bytes of requests and answers, with their headers
 */
export function openHttpConnection(endpoint: URL, ca: string | undefined, traffic: ByteCounts = noTraffic()): HttpConnection {
  const keep = { keepAlive: true, maxSockets: 1 }
  const isSecure = endpoint.protocol === 'https:'
  const agent = isSecure ? new HttpsAgent({ ...keep, secureContext: trust(ca) }) : new HttpAgent(keep)
  const open = counted(isSecure ? httpsRequest : httpRequest, traffic)
  return {
    async exchange(request, options) {
      const first = await attempt(open, agent, request, options)
      // The server may close an idle connection at the moment when it is used again. That is no failure of the server.
      const last = first === 'stale' ? await attempt(open, agent, request, options) : first
      if (last === 'stale') throw new HaystackFailure('the server closed the connection', { step: options.step, kind: 'silent' })
      return last
    },
    close: () => agent.destroy(),
  }
}

type Open = (url: URL, options: RequestOptions, traffic: ByteCounts | undefined) => ClientRequest

/** Counts by the figures of the socket, which outlives a request. */
function counted(open: typeof httpRequest, traffic: ByteCounts): Open {
  return (url, options, own = noTraffic()) => {
    const request = open(url, options)
    request.on('socket', (socket: Socket) => {
      const [written, read] = [socket.bytesWritten, socket.bytesRead]
      request.once('close', () => {
        const bytes = { sent_bytes: socket.bytesWritten - written, received_bytes: socket.bytesRead - read }
        for (const counts of [traffic, own]) addTraffic(counts, bytes)
      })
    })
    return request
  }
}

/** Created once for each connection, because it holds some hundred certificates. */
function trust(ca: string | undefined): SecureContext {
  if (ca !== undefined) return createSecureContext({ ca })
  // A slim image has no certificate authorities; those of Node are used instead.
  const system = getCACertificates('system')
  return createSecureContext({ ca: system.length ? system : getCACertificates('default') })
}

type Agent = HttpAgent | HttpsAgent

async function attempt(open: Open, agent: Agent, { method, url, headers, body }: HttpRequest, options: ExchangeOptions) {
  const startedAt = performance.now()
  const stop = new AbortController()
  const silence = setTimeout(() => stop.abort(), options.timeoutMs)
  const late = AbortSignal.any([stop.signal, AbortSignal.timeout(TOTAL_FACTOR * options.timeoutMs)])
  const signal = AbortSignal.any([late, options.signal])
  const request = open(url, { method, agent, headers: { 'accept-encoding': 'gzip', ...headers }, signal }, options.traffic)
  const progress = watchProgress(request, url, options.step, () => silence.refresh())
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
    throw failureOf(error as NodeJS.ErrnoException, { progress, options, url, isLate: late.aborted })
  } finally {
    clearTimeout(silence)
  }
}

/** Tracks which step a request has reached. */
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
  const isCompressed = encoding === 'gzip' || encoding === 'x-gzip'
  if (!isCompressed && encoding !== 'identity') {
    throw new HaystackFailure(`the answer is compressed with ${encoding}, which was not requested`, { step: 'op' })
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
          advice:
            'request fewer points at a time: distribute them over several devices of the catalogue, or list a part with --filter',
        })
      }
      parts.push(part)
    }
  }
  const source: Readable = response
  await (isCompressed ? pipeline(source, createGunzip(), collect, { signal }) : pipeline(source, collect, { signal }))
  return Buffer.concat(parts)
}

type Progress = ReturnType<typeof watchProgress>

type FailureContext = { progress: Progress; options: ExchangeOptions; url: URL; isLate: boolean }

function failureOf(error: NodeJS.ErrnoException, { progress, options, url, isLate }: FailureContext): HaystackFailure {
  if (error instanceof HaystackFailure) return error
  const step = progress.step()
  if (options.signal.aborted) return new HaystackFailure('the request was cancelled', { step, kind: 'silent', cause: error })
  if (isLate)
    return new HaystackFailure(describeTimeout(progress, options.timeoutMs, url), { step, kind: 'silent', cause: error })
  if (progress.answered()) {
    const isDecompression = error.code?.startsWith('Z_') ?? false
    const says = isDecompression ? `the answer cannot be decompressed: ${error.message}` : 'the answer ended early'
    return new HaystackFailure(says, { step, kind: isDecompression ? 'fault' : 'silent', cause: error })
  }
  const { says, advice } = explainCode(error)
  const isAnswer = step === 'tls' || error.code?.startsWith('HPE_')
  const kind = isAnswer ? 'fault' : 'silent'
  return new HaystackFailure(`${url.host}: ${says}`, { step, advice, kind, cause: error })
}

function describeTimeout(progress: Progress, timeoutMs: number, { host }: URL): string {
  if (progress.answered()) return `the answer of ${host} stalled, or took more than ${TOTAL_FACTOR * timeoutMs} ms`
  switch (progress.step()) {
    case 'dns':
      return `no name server answered within ${timeoutMs} ms`
    case 'tcp':
      return `no connection to ${host} within ${timeoutMs} ms`
    case 'tls':
      return `no TLS handshake with ${host} within ${timeoutMs} ms`
    default:
      return `no answer from ${host} within ${timeoutMs} ms`
  }
}
