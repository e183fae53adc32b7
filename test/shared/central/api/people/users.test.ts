/** The life of a named user through the API: one-time first password, roles, lock, deletion, and what the audit keeps. */
import anyTest, { type TestFn } from 'ava'
import { DAY } from '#shared/core/time.ts'
import { changeUser, removeUser, resetPassword } from '#shared/central/commands/users.ts'
import { PASSWORDS, startCentral, type TestCentral, type Who } from '../../../../support/sites/central-site.ts'

const test = anyTest as TestFn<{ site: TestCentral }>
test.before(async t => {
  t.context = { site: await startCentral() }
})
test.after.always(t => t.context.site.close())

const OWN = 'a password of my own'
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

function callsOf(site: TestCentral) {
  const login = (username: string, password: string) => site.call('nobody', 'POST', '/api/auth/login', { username, password })
  const as = (token: string, method: string, path: string, body?: unknown) =>
    site.call('nobody', method, path, body, bearer(token))
  const add = async (username: string, role = 'operator') =>
    (await site.call('admin', 'POST', '/api/users', { username, role })).body.first_password as string
  /** A user who has chosen a password, and a token. */
  const signedUp = async (username: string, role = 'operator') => {
    const first = await add(username, role)
    const { token } = (await login(username, first)).body
    return (await as(token, 'POST', '/api/auth/password', { password: first, new_password: OWN })).body.token as string
  }
  const statusOf = async (token: string) => (await as(token, 'GET', '/api/auth/me')).status
  const rowOf = (name: string) => site.central.context.audit.list({ limit: 1000 }).find(({ subject }) => subject === name)!
  return { login, as, add, signedUp, statusOf, rowOf }
}

test('a first password opens nothing but the choice of another, and its tokens end with it', async t => {
  const { site } = t.context
  const { login, as, statusOf } = callsOf(site)
  const added = await site.call('admin', 'POST', '/api/users', { username: 'anna', name: ' Anna Meier ', role: 'operator' })
  t.is(added.status, 200)
  t.is(added.headers.get('cache-control'), 'no-store, no-transform')
  const { user, first_password: first } = added.body
  t.like(user, {
    username: 'anna',
    name: 'Anna Meier',
    role: 'operator',
    locked: false,
    must_change_password: true,
    last_login_at: null,
  })
  t.false((await site.call('admin', 'GET', '/api/users/anna')).text.includes(first))

  const signedIn = await login('ANNA ', first)
  t.like(signedIn.body, { role: 'operator', subject: 'anna', must_change_password: true })
  const { token } = signedIn.body
  const refused = await as(token, 'GET', '/api/model/buildings')
  t.deepEqual([refused.status, refused.body.code], [403, 'password_change_required'])
  t.is((await as(token, 'GET', '/api/auth/me')).body.must_change_password, true)

  const change = (password: string, new_password: string) => as(token, 'POST', '/api/auth/password', { password, new_password })
  t.is((await change('wrong password', OWN)).body.code, 'unauthenticated')
  t.deepEqual((await change(first, 'short')).body.errors[0].pointer, '/new_password')
  t.is((await change(first, first)).body.code, 'invalid')
  const changed = await change(first, OWN)
  t.like(changed.body, { ok: true, subject: 'anna', must_change_password: false })
  t.is(await statusOf(token), 401)
  t.is((await as(changed.body.token, 'GET', '/api/model/buildings')).status, 200)
  t.is((await login('anna', first)).status, 401)
  t.is((await login('anna', OWN)).status, 200)
  const { body } = await site.call('admin', 'GET', '/api/users/anna')
  t.true(Date.now() - Date.parse(body.user.last_login_at) < DAY)
})

for (const [what, change] of [
  ['a lock', (site: TestCentral) => site.call('admin', 'PATCH', '/api/users/USER', { locked: true })],
  ['another role', (site: TestCentral) => site.call('admin', 'PATCH', '/api/users/USER', { role: 'viewer' })],
  ['a reset password', (site: TestCentral) => site.call('admin', 'POST', '/api/users/USER/reset-password', {})],
  ['deletion', (site: TestCentral) => site.call('admin', 'DELETE', '/api/users/USER')],
  [
    'signing out everywhere',
    (site: TestCentral) => site.call('admin', 'POST', '/api/auth/logout-everywhere', { username: 'USER' }),
  ],
] as const) {
  test(`${what} ends the tokens of a user at once, and of nobody else`, async t => {
    const { site } = t.context
    const { signedUp, statusOf } = callsOf(site)
    const username = what.replaceAll(' ', '-')
    const [token, other] = [await signedUp(username), await signedUp(`${username}-2`)]
    const named = {
      ...site,
      call: ((who, method, path, body) =>
        site.call(
          who,
          method,
          path.replace('USER', username),
          JSON.parse(JSON.stringify(body ?? null).replace('USER', username)) ?? undefined,
        )) as TestCentral['call'],
    }
    t.is((await change(named)).status, 200)
    t.deepEqual([await statusOf(token), await statusOf(other)], [401, 200])
  })
}

