import anyTest, { type TestFn } from 'ava'
import { airHandler, MAP, rows, table, zipForm, zipOf } from '../../../support/packages/packages.ts'
import { openSite, PASSWORDS, type TestSite } from '../../../support/sites/page-site.ts'
import { signedIn } from '../../../support/signed-in.ts'

const test = anyTest as TestFn<{ site: TestSite }>
test.beforeEach(async t => {
  t.context.site = await openSite({ product: 'hub', api: true })
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

/** A table of a building system: dates and times apart, two equipments, names that say what they are. */
const EXPORT = [
  'Date,Time,AHU-1 SupplyAirTemp,AHU-1 <b>SF-S</b>,VAV-3 Flow',
  ...Array.from({ length: 12 }, (_, i) => `5/7/2026,08:${String(i * 5).padStart(2, '0')},${60 + i / 10},${i % 2},${300 + i}`),
  '',
].join('\n')

async function stageExport(site: TestSite) {
  const form = new FormData()
  form.append('package', new Blob([EXPORT]), 'export.csv')
  const given = {
    building_id: 'b8',
    timezone: 'America/Chicago',
    grid_minutes: '5',
    equipment_id: 'AHU-1',
    equipment_type: 'ahu',
  }
  for (const [name, value] of Object.entries(given)) form.append(name, value)
  const { agent, page, location } = await upload(site, form)
  const path = `${location}/mapping`
  return { agent, page, location: location!, path, mapping: await (await agent.get(path)).text() }
}
/** What the form of a page would send as it stands. */
const fieldsOf = (page: string): Record<string, string> =>
  Object.fromEntries([
    ...[...page.matchAll(/<input(?: type="\w+")? name="([^"]+)"[^>]*? value="([^"]*)"/g)].map(([, name, value]) => [name, value]),
    ...[...page.matchAll(/<select name="([^"]+)">([^]*?)<\/select>/g)].map(([, name, options]) => [
      name,
      /value="([^"]*)" selected/.exec(options!)?.[1] ?? /value="([^"]*)"/.exec(options!)![1],
    ]),
  ])

test('the columns of a table are mapped on a page with samples, which keeps what was typed', async t => {
  const { site } = t.context
  const { agent, page, location, path, mapping } = await stageExport(site)
  t.regex(page, /Say below what the columns are/)
  t.regex(mapping, /60 · 60\.1 · 60\.2 · 60\.3 · 60\.4/)
  t.true(mapping.includes('AHU-1 &lt;b&gt;SF-S&lt;/b&gt;'))
  t.false(mapping.includes('<b>SF-S'))
  const fields = {
    ...fieldsOf(mapping),
    date_order: 'mdy',
    time_1: 'Date',
    time_2: 'Time',
    'equipment.4': 'VAV-3',
    'role.4': 'nonsense',
  }
  const refused = await agent.post(path, path, fields)
  t.is(refused.status, 422)
  const again = await refused.text()
  t.regex(again, /choose the type of VAV-3[^]*nonsense is no role/)
  const typed = fieldsOf(again)
  t.like(typed, {
    'equipment.4': 'VAV-3',
    'role.4': 'nonsense',
    time_2: 'Time',
    'id.1': 'VAV-3',
    'type.1': '',
    building_id: 'b8',
  })

  const good = { ...typed, 'role.4': '', 'type.1': 'vav', 'unit.4': 'cfm' }
  t.is((await agent.post(path, path, good)).status, 303)
  const report = await (await agent.get(location)).text()
  t.regex(report, /It can be imported into the building <strong>b8<\/strong>: 12 rows, 0 rejected/)
  const suggested = await (await agent.get(path)).text()
  t.regex(suggested, /perhaps sa_t, 9\d/)
  t.regex(suggested, /Check again with \d likely roles?/)
  t.is((await agent.post(path, path, { ...fieldsOf(suggested), likely: 'yes' })).status, 303)
  t.is(fieldsOf(await (await agent.get(path)).text())['role.2'], 'sa_t')

  t.is((await agent.post(location, location, { mode: 'merge' })).status, 303)
  t.deepEqual(
    site.stores.model.points('b8').map(({ equipment_id, role, unit }) => [equipment_id, role, unit]),
    [
      ['AHU-1', 'sa_t', 'degC'],
      ['AHU-1', undefined, 'count'],
      ['VAV-3', 'zone_flow', 'cfm'],
    ],
  )
  t.notRegex(await (await agent.get(location)).text(), /\/mapping/)
  t.is((await agent.get(path)).status, 409)
  const rows = site.context.audit.list({ limit: 10 }).filter(({ action }) => action === 'map_columns')
  t.is(rows.length, 2, 'a refused mapping leaves none')
  t.like(rows[0], { actor: 'agent', subject: 'b8' })
})

