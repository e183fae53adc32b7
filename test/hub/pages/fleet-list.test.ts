/** Fleet with more edges than one page has, over real stores and HTTP. */
import test from 'ava'
import { EDGES, NOW } from '../../support/page-fixture.ts'
import { signedIn } from '../../support/signed-in.ts'
import { openSite, PASSWORDS } from '../../support/sites/page-site.ts'

const EDGE = /<tr id="edge-([^"]+)"/g

test('a hub without an edge says how one comes to it', async t => {
  const site = await openSite({ product: 'hub' })
  t.teardown(site.close)
  for (const edge of site.stores.edges.list()) site.stores.edges.delete(edge)
  const { get } = await signedIn(site.url, 'viewer', PASSWORDS.viewer)
  t.regex(
    await (await get('/')).text(),
    /No edge has been enrolled yet\.<\/h2>\s*<p>An admin makes the kit of a box on the page <a href="\/enrol">/,
  )
})

test('a long list of edges is shown in parts, searched, and refreshed as it is shown', async t => {
  const site = await openSite({ product: 'hub' })
  t.teardown(site.close)
  const boxes = Array.from({ length: 120 }, (_, n) => ({
    ...{ ...EDGES[0]!, edge_id: `box-${n}`, name: `Box ${n}`, site_id: n < 60 ? 'north' : 'south' },
    online: n % 2 === 0,
  }))
  site.stores.edges.put(...boxes)
  const { get } = await signedIn(site.url, 'viewer', PASSWORDS.viewer)
  const page = async (path: string) => (await get(path)).text()
  const edgesOf = (text: string) => [...text.matchAll(EDGE)].map(([, name]) => name!)

  const first = await page('/')
  const rest = [await page('/?page=2'), await page('/?page=3')]
  t.is(edgesOf(first).length, 50)
  t.is(new Set([first, ...rest].flatMap(edgesOf)).size, 120 + EDGES.length, 'each edge is on one of the pages')
  t.regex(first, /Page 1 of 3.*href="\/\?page=2"/)
  t.regex(rest[0]!, /hx-get="\/fleet\/part\?page=2"/)
  t.deepEqual(edgesOf(await page('/fleet/part?page=2')), edgesOf(rest[0]!))

  const south = await page('/?q=south&status=reduced')
  t.true(edgesOf(south).every(name => name.startsWith('south/')))
  t.is(edgesOf(south).length, 30)
  t.regex(south, /All <span class="count">60<\/span>/)
  t.regex(south, /href="\/\?status=operational&amp;q=south"/)
  t.regex(await page('/?q=nowhere'), /No edge contains “nowhere”\./)

  for (let n = 0; n < 25; n++) {
    site.stores.edgeClaims.refuse({ site_id: 'north', edge_id: `box-${n}`, reason: 'two boxes', since: NOW })
  }
  const refused = await page('/')
  t.is(refused.match(/<strong>Refused:/g)?.length, 20)
  t.regex(refused, /<section class="card alarm" id="claims"/, 'its lines are below each other, not the columns of a tile')
  t.regex(refused, /5 more are refused; <a href="\/api\/edge-claims">/)
})