test('a locked user is refused as a wrong password is, and enters again when unlocked', async t => {
  const { site } = t.context
  const { login, signedUp } = callsOf(site)
  await signedUp('lena')
  await site.call('admin', 'PATCH', '/api/users/lena', { locked: true })
  const [locked, wrong, unknown] = [await login('lena', OWN), await login('lena', 'wrong'), await login('nobody-here', OWN)]
  for (const { status, body } of [locked, wrong, unknown])
    t.deepEqual([status, body.detail], [401, 'User name or password is wrong'])
  await site.call('admin', 'PATCH', '/api/users/lena', { locked: false })
  t.is((await login('lena', OWN)).status, 200)
})

test('a first password that nobody used within its time opens nothing', async t => {
  const { site } = t.context
  const { add, login } = callsOf(site)
  const first = await add('late')
  const { users } = site.central.context
  users.put({ ...users.get('late')!, password_expires_at: Date.now() - 1 })
  t.is((await login('late', first)).status, 401)
})

test('eight wrong passwords stop a named user, also many at once, and names that do not exist answer alike', async t => {
  // Alone, for all failures of one network count together.
  const site = await startCentral()
  t.teardown(site.close)
  const { login, signedUp } = callsOf(site)
  await signedUp('guessed')
  for (const username of ['guessed', 'never-added']) {
    const tries = await Promise.all(Array.from({ length: 12 }, () => login(username, 'wrong')))
    t.deepEqual(tries.map(({ status }) => status).toSorted(), [...Array(8).fill(401), ...Array(4).fill(429)], username)
  }
  t.is((await login('guessed', OWN)).status, 429)
  const rows = site.central.context.audit.list({ limit: 1000 }).filter(({ action }) => action === 'login_refused')
  t.true(rows.some(({ subject }) => subject.startsWith('guessed from')))
  t.false(JSON.stringify(rows).includes('never-added'))
})

for (const [what, body, status, code] of [
  ['the name of a login of the settings', { username: 'admin', role: 'viewer' }, 422, 'invalid'],
  ['a name that is taken', { username: 'taken', role: 'viewer' }, 409, 'conflict'],
  ['a role that is none', { username: 'peter', role: 'edge' }, 400, 'bad_request'],
  ['capitals', { username: 'Peter', role: 'viewer' }, 400, 'bad_request'],
  ['a password', { username: 'peter', role: 'viewer', password: 'of the admin' }, 400, 'bad_request'],
] as const) {
  test(`a user with ${what} is refused`, async t => {
    const { site } = t.context
    if (code === 'conflict') await callsOf(site).add('taken')
    const answer = await site.call('admin', 'POST', '/api/users', body)
    t.deepEqual([answer.status, answer.body.code], [status, code])
  })
}

test('admins change neither their own role nor lock or delete themselves', async t => {
  const { site } = t.context
  const { as, signedUp, statusOf } = callsOf(site)
  const token = await signedUp('chief', 'admin')
  for (const [method, path, body] of [
    ['PATCH', '/api/users/chief', { role: 'viewer' }],
    ['PATCH', '/api/users/chief', { locked: true }],
    ['DELETE', '/api/users/chief', undefined],
    ['POST', '/api/users/chief/reset-password', {}],
  ] as const) {
    t.is((await as(token, method, path, body)).body.code, 'conflict', `${method} ${path}`)
  }
  t.is((await as(token, 'PATCH', '/api/users/chief', { name: 'The Chief' })).body.user.name, 'The Chief')
  t.is(await statusOf(token), 200)
})

