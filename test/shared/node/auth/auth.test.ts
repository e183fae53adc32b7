import test from 'ava'
import { SignJWT } from 'jose'
import { Problem } from '#shared/core/problem.ts'
import { MINUTE, SECOND } from '#shared/core/time.ts'
import { authSettings } from '#shared/node/auth/auth-settings.ts'
import { LoginThrottled, openAuth } from '#shared/node/auth/token.ts'

const SECRET = 'a-secret-for-tests-only-0123456789abcdef'
const OTHER = 'another-secret-for-tests-0123456789abcdef'
const PASSWORDS = { admin: 'admin-password', agent: 'agent-password', viewer: 'viewer-password' }
const NOW = Date.UTC(2026, 2, 1)
const ENV = {
  SERVICE_JWT_SECRET: SECRET as string | undefined,
  SERVICE_ADMIN_PASSWORD: 'a' as string | undefined,
  SERVICE_AGENT_PASSWORD: 'b' as string | undefined,
  SERVICE_VIEWER_PASSWORD: 'c' as string | undefined,
  SERVICE_API_KEY: undefined,
  SERVICE_DEV_OPEN: false,
  SERVICE_TRUSTED_PROXIES: '',
}

function open(given: { secret?: string | undefined; agent?: string; epochs?: Map<string, number> } = {}) {
  const epochs = given.epochs ?? new Map<string, number>()
  const clock = { now: NOW }
  const auth = openAuth({
    settings: {
      secret: 'secret' in given ? given.secret : SECRET,
      passwords: { ...PASSWORDS, agent: given.agent ?? PASSWORDS.agent },
      apiKey: 'the-older-key-16',
      trustedProxies: [],
    },
    epochs: { get: name => epochs.get(name) ?? 0, set: (name, epoch) => void epochs.set(name, epoch) },
    now: () => clock.now,
  })
  return { auth, epochs, clock }
}
const asked = (headers: Record<string, string>, more: object = {}) =>
  ({ headers, cookies: {}, method: 'GET', host: 'box.example', ...more }) as never
const withToken = (token: string) => asked({ authorization: `Bearer ${token}` })
const codeOf = async (promise: Promise<unknown>) =>
  promise.then(
    () => 'nothing',
    error => (error instanceof Problem ? error.code : String(error)),
  )

for (const [what, env, bind, complaints] of [
  ['a secret and three passwords', {}, '0.0.0.0', []],
  ['no secret', { SERVICE_JWT_SECRET: undefined }, '0.0.0.0', ['SERVICE_JWT_SECRET']],
  ['no secret on loopback', { SERVICE_JWT_SECRET: undefined }, '127.0.0.1', ['SERVICE_JWT_SECRET']],
  ['no secret on loopback, told to be open', { SERVICE_JWT_SECRET: undefined, SERVICE_DEV_OPEN: true }, '127.0.0.1', []],
  [
    'no secret elsewhere, told to be open',
    { SERVICE_JWT_SECRET: undefined, SERVICE_DEV_OPEN: true },
    '10.0.0.1',
    ['SERVICE_JWT_SECRET'],
  ],
  ['a short secret', { SERVICE_JWT_SECRET: 'x'.repeat(31) }, '127.0.0.1', ['SERVICE_JWT_SECRET']],
  ['equal agent and admin passwords', { SERVICE_AGENT_PASSWORD: 'a' }, '127.0.0.1', ['SERVICE_AGENT_PASSWORD']],
  ['equal viewer and admin passwords', { SERVICE_VIEWER_PASSWORD: 'a' }, '127.0.0.1', ['SERVICE_VIEWER_PASSWORD']],
  [
    'everything wrong at once',
    { SERVICE_JWT_SECRET: 'x', SERVICE_AGENT_PASSWORD: 'a', SERVICE_VIEWER_PASSWORD: 'a' },
    '0.0.0.0',
    ['SERVICE_JWT_SECRET', 'SERVICE_AGENT_PASSWORD', 'SERVICE_VIEWER_PASSWORD'],
  ],
  ['proxies by address and by network', { SERVICE_TRUSTED_PROXIES: '10.0.0.1, 10.1.0.0/16,2001:db8::/32,::1' }, '0.0.0.0', []],
  ['a proxy by name', { SERVICE_TRUSTED_PROXIES: 'web' }, '0.0.0.0', ['SERVICE_TRUSTED_PROXIES']],
  ['a proxy in too small a network', { SERVICE_TRUSTED_PROXIES: '10.0.0.0/33' }, '0.0.0.0', ['SERVICE_TRUSTED_PROXIES']],
  [
    'everybody as a proxy',
    { SERVICE_TRUSTED_PROXIES: '0.0.0.0/0,::/0' },
    '0.0.0.0',
    ['SERVICE_TRUSTED_PROXIES', 'SERVICE_TRUSTED_PROXIES'],
  ],
  [
    'no passwords at all',
    { SERVICE_ADMIN_PASSWORD: undefined, SERVICE_AGENT_PASSWORD: undefined, SERVICE_VIEWER_PASSWORD: undefined },
    '0.0.0.0',
    [],
  ],
] as const) {
  test(`settings with ${what} raise ${complaints.length} complaints`, t => {
    const result = authSettings({ ...ENV, ...env }, bind)
    t.deepEqual(result.ok ? [] : result.complaints.map(text => text.split(':')[0]!), [...complaints])
    if (!result.ok) t.notRegex(result.complaints.join(), /xxxxx/)
  })
}

