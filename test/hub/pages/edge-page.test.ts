/** The page of one edge, over real stores and HTTP. */
import anyTest, { type TestFn } from 'ava'
import { BUILDING, EDGES, NOW } from '../../support/page-fixture.ts'
import { DAY } from '#shared/core/time.ts'
import { signedIn } from '../../support/signed-in.ts'
import { openSite, PASSWORDS, type TestSite } from '../../support/sites/page-site.ts'

const test = anyTest as TestFn<{ site: TestSite }>
test.before(async t => {
  t.context = { site: await openSite({ product: 'hub' }) }
})
test.after.always(t => t.context.site.close())

const browser = async ({ url }: TestSite, role: keyof typeof PASSWORDS = 'viewer') => {
  const { get, post } = await signedIn(url, role, PASSWORDS[role])
  return { get, post, page: async (path: string) => (await get(path)).text() }
}

test('the list of the fleet has a backlog in few words, the page of the edge all of them', async t => {
  const { page } = await browser(t.context.site)
  t.regex(
    await page('/'),
    /4,120 messages <strong>12 dropped<\/strong><\/div>/,
    'the worst of it alone: a line of the list stays low',
  )
})

test('an edge with old data and a wrong clock says so, with what it reports and where to go', async t => {
  const { page } = await browser(t.context.site)
  const text = await page('/edges/edge-2?site_id=riverside')
  t.regex(text, /<h1>Gymnasium<\/h1>/)
  t.regex(text, /session open, data old/)
  t.regex(
    text,
    /4,120 messages <span class="muted">oldest 3 h ago, falls by 180 a minute, empty in about 24 min \(14:26\)<\/span> <strong>12 dropped/,
  )
  t.regex(text, /<strong>2 min behind<\/strong>/)
  t.regex(text, /<strong>20 days left<\/strong> <span class="muted">until/)
  t.true(text.includes(`<a href="/buildings/${BUILDING.building_id}">${BUILDING.name}</a>`))
  t.regex(text, /3 other edges of this building: <a href="\/edges\/edge-1\?site_id=riverside">Plant room<\/a>/)
  t.regex(text, /href="\/edges\/edge-2\/overrides\?site_id=riverside"/)
  t.notRegex(text, /Renew, reissue|Replace this box/, 'a viewer opens no page of certificates')
  const operator = await (await browser(t.context.site, 'agent')).page('/edges/edge-2?site_id=riverside')
  t.regex(operator, /<a href="\/enrol\?site_id=riverside&amp;edge_id=edge-2#kit">Replace this box<\/a>/)
})

test('an edge that is not operational says what to look at, first what its last figures show', async t => {
  const site = await openSite({ product: 'hub' })
  t.teardown(site.close)
  const first = async (edge_id: string, given: object, who: keyof typeof PASSWORDS = 'viewer') => {
    site.stores.edges.put({ ...EDGES[0]!, edge_id, ...given })
    const text = await (await browser(site, who)).page(`/edges/${edge_id}`)
    return /<h2>What to look at<\/h2><ol><li>(.*?)<\/li>/s.exec(text)?.[1]?.replace(/<[^>]+>/g, '')
  }
  const closed = (status_body: object) => ({ online: false, last_data_at: NOW - DAY, status_body })
  t.regex((await first('ended', closed({ cert_not_after: NOW - 1 })))!, /^Its certificate ended .*so the broker refuses it/)
  t.regex((await first('clock', closed({ clock_offset_ms: -90_000 })))!, /^Its clock was 2 min behind/)
  t.is(await first('full', closed({ disk: { free_bytes: 4, total_bytes: 100 } })), 'Its disk was 96 % full when it last said so.')
  t.regex((await first('power', closed({})))!, /^Power and network at the box/)
  const failing = { poll_failures: { running: true, devices_total: 3, failing: 2, since: null, device_ids: ['a', 'b'] } }
  t.is(await first('devices', { last_data_at: NOW - DAY, status_body: failing }), 'It cannot read 2 of 3 devices: a, b.')
  const stopped = { poll_failures: { ...failing.poll_failures, running: false, failing: 0, device_ids: [] } }
  t.is(await first('polling', { last_data_at: NOW - DAY, status_body: stopped }), 'Its polling has stopped.')
  t.is(await first('good', {}), undefined)
})

test('an edge that never connected shows no figure that it has not reported', async t => {
  const { page } = await browser(t.context.site)
  const text = await page('/edges/edge-4')
  t.regex(text, /has never connected/)
  t.is([...text.matchAll(/not reported/g)].length, 5, 'backlog, clock, certificate, storage and version')
  t.regex(text, /none yet/)
})

test('Fleet leads to the page, whose part is the same without the frame', async t => {
  const { page } = await browser(t.context.site)
  t.regex(await page('/'), /<a href="\/edges\/edge-1\?site_id=riverside">Plant room<\/a>/)
  const part = await page('/edges/edge-1/part?site_id=riverside')
  t.true(part.startsWith('<div id="edge"'))
  t.true((await page('/edges/edge-1?site_id=riverside')).includes('hx-get="/edges/edge-1/part?site_id=riverside"'))
})

test('only an admin deletes an edge here, and only one that is gone; an unknown edge is 404', async t => {
  const { site } = t.context
  const admin = await browser(site, 'admin')
  t.regex(await admin.page('/edges/edge-3'), /action="\/fleet\/edges\/delete"/)
  t.notRegex(await admin.page('/edges/edge-1'), /action="\/fleet\/edges\/delete"/)
  t.notRegex(await (await browser(site, 'agent')).page('/edges/edge-3'), /action="\/fleet\/edges\/delete"/)
  t.is((await admin.get('/edges/edge-9')).status, 404)
})

test('of claims only those of this edge are shown, and texts of an edge are escaped', async t => {
  const { site } = t.context
  const key = { site_id: 'riverside', edge_id: 'edge-5', building_id: 'annex' }
  site.stores.edges.put({
    ...EDGES[0]!,
    ...key,
    name: '<b>&"',
    status_body: { backlog: '<i>', disk: { free_bytes: 5, total_bytes: 100 } },
  })
  site.context.edgeClaims.refuse({ ...key, reason: 'its <b>site</b> differs', since: 0 })
  const { page } = await browser(site)
  const text = await page('/edges/edge-5')
  t.regex(text, /<h1>&lt;b&gt;&amp;/)
  t.regex(text, /its &lt;b&gt;site/)
  t.regex(text, /<strong>its disk is 95 % full<\/strong>/)
  t.notRegex(await page('/edges/edge-1'), /Edges that need a decision/)
})
