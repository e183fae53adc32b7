/** Saved views of trends: by the API and by the forms of the page, which call the same commands. */
import anyTest, { type TestFn } from 'ava'
import { signedIn } from '../../../support/signed-in.ts'
import { openSite, PASSWORDS, type TestSite } from '../../../support/sites/page-site.ts'

const test = anyTest as TestFn<{ site: TestSite }>
test.beforeEach(async t => {
  t.context = { site: await openSite({ product: 'hub', api: true }) }
})
test.afterEach.always(t => t.context.site.close())

const PAIR = { building_id: 'school', point_ids: ['ahu-1.sa_t', 'ahu-1.clg_valve'] }

async function callerOf({ url }: TestSite, username: keyof typeof PASSWORDS) {
  const login = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password: PASSWORDS[username] }),
  })
  const { token } = (await login.json()) as { token: string }
  return async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) }
    const answer = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    return { status: answer.status, body: (await answer.json()) as any }
  }
}

test('a view is saved, listed, renamed and deleted, and each change is in the audit log', async t => {
  const { site } = t.context
  const call = await callerOf(site, 'agent')
  const saved = await call('POST', '/api/saved-trends', { ...PAIR, name: ' Cooling ', days: 7, compare: 'week' })
  t.like(saved.body.saved_trend, { name: 'Cooling', days: 7, from: null, to: null, compare: 'week', created_by: 'agent' })
  t.is(saved.body.saved_trend.href, '/trends?building=school&points=ahu-1.sa_t,ahu-1.clg_valve&days=7&compare=week')
  const { trend_id } = saved.body.saved_trend
  const fixed = { name: 'The night', from: '2026-11-20T02:00', to: '2026-11-20T10:00:00Z' }
  t.like((await call('POST', '/api/saved-trends', { ...PAIR, ...fixed })).body.saved_trend, {
    ...fixed,
    days: null,
    compare: null,
  })
  for (const name of ['Valves', 'VALVES', 'Valve'])
    t.is((await call('PATCH', `/api/saved-trends/${trend_id}`, { name })).status, 200, 'its own name is no other view')
  const { body } = await call('GET', '/api/saved-trends?building_id=school')
  t.deepEqual(
    body.saved_trends.map(({ name }: { name: string }) => name),
    ['The night', 'Valve'],
  )
  t.is((await call('GET', '/api/saved-trends?building_id=library')).status, 404)
  t.is((await call('DELETE', `/api/saved-trends/${trend_id}`)).status, 200)
  t.is((await call('DELETE', `/api/saved-trends/${trend_id}`)).status, 404)
  const rows = site.context.audit.list({ limit: 10 }).filter(({ action }) => action.endsWith('_trend'))
  t.deepEqual(
    rows.map(({ action, subject, building_id, actor }) => `${actor} ${action} ${subject} ${building_id}`),
    [
      'agent remove_trend Valve school',
      'agent rename_trend Valve school',
      'agent rename_trend VALVES school',
      'agent rename_trend Valves school',
      'agent save_trend The night school',
      'agent save_trend Cooling school',
    ],
  )
})

const REFUSED = [
  ['no point', { point_ids: [] }, 400, '/point_ids'],
  ['seven points', { point_ids: [...'abcdefg'] }, 400, '/point_ids'],
  ['a point that does not exist', { point_ids: ['nothing'] }, 404, 'nothing'],
  ['a building that does not exist', { building_id: 'nowhere' }, 404, 'nowhere'],
  ['a blank name', { name: '  ' }, 422, '/name'],
  ['a name that the building has, in other letters', { name: 'KNOWN' }, 409, 'Known'],
  ['days that the page does not offer', { days: 3 }, 400, '/days'],
  ['half a time', { from: '2026-11-20T02:00' }, 422, '/to'],
  ['days and a time', { days: 7, from: '2026-11-20T02:00', to: '2026-11-20T04:00' }, 422, '/days'],
  ['a time that ends before it begins', { from: '2026-11-20T04:00', to: '2026-11-20T02:00' }, 400, 'ends before it begins'],
  ['a time that is none', { from: 'yesterday', to: '2026-11-20T02:00' }, 400, 'from'],
  [
    'a comparison of too many',
    { point_ids: ['ahu-1.sa_t', 'ahu-1.clg_valve', 'ahu-1.fan_status', 'vav-3.zone_flow'], compare: 'day' },
    400,
    'compared',
  ],
] as const

test('what cannot be shown or named is refused with words, and nothing is saved', async t => {
  const { site } = t.context
  const call = await callerOf(site, 'agent')
  await call('POST', '/api/saved-trends', { ...PAIR, name: 'Known' })
  for (const [what, given, status, words] of REFUSED) {
    const refused = await call('POST', '/api/saved-trends', { ...PAIR, name: 'New', ...given })
    t.is(refused.status, status, what)
    t.true(JSON.stringify(refused.body).includes(words), `${what}: ${JSON.stringify(refused.body)}`)
  }
  t.is((await call('GET', '/api/saved-trends')).body.saved_trends.length, 1)
})

