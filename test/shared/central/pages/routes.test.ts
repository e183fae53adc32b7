import { createHash } from 'node:crypto'
import anyTest, { type TestFn } from 'ava'
import { HOUR } from '#shared/core/time.ts'
import { safeNext } from '#shared/central/pages/typed-form.ts'
import { brokenValue } from '../../../support/pages/broken-value.ts'
import { NOW } from '../../../support/page-fixture.ts'
import { openSite, PASSWORDS, type TestSite } from '../../../support/sites/page-site.ts'

const test = anyTest as TestFn<{ box: TestSite; hub: TestSite }>
test.before(async t => {
  t.context = { box: await openSite({ product: 'appliance' }), hub: await openSite({ product: 'hub' }) }
})
test.after.always(async t => {
  await t.context.box.close()
  await t.context.hub.close()
})

/** What a browser sends along. */
const asBrowser = ({ url }: TestSite, cookie = ''): Record<string, string> => ({ accept: 'text/html,*/*', origin: url, cookie })

async function signIn(site: TestSite, username: keyof typeof PASSWORDS): Promise<string> {
  const body = new URLSearchParams({ username, password: PASSWORDS[username], next: '/faults' })
  const answer = await fetch(`${site.url}/login`, { method: 'POST', body, redirect: 'manual', headers: asBrowser(site) })
  return answer.headers.getSetCookie()[0]!.split(';')[0]!
}
const get = (site: TestSite, path: string, cookie?: string) =>
  fetch(site.url + path, { redirect: 'manual', headers: asBrowser(site, cookie) })

async function post(site: TestSite, path: string, cookie: string, fields: Record<string, string>) {
  return fetch(site.url + path, {
    method: 'POST',
    body: new URLSearchParams(fields),
    redirect: 'manual',
    headers: asBrowser(site, cookie),
  })
}
/** The token that the page puts into its forms. */
async function csrfOn(site: TestSite, path: string, cookie: string): Promise<string> {
  return /name="csrf" value="([^"]+)"/.exec(await (await get(site, path, cookie)).text())![1]!
}

test('whoever is not signed in is sent to the login page and comes back afterwards', async t => {
  const { box } = t.context
  const answer = await get(box, '/faults?days=30')
  t.is(answer.status, 303)
  t.is(answer.headers.get('location'), '/login?next=%2Ffaults%3Fdays%3D30')
  const page = await (await get(box, answer.headers.get('location')!)).text()
  t.regex(page, /name="next" value="\/faults\?days=30"/)
})

test('a login sets an HttpOnly cookie of this site and goes on', async t => {
  const { box } = t.context
  const body = new URLSearchParams({ username: 'viewer', password: PASSWORDS.viewer, next: '/faults' })
  const answer = await fetch(`${box.url}/login`, { method: 'POST', body, redirect: 'manual', headers: asBrowser(box) })
  t.is(answer.status, 303)
  t.is(answer.headers.get('location'), '/faults')
  t.regex(answer.headers.getSetCookie()[0]!, /HttpOnly; Secure; SameSite=Strict/)
})

