/** Every route × every kind of caller, on a hub, on a hub with tenants and on an appliance. */
import { readdirSync, readFileSync } from 'node:fs'
import test from 'ava'
import type { Route } from '#shared/node/http/route.ts'
import { type Caller, callersOf, type Need, verdictFor, verdictOf } from './callers.ts'
import { openSpecHub, pathOf, type Send, sharedEnds, startSpecAppliance } from './spec-site.ts'

const ends = sharedEnds()
test.after.always(ends.end)

type Asked = Pick<Route, 'method' | 'path'> & { auth: Need; takes: Route['takes'] | undefined; hasBody: boolean }
const askedOf = ({ method, path, takes, auth, body }: Route): Asked => ({
  ...{ method, path, auth, takes },
  hasBody: method !== 'GET' && (body !== undefined || takes !== undefined),
})

/** @returns a line for each caller who is not answered as the role of the route says */
async function wrongAnswers(send: Send, routes: Asked[], callers: Caller[]): Promise<string[]> {
  const wrong: string[] = []
  for (const asked of routes) {
    for (const caller of callers) {
      const [wanted, got] = [
        verdictFor(asked.auth, caller),
        await verdictOf(send, { ...asked, path: pathOf(asked, 'x.yaml') }, caller),
      ]
      if (got !== wanted) wrong.push(`${asked.method} ${asked.path} for ${caller.name}: ${got}, not ${wanted}`)
    }
  }
  return wrong
}

test('on a hub every route answers those who have its role, and nobody else', async t => {
  const hub = await openSpecHub(ends)
  t.true(hub.routes.length > 150, String(hub.routes.length))
  t.deepEqual(await wrongAnswers(hub.send, hub.routes.map(askedOf), await callersOf(hub.send)), [])
})

test('on a hub with tenants an admin of a tenant is no admin of the hub, on any route', async t => {
  const hub = await openSpecHub(ends, { SERVICE_MULTI_TENANT: '1' })
  for (const id of ['acme', 'rival']) await hub.addTenant(id)
  const other: Caller = { name: 'an admin of a tenant', token: await hub.addUser('ann', 'admin', ['rival']), role: 'admin' }
  const wrong: string[] = []
  for (const route of hub.routes) {
    const asked = askedOf(route)
    const got = await verdictOf(hub.send, { ...asked, path: pathOf(asked, 'x.yaml') }, other)
    const wanted = route.ofHub && route.auth === 'admin' ? 'forbidden' : verdictFor(route.auth, other)
    if (got !== wanted) wrong.push(`${route.method} ${route.path}: ${got}, not ${wanted}`)
  }
  t.deepEqual(wrong, [])
})

/** Pages that only an appliance has. */
const APPLIANCE_PAGES: [Route['method'], string, Need, Route['takes']?][] = [
  ['GET', '/', 'viewer'],
  ['GET', '/home/tiles', 'viewer'],
  ['POST', '/home/run', 'operator', 'form'],
  ['GET', '/overrides', 'viewer'],
  ['GET', '/overrides.csv', 'viewer'],
  ['POST', '/overrides/visit', 'operator', 'form'],
  ['GET', '/overrides/:device_instance/:object_type/:object_instance', 'viewer'],
  ['GET', '/devices', 'viewer'],
  ['GET', '/devices/:device_id', 'viewer'],
  ['GET', '/devices/:device_id/points', 'viewer'],
  ['POST', '/devices/:device_id/enabled', 'operator', 'form'],
  ['POST', '/devices/:device_id/tuning', 'operator', 'form'],
  ['POST', '/devices/:device_id/remove', 'operator', 'form'],
  ['POST', '/devices/:device_id/edit', 'operator', 'form'],
  ['POST', '/devices/:device_id/point', 'operator', 'form'],
  ['POST', '/devices/import', 'operator', 'upload'],
  ['GET', '/devices/import/:session_id', 'operator'],
  ['POST', '/devices/import/:session_id', 'operator', 'form'],
  ['GET', '/discover', 'operator'],
  ['GET', '/discover/progress', 'operator'],
  ['POST', '/discover', 'operator', 'form'],
  ['POST', '/discover/stop', 'operator', 'form'],
  ['POST', '/discover/preview', 'operator', 'form'],
  ['POST', '/discover/add', 'operator', 'form'],
  ['GET', '/bacnet', 'operator'],
  ['GET', '/bacnet/network', 'admin'],
  ['POST', '/bacnet/network', 'admin', 'form'],
  ['GET', '/modbus', 'operator'],
  ['GET', '/first-steps', 'viewer'],
  ['GET', '/site', 'admin'],
  ['POST', '/site', 'admin', 'form'],
  ['GET', '/site/levels', 'admin'],
  ['POST', '/site/levels', 'admin', 'form'],
  ['GET', '/network', 'admin'],
  ['POST', '/network', 'admin', 'form'],
  ['POST', '/network/keep', 'admin', 'form'],
  ['GET', '/hub', 'admin'],
  ['POST', '/hub', 'admin', 'form'],
  ['POST', '/hub/cancel', 'admin', 'form'],
  ['GET', '/system', 'viewer'],
  ['POST', '/system', 'admin', 'upload'],
]

/** Rows of the tables of an API document. */
const documented = (path: string): Asked[] =>
  [
    ...readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8').matchAll(/^\| ([A-Z]+) \| `(\S+)` \| (\w+) \| (.*?) \|/gm),
  ].map(([, method, route, auth, marks]) => ({
    method: method as Route['method'],
    path: route!,
    auth: auth as Need,
    takes: marks!.includes('multipart') ? 'upload' : marks!.includes('YAML') ? 'yaml' : 'json',
    hasBody: method !== 'GET' && method !== 'DELETE',
  }))

test('on an appliance every route answers those who have its role, and nobody else', async t => {
  const { send } = await startSpecAppliance(ends)
  const pages = APPLIANCE_PAGES.map(([method, path, auth, takes]) => ({
    method,
    path,
    auth,
    takes,
    hasBody: takes !== undefined,
  }))
  const api = [...documented('appliance/API.md'), ...documented('shared/central/API.md')]
  t.true(api.length > 100, String(api.length))
  // Without the kit of a hub, what only the hub may ask is closed to everybody.
  const [ofHub, others] = [api.filter(({ auth }) => auth === 'edge'), api.filter(({ auth }) => auth !== 'edge')]
  const callers = await callersOf(send)
  t.deepEqual(await wrongAnswers(send, [...pages, ...others], callers), [])
  for (const asked of ofHub) {
    for (const caller of callers)
      t.not(await verdictOf(send, { ...asked, path: pathOf(asked, 'x') }, caller), 'its answer', asked.path)
  }
})

test('the pages of an appliance are all in the list', t => {
  const root = new URL('../../appliance/', import.meta.url)
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.ts'))
  const written = files.flatMap(name =>
    [...readFileSync(new URL(name, root), 'utf8').matchAll(/\bpath: '(\/[^']*)'/g)].map(([, path]) => path!),
  )
  const pages = new Set(APPLIANCE_PAGES.map(([, path]) => path))
  t.deepEqual(
    [...new Set(written)].filter(path => !path.startsWith('/api/') && !pages.has(path)),
    [],
  )
})
