/** The search: its page, the list under the box, and the API over the same function; and who sees which pages. */
import anyTest, { type TestFn } from 'ava'
import { BUILDING, finding, NOW, POINTS, RUN } from '../../../support/page-fixture.ts'
import { signedIn } from '../../../support/signed-in.ts'
import { openSite, PASSWORDS, type TestSite } from '../../../support/sites/page-site.ts'

/** One site for the tests that only read, with a viewer and an admin who are signed in. */
const test = anyTest as TestFn<{ site: TestSite; readers: Readers }>
type Readers = Record<'viewer' | 'admin', (path: string) => Promise<string>>

test.before(async t => {
  const site = await openSite({ product: 'appliance', api: true })
  const readerOf = async (user: keyof Readers) => {
    const { get } = await signedIn(site.url, user, PASSWORDS[user])
    return async (path: string) => (await get(path)).text()
  }
  t.context = { site, readers: { viewer: await readerOf('viewer'), admin: await readerOf('admin') } }
})
test.after.always(t => t.context.site.close())

/** A site of its own for a test that changes it. */
async function openSearch(t: { teardown(end: () => Promise<void>): void }) {
  const site = await openSite({ product: 'appliance', api: true })
  t.teardown(site.close)
  const { get } = await signedIn(site.url, 'viewer', PASSWORDS.viewer)
  return { site, get: async (path: string) => (await get(path)).text() }
}
const linksOf = (page: string) =>
  [.../<ul class="hits">(.*?)<\/ul>/s.exec(page)![1]!.matchAll(/href="([^"]+)"/g)].map(([, href]) => href)

for (const [query, href] of [
  ['riverside school', '/buildings/school'],
  ['air handler 1', '/buildings/school/equipment/ahu-1'],
  ['zone_flow', '/buildings/school/points/vav-3.zone_flow'],
  ['AI-12', '/buildings/school/points/ahu-1.sa_t'],
  ['supply air temperature', '/buildings/school/points/ahu-1.sa_t'],
  ['f library ai-2', '/buildings/school/points/vav-3.zone_flow'],
  ['f library flow', '/faults/f-flow'],
  ['AHU-FC12-COOL', '/fault-rules/AHU-FC12-COOL-NO-DROP'],
  ['wide open damper', '/faults/f-flow'],
  ['thresholds', '/params'],
] as const) {
  test(`"${query}" leads to ${href}`, async t => {
    const get = t.context.readers.viewer
    const asked = encodeURIComponent(query)
    const [page, part] = [await get(`/search?q=${asked}`), await get(`/search/part?q=${asked}`)]
    t.is(linksOf(page)[0], href)
    t.is(linksOf(part)[0], href)
  })
}

test('a German reader finds rules and faults by their German titles and words, an English one then still by English ones', async t => {
  const site = await openSite({ product: 'appliance', open: true })
  t.teardown(site.close)
  const find = async (query: string, language: string) => {
    const answer = await fetch(`${site.url}/search?q=${encodeURIComponent(query)}`, {
      headers: { accept: 'text/html', 'accept-language': language },
    })
    return answer.text()
  }
  const german = await find('zuluft kühlen nicht kälter', 'de')
  t.true(linksOf(german).includes('/fault-rules/AHU-FC12-COOL-NO-DROP'), german)
  t.regex(await find('lüftungsgerät', 'de'), /ahu-1[^]*· Lüftungsgerät, Riverside School/)
  t.regex(await find('zulufttemperatur', 'de'), /ahu-1\.sa_t/)
  t.regex(await find('supply air temperature', 'en'), /ahu-1\.sa_t/)
  t.notRegex(await find('air handler 1', 'en'), /lüftungsgerät/i)
})

test('page and API find the same, and the API has no pages', async t => {
  const get = t.context.readers.viewer
  const { items, counts } = JSON.parse(await get('/api/search?q=sa_t&kind=point'))
  t.deepEqual(
    items.map((one: { id: string }) => `/buildings/school/points/${one.id}`),
    linksOf(await get('/search?q=sa_t&kind=point')),
  )
  t.is(counts.page, 0)
  t.deepEqual(Object.keys(items[0]), ['kind', 'id', 'title', 'detail', 'building_id', 'equipment_id'])
})

test('two faults of one rule on one equipment are told apart, and named with the equipment as people name it', async t => {
  const { site, get } = await openSearch(t)
  const one = { rule_id: 'OVR-HELD', title: 'Point overridden by an operator', equipment_id: 'ahu-1', from: NOW - 3_600_000 }
  const held = (['sa_t_sp', 'clg_valve'] as const).map(role => ({ ...finding({ ...one, finding_id: `held-${role}` }), role }))
  site.stores.runRecorder.replace({ ...RUN, run_id: 'held' }, held)
  const hits = /<ul class="hits">(.*?)<\/ul>/s.exec(await get('/search?q=overridden%20air%20handler&kind=fault'))![1]!
  t.deepEqual(
    [...hits.matchAll(/<strong>(.*?)<\/strong> <span class="muted">(.*?)</g)].map(([, ...texts]) => texts),
    [
      ['Point overridden by an operator: cooling valve command', 'fault · Air handler 1, Riverside School'],
      ['Point overridden by an operator: supply air temperature setpoint', 'fault · Air handler 1, Riverside School'],
    ],
  )
})

test('a changed model is found at once', async t => {
  const { site, get } = await openSearch(t)
  t.regex(await get('/search?q=humidifier'), /Nothing has “humidifier” in it/)
  site.context.model.put({ points: [{ ...POINTS[0]!, name: 'Humidifier valve' }] })
  t.deepEqual(linksOf(await get('/search?q=humidifier')), ['/buildings/school/points/ahu-1.sa_t'])
  site.context.model.put({ building: { ...BUILDING, name: 'Lakeside' } })
  t.is(linksOf(await get('/search?q=lakeside'))[0], '/buildings/school')
})

test('what was typed stands as text', async t => {
  const get = t.context.readers.viewer
  for (const path of ['/search', '/search/part'])
    t.false((await get(`${path}?q=${encodeURIComponent('"><script>alert(1)</script>')}`)).includes('<script>alert'), path)
})

test('a person is shown the pages that open for the role', async t => {
  const { viewer, admin } = t.context.readers
  t.false((await viewer('/setup')).includes('href="/users"'))
  t.regex(await viewer('/search?q=tokens'), /Nothing has/)
  t.true((await admin('/setup')).includes('href="/users"'))
  t.deepEqual(linksOf(await admin('/search?q=tokens')), ['/users'])
})

test('the navigation has at most six entries and marks the one above a page of set-up', async t => {
  const get = t.context.readers.admin
  const navOf = async (path: string) => /<nav aria-label="Pages">(.*?)<\/nav>/s.exec(await get(path))![1]!
  const nav = await navOf('/points')
  t.true([...nav.matchAll(/<a /g)].length <= 6)
  t.regex(nav, /href="\/setup" aria-current="true"/)
  t.regex(await navOf('/setup'), /href="\/setup" aria-current="page"/)
})
