/** The page of buildings with more of them than one page has. */
import test from 'ava'
import { BUILDING } from '../../../../support/page-fixture.ts'
import { signedIn } from '../../../../support/signed-in.ts'
import { openSite, PASSWORDS } from '../../../../support/sites/page-site.ts'

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
