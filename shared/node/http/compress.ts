/** Compresses text replies above 1 KiB for clients that accept it. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { pipeline, Readable, type Transform } from 'node:stream'
import { promisify } from 'node:util'
import zlib, { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib'

export type ContentEncoding = 'br' | 'gzip'

/** Smaller replies fit into one packet and gain nothing. */
export const COMPRESS_MIN = 1024
/**
 * Maximum number of replies compressed at one time. Compression uses the four threads that also read files; half of them
 * stay free, and further replies are sent uncompressed.
 */
const ACTIVE_MAX = 2
/** Text and SVG, but no event streams: a compressor would delay events. */
const COMPRESSIBLE =
  /^(text\/(?!event-stream)|image\/svg\+xml|application\/(json|javascript|xml|yaml|([\w.-]+\+)?(json|xml|yaml))\b)/

/**
 * @param header `Accept-Encoding`, RFC 9110 12.5.3
 * @returns the best encoding that the client accepts; undefined when it accepts none, or sends no header
 */
export function encodingFor(header: string | string[] | undefined): ContentEncoding | undefined {
  const weights = new Map<string, number>()
  for (const item of String(header ?? '')
    .toLowerCase()
    .split(',')) {
    const [name = '', ...params] = item.split(';').map(part => part.trim())
    const q = params.find(param => param.startsWith('q='))?.slice(2)
    const weight = q === undefined ? 1 : Number(q)
    if (name !== '' && weight >= 0 && weight <= 1) weights.set(name, weight)
  }
  const of = (name: ContentEncoding) => weights.get(name) ?? weights.get('*') ?? 0
  const [br, zip] = [of('br'), of('gzip')]
  if (br === 0 && zip === 0) return undefined
  return br >= zip ? 'br' : 'gzip'
}

/** Compresses a constant body at the highest level, off the main thread. */
export const compressOnce = (body: Buffer, encoding: ContentEncoding): Promise<Buffer> => compress(body, encoding, 'best')

const QUALITY = { quick: { br: 4, gzip: 3 }, best: { br: 11, gzip: 9 } }

function compress(body: Buffer, encoding: ContentEncoding, effort: keyof typeof QUALITY): Promise<Buffer> {
  const level = QUALITY[effort][encoding]
  if (encoding === 'gzip') return promisify<Buffer, zlib.ZlibOptions, Buffer>(gzip)(body, { level })
  const params = { [constants.BROTLI_PARAM_QUALITY]: level, [constants.BROTLI_PARAM_SIZE_HINT]: body.length }
  return promisify<Buffer, zlib.BrotliOptions, Buffer>(brotliCompress)(body, { params })
}

const compressorOf = (encoding: ContentEncoding): Transform =>
  encoding === 'gzip'
    ? createGzip({ level: QUALITY.quick.gzip })
    : createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY.quick.br } })

/** Adds compression of replies. `Cache-Control: no-transform` in a reply prevents it. */
export function addCompression(app: FastifyInstance): void {
  let active = 0
  const compressed = async (payload: Buffer | Readable, encoding: ContentEncoding): Promise<Buffer | Readable> => {
    active++
    if (payload instanceof Readable) return pipeline(payload, compressorOf(encoding), () => void active--)
    return compress(payload, encoding, 'quick').finally(() => void active--)
  }
  app.addHook('onSend', async (request, reply, payload: unknown) => {
    if (!isText(reply)) return payload
    addVary(reply, 'Accept-Encoding')
    const body = typeof payload === 'string' ? Buffer.from(payload) : payload
    const isLong = body instanceof Readable || (Buffer.isBuffer(body) && body.length > COMPRESS_MIN)
    const encoding = isLong && request.method !== 'HEAD' ? encodingOf(request) : undefined
    if (encoding === undefined || active >= ACTIVE_MAX) return payload
    reply.header('content-encoding', encoding).removeHeader('content-length')
    return compressed(body as Buffer | Readable, encoding)
  })
}

const encodingOf = (request: FastifyRequest) => encodingFor(request.headers['accept-encoding'])

function isText(reply: FastifyReply): boolean {
  if ([204, 206, 304].includes(reply.statusCode) || reply.hasHeader('content-encoding')) return false
  if (String(reply.getHeader('cache-control')).includes('no-transform')) return false
  return COMPRESSIBLE.test(String(reply.getHeader('content-type') ?? '').toLowerCase())
}

/** Adds a header's name to `Vary`, once. */
export function addVary(reply: FastifyReply, name: string): void {
  const known = String(reply.getHeader('vary') ?? '')
  const names = known.split(',').map(one => one.trim().toLowerCase())
  if (!names.includes(name.toLowerCase())) reply.header('vary', known === '' ? name : `${known}, ${name}`)
}
