/** Ids of another tenant in bodies, in forms and in the tools of agents are answered as ids that nobody has. */
import type { TSchema } from '@sinclair/typebox'
import test from 'ava'
import { edgeOverridesTool, fleetOverrides, listEdgesTool } from '#hub/mcp/fleet-tools.ts'
import { appendTool } from '#hub/mcp/import-tools.ts'
import { CentralError, openCentralClient } from '#shared/central/mcp/central-client.ts'
import type { Tool } from '#shared/central/mcp/tool.ts'
import { whatChanged } from '#shared/central/mcp/tools/changes.ts'
import { READ_TOOLS } from '#shared/central/mcp/tools/list.ts'
import { centralPages } from '#shared/central/process.ts'
import type { Route } from '#shared/node/http/route.ts'
import { openTenantSite, sendAs, type TenantSite } from '../../support/sites/tenant-site.ts'
import { edgeModel } from '../../support/sites/transport-site.ts'

/** Ids of the other tenant and of nobody, of one length; the first is in every name of the other tenant. */
const [THEIRS, NOBODYS] = ['rival-secret-id', 'made-up-id-none']

async function twoTenants(site: TenantSite) {
  for (const id of ['acme', THEIRS]) await site.addTenant(id)
  const ann = await site.addUser('ann', 'admin', ['acme'])
  await site.addUser('bob', 'admin', [THEIRS])
  const model = edgeModel(THEIRS, THEIRS)
  const named = {
    ...model,
    building: { ...model.building, name: 'Building of Zebra Ltd' },
    equipment: model.equipment.map(one => ({ ...one, equipment_id: THEIRS, name: 'Equipment of Zebra Ltd' })),
    points: model.points.map(one => ({ ...one, point_id: THEIRS, equipment_id: THEIRS, name: 'Point of Zebra Ltd' })),
  }
  sendAs(site.hub, THEIRS, THEIRS, named, 3)
  return ann
}

const WORDS: Record<string, unknown> = {
  from: '2026-03-01T00:00:00Z',
  to: '2026-03-02T00:00:00Z',
  until: '2099-03-02T00:00:00Z',
  since: '2026-03-01T00:00:00Z',
  at: '2026-03-01T00:00:00Z',
  role: 'sa_t',
  webhook_url: 'http://127.0.0.1:9/',
  mail_to: ['nobody@example.org'],
  back: '/',
  currency: 'EUR',
  timezone: 'UTC',
  where: 'site',
  yaml: 'id: X',
  confirm: true,
  fingerprint: '0'.repeat(32),
  username: 'nobody',
}

/** A body that fits the schema and names an id wherever it can. Without a cursor: a wrong one is all that is answered. */
function bodyOf(schema: TSchema, id: string, name = ''): unknown {
  const { const: only, enum: words, anyOf, type, properties, items, pattern, minimum = 1 } = schema as Record<string, any>
  if (name in WORDS) return WORDS[name]
  if (only !== undefined) return only
  if (words) return words[0]
  if (anyOf) return bodyOf(anyOf.find((one: TSchema) => one['type'] !== 'null' && one['const'] !== '') ?? anyOf[0], id, name)
  if (type === 'object')
    return Object.fromEntries(
      Object.entries<TSchema>(properties ?? {})
        .filter(([field]) => field !== 'cursor')
        .map(([field, one]) => [field, bodyOf(one, id, field)]),
    )
  if (type === 'array') return [bodyOf(items, id)]
  if (type === 'integer' || type === 'number') return minimum
  if (type === 'boolean') return true
  if (type !== 'string') return null
  return pattern !== undefined && !new RegExp(pattern).test(id) ? '1' : id
}

/** What the other tenant calls its things. */
const NAMES = /Zebra/

/** Without what differs in any two answers. */
const plain = (text: string, id: string) =>
  text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UUID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)/g, 'TIME')
    .replaceAll(/"[a-z_]*(ms|secs|mb|bytes)":\d+/g, 'SPAN')
    .replaceAll(/name="csrf" value="[^"]*"/g, 'CSRF')
    .replaceAll(/<time[^>]*>[^<]*<\/time>(, \d+\ss ago)?/g, 'TIME')
    .replaceAll(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'TOKEN')
    .replaceAll(/\d+\s(s|min)\b/g, 'AGE')
    .replaceAll(/"(bytes|used_percent|requests_per_minute)":\d+/g, 'USE')
    .replaceAll(id, 'ID')

