/** What a person has chosen for the pages, through the API. */
import anyTest, { type TestFn } from 'ava'
import { startCentral, type TestCentral, type Who } from '../../../../support/sites/central-site.ts'

const test = anyTest as TestFn<{ site: TestCentral }>
test.beforeEach(async t => {
  t.context = { site: await startCentral() }
})
test.afterEach.always(t => t.context.site.close())

const PATH = '/api/preferences'
const NOTHING = { ok: true, language: null, unit_system: null }

test('everybody who is signed in chooses for themselves alone, field by field', async t => {
  const { call } = t.context.site
  const put = (who: Who, body: object) => call(who, 'PUT', PATH, body)
  const chosen = async (who: Who) => (await call(who, 'GET', PATH)).body
  t.deepEqual(await chosen('viewer'), NOTHING)
  t.deepEqual((await put('viewer', { unit_system: 'us' })).body, { ...NOTHING, unit_system: 'us' })
  t.deepEqual((await put('viewer', { language: 'de' })).body, { ok: true, language: 'de', unit_system: 'us' })
  t.deepEqual(await chosen('viewer'), { ok: true, language: 'de', unit_system: 'us' })
  t.deepEqual((await put('viewer', { unit_system: null })).body, { ...NOTHING, language: 'de' })
  t.deepEqual(await chosen('admin'), NOTHING)
  t.is((await call('nobody', 'GET', PATH)).status, 401)
  t.is((await call('nobody', 'PUT', PATH, { unit_system: 'us' })).status, 401)
})

test('a choice that there is not is refused by the name of its field, and changes nothing', async t => {
  const { call } = t.context.site
  for (const [body, pointer] of [
    [{ unit_system: 'metric' }, '/unit_system'],
    [{ unit_system: 'us', language: 'fr' }, '/language'],
    [{ unit_system: '' }, '/unit_system'],
    [{ units: 'us' }, '/units'],
  ] as const) {
    const refused = await call('viewer', 'PUT', PATH, body)
    t.is(refused.status, 400)
    t.is(refused.body.errors[0].pointer, pointer)
  }
  const { body } = await call('viewer', 'PUT', PATH, { unit_system: 'metric' })
  t.regex(body.errors[0].message, /us, si/)
  t.deepEqual((await call('viewer', 'GET', PATH)).body, NOTHING)
})

test('a change leaves an audit row, and an API token chooses nothing', async t => {
  const { call, central } = t.context.site
  await call('viewer', 'PUT', PATH, { unit_system: 'us' })
  const [row] = central.context.audit.list({ limit: 1, action: 'change_preferences' })
  t.like(row, { actor: 'viewer', subject: 'viewer', before: {}, after: { unit_system: 'us' } })
  const { secret } = (await call('admin', 'POST', '/api/tokens', { name: 'reports', role: 'admin', scope: 'role', days: 1 })).body
  const headers = { authorization: `Bearer ${secret}` }
  t.is((await call('nobody', 'PUT', PATH, { unit_system: 'us' }, headers)).body.code, 'forbidden')
  t.deepEqual((await call('nobody', 'GET', PATH, undefined, headers)).body, NOTHING)
})

test('the choices of a person who is deleted are not those of the next with this name', async t => {
  const { call, central } = t.context.site
  const add = () => call('admin', 'POST', '/api/users', { username: 'anna', role: 'viewer' })
  await add()
  central.context.preferences.put('anna', { unit_system: 'us' })
  t.is((await call('admin', 'DELETE', '/api/users/anna')).status, 200)
  await add()
  t.deepEqual(central.context.preferences.get('anna'), {})
})