/** What a browser says of itself, and whether it stores a `Secure` cookie that comes by plain HTTP from its own machine. */
const BROWSERS: [string, string, boolean][] = [
  ['Chrome', 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/147.0.0.0 Safari/537.36', true],
  ['Firefox', 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', true],
  [
    'Safari',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15',
    false,
  ],
  [
    'Chrome of an iPhone',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/147.0.1 Mobile/15E148 Safari/604.1',
    false,
  ],
]
for (const [name, agent, isSecure] of BROWSERS) {
  test(`a login by plain HTTP on this machine sets a cookie that the browser stores: ${name}`, async t => {
    const { box } = t.context
    const body = new URLSearchParams({ username: 'viewer', password: PASSWORDS.viewer })
    const headers = { ...asBrowser(box), 'user-agent': agent }
    const answer = await fetch(`${box.url}/login`, { method: 'POST', body, redirect: 'manual', headers })
    t.is(answer.status, 303)
    t.is(answer.headers.getSetCookie()[0]!.includes('; Secure;'), isSecure)
  })
}

test('a wrong password is said on the page, the name is kept and the password is not', async t => {
  const { box } = t.context
  const answer = await post(box, '/login', '', { username: 'admin', password: 'not-this-one', next: '/' })
  const page = await answer.text()
  t.is(answer.status, 401)
  t.regex(page, /role="alert"/)
  t.regex(page, /name="username"[^>]* value="admin"/)
  t.notRegex(page, /not-this-one/)
})

test('a login that another site caused is refused', async t => {
  const { box } = t.context
  const body = new URLSearchParams({ username: 'viewer', password: PASSWORDS.viewer })
  const headers = { ...asBrowser(box), origin: 'http://elsewhere.example' }
  const answer = await fetch(`${box.url}/login`, { method: 'POST', body, redirect: 'manual', headers })
  t.is(answer.status, 403)
})

test('too many wrong passwords are throttled with the time to wait', async t => {
  const { hub } = t.context
  let last: Response | undefined
  for (let i = 0; i < 9; i++) last = await post(hub, '/login', '', { username: 'nobody', password: String(i) })
  t.is(last!.status, 429)
  t.truthy(last!.headers.get('retry-after'))
})

for (const [next, path] of [
  ['/faults?days=1', '/faults?days=1'],
  ['//elsewhere.example', '/'],
  ['/\\elsewhere.example', '/'],
  ['https://elsewhere.example/x', '/'],
  ['javascript:alert(1)', '/'],
  ['/.//elsewhere.example', '/'],
  [undefined, '/'],
] as const) {
  test(`after the login ${next} leads to ${path}`, t => t.is(safeNext(next), path))
}

test('signing out ends the session, in the browser and for whoever has copied the cookie', async t => {
  const { box } = t.context
  const [cookie, other] = [await signIn(box, 'viewer'), await signIn(box, 'viewer')]
  const answer = await post(box, '/logout', cookie, { csrf: await csrfOn(box, '/', cookie) })
  t.is(answer.headers.get('location'), '/login')
  t.regex(answer.headers.getSetCookie()[0]!, /plenum_session=;/)
  t.deepEqual([(await get(box, '/faults', cookie)).status, (await get(box, '/faults', other)).status], [303, 200])
})

for (const product of ['box', 'hub'] as const) {
  // Before the others, which are signed in as the same user.
  test.serial(`the button "Sign out everywhere" of the ${product} ends all sessions of the user`, async t => {
    const site = t.context[product]
    const [cookie, other] = [await signIn(site, 'agent'), await signIn(site, 'agent')]
    const page = await (await get(site, '/', cookie)).text()
    const action = /<button formaction="([^"]+)">Sign out everywhere/.exec(page)![1]!
    t.is((await post(site, action, cookie, { csrf: 'guessed' })).status, 403)
    t.is((await post(site, action, cookie, { csrf: await csrfOn(site, '/', cookie) })).status, 303)
    t.deepEqual([(await get(site, '/faults', cookie)).status, (await get(site, '/faults', other)).status], [303, 303])
  })
}

test('pages run nothing but their own files and are not kept', async t => {
  const { box } = t.context
  const answer = await get(box, '/faults', await signIn(box, 'viewer'))
  const csp = answer.headers.get('content-security-policy')!
  for (const part of [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ]) {
    t.true(csp.includes(part), part)
  }
  t.is(answer.headers.get('cache-control'), 'no-store')
  t.is(answer.headers.get('referrer-policy'), 'same-origin')
  t.notRegex(await answer.text(), / style=| on[a-z]+=|<script(?![^>]* src="\/static\/)/)
})

test('the first page of a browser holds the style sheet, later ones name its file', async t => {
  const { box: site } = t.context
  const load = async (headers: Record<string, string>) => {
    const answer = await fetch(`${site.url}/login`, { headers: { accept: 'text/html', ...headers } })
    const page = await answer.text()
    const policy = answer.headers.get('content-security-policy')!
    return { page, policy, cookie: answer.headers.getSetCookie().find(one => one.startsWith('plenum_style=')) }
  }
  const first = await load({ 'sec-fetch-dest': 'document' })
  const style = /<style>([\s\S]*)<\/style>/.exec(first.page)![1]!
  const hash = createHash('sha256').update(style).digest('base64')
  t.true(first.policy.includes(`style-src 'self' 'sha256-${hash}';`), 'the policy allows this sheet and no other')
  t.notRegex(first.policy, /unsafe/)
  t.regex(first.cookie!, /HttpOnly; SameSite=Strict/)
  const [, file] = /<link rel="stylesheet" media="print" href="([^"]+)">/.exec(first.page)!
  t.is(await (await fetch(site.url + file!)).text(), style)

  const later = await load({ 'sec-fetch-dest': 'document', cookie: first.cookie!.split(';')[0]! })
  const old = await load({ 'sec-fetch-dest': 'document', cookie: 'plenum_style=/static/0123456789ab/app.css' })
  const program = await load({})
  t.true(old.page.includes('<style>'), 'another version of the product has another sheet')
  for (const { page, policy, cookie } of [later, program]) {
    t.true(page.includes(`<link rel="stylesheet" href="${file}">`))
    t.notRegex(page, /<style/)
    t.notRegex(policy, /sha256/)
    t.is(cookie, undefined)
  }
})

