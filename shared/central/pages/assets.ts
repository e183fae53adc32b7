/** The few files that pages ask for, from this machine alone. Addresses carry a hash, so browsers keep them for ever. */
import { Type } from '@sinclair/typebox'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Problem } from '#shared/core/problem.ts'
import type { Assets } from '#shared/core/ui/frame.ts'
import { type Route, route, strict } from '#shared/node/route.ts'

const STATIC = new URL('../../static/', import.meta.url)
const htmx = createRequire(import.meta.url).resolve('htmx.org/dist/htmx.min.js')

const FILES = {
  css: { name: 'app.css', path: new URL('app.css', STATIC), type: 'text/css; charset=utf-8' },
  script: { name: 'app.js', path: new URL('app.js', STATIC), type: 'text/javascript; charset=utf-8' },
  htmx: { name: 'htmx.js', path: htmx, type: 'text/javascript; charset=utf-8' },
  icon: { name: 'icon.svg', path: new URL('icon.svg', STATIC), type: 'image/svg+xml' },
} as const

/** Reads the files once. Nothing else can be asked for: there is no path to traverse. */
export function openAssets(): { assets: Assets; route: Route } {
  const served = new Map<string, { body: Buffer; type: string }>()
  const addresses = Object.entries(FILES).map(([key, { name, path, type }]) => {
    const body = readFileSync(path)
    const address = `${createHash('sha256').update(body).digest('hex').slice(0, 12)}/${name}`
    served.set(address, { body, type })
    return [key, `/static/${address}`]
  })
  return {
    assets: Object.fromEntries(addresses) as Assets,
    route: route({
      method: 'GET',
      path: '/static/:hash/:name',
      auth: 'public',
      summary: 'A file that pages ask for',
      params: strict({ hash: Type.String(), name: Type.String() }),
      handle: ({ params, reply }) => {
        const file = served.get(`${params.hash}/${params.name}`)
        if (!file) throw new Problem('not_found', 'There is no such file')
        return reply.header('cache-control', 'public, max-age=31536000, immutable').type(file.type).send(file.body)
      },
    }),
  }
}