test('of two admins who lock each other at the same moment one stays', async t => {
  const { site } = t.context
  const { signedUp } = callsOf(site)
  for (const username of ['dora', 'emil']) await signedUp(username, 'admin')
  const { context } = site.central
  const admitted = (subject: string) => ({
    caller: { subject, role: 'admin', via: 'bearer', session: subject } as const,
    audit: () => undefined,
  })
  changeUser(context, admitted('dora'), 'emil', { locked: true })
  const refused = { code: 'unauthenticated' }
  t.like(
    t.throws(() => changeUser(context, admitted('emil'), 'dora', { locked: true })),
    refused,
  )
  t.like(
    t.throws(() => removeUser(context, admitted('emil'), 'dora')),
    refused,
  )
  t.like(await t.throwsAsync(resetPassword(context, admitted('emil'), 'dora')), refused)
  t.is(context.users.get('dora')!.locked_at, null)
})

test('the logins of the settings keep their passwords there', async t => {
  const { body, status } = await t.context.site.call('viewer', 'POST', '/api/auth/password', {
    password: PASSWORDS.viewer,
    new_password: OWN,
  })
  t.deepEqual([status, body.code], [422, 'invalid'])
  t.regex(body.detail, /SERVICE_VIEWER_PASSWORD/)
})

test('only an admin sees or changes users', async t => {
  const { site } = t.context
  for (const who of ['viewer', 'operator'] as Who[]) {
    for (const [method, path, body] of [
      ['GET', '/api/users', undefined],
      ['POST', '/api/users', { username: 'mallory', role: 'admin' }],
      ['PATCH', '/api/users/anna', { role: 'admin' }],
      ['DELETE', '/api/users/anna', undefined],
    ] as const) {
      t.is((await site.call(who, method, path, body)).status, 403)
    }
  }
  t.is(site.central.context.users.get('mallory'), undefined)
})

test('every change leaves an audit row of who and what, without a password or its hash', async t => {
  const { site } = t.context
  const { add, as, login, rowOf } = callsOf(site)
  const first = await add('row')
  t.like(rowOf('row'), { actor: 'admin', action: 'add_user', subject: 'row', before: null })
  const { token } = (await login('row', first)).body
  t.like(rowOf('row'), { action: 'login', subject: 'row' })
  await as(token, 'POST', '/api/auth/password', { password: first, new_password: OWN })
  t.like(rowOf('row'), { actor: 'row', action: 'change_password', subject: 'row' })
  await site.call('admin', 'PATCH', '/api/users/row', { role: 'viewer' })
  const changed = rowOf('row')
  t.like(changed, { actor: 'admin', role: 'admin', action: 'change_user', subject: 'row' })
  t.is((changed.before as { role: string }).role, 'operator')
  t.is((changed.after as { role: string }).role, 'viewer')
  t.regex(changed.request_id, /./)
  await site.call('admin', 'POST', '/api/users/row/reset-password')
  t.like(rowOf('row'), { action: 'reset_password', subject: 'row' })
  await site.call('admin', 'DELETE', '/api/users/row')
  t.like(rowOf('row'), { action: 'delete_user', subject: 'row', after: null })
  t.notRegex(JSON.stringify(site.central.context.audit.list({ limit: 1000 })), new RegExp(`scrypt|${first}|${OWN}`))
})

test('a name that is added again does not bring back old tokens', async t => {
  const { site } = t.context
  const { signedUp, statusOf } = callsOf(site)
  const old = await signedUp('twice')
  await site.call('admin', 'DELETE', '/api/users/twice')
  const fresh = await signedUp('twice')
  t.deepEqual([await statusOf(old), await statusOf(fresh)], [401, 200])
})

test('users are listed by name, page by page', async t => {
  const site = await startCentral()
  t.teardown(site.close)
  const { users } = site.central.context
  const given = {
    name: '',
    role: 'viewer',
    password_hash: '',
    must_change_password: false,
    created_by: 'admin',
    created_at: 0,
  } as const
  const never = { password_expires_at: null, locked_at: null, last_login_at: null }
  for (let i = 0; i < 200; i++) users.put({ ...given, ...never, username: `user-${String(i).padStart(3, '0')}` })
  const names: string[] = []
  let cursor: string | undefined
  do {
    const { body } = await site.call('admin', 'GET', `/api/users?limit=70${cursor === undefined ? '' : `&cursor=${cursor}`}`)
    names.push(...body.users.map(({ username }: { username: string }) => username))
    cursor = body.next_cursor
  } while (cursor !== undefined)
  t.deepEqual(
    names,
    users.list().map(({ username }) => username),
  )
  t.is(names.length, 200)
})