test('static files are served to everyone, for ever, and nothing else is', async t => {
  const { box } = t.context
  const page = await (await get(box, '/login')).text()
  const files = [...page.matchAll(/(?:src|href)="(\/static\/[^"]+)"/g)].map(([, path]) => path!)
  t.is(files.length, 4)
  for (const path of files) {
    const answer = await get(box, path)
    t.is(answer.status, 200, path)
    t.regex(answer.headers.get('cache-control')!, /immutable/)
    t.is(answer.headers.get('x-content-type-options'), 'nosniff')
  }
  for (const path of ['/static/x/app.css', '/static/..%2f..%2fpackage.json', '/static/000000000000/app.css']) {
    t.is((await get(box, path)).status, 404, path)
  }
})

for (const path of [
  '/',
  '/home/tiles',
  '/faults',
  '/faults?lane=silenced&group=priority&state=&priority=',
  '/faults/f-cooling?window=week',
]) {
  test(`a viewer may read ${path} on the box`, async t => {
    const { box } = t.context
    const answer = await get(box, path, await signIn(box, 'viewer'))
    t.is(answer.status, 200)
    t.is(answer.headers.get('content-type'), 'text/html; charset=utf-8')
    t.is(brokenValue(await answer.text()), '')
  })
}

for (const path of ['/', '/?status=reduced', '/fleet/part', '/faults', '/faults/f-flow']) {
  test(`a viewer may read ${path} on the hub`, async t => {
    const { hub } = t.context
    const answer = await get(hub, path, await signIn(hub, 'viewer'))
    t.is(answer.status, 200)
    t.is(brokenValue(await answer.text()), '')
  })
}

for (const [path, status] of [
  ['/faults?lane=nonsense', 400],
  ['/faults?days=0', 400],
  ['/faults/no-such-finding', 404],
  ['/nowhere', 404],
] as const) {
  test(`${path} answers ${status} with a page that says why`, async t => {
    const { box } = t.context
    const answer = await get(box, path, await signIn(box, 'viewer'))
    t.is(answer.status, status)
    t.regex(await answer.text(), /<h1>.+<\/h1>/)
  })
}

test('a fragment of an ended session is an error, not a login page to be swapped in', async t => {
  const { box } = t.context
  const answer = await fetch(`${box.url}/home/tiles`, {
    redirect: 'manual',
    headers: { ...asBrowser(box), 'hx-request': 'true' },
  })
  t.is(answer.status, 401)
  t.regex(answer.headers.get('content-type')!, /^application\/problem\+json/)
})

test('a viewer sees the forms closed, with the reason, and may not send them', async t => {
  const { box } = t.context
  const cookie = await signIn(box, 'viewer')
  const page = await (await get(box, '/faults/f-cooling', cookie)).text()
  t.regex(page, /<fieldset disabled>/)
  t.regex(page, /These need the operator role; you are signed in as viewer/)
  const answer = await post(box, '/faults/f-cooling/ack', cookie, { csrf: await csrfOn(box, '/', cookie) })
  t.is(answer.status, 403)
  t.is(box.context.notes.get('f-cooling').not_a_fault, undefined)
})

test("a form without the session's token changes nothing", async t => {
  const { box } = t.context
  const cookie = await signIn(box, 'agent')
  t.is((await post(box, '/faults/f-valve/ack', cookie, {})).status, 403)
  t.is((await post(box, '/faults/f-valve/ack', cookie, { csrf: 'guessed' })).status, 403)
  t.is(box.context.notes.get('f-valve').ack, 'unacked')
})