/** They end the session, change what the next request finds, stream for ever, or are encrypted anew each time. */
const NOT_SENT =
  /^\/(api\/auth|api\/users|logout|password|users|login|backups|api\/backup|config|rules\/sync|static)|^\/api\/preferences|\/stream$/
const BROWSER = { accept: 'text/html' }

const filled = (schema: TSchema | undefined, id: string) =>
  Object.entries((schema ? bodyOf(schema, id) : {}) as object)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [name, String(value)] as [string, string])

/** The first words in which two answers differ. */
function difference(one: string, other: string): string {
  const at = [...one].findIndex((char, i) => char !== other[i])
  return [one, other].map(text => text.slice(Math.max(0, at - 60), at + 60)).join(' | ')
}

test('queries, bodies and forms with ids of another tenant are answered as with ids that nobody has', async t => {
  const site = await openTenantSite(t)
  const ann = await twoTenants(site)
  const layout = { product: 'hub', name: 'Hub', first: 'Fleet' } as const
  const { routes } = centralPages({ central: site.hub.central, layout, routes: site.hub.routes })
  const page = await site.call(ann, 'GET', '/runs', undefined, BROWSER)
  const csrf = /name="csrf" value="([^"]*)"/.exec(page.text)![1]!
  const send = async ({ method, path, takes, query, body }: Route, id: string) => {
    const search = filled(query, id)
    const place = path.replaceAll(/:[a-z_]+/g, id) + (search.length > 0 ? `?${new URLSearchParams(search)}` : '')
    const accept = path.startsWith('/api/') ? {} : BROWSER
    if (method === 'GET') return site.call(ann, method, place, undefined, accept)
    if (takes !== 'form') return site.call(ann, method, place, body ? bodyOf(body, id) : {})
    const answer = await fetch(site.url + place, {
      method,
      redirect: 'manual',
      headers: { authorization: `Bearer ${ann}`, ...BROWSER },
      body: new URLSearchParams([['csrf', csrf], ...filled(body, id)]),
    })
    return { status: answer.status, text: `${answer.headers.get('location') ?? ''} ${await answer.text()}` }
  }
  const wrong: string[] = []
  let past = 0
  for (const route of routes.filter(({ path, takes }) => !NOT_SENT.test(path) && takes !== 'upload' && takes !== 'yaml')) {
    const [theirs, nobodys] = [await send(route, THEIRS), await send(route, NOBODYS)]
    const [one, other] = [plain(theirs.text, THEIRS), plain(nobodys.text, NOBODYS)]
    const what = `${route.method} ${route.path}: ${theirs.status}`
    if (theirs.status !== nobodys.status || one !== other) wrong.push(`${what}, not ${nobodys.status}: ${difference(one, other)}`)
    if (NAMES.test(one) || theirs.status >= 500) wrong.push(what)
    if (theirs.status !== 400) past++
  }
  t.deepEqual(wrong, [])
  t.true(past > 150, `${past} requests got past their schema`)
})

test('tools of agents answer ids of another tenant as ids that nobody has', async t => {
  const site = await openTenantSite(t)
  const ann = await twoTenants(site)
  const client = openCentralClient(site.url, ann)
  const tools: Tool[] = [...READ_TOOLS, listEdgesTool, edgeOverridesTool, whatChanged(fleetOverrides), appendTool]
  const answer = (tool: Tool, id: string) =>
    Promise.resolve()
      .then(() => tool.answer({ ...(bodyOf(tool.input, id) as object), limit: 10 } as never, client))
      .catch((error: unknown) => {
        if (error instanceof CentralError) return `${error.code}: ${error.message} ${error.hints.join(' ')}`
        throw error
      })
  for (const tool of tools) {
    const [theirs, nobodys] = [plain(await answer(tool, THEIRS), THEIRS), plain(await answer(tool, NOBODYS), NOBODYS)]
    t.is(theirs, nobodys, tool.name)
    t.notRegex(theirs, NAMES, tool.name)
  }
})
