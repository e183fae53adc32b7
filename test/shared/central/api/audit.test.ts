/** The audit log through the API: filters, pages and CSV. */
import anyTest, { type TestFn } from 'ava'
import { formatInstant, MINUTE } from '#shared/core/time.ts'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

const test = anyTest as TestFn<{ site: TestCentral }>
test.before(async t => {
  const site = await startCentral()
  for (const building_id of ['school', 'library']) {
    site.central.context.model.put({
      building: { building_id, name: building_id, site_id: 's', timezone: 'UTC', unit_system: 'si' },
    })
  }
  t.context = { site }
})
test.after.always(t => t.context.site.close())

type Row = { at: string; actor: string; action: string; subject: string; building_id: string | null }
const rowsOf = async (site: TestCentral, query: string): Promise<Row[]> =>
  (await site.call('admin', 'GET', `/api/audit?limit=1000&${query}`)).body.rows
const price = (site: TestCentral, who: 'operator' | 'admin', building_id: string, currency = 'EUR') =>
  site.call(who, 'PUT', '/api/model/prices', { building_id, currency, electricity: 0.3 })

test.serial('rows are found by person, action, building and time', async t => {
  const { site } = t.context
  await price(site, 'operator', 'school')
  await price(site, 'admin', 'library')
  const named = (rows: Row[]) => rows.map(({ actor, action, building_id }) => [actor, action, building_id])
  t.deepEqual(named(await rowsOf(site, 'actor=agent')), [['agent', 'put_prices', 'school']])
  t.deepEqual(named(await rowsOf(site, 'building_id=library')), [['admin', 'put_prices', 'library']])
  t.is((await rowsOf(site, 'action=put_prices')).length, 2)
  t.deepEqual(await rowsOf(site, 'action=put_prices&building_id=school&actor=admin'), [])
  t.is((await rowsOf(site, `from=${formatInstant(Date.now() + MINUTE)}`)).length, 0)
  t.is((await rowsOf(site, `action=put_prices&from=${formatInstant(Date.now() - MINUTE)}`)).length, 2)
  t.is((await site.call('admin', 'GET', '/api/audit?from=yesterday')).status, 400)
})

test.serial('pages hold every row once, also those of one instant', async t => {
  const { site } = t.context
  const { audit } = site.central.context
  const row = {
    at: 1000,
    actor: 'bulk',
    role: 'admin',
    action: 'bulk',
    building_id: null,
    before: null,
    after: null,
    request_id: 'r',
  }
  for (let i = 0; i < 25; i++) audit.add({ ...row, subject: `s${i}` })
  const subjects: string[] = []
  let cursor: string | undefined
  do {
    const { body } = await site.call(
      'admin',
      'GET',
      `/api/audit?actor=bulk&limit=7${cursor === undefined ? '' : `&cursor=${cursor}`}`,
    )
    subjects.push(...body.rows.map(({ subject }: Row) => subject))
    cursor = body.next_cursor
  } while (cursor !== undefined)
  t.deepEqual(
    subjects,
    Array.from({ length: 25 }, (_, i) => `s${24 - i}`),
  )
  for (const bad of ['x', 'MQ', Buffer.from('1.x').toString('base64url')]) {
    t.is((await site.call('admin', 'GET', `/api/audit?cursor=${bad}`)).body.code, 'bad_cursor')
  }
})

test.serial('CSV holds the rows of the same filter, and no cell that a spreadsheet runs', async t => {
  const { site } = t.context
  const subject = '=HYPERLINK("http://evil.example","x")'
  site.central.context.audit.add({
    at: 2000,
    actor: '@SUM(A1)',
    role: 'admin',
    action: 'csv',
    subject,
    building_id: '-2+3',
    before: { note: 'a "b"\nc' },
    after: null,
    request_id: 'r',
  })
  const { text, headers } = await site.call('admin', 'GET', '/api/audit?action=csv', undefined, { accept: 'text/csv' })
  t.regex(headers.get('content-type')!, /^text\/csv/)
  t.deepEqual(text.split('\r\n'), [
    'at,actor,role,action,subject,building_id,before,after,request_id',
    `1970-01-01T00:00:02Z,'@SUM(A1),admin,csv,"'=HYPERLINK(""http://evil.example"",""x"")",'-2+3,"{""note"":""a \\""b\\""\\nc""}",,r`,
    '',
  ])
})

test.serial('only an admin reads it', async t => {
  for (const who of ['viewer', 'operator'] as const) t.is((await t.context.site.call(who, 'GET', '/api/audit')).status, 403)
})
