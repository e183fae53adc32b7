import anyTest, { type TestFn } from 'ava'
import { signedIn } from '../../../../support/signed-in.ts'
import { NOW } from '../../../../support/page-fixture.ts'
import { openSite, PASSWORDS, type TestSite } from '../../../../support/sites/page-site.ts'

const test = anyTest as TestFn<{ site: TestSite }>
test.beforeEach(async t => {
  t.context.site = await openSite({ product: 'hub' })
})
test.afterEach.always(t => t.context.site.close())

const DAY = 86_400_000
const ROW = {
  at: NOW,
  actor: 'ada',
  role: 'operator',
  action: 'note',
  subject: 'f1',
  building_id: null,
  before: null,
  after: null,
  request_id: 'r',
}

test('the page shows the rows of the filter, page by page, and the CSV file all of them', async t => {
  const { url, stores } = t.context.site
  for (let i = 0; i < 120; i++) stores.audit.add({ ...ROW, at: NOW + i, subject: `f${i}`, after: { note: '<b>=1+1</b>' } })
  stores.audit.add({ ...ROW, at: NOW - 3 * DAY, subject: 'of-another-day' })
  stores.audit.add({ ...ROW, actor: 'grace', subject: 'of-somebody-else' })
  const { get } = await signedIn(url, 'admin', PASSWORDS.admin)
  const day = new Date(NOW).toISOString().slice(0, 10)
  const filter = `actor=ada&action=note&from=${day}&to=${day}`
  const first = await (await get(`/audit?${filter}`)).text()
  t.true(first.includes('>f119<'))
  t.false(first.includes('>f19<'))
  t.false(/of-another-day|of-somebody-else|<b>=1/.test(first))
  const older = /href="(\/audit\?[^"]*after=[^"]*)"/.exec(first)![1]!.replaceAll('&amp;', '&')
  const second = await (await get(older)).text()
  t.true(second.includes('>f0<') && second.includes('>f19<'))
  t.false(second.includes('>f20<'))

  const csv = await get(`/audit.csv?${filter}`)
  t.regex(csv.headers.get('content-disposition')!, /audit\.csv/)
  const lines = (await csv.text()).trim().split(/\r?\n/)
  t.is(lines.length, 121)
  t.regex(lines[1]!, /,ada,operator,note,f119,/)
})

test('a day that does not exist is named, and nobody but an administrator reads the audit', async t => {
  const { url } = t.context.site
  const admin = await signedIn(url, 'admin', PASSWORDS.admin)
  t.is((await admin.get('/audit?from=2026-02-30')).status, 400)
  t.is((await admin.get('/audit.csv?to=2026-02-30')).status, 400)
  t.is((await admin.get('/audit?from=&to=&actor=&action=')).status, 200)
  const agent = await signedIn(url, 'agent', PASSWORDS.agent)
  for (const path of ['/audit', '/audit.csv', '/users']) t.is((await agent.get(path)).status, 403, path)
})
