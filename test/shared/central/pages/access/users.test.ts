import anyTest, { type TestFn } from 'ava'
import { signedIn } from '../../../../support/signed-in.ts'
import { BUILDING } from '../../../../support/page-fixture.ts'
import { openSite, PASSWORDS, type TestSite } from '../../../../support/sites/page-site.ts'

const test = anyTest as TestFn<{ site: TestSite }>
test.beforeEach(async t => {
  t.context.site = await openSite({ product: 'hub' })
})
test.afterEach.always(t => t.context.site.close())

test('people are added, changed, locked, given another first password and deleted', async t => {
  const { url, context } = t.context.site
  const { get, post } = await signedIn(url, 'admin', PASSWORDS.admin)
  const send = (path: string, fields: Record<string, string>) => post(path, '/users', fields)
  const added = await send('/users', { username: 'ada', name: '<i>Ada</i>', role: 'viewer' })
  t.is(added.headers.get('cache-control'), 'no-store, no-transform')
  const first = /data-secret>([^<]+)</.exec(await added.text())![1]!
  const page = await (await get('/users')).text()
  t.false(page.includes(first) || page.includes('<i>Ada'))
  t.regex(page, /first password, until/)
  for (const meaning of [
    /Reset password<\/summary><p>Every session of ada ends/,
    /Delete<\/summary><p>ada is signed out at once/,
  ])
    t.regex(page, meaning)

  t.is((await send('/users/change', { username: 'ada', role: 'operator' })).status, 303)
  t.is((await send('/users/change', { username: 'ada', locked: 'true' })).status, 303)
  t.like(context.users.get('ada'), { role: 'operator' })
  t.regex(await (await get('/users')).text(), /<strong>locked<\/strong>/)
  t.is((await send('/users/change', { username: 'ada', locked: 'false' })).status, 303)
  t.is(context.users.get('ada')!.locked_at, null)
  const reset = await send('/users/reset-password', { username: 'ada' })
  t.not(/data-secret>([^<]+)</.exec(await reset.text())![1], first)
  t.is((await send('/users/remove', { username: 'ada' })).status, 303)
  t.is(context.users.get('ada'), undefined)
  t.is((await send('/users/remove', { username: 'ada' })).status, 404)
  t.is((await send('/users', { username: 'admin', name: '', role: 'viewer' })).status, 422)
})

test('a token is shown once, works, and is revoked', async t => {
  const { url, context } = t.context.site
  const { get, post } = await signedIn(url, 'admin', PASSWORDS.admin)
  const given = { name: 'meter script', role: 'viewer', scope: 'read', building_id: BUILDING.building_id, days: '30' }
  const added = await (await post('/users/tokens', '/users', given)).text()
  const secret = /data-secret>([^<]+)</.exec(added)![1]!
  t.false((await (await get('/users')).text()).includes(secret))
  t.regex(await (await get('/users')).text(), /Revoke<\/summary><p>Whatever uses meter script is refused at once/)
  const [token] = context.apiTokens.list()
  t.like(token, { name: 'meter script', scope: 'read', building_id: BUILDING.building_id })
  t.is((await post('/users/tokens', '/users', { ...given, days: '400' })).status, 400)
  t.is((await post('/users/tokens/revoke', '/users', { token_id: token!.token_id })).status, 303)
  t.deepEqual(context.apiTokens.list(), [])
})