test('a viewer reads saved views and changes none', async t => {
  const { site } = t.context
  const operator = await callerOf(site, 'agent')
  const { body } = await operator('POST', '/api/saved-trends', { ...PAIR, name: 'Cooling' })
  const viewer = await callerOf(site, 'viewer')
  t.is((await viewer('GET', '/api/saved-trends')).body.saved_trends.length, 1)
  for (const [method, path] of [
    ['POST', ''],
    ['PATCH', `/${body.saved_trend.trend_id}`],
    ['DELETE', `/${body.saved_trend.trend_id}`],
  ] as const) {
    t.is((await viewer(method, `/api/saved-trends${path}`, { ...PAIR, name: 'Other' })).status, 403)
  }
  const { get, post } = await signedIn(site.url, 'viewer', PASSWORDS.viewer)
  const page = await (await get('/trends?points=ahu-1.sa_t')).text()
  t.regex(page, /<a href="\/trends\?building=school&amp;points=ahu-1\.sa_t,ahu-1\.clg_valve&amp;days=1">Cooling<\/a>/)
  t.regex(page, /Needs the operator role/)
  t.notRegex(page, /Delete for everyone/)
  t.is(
    (await post('/trends/saved', '/trends?points=ahu-1.sa_t', { name: 'X', building: 'school', points: 'ahu-1.sa_t' })).status,
    403,
  )
})

test('the forms of the page save what is shown and come back to it', async t => {
  const { site } = t.context
  const { get, post } = await signedIn(site.url, 'agent', PASSWORDS.agent)
  const shown = '/trends?building=school&points=ahu-1.sa_t&from=2026-11-20T08:00&to=2026-11-20T14:00&compare=day'
  const state = { building: 'school', points: 'ahu-1.sa_t', from: '2026-11-20T08:00', to: '2026-11-20T14:00', compare: 'day' }
  const saved = await post('/trends/saved', shown, { ...state, name: 'Noon <b>&' })
  t.is(saved.headers.get('location'), `${shown}#saved`)
  const page = await (await get(shown)).text()
  t.regex(page, />Noon &lt;b&gt;&amp;</)
  t.regex(page, /1 point, Fri 20 Nov 08:00 to Fri 20 Nov 14:00, compared with a day before/)
  const { trend_id } = site.context.savedTrends.list()[0]!
  const renamed = await post('/trends/saved/rename', shown, { trend_id, name: 'Noon', back: shown })
  t.is(renamed.headers.get('location'), `${shown}#saved`)
  t.is(site.context.savedTrends.get(trend_id)!.name, 'Noon')
  const removed = await post('/trends/saved/remove', shown, { trend_id, back: 'https://elsewhere.example/' })
  t.is(removed.headers.get('location'), `/trends?removed=${trend_id}#saved`)
  t.deepEqual(site.context.savedTrends.list(), [])
})

test('a deleted view is brought back as it was, by the button beside the list and by the API', async t => {
  const { site } = t.context
  const call = await callerOf(site, 'agent')
  const { get, post } = await signedIn(site.url, 'agent', PASSWORDS.agent)
  const { body } = await call('POST', '/api/saved-trends', { ...PAIR, name: 'Noon <b>', days: 30, compare: 'day' })
  const before = site.context.savedTrends.list()
  const { trend_id } = body.saved_trend
  const [{ back, done }, reader] = [toastOf(trend_id), await signedIn(site.url, 'viewer', PASSWORDS.viewer)]
  t.is((await post('/trends/saved/remove', back, { trend_id, back })).headers.get('location'), `${done}#saved`)
  const page = await (await get(done)).text()
  t.regex(page, /role="status"><p>Noon &lt;b&gt; is deleted\.<\/p><form method="post" action="\/trends\/saved\/restore">/)
  t.notRegex(await (await reader.get(done)).text(), /saved\/restore/)
  t.is((await reader.post('/trends/saved/restore', done, { trend_id, back })).status, 403)
  t.is((await post('/trends/saved/restore', done, { trend_id, back })).headers.get('location'), `${back}#saved`)
  t.deepEqual(site.context.savedTrends.list(), before)
  t.notRegex(await (await get(done)).text(), /is deleted/, 'what is listed again is not offered once more')
  const restore = () => call('POST', `/api/saved-trends/${trend_id}/restore`)
  t.is((await restore()).status, 404)
  await call('DELETE', `/api/saved-trends/${trend_id}`)
  await call('POST', '/api/saved-trends', { ...PAIR, name: 'NOON <b>' })
  t.is((await restore()).status, 409, 'its name is taken')
  await call('DELETE', `/api/saved-trends/${site.context.savedTrends.list()[0]!.trend_id}`)
  t.is((await restore()).body.saved_trend.name, 'Noon <b>')
  t.like(site.context.audit.list({ limit: 1 })[0], { action: 'restore_trend', subject: 'Noon <b>', building_id: 'school' })
})

test('the newest 200 deleted views are retained', t => {
  const { savedTrends } = t.context.site.context
  for (let i = 0; i < 201; i++) {
    const made = { created_by: 'agent', created_at: 0 }
    savedTrends.put({ trend_id: `t${i}`, building_id: 'school', name: `${i}`, point_ids: ['a'], span: { days: 1 }, ...made })
    savedTrends.remove(`t${i}`, i)
  }
  t.deepEqual(
    ['t0', 't1', 't200'].map(id => savedTrends.removed(id)?.name),
    [undefined, '1', '200'],
  )
})

const toastOf = (trend_id: string) => {
  const back = '/trends?building=school&points=ahu-1.sa_t'
  return { back, done: `${back}&removed=${trend_id}` }
}

test('a point that is gone is left out of a saved view, which says so', async t => {
  const { site } = t.context
  site.context.savedTrends.put({
    ...{ trend_id: 't1', building_id: 'school', name: 'Old', point_ids: ['ahu-1.sa_t', 'gone'], span: { days: 366 } },
    ...{ created_by: 'agent', created_at: 0 },
  })
  const { get } = await signedIn(site.url, 'viewer', PASSWORDS.viewer)
  const page = await (await get('/trends')).text()
  t.regex(page, /<a href="\/trends\?building=school&amp;points=ahu-1\.sa_t&amp;days=366">Old<\/a>/)
  t.regex(page, /1 point, the last year <span class="muted">1 point no longer there/)
})
