/** Instants on pages of buildings that lie in several time zones. */
import test from 'ava'
import { HOUR } from '#shared/core/time.ts'
import { formatMoment, hereIn } from '#shared/central/ui/moment.ts'
import { BUILDING, COOLING, EQUIPMENT, NOW, POINTS } from '../../../support/page-fixture.ts'
import { openSite } from '../../../support/sites/page-site.ts'

const FAR = { ...BUILDING, building_id: 'far', name: 'Far School', timezone: 'Asia/Kathmandu' }

test('an instant names its zone where it is not the zone of the page', t => {
  const page = { now: NOW, timezone: 'America/Chicago' }
  t.is(formatMoment(NOW - HOUR, hereIn(page, 'America/Chicago')), '13:02')
  t.is(formatMoment(NOW - HOUR, hereIn(page, 'America/New_York')), '14:02 EST')
  t.is(formatMoment(NOW - 24 * HOUR, hereIn(page, 'UTC')), 'Thu 19 Nov 20:02 UTC')
})

test('a page of one building says that building’s zone, and a list of several names the zone of each instant', async t => {
  const findings = [COOLING, { ...COOLING, finding_id: 'f-far', building_id: 'far' }]
  const site = await openSite({ product: 'hub', open: true, findings })
  t.teardown(site.close)
  site.context.model.put({
    building: FAR,
    equipment: EQUIPMENT.map(one => ({ ...one, building_id: 'far' })),
    points: POINTS.map(one => ({ ...one, building_id: 'far' })),
  })
  const read = async (path: string) => (await fetch(site.url + path, { headers: { accept: 'text/html' } })).text()
  for (const path of ['/faults/f-far', '/faults?building=far', '/params?building=far', '/runs?building=far']) {
    t.regex(await read(path), /times in Asia\/Kathmandu/, path)
    t.notRegex(await read(path), /\d\d:\d\d (CST|GMT|UTC)/, path)
  }
  t.regex(await read('/faults/f-cooling'), /times in America\/Chicago/)
  const list = await read('/faults')
  t.regex(list, /times in UTC/)
  t.regex(list, />08:02 CST</)
  t.regex(list, />\w+ \d+ Nov \d\d:\d\d GMT\+5:45<|>\d\d:\d\d GMT\+5:45</)
})
