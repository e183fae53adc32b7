/** A session that ends while a person types: the entry is retained, the password requested, and nothing is submitted unseen. */
import anyTest, { type TestFn } from 'ava'
import { COOLING } from '../../../support/page-fixture.ts'
import { openSite, PASSWORDS, type TestSite } from '../../../support/sites/page-site.ts'

const NOTE = 'Actuator replaced; "seat" <leaks> & drips\nsecond line'
const PATH = `/faults/${COOLING.finding_id}/note`

const test = anyTest as TestFn<{ site: TestSite }>
test.beforeEach(async t => {
  t.context.site = await openSite({ product: 'appliance' })
})
test.afterEach.always(t => t.context.site.close())

function browserOf({ url }: TestSite) {
  let cookie = ''
  const headers = (more: Record<string, string>) => ({ accept: 'text/html', origin: url, cookie, ...more })
  async function post(path: string, fields: Record<string, string>, more: Record<string, string> = {}) {
    const body = new URLSearchParams(fields)
    const answer = await fetch(url + path, { method: 'POST', redirect: 'manual', headers: headers(more), body })
    const [set] = answer.headers.getSetCookie()
    if (set) cookie = set.split(';')[0]!
    return answer
  }
  const get = async (path: string) => (await fetch(url + path, { headers: headers({}) })).text()
  return { post, get }
}
/** The values of a page's hidden fields. */
const hidden = (page: string) =>
  Object.fromEntries(
    [...page.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)].map(([, name, value]) => [
      name!,
      unescaped(value!),
    ]),
  )
const unescaped = (text: string) =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&')

test('what was typed is shown, carried through a wrong password, and sent when the person says so', async t => {
  const { site } = t.context
  const { post, get } = browserOf(site)
  await post('/login', { username: 'agent', password: PASSWORDS.agent })
  const { csrf } = hidden(await get(`/faults/${COOLING.finding_id}`))
  site.context.auth.logoutEverywhere('agent')

  const refused = await post(
    PATH,
    { note: NOTE, csrf: csrf! },
    { referer: `${site.url}/faults/${COOLING.finding_id}?window=week` },
  )
  t.is(refused.status, 401)
  const page = await refused.text()
  t.regex(page, /Your session has ended, and nothing was saved yet/)
  t.regex(page, /Actuator replaced; &quot;seat&quot; &lt;leaks&gt; &amp; drips/)
  t.is(site.context.notes.get(COOLING.finding_id).note, undefined)
  const { next, typed } = hidden(page)
  t.is(next, `/faults/${COOLING.finding_id}?window=week`)
  t.false(typed!.includes('csrf'))

  const wrong = await post('/login', { username: 'agent', password: 'wrong', next: next!, typed: typed! })
  t.is(wrong.status, 401)
  const again = await post('/login', { username: 'agent', password: PASSWORDS.agent, ...hidden(await wrong.text()) })
  t.is(again.status, 200)
  const ready = await again.text()
  t.regex(ready, new RegExp(`<form method="post" action="${PATH}">`))
  t.is(site.context.notes.get(COOLING.finding_id).note, undefined, 'not before the person says so')
  const sent = await post(PATH, hidden(ready))
  t.is(sent.status, 303)
  t.is(site.context.notes.get(COOLING.finding_id).note, NOTE)
})

test('a press without an entry leads back to its page', async t => {
  const { site } = t.context
  const { post } = browserOf(site)
  const answer = await post(`/faults/${COOLING.finding_id}/ack`, { csrf: 'x' }, { referer: `${site.url}/faults` })
  t.is(answer.status, 401)
  const page = await answer.text()
  t.regex(page, /nothing was changed/)
  t.deepEqual(hidden(page), { next: '/faults' })
})

test('neither another site nor a flood gets an entry kept, and an address leads nowhere else', async t => {
  const { site } = t.context
  const { post } = browserOf(site)
  const foreign = await post(PATH, { note: NOTE }, { origin: 'http://elsewhere.example' })
  t.notRegex(await foreign.text(), /Actuator/)
  const flood = await post(PATH, { note: 'x'.repeat(100_000) })
  t.is(flood.status, 401)
  t.notRegex(await flood.text(), /xxx/)
  const typed = new URLSearchParams({ action: '//elsewhere.example/x', back: 'http://elsewhere.example/', fields: 'note=n' })
  const ready = await post('/login', { username: 'agent', password: PASSWORDS.agent, typed: typed.toString() })
  t.notRegex(await ready.text(), /elsewhere/)
})
