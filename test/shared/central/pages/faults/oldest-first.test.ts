/** The list of faults with what lasts the longest first: forgotten overrides of all buildings of a hub. */
import test from 'ava'
import { DAY, HOUR } from '#shared/core/time.ts'
import { BUILDING, finding, NOW, RUN } from '../../../../support/page-fixture.ts'
import { signedIn } from '../../../../support/signed-in.ts'
import { openSite, PASSWORDS } from '../../../../support/sites/page-site.ts'

test('overrides of several buildings stand by their age, those that last before those that are over, in the CSV too', async t => {
  const site = await openSite({ product: 'hub' })
  t.teardown(site.close)
  const other = { building_id: 'b-2', name: 'Second house' }
  site.stores.model.put({ building: { ...BUILDING, ...other } })
  const held = (finding_id: string, ms: number, severity: 1 | 3, more: object = {}) => ({
    ...finding({ finding_id, rule_id: 'OVR-HELD', title: `Held ${finding_id}`, equipment_id: finding_id, from: NOW - ms }),
    ...{ kind: 'override' as const, severity, ...more },
  })
  const over = { state: 'cleared' as const, to: NOW - HOUR }
  site.stores.runRecorder.replace({ ...RUN, run_id: 'held' }, [held('new', HOUR, 1), held('gone', 5 * DAY, 1, over)])
  site.stores.runRecorder.replace({ ...RUN, building_id: 'b-2', run_id: 'held-2' }, [
    held('old', 6 * DAY, 3, { building_id: 'b-2' }),
  ])
  const { get } = await signedIn(site.url, 'viewer', PASSWORDS.viewer)
  const page = async (query: string) => (await get(`/faults?lane=overrides${query}`)).text()
  const titlesOf = (text: string) => [...text.matchAll(/>Held (old|new|gone)</g)].map(([, name]) => name)

  t.deepEqual(titlesOf(await page('')), ['new', 'old', 'gone'])
  const oldest = await page('&sort=oldest')
  t.deepEqual(titlesOf(oldest), ['old', 'new', 'gone'])
  t.true(oldest.includes('<option value="oldest" selected>the oldest'))
  t.regex(oldest, /the oldest first/)
  const csv = await (await get('/faults.csv?lane=overrides&sort=oldest')).text()
  t.deepEqual([...new Set([...csv.matchAll(/Held (old|new|gone)/g)].map(([, name]) => name))], ['old', 'new', 'gone'])
})
