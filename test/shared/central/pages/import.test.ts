import anyTest, { type TestFn } from 'ava'
import { airHandler, MAP, rows, table, zipForm, zipOf } from '../../../support/packages/packages.ts'
import { openSite, PASSWORDS, type TestSite } from '../../../support/sites/page-site.ts'
import { signedIn } from '../../../support/signed-in.ts'

const test = anyTest as TestFn<{ site: TestSite }>
test.beforeEach(async t => {
  t.context.site = await openSite({ product: 'hub' })
})
test.afterEach.always(t => t.context.site.close())

/** Sends a form of files as a browser does. @returns the answer, and the page that it leads to */
async function upload(site: TestSite, form: FormData, csrf?: string) {
  const agent = await signedIn(site.url, 'agent', PASSWORDS.agent)
  const page = await (await agent.get('/import')).text()
  const own = new FormData()
  own.append('csrf', csrf ?? /name="csrf" value="([^"]+)"/.exec(page)![1]!)
  for (const [name, value] of form) own.append(name, value)
  const answer = await agent.send('/import', own)
  const location = answer.headers.get('location')
  return { agent, status: answer.status, location, page: location === null ? '' : await (await agent.get(location)).text() }
}

test('a package is uploaded, its report shown, and it is imported once', async t => {
  const { site } = t.context
  const lines = [...rows(50), '2026-03-09T00:00:00Z,<b>x</b>,1,1']
  const { agent, status, location, page } = await upload(site, zipForm(await zipOf(airHandler(table(lines)))))
  t.is(status, 303)
  t.regex(page, /It can be imported into the building <strong>b1<\/strong>/)
  t.regex(page, /AHU-1/)
  t.false(page.includes('<b>x'), 'what a file contains is text')
  t.is(site.stores.model.building('b1'), undefined, 'nothing is changed before it is confirmed')

  t.is((await agent.post(location!, location!, { mode: 'merge' })).status, 303)
  const done = await (await agent.get(location!)).text()
  t.regex(done, /were stored/)
  t.is(site.stores.model.building('b1')!.building_id, 'b1')
  t.is((await agent.post(location!, '/import', { mode: 'merge' })).status, 409)
})

test('a single table is imported with the fields of the form', async t => {
  const { site } = t.context
  const form = new FormData()
  form.append('package', new Blob([table(rows(20))]), 'AHU-1.csv')
  form.append('building_id', 'b7')
  form.append('timezone', 'Europe/Berlin')
  form.append('grid_minutes', '5')
  form.append('column_map', JSON.stringify(MAP))
  const { agent, page, location } = await upload(site, form)
  t.regex(page, /into the building <strong>b7<\/strong>: 20 rows/)
  t.is((await agent.post(location!, location!, { mode: 'merge' })).status, 303)
  t.is(site.stores.model.building('b7')!.timezone, 'Europe/Berlin')
})

test('a package with errors says what is wrong and offers no import', async t => {
  const { site } = t.context
  const { page } = await upload(site, zipForm(await zipOf(airHandler(table(['not a time,1,2,3'])))))
  t.regex(page, /It cannot be imported/)
  t.notRegex(page, /<button class="primary">Import/)
})

test('a form of another session, a file that is no package and a missing file are refused', async t => {
  const { site } = t.context
  const zip = await zipOf(airHandler(table(rows(5))))
  t.is((await upload(site, zipForm(zip), 'made-up')).status, 403)
  t.is((await upload(site, new FormData())).status, 400)
  const broken = await upload(site, zipForm(zip.subarray(0, 100)))
  t.is(broken.status, 422)
  const viewer = await signedIn(site.url, 'viewer', PASSWORDS.viewer)
  t.is((await viewer.get('/import')).status, 403)
})
