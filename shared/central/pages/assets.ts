/** The few files that pages ask for, from this machine alone. Addresses carry a hash, so browsers cache them without limit. */
import { Type } from '@sinclair/typebox'
import type { FastifyReply } from 'fastify'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Problem } from '#shared/core/problem.ts'
import type { Assets } from '#shared/central/ui/frame.ts'
import { addVary, COMPRESS_MIN, compressOnce, type ContentEncoding, encodingFor } from '#shared/node/http/compress.ts'
import { type Html, html, raw } from '#shared/node/http/html.ts'
import { contentSecurity } from '#shared/node/http/security-headers.ts'
import { type Route, route, strict } from '#shared/node/http/route.ts'

const STATIC = new URL('../../static/', import.meta.url)
const { resolve } = createRequire(import.meta.url)
const htmx = resolve('htmx.org/dist/htmx.min.js')
const uplot = resolve('uplot/dist/uPlot.iife.min.js')
const uplotCss = resolve('uplot/dist/uPlot.min.css')

const JAVASCRIPT = 'text/javascript; charset=utf-8'
const STYLE = 'text/css; charset=utf-8'

const FILES = {
  css: { name: 'app.css', path: new URL('app.css', STATIC), type: STYLE },
  script: { name: 'app.js', path: new URL('app.js', STATIC), type: JAVASCRIPT },
  htmx: { name: 'htmx.js', path: htmx, type: JAVASCRIPT },
  uplot: { name: 'uplot.js', path: uplot, type: JAVASCRIPT },
  uplotCss: { name: 'uplot.css', path: uplotCss, type: STYLE },
  icon: { name: 'icon.svg', path: new URL('icon.svg', STATIC), type: 'image/svg+xml' },
} as const
/** The plot that zooms, and the modules that it imports by their names beside it. */
const [TRENDS, ...TREND_PARTS] = [
  'trends.js',
  'trend-image.js',
  'trend-marks.js',
  'trend-options.js',
  'trend-words.js',
  'trend-zoom.js',
] as const

type Served = { body: Buffer; type: string; hash: string; packed: Map<ContentEncoding, Promise<Buffer>> }

/** Remembers in the browser which style sheet it has, by the address. */
const STYLE_COOKIE = 'plenum_style'
/** A browser that has dropped the file meanwhile waits for it once. */
const STYLE_SECS = 30 * 86_400

/**
 * Reads the files once. Nothing else can be asked for: there is no path to traverse.
 *
 * @returns `firstStyle`: the style sheet itself for a browser that has none yet, which then shows the page without
 *   asking again, but not half of its head; it fetches the file meanwhile. Undefined for one that has it, and for programs.
 */
export function openAssets(): { assets: Assets; route: Route; firstStyle(reply: FastifyReply): Html | undefined } {
  const style = readFileSync(FILES.css.path, 'utf8')
  const policy = contentSecurity(`sha256-${createHash('sha256').update(style).digest('base64')}`)
  const served = new Map<string, Served>()
  const serve = (hash: string, name: string, type: string, body: Buffer): string => {
    served.set(`${hash}/${name}`, { body, type, hash, packed: new Map() })
    return `/static/${hash}/${name}`
  }
  const single = Object.entries(FILES).map(([key, { name, path, type }]) => {
    const body = readFileSync(path)
    return [key, serve(hashOf([body]), name, type, body)]
  })
  const modules = [TRENDS, ...TREND_PARTS].map(name => ({ name, body: readFileSync(new URL(name, STATIC)) }))
  const together = hashOf(modules.map(({ body }) => body))
  const [trends, ...trendParts] = modules.map(({ name, body }) => serve(together, name, JAVASCRIPT, body))
  const assets = { ...Object.fromEntries(single), trends, trendParts } as Assets
  return {
    assets,
    firstStyle(reply) {
      const { cookies, headers } = reply.request
      if (headers['sec-fetch-dest'] !== 'document' || cookies[STYLE_COOKIE] === assets.css) return undefined
      reply.setCookie(STYLE_COOKIE, assets.css, { path: '/', httpOnly: true, sameSite: 'strict', maxAge: STYLE_SECS })
      reply.header('content-security-policy', policy)
      return html`<style>${raw(style)}</style><link rel="expect" href="#main" blocking="render"><link rel="stylesheet" media="print" href="${assets.css}">`
    },
    route: route({
      method: 'GET',
      path: '/static/:hash/:name',
      auth: 'public',
      summary: 'A file that pages ask for',
      params: strict({ hash: Type.String(), name: Type.String() }),
      handle: async ({ params, request, reply }) => {
        const file = served.get(`${params.hash}/${params.name}`)
        if (!file) throw new Problem('not_found', 'There is no such file')
        const encoding = file.body.length > COMPRESS_MIN ? encodingFor(request.headers['accept-encoding']) : undefined
        // Each encoding is another representation with a tag of its own, RFC 9110 8.8.3.3
        const etag = `"${file.hash}${encoding === undefined ? '' : `-${encoding}`}"`
        addVary(reply, 'Accept-Encoding')
        reply.headers({ etag, 'cache-control': 'public, max-age=31536000, immutable, no-transform' })
        if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send()
        reply.type(file.type)
        if (encoding === undefined) return reply.send(file.body)
        return reply.header('content-encoding', encoding).send(await packed(file, encoding))
      },
    }),
  }
}

function hashOf(bodies: Buffer[]): string {
  const hash = createHash('sha256')
  for (const body of bodies) hash.update(body)
  return hash.digest('hex').slice(0, 12)
}

/** Compressed at the first request, then cached. */
function packed({ body, packed: known }: Served, encoding: ContentEncoding): Promise<Buffer> {
  const before = known.get(encoding)
  if (before) return before
  const made = compressOnce(body, encoding)
  known.set(encoding, made)
  made.catch(() => known.delete(encoding))
  return made
}

/** @param header `If-None-Match`, which compares weakly, RFC 9110 13.1.2 */
const isKnown = (header: string | undefined, etag: string): boolean =>
  header !== undefined && header.split(',').some(one => ['*', etag].includes(one.trim().replace(/^W\//, '')))