test('tables of a package are said one after the other on the page, or left out', async t => {
  const { site } = t.context
  const bare = { 'one.csv': table(rows(5)), 'two<b>.csv': table(rows(5)), 'three.csv': table(rows(5)) }
  const { page, location, agent } = await upload(site, zipForm(await zipOf(bare)))
  t.regex(page, /It cannot be imported.*Say below what the columns are/)
  const path = `${location}/mapping`
  const first = await (await agent.get(path)).text()
  t.regex(first, /3 tables/)
  t.regex(first, /<strong aria-current="true">one\.csv<\/strong> <span class="muted">its columns are not said yet/)
  t.true(first.includes('two&lt;b&gt;.csv'))
  const { table: _table, ...given } = fieldsOf(first)
  const fields = {
    ...given,
    building_id: 'b9',
    timezone: 'UTC',
    'id.0': 'AHU-9',
    'type.0': 'ahu',
    'equipment.1': 'AHU-9',
  }
  const action = /<form method="post" action="([^"]*mapping\?table=[^"]+)"/.exec(first)![1]!
  const next = (await agent.post(action, path, fields)).headers.get('location')!
  t.regex(next, /\/mapping\?table=/)
  const second = await (await agent.get(next)).text()
  t.regex(second, /<strong aria-current="true">three\.csv<\/strong>/)
  t.regex(second, /AHU-9\/one\.csv<\/a> <span class="muted">AHU-9<\/span>/)
  t.is(fieldsOf(second)['building_id'], 'b9', 'what counts for all is said once')
  const leave = (text: string) =>
    agent.post(`${location}/leave-out`, path, { table: /name="table" value="([^"]+)"/.exec(text)![1]! })
  const third = (await leave(second)).headers.get('location')!
  t.is((await leave(await (await agent.get(third)).text())).headers.get('location'), location)
  t.regex(await (await agent.get(location!)).text(), /It can be imported into the building <strong>b9<\/strong>: 5 rows/)
  t.is((await agent.get(`${path}?table=gone`)).status, 404)
})

test('both examples go in as they come out', async t => {
  const { site } = t.context
  const agent = await signedIn(site.url, 'agent', PASSWORDS.agent)
  const start = await (await agent.get('/import')).text()
  for (const path of ['/import/example.zip', '/import/example.csv']) t.true(start.includes(`href="${path}"`), path)

  const zip = Buffer.from(await (await agent.get('/import/example.zip')).arrayBuffer())
  const { page } = await upload(site, zipForm(zip))
  t.regex(page, /into the building <strong>my-building<\/strong>: 3 rows, 0 rejected/)
  t.notRegex(page, /column_unmapped/)
  t.regex(page, /from 2026-01-15 08:00:00 Europe\/Berlin to 2026-01-15 08:10:00 Europe\/Berlin/)
  t.regex(page, /\(2026-01-15T07:00:00Z to 2026-01-15T07:10:00Z\)/)

  const form = new FormData()
  form.append('package', new Blob([await (await agent.get('/import/example.csv')).text()]), 'table.csv')
  for (const [name, value] of Object.entries({
    building_id: 'b8',
    timezone: 'Europe/Berlin',
    grid_minutes: '5',
    equipment_id: 'A',
  }))
    form.append(name, value)
  form.append('equipment_type', 'ahu')
  t.regex((await upload(site, form)).page, /into the building <strong>b8<\/strong>: 3 rows, 0 rejected/)
})

test('rejected rows go out as a table, are corrected, and go in again; what is new is counted before', async t => {
  const { site } = t.context
  const lines = [...rows(50), 'not a time,61.5,40,1', '2026-03-09T00:00:00Z,62.5,41,0']
  const { agent, page, location } = await upload(site, zipForm(await zipOf(airHandler(table(lines)))))
  t.regex(page, /52 rows, 1 rejected/)
  const href = /href="([^"]*as=rows[^"]*)"/.exec(page)![1]!.replaceAll('&amp;', '&')
  const rejected = await (await agent.get(href)).text()
  t.is(rejected, 'timestamp_utc,SAT,OAT,Fan\r\nnot a time,61.5,40,1\r\n')
  t.is((await agent.get(href.replace(/table=.*/, 'table=other.csv'))).status, 404)

  t.regex(await (await agent.get(`${location!}?count=1`)).text(), /153 are new or changed and 0 are stored already/)
  t.is((await agent.post(location!, location!, { mode: 'merge' })).status, 303)

  const corrected = rejected.replace('not a time', '2026-03-08T23:55:00Z')
  const again = await upload(site, zipForm(await zipOf(airHandler(`${corrected}${rows(1).join('\n')}\n`))))
  t.regex(again.page, /2 rows, 0 rejected/)
  t.notRegex(again.page, /as=rows/)
  t.regex(again.page, /href="[^"]*\?count=1"/)
  t.regex(await (await agent.get(`${again.location!}?count=1`)).text(), /3 are new or changed and 3 are stored already/)
})