for (const [username, password, role] of [
  ['admin', PASSWORDS.admin, 'admin'],
  ['agent', PASSWORDS.agent, 'operator'],
  ['viewer', PASSWORDS.viewer, 'viewer'],
  ['admin', PASSWORDS.agent, undefined],
  ['admin', '', undefined],
  ['root', PASSWORDS.admin, undefined],
  ['constructor', 'undefined', undefined],
] as const) {
  test(`${username} with ${JSON.stringify(password)} is ${role ?? 'refused'}`, async t => {
    const { auth } = open()
    const session = await auth.login(username, password, '10.0.0.1').catch(error => error)
    if (!role) {
      t.is(session.code, 'unauthenticated')
      return
    }
    t.deepEqual({ role: session.role, expires_at: session.expires_at }, { role, expires_at: NOW + 8 * 60 * MINUTE })
    t.like(await auth.callerOf(withToken(session.token)), { subject: username, role, via: 'bearer' })
  })
}

test('a login without its password in the settings is nobody’s', async t => {
  const auth = openAuth({
    settings: { secret: SECRET, passwords: { admin: undefined, agent: undefined, viewer: undefined }, trustedProxies: [] },
    epochs: { get: () => 0, set: () => undefined },
    now: Date.now,
  })
  t.is(await codeOf(auth.login('admin', '', 'x')), 'unauthenticated')
  t.is(await codeOf(auth.login('admin', SECRET, 'x')), 'unauthenticated')
  t.false(auth.agentLoginConfigured)
})

test('eight failures stop an address and name for a quarter of an hour, and nobody else', async t => {
  const { auth, clock } = open()
  for (let i = 0; i < 8; i++) {
    t.is(await codeOf(auth.login('admin', 'wrong', '10.0.0.1')), 'unauthenticated')
    clock.now += MINUTE
  }
  const refused = await t.throwsAsync(auth.login('admin', PASSWORDS.admin, '10.0.0.1'), { instanceOf: LoginThrottled })
  t.is(refused.retryAfterSecs, 7 * 60)
  t.is(await codeOf(auth.login('admin', PASSWORDS.admin, '10.0.0.2')), 'nothing')
  t.is(await codeOf(auth.login('viewer', PASSWORDS.viewer, '10.0.0.1')), 'nothing')
  clock.now += refused.retryAfterSecs * SECOND
  t.is(await codeOf(auth.login('admin', PASSWORDS.admin, '10.0.0.1')), 'nothing')
})

test('a success forgets the failures before it', async t => {
  const { auth } = open()
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 7; i++) await codeOf(auth.login('admin', 'wrong', '10.0.0.1'))
    t.is(await codeOf(auth.login('admin', PASSWORDS.admin, '10.0.0.1')), 'nothing')
  }
})

for (const [asks, gets] of [
  [undefined, 3600],
  [1, 60],
  [60, 60],
  [7200, 7200],
  [1e9, 86_400],
  [-5, 60],
] as const) {
  test(`an agent token of ${asks} seconds lasts ${gets}`, async t => {
    const { auth } = open()
    const { expires_at, subject, role } = await auth.agentToken(asks)
    t.deepEqual([expires_at, subject, role], [NOW + gets * SECOND, 'agent', 'operator'])
  })
}

