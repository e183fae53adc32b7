/** The page of buildings with more of them than one page has. */
import test from 'ava'
import { BUILDING, EDGES, NOW } from '../../../../support/page-fixture.ts'
import { signedIn } from '../../../../support/signed-in.ts'
import { openSite, PASSWORDS } from '../../../../support/sites/page-site.ts'

const text = (page: string) => page.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
const ROW = /<a href="\/buildings\/([^"?]+)">[^<]*<\/a><span class="muted">/g
const buildingsOf = (page: string) => [...page.matchAll(ROW)].map(([, id]) => id!)

test('a long list of buildings is shown in parts, the worst first, and searched', async t => {
  const site = await openSite({ product: 'hub' })
  t.teardown(site.close)
  for (let n = 0; n < 120; n++) {
    site.stores.model.put({
      building: { ...BUILDING, building_id: `b${n}`, name: `House ${n}`, site_id: n < 60 ? 'north' : 'south' },
    })
  }
  const { get } = await signedIn(site.url, 'viewer', PASSWORDS.viewer)
  const page = async (query: string) => (await get(`/buildings${query}`)).text()

  const first = await page('')
  const pages = [first, await page('?page=2'), await page('?page=3')]
  const total = site.stores.model.buildings().length
  t.is(buildingsOf(first).length, 50)
  t.is(new Set(pages.flatMap(buildingsOf)).size, total)
  t.true(buildingsOf(first).includes(BUILDING.building_id), 'the building with faults comes before those without')
  t.regex(first, new RegExp(`${total} buildings\\.`))
  t.regex(first, /Page 1 of 3.*href="\/buildings\?page=2"/)

  const south = await page('?q=south&page=2')
  t.is(buildingsOf(south).length, 10)
  t.regex(south, /href="\/buildings\?q=south&amp;page=1"/)
  t.deepEqual(buildingsOf(await page('?q=House+77')), ['b77'])
  t.regex(await page('?q=nowhere'), /No building contains “nowhere”\./)
})

test('when the box of a building looked for faults is on its page, in the list, on that of faults and of the edge', async t => {
  const site = await openSite({ product: 'hub' })
  t.teardown(site.close)
  const { building_id } = BUILDING
  const edge = EDGES[0]!
  const other = { building_id: 'b-quiet', name: 'Quiet house' }
  site.stores.model.put({ building: { ...BUILDING, ...other } })
  const { get } = await signedIn(site.url, 'viewer', PASSWORDS.viewer)
  const page = async (path: string) => text(await (await get(path)).text())
  const rowOf = async (name: string) =>
    new RegExp(`${name} riverside.*?(?= riverside |Plenum 0)`).exec(await page('/buildings'))?.[0]

  for (const one of [{ ...edge, edge_id: 'edge-q', ...other }]) site.stores.edges.put(one)
  t.regex(await page('/buildings/b-quiet'), /Its box looks for faults and has reported none\./)
  t.regex((await rowOf('Quiet house'))!, /by its box, which does not say when/)
  t.regex(await page('/faults'), /The box Plant room looks for faults itself; its last data came/)

  const says = { ...edge.status_body, clock_offset_ms: 60_000, last_check_at: new Date(NOW - 11 * 60_000).toISOString() }
  site.stores.edges.put({ ...edge, status_body: says }, { ...edge, edge_id: 'edge-q', ...other, status_body: says })
  t.regex(await page('/buildings/b-quiet'), /Nothing is in fault; everything was checked 12.min ago\./)
  t.regex((await rowOf('Quiet house'))!, /12.min ago/)
  t.regex(await page(`/buildings/${building_id}`), /all else was checked 12.min ago\./)
  t.regex(await page('/faults'), /The box Plant room looked for faults [^;]*12.min ago; its last data came/)
  t.regex(await page('/edges/edge-1?site_id=riverside'), /Last check for faults [^L]*12.min ago/)
})

test('two hundred boxes that look for faults are a few lines on the page of faults, those that looked longest ago first', async t => {
  const site = await openSite({ product: 'hub' })
  t.teardown(site.close)
  const edge = EDGES[0]!
  for (const { site_id, edge_id } of site.stores.edges.list()) site.stores.edges.delete({ site_id, edge_id })
  for (let n = 0; n < 200; n++) {
    const last_check_at = new Date(NOW - (n + 1) * 60_000).toISOString()
    site.stores.edges.put({ ...edge, edge_id: `box-${n}`, name: `Box ${n}`, status_body: { runs_rules: true, last_check_at } })
  }
  const { get } = await signedIn(site.url, 'viewer', PASSWORDS.viewer)
  const page = text(await (await get('/faults')).text())
  t.deepEqual(
    [...page.matchAll(/The box (Box \d+) looked/g)].map(([, name]) => name),
    ['Box 199', 'Box 198', 'Box 197', 'Box 196', 'Box 195'],
  )
  t.regex(page, /and 195 others that looked later: when/)
})
