import { readFileSync } from 'node:fs'
import test from 'ava'
import { monitorRoutes } from '#hub/monitor/monitor.route.ts'
import { claimRoutes } from '#hub/pages/claims.route.ts'
import { deleteEdgeRoutes } from '#hub/pages/delete-edge.route.ts'
import { edgeRoutes } from '#hub/pages/edge-routes.ts'
import { hubOverrides } from '#hub/pages/overrides.route.ts'
import { EDGES, NOW } from '../../support/page-fixture.ts'
import { buildingsEvaluatedHere } from '#shared/central/fdd/rule-owner.ts'
import { signedIn } from '../../support/signed-in.ts'
import { openSite, PASSWORDS } from '../../support/sites/page-site.ts'

test('GET /api/edges lists session and data freshness page by page, and one edge by its id', async t => {
  const site = await openSite({ product: 'hub' })
  t.teardown(site.close)
  const { get } = await signedIn(site.url, 'viewer', PASSWORDS.viewer)
  const first: any = await (await get('/api/edges?limit=3')).json()
  const rest: any = await (await get(`/api/edges?limit=3&cursor=${first.next_cursor}`)).json()
  t.deepEqual(
    [...first.edges, ...rest.edges].map(({ edge_id, status, session, data }: any) => [edge_id, status, session.open, data.fresh]),
    [
      ['edge-1', 'operational', true, true],
      ['edge-2', 'reduced', true, false],
      ['edge-3', 'disconnected', false, false],
      ['edge-4', 'pending', false, false],
    ],
  )
  const { edge }: any = await (await get('/api/edges/edge-2')).json()
  t.like(edge.reported, { backlog_rows: 4120, clock_offset_ms: -90_000, dropped: 12 })
  t.is(edge.data.last_at, new Date(NOW - 3 * 3_600_000).toISOString().replace('.000', ''))
  const gone = await get('/api/edges/nowhere')
  t.is(gone.status, 404)
  t.is((await fetch(`${site.url}/api/edges`)).status, 401)
})

test('an edge id of two sites needs site_id, in the API and on the overrides page; links of Fleet carry it', async t => {
  const site = await openSite({
    product: 'hub',
    more: (layout, context) => hubOverrides({ context, layout, connectors: undefined! }),
  })
  t.teardown(site.close)
  site.context.edges.put({ ...EDGES[0]!, site_id: 'annex', name: 'Annex' })
  const { get } = await signedIn(site.url, 'viewer', PASSWORDS.viewer)
  const refused = await get('/api/edges/edge-1')
  t.is(refused.status, 409)
  const { code, detail }: any = await refused.json()
  t.is(code, 'ambiguous_edge')
  t.regex(detail, /annex, riverside/)
  const { edge }: any = await (await get('/api/edges/edge-1?site_id=annex')).json()
  t.like(edge, { site_id: 'annex', name: 'Annex' })
  t.is((await get('/api/edges/edge-1?site_id=nowhere')).status, 404)
  t.is((await get('/edges/edge-1/overrides')).status, 409)
  const fleet = await (await get('/')).text()
  for (const one of ['annex', 'riverside']) t.true(fleet.includes(`/edges/edge-1/overrides?site_id=${one}"`))
  const { edges }: any = await (await get('/api/edges?limit=1')).json()
  t.is(edges[0].site_id, 'annex')
})

test('an admin deletes an edge that is gone: its building stays, the hub runs the rules, and it is audited', async t => {
  const site = await openSite({ product: 'hub' })
  t.teardown(site.close)
  const { edges, model, audit } = site.context
  const gone = edges.list().find(edge => edge.edge_id === 'edge-3')!
  const { site_id } = gone
  const building_id = 'depot'
  edges.put({ ...gone, building_id, status_body: { ...gone.status_body, runs_rules: true } })
  const source = { protocol: 'bacnet', address: 'analog-input,1' } as const
  const point = { building_id, point_id: 'p', name: 'P', role: 'sat', unit: 'degC', kind: 'number', source } as const
  model.put({
    building: { building_id, name: 'B', site_id, timezone: 'UTC', unit_system: 'si' },
    points: [{ ...point, edge_id: 'edge-3' }],
  })
  t.false(buildingsEvaluatedHere(site.context).includes(building_id))
  const operator = await signedIn(site.url, 'agent', PASSWORDS.agent)
  t.false((await (await operator.get('/')).text()).includes('/fleet/edges/delete'))
  const admin = await signedIn(site.url, 'admin', PASSWORDS.admin)
  const fleet = await (await admin.get('/')).text()
  t.deepEqual(
    [...fleet.matchAll(/name="edge_id" value="([^"]+)"/g)].map(([, id]) => id).toSorted(),
    ['edge-3', 'edge-4'],
    'edges with a session or fresh data have no button',
  )
  t.is(
    (await admin.post('/fleet/edges/delete', '/', { site_id: EDGES[0]!.site_id, edge_id: 'edge-1', confirm: 'yes' })).status,
    409,
  )
  t.is((await operator.post('/fleet/edges/delete', '/', { site_id, edge_id: 'edge-3', confirm: 'yes' })).status, 403)
  t.is((await admin.post('/fleet/edges/delete', '/', { site_id, edge_id: 'edge-3', confirm: 'yes' })).status, 303)

  t.false(edges.list().some(edge => edge.edge_id === 'edge-3'))
  t.is((await admin.get('/api/edges/edge-3')).status, 404)
  t.deepEqual(model.points(building_id), [point], 'its points belong to no edge and keep their roles')
  t.true(buildingsEvaluatedHere(site.context).includes(building_id))
  const [row] = audit.list({ limit: 9 }).filter(({ action }) => action === 'delete_edge')
  t.like(row, { actor: 'admin', subject: `${site_id}/edge-3`, building_id, after: null })
})