test('an operator acknowledges, notes, snoozes and withdraws; each leaves an audit row', async t => {
  const { hub } = t.context
  const cookie = await signIn(hub, 'agent')
  const csrf = await csrfOn(hub, '/faults/f-flow', cookie)
  const send = (action: string, fields: Record<string, string> = {}) =>
    post(hub, `/faults/f-flow/${action}`, cookie, { csrf, ...fields })
  const note = () => hub.context.notes.get('f-flow')
  const answer = await send('ack')
  t.is(answer.status, 303)
  t.is(answer.headers.get('location'), '/faults/f-flow')
  t.is(note().ack, 'acked')
  await send('note', { note: '  filter <changed>  ' })
  t.is(note().note, 'filter <changed>')
  await send('assign', { assignee: 'Kim <k>' })
  t.is(note().assignee, 'Kim <k>')
  await send('snooze', { hours: '24', reason: 'filter is ordered' })
  const shown = () => hub.context.notes.of(hub.context.findings.get('f-flow')!, NOW)
  t.like(shown(), { snoozed_until: NOW + 24 * HOUR, snooze_reason: 'filter is ordered', snoozed_by: 'agent' })
  await send('not-a-fault', { reason: 'commissioning' })
  t.like(note(), { ack: 'acked', not_a_fault: 'commissioning' })
  const page = await (await get(hub, '/faults/f-flow', cookie)).text()
  t.regex(page, /filter &lt;changed&gt;/)
  t.regex(page, /Marked as not a fault: commissioning/)
  t.regex(page, /acknowledged, <span>assigned to Kim &lt;k&gt;/)
  t.regex(page, /Snoozed until .*: filter is ordered <span class="muted">agent</)
  const did = page.slice(page.indexOf('Who did what'))
  const words = [
    'not a fault: commissioning',
    'snoozed until',
    'assigned to Kim &lt;k&gt;',
    'noted: filter &lt;changed&gt;',
    'acknowledged',
  ]
  const places = words.map(one => did.indexOf(`<strong>agent</strong>: ${one}`))
  t.true(
    places.every((place, i) => place > (places[i - 1] ?? 0)),
    `newest first, each by whom: ${places.join()}`,
  )
  t.regex(did, /snoozed until [^<]*: filter is ordered</)
  await send('snooze', { hours: '0' })
  await send('not-a-fault', { reason: '' })
  await send('note', { note: '' })
  await send('assign', { assignee: '' })
  t.deepEqual(shown(), { finding_id: 'f-flow', ack: 'acked' })
  const after = await (await get(hub, '/faults/f-flow', cookie)).text()
  for (const one of ['no longer assigned', 'removed the note', 'a fault after all', 'no longer snoozed'])
    t.true(after.includes(`<strong>agent</strong>: ${one}`), one)
  const other = await (await get(hub, '/faults/f-cooling', cookie)).text()
  t.false(other.includes('Who did what'), 'of other faults nothing is told')
  t.is((await send('snooze', { hours: '9999' })).status, 400)
  const rows = hub.context.audit.list({ limit: 20 }).filter(({ subject }) => subject === 'f-flow')
  t.is(rows.length, 9)
  t.like(rows.at(-1), { action: 'finding_ack', actor: 'agent', role: 'operator' })
})

test('pages ignore query parameters that they do not know', async t => {
  const { box } = t.context
  const cookie = await signIn(box, 'viewer')
  for (const path of ['/faults', '/runs', '/params', '/coverage', '/points', '/baselines', '/faults/f-cooling', '/login'])
    t.true((await get(box, `${path}?utm_source=mail&constructor=1`, cookie)).status < 400, path)
})

test('all quiet is a statement with the time of the last run and what could not be looked at', async t => {
  const { box } = t.context
  const page = await (await get(box, '/faults?lane=silenced&priority=1', await signIn(box, 'viewer'))).text()
  t.regex(page, /Nothing is silenced\./)
  t.regex(
    page,
    /13:50<\/time>,\s12\smin\sago: 4 checks: 2 in fault, 1 passed, 0 not applicable, 1 without data \(1 required point not mapped\)/,
  )
})

test('before the first run the page does not claim that all is quiet', async t => {
  const site = await openSite({
    product: 'appliance',
    building: { building_id: 'new', name: 'New', site_id: 's', timezone: 'UTC', unit_system: 'si' },
    equipment: [],
    points: [],
    findings: [],
    empty: true,
  })
  t.teardown(site.close)
  const cookie = await signIn(site, 'viewer')
  t.regex(await (await get(site, '/faults', cookie)).text(), /No run has finished yet, so nothing has been looked at/)
  t.regex(await (await get(site, '/', cookie)).text(), /Not looked yet/)
})

for (const product of ['hub', 'appliance'] as const) {
  test(`without a building every page of the navigation answers (${product}), and says what to do next`, async t => {
    const site = await openSite({ product, noBuilding: true })
    t.teardown(site.close)
    const cookie = await signIn(site, 'admin')
    const setup = await (await get(site, '/setup', cookie)).text()
    const pages = new Set(
      Array.from(setup.matchAll(/href="(\/[a-z-]*)"/g), ([, href]) => href!).filter(href => href !== '/logout'),
    )
    t.true(pages.size > 15, [...pages].join(' '))
    const failed: string[] = []
    for (const path of pages) {
      const answer = await get(site, path, cookie)
      const moved = answer.headers.get('location')
      const { status } = moved === null ? answer : await get(site, moved, cookie)
      // The page of what the hub or the box has besides is none of this site.
      if (status !== 200 && path !== '/overrides') failed.push(`${path} ${status}`)
    }
    t.deepEqual(failed, [])
    const trends = await (await get(site, '/trends', cookie)).text()
    t.regex(trends, /<h1>There is no building yet<\/h1>/)
    t.regex(trends, /<a href="\/import">Import<\/a>/)
    t.is((await get(site, '/trends?building=school', cookie)).status, 404, 'one that is named is not there')
  })
}