type Forged = {
  alg?: string
  secret?: string
  iss?: string
  aud?: string
  role?: string
  from?: number
  lasts?: number
  sub?: string
}
const forge = ({
  alg = 'HS256',
  secret = SECRET,
  iss = 'plenum',
  aud = 'plenum-api',
  role = 'admin',
  from = 0,
  lasts = 60,
  sub = 'admin',
}: Forged) => {
  const iat = NOW / 1000 + from
  const jwt = new SignJWT({ role }).setProtectedHeader({ alg }).setSubject(sub).setIssuer(iss).setAudience(aud)
  return jwt
    .setIssuedAt(iat)
    .setExpirationTime(iat + lasts)
    .sign(new TextEncoder().encode(secret.padEnd(64, '0').slice(0, alg === 'HS512' ? 64 : secret.length)))
}
for (const [what, forged, taken] of [
  ['made with the secret', {}, true],
  ['of another secret', { secret: OTHER }, false],
  ['of another issuer', { iss: 'elsewhere' }, false],
  ['for another audience', { aud: 'elsewhere' }, false],
  ['that has expired', { from: -120, lasts: 60 }, false],
  ['of a role that is none', { role: 'root' }, false],
  ['signed another way', { alg: 'HS512' }, false],
] as const) {
  test(`a token ${what} is ${taken ? 'taken' : 'refused'}`, async t => {
    const { auth } = open()
    t.is(await codeOf(auth.callerOf(withToken(await forge(forged)))), taken ? 'nothing' : 'unauthenticated')
  })
}

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

test('a token without a signature is refused', async t => {
  const { auth } = open()
  const claims = { iss: 'plenum', aud: 'plenum-api', sub: 'admin', role: 'admin', iat: NOW / 1000, exp: NOW / 1000 + 60 }
  const none = `${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.`
  t.is(await codeOf(auth.callerOf(withToken(none))), 'unauthenticated')
  t.is(await codeOf(auth.callerOf(asked({ authorization: 'Basic YWRtaW46YWRtaW4=' }))), 'unauthenticated')
})

test('a changed password ends the tokens of its user and of nobody else', async t => {
  const first = open()
  const agent = await first.auth.agentToken(3600)
  const viewer = await first.auth.login('viewer', PASSWORDS.viewer, 'x')
  const same = open({ epochs: first.epochs })
  t.is(await codeOf(same.auth.callerOf(withToken(agent.token))), 'nothing')
  same.clock.now += MINUTE
  const changed = openAuth({
    settings: { secret: SECRET, passwords: { ...PASSWORDS, agent: 'a-new-password' }, trustedProxies: [] },
    epochs: { get: name => first.epochs.get(name) ?? 0, set: (name, epoch) => void first.epochs.set(name, epoch) },
    now: () => NOW + MINUTE,
  })
  t.is(await codeOf(changed.callerOf(withToken(agent.token))), 'unauthenticated')
  t.is(await codeOf(changed.callerOf(withToken(viewer.token))), 'nothing')
})

for (const [what, headers, taken] of [
  ['of its own page', { origin: 'https://box.example', 'sec-fetch-site': 'same-origin' }, true],
  ['of its own page, in an older browser', { origin: 'https://box.example' }, true],
  ['of another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }, false],
  ['of another host of the site', { origin: 'https://other.box.example', 'sec-fetch-site': 'same-site' }, false],
  ['of a page without an origin', { origin: 'null' }, false],
  ['of another port', { origin: 'https://box.example:444' }, false],
  ['that says nothing of its page', {}, false],
] as const) {
  test(`a change by cookie ${what} is ${taken ? 'taken' : 'refused'}`, async t => {
    const { auth } = open()
    const { token } = await auth.login('admin', PASSWORDS.admin, 'x')
    const change = asked(headers, { cookies: { plenum_session: token }, method: 'POST' })
    t.is(await codeOf(auth.callerOf(change)), taken ? 'nothing' : 'forbidden')
    const read = asked(headers, { cookies: { plenum_session: token } })
    t.like(await auth.callerOf(read), { subject: 'admin', via: 'cookie' })
  })
}

for (const [what, request, code] of [
  ['a script on the machine', { host: '127.0.0.1:8080' }, 'nothing'],
  ['a page of its own', { host: 'localhost:8080', headers: { origin: 'http://localhost:8080' } }, 'nothing'],
  ['a page of another site', { host: 'localhost:8080', headers: { origin: 'http://evil.example' } }, 'forbidden'],
  [
    'a name that another site has pointed here',
    { host: 'evil.example', headers: { origin: 'http://evil.example' } },
    'forbidden',
  ],
] as const) {
  test(`an open process answers ${what} with ${code}`, async t => {
    const { auth } = open({ secret: undefined })
    t.false(auth.required)
    t.is(await codeOf(auth.callerOf(asked({}, { method: 'POST', ...request }))), code)
  })
}

test('the key of the older API is no token elsewhere', async t => {
  const { auth } = open()
  t.like(auth.keyCallerOf(withToken('the-older-key-16')), { subject: 'api-key' })
  t.is(auth.keyCallerOf(withToken('the-older-key-17')), undefined)
  t.is(await codeOf(auth.callerOf(withToken('the-older-key-16'))), 'unauthenticated')
})