test('Fleet shows refused edges and takeovers; an operator confirms a building once, and it is audited', async t => {
  const site = await openSite({ product: 'hub' })
  t.teardown(site.close)
  const { edgeClaims, audit } = site.context
  const at = { site_id: 'riverside', since: NOW }
  edgeClaims.refuse({ ...at, edge_id: 'edge-9', reason: 'building school belongs to another site' })
  edgeClaims.claim({ ...at, building_id: 'school', edge_id: 'edge-2', from_edge_id: 'edge-1' })
  edgeClaims.claim({ ...at, building_id: 'hall', edge_id: 'edge-3', from_edge_id: 'edge-1' })
  const viewer = await signedIn(site.url, 'viewer', PASSWORDS.viewer)
  const agent = await signedIn(site.url, 'agent', PASSWORDS.agent)
  const fleet = async () => (await (await viewer.get('/')).text()).replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
  t.regex(await fleet(), /Refused: edge edge-9 of site riverside.*building school belongs to another site/)
  t.regex(await fleet(), /edge edge-2 of site riverside reports for building school , as edge edge-1/)
  const form = { building_id: 'school' }
  t.is((await viewer.post('/fleet/takeovers/confirm', '/', form)).status, 403)
  t.is((await agent.post('/fleet/takeovers/confirm', '/', form)).status, 303)
  t.is((await agent.post('/fleet/takeovers/confirm', '/', form)).status, 409, 'already confirmed')
  const { refusals, takeovers }: any = await (await viewer.get('/api/edge-claims')).json()
  t.deepEqual([refusals.length, takeovers.map((one: any) => one.building_id)], [1, ['hall']])
  const [row, ...more] = audit.list({ limit: 9 }).filter(({ action }) => action === 'confirm_takeover')
  t.deepEqual(more, [])
  t.like(row, { actor: 'agent', subject: 'school' })
})

test('API.md of the hub lists the edge and claim routes', t => {
  const text = readFileSync(new URL('../../../hub/API.md', import.meta.url), 'utf8')
  const routes = edgeRoutes({
    edges: {
      list: () => EDGES,
      count: () => EDGES.length,
      get: () => undefined,
      named: () => [],
      put: () => undefined,
      delete: () => undefined,
    },
    clock: undefined!,
  })
  const deletion = deleteEdgeRoutes(undefined!, undefined!).filter(({ path }) => path.startsWith('/api/'))
  const claims = claimRoutes(undefined!).filter(({ path }) => path.startsWith('/api/'))
  const monitor = monitorRoutes(undefined!, undefined!).filter(({ path }) => path.startsWith('/api/'))
  for (const { method, path, auth, problems = [] } of [...routes, ...deletion, ...claims, ...monitor]) {
    const codes = problems.map(code => `\`${code}\``).join(', ')
    t.true(text.includes(`| ${method} | \`${path}\` | ${auth} | | ${codes && `${codes} `}|`), path)
  }
})

test('Fleet says of an edge that its disk is 80 % full or more, and nothing of one with room', async t => {
  const site = await openSite({ product: 'hub' })
  t.teardown(site.close)
  const told = (free_bytes: number) => ({ ...EDGES[0]!.status_body, disk: { free_bytes, total_bytes: 1000 } })
  const { get } = await signedIn(site.url, 'viewer', PASSWORDS.viewer)
  site.context.edges.put({ ...EDGES[0]!, status_body: told(90) })
  t.true((await (await get('/')).text()).includes('<strong>its disk is 91 % full</strong>'))
  site.context.edges.put({ ...EDGES[0]!, status_body: told(210) })
  t.false((await (await get('/')).text()).includes('its disk is'))
})
