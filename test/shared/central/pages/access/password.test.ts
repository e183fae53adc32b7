/** The page on which people change their password, and the way there after a sign-in with a first password. */
import anyTest, { type TestFn } from 'ava'
import { addUser, resetPassword } from '#shared/central/commands/users.ts'
import { COOLING } from '../../../../support/page-fixture.ts'
import { openSite, PASSWORDS, type TestSite } from '../../../../support/sites/page-site.ts'

const test = anyTest as TestFn<{ site: TestSite }>
test.beforeEach(async t => {
  t.context.site = await openSite({ product: 'appliance' })
})
test.afterEach.always(t => t.context.site.close())

const ADMIN = { caller: { subject: 'admin', role: 'admin', via: 'cookie', session: 's' }, audit: () => undefined } as const
const OWN = 'a password of my own'
const FAULT = `/faults/${COOLING.finding_id}`

function browserOf({ url }: TestSite) {
  let cookie = ''
  const send = async (path: string, fields?: Record<string, string>, more: Record<string, string> = {}) => {
    const headers = { accept: 'text/html', origin: url, cookie, ...more }
    const form = fields && { method: 'POST', body: new URLSearchParams(fields) }
    const answer = await fetch(url + path, { redirect: 'manual', headers, ...form })
    const [set] = answer.headers.getSetCookie()
    if (set) cookie = set.split(';')[0]!
    return { status: answer.status, location: answer.headers.get('location'), text: await answer.text() }
  }
  return { get: (path: string) => send(path), post: send }
}
const hidden = (page: string) =>
  Object.fromEntries(
    [...page.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)].map(([, name, value]) => [
      name!,
      value!.replaceAll('&amp;', '&'),
    ]),
  )
const firstOf = async ({ context }: TestSite, username = 'anna') =>
  (await addUser(context, ADMIN, { username, role: 'operator' })).first_password

test('a person with a first password is led to the choice of another, and from there to the page that was asked for', async t => {
  const { site } = t.context
  const password = await firstOf(site)
  const { get, post } = browserOf(site)
  const signedIn = await post('/login', { username: 'anna', password, next: '/faults?state=active' })
  t.is(signedIn.status, 200)
  t.regex(signedIn.text, /Choose your password/)
  t.notRegex(signedIn.text, /<nav/)
  t.deepEqual(await get('/faults').then(({ status, location }) => [status, location]), [303, '/password?next=%2Ffaults'])
  const { text: page } = await get('/password')
  t.notRegex(page, /<nav/)

  const fields = { ...hidden(signedIn.text), ...pick(hidden(page), 'csrf'), password }
  const differ = await post('/password', { ...fields, new_password: OWN, new_password_again: `${OWN}!` })
  t.deepEqual([differ.status, /two new passwords differ/.test(differ.text)], [422, true])
  const short = await post('/password', { ...fields, new_password: 'short', new_password_again: 'short' })
  t.deepEqual([short.status, /12 to 200 characters/.test(short.text)], [422, true])
  const wrong = await post('/password', { ...fields, password: 'wrong', new_password: OWN, new_password_again: OWN })
  t.deepEqual([wrong.status, /password is wrong/.test(wrong.text)], [401, true])
  const set = await post('/password', { ...fields, new_password: OWN, new_password_again: OWN })
  t.deepEqual([set.status, set.location], [303, '/faults?state=active'])
  const after = await get('/faults')
  t.is(after.status, 200)
  t.regex(after.text, /<summary>anna \(operator\)<\/summary>/)
  t.regex(after.text, /<a href="\/password">/)
})

test('what was typed before a reset is kept through the sign-in and the choice of a password', async t => {
  const { site } = t.context
  const first = await firstOf(site)
  const { get, post } = browserOf(site)
  const { text } = await post('/login', { username: 'anna', password: first })
  await post('/password', { ...hidden(text), password: first, new_password: OWN, new_password_again: OWN })
  const { csrf } = hidden((await get(FAULT)).text)
  const { first_password: second } = await resetPassword(site.context, ADMIN, 'anna')

  const ended = await post(`${FAULT}/note`, { note: 'valve stuck', csrf: csrf! }, { referer: `${site.url}${FAULT}` })
  t.is(ended.status, 401)
  const choose = await post('/login', { username: 'anna', password: second, ...hidden(ended.text) })
  t.regex(choose.text, /Choose your password/)
  const ready = await post('/password', {
    ...hidden(choose.text),
    password: second,
    new_password: `${OWN} 2`,
    new_password_again: `${OWN} 2`,
  })
  t.regex(ready.text, /This was not sent yet/)
  t.is(site.context.notes.get(COOLING.finding_id).note, undefined)
  const { csrf: form, note } = hidden(ready.text.slice(ready.text.indexOf('This was not sent yet')))
  t.is((await post(`${FAULT}/note`, { csrf: form!, note: note! })).status, 303)
  t.is(site.context.notes.get(COOLING.finding_id).note, 'valve stuck')
})

test('a login of the settings is told where its password stands', async t => {
  const { get, post } = browserOf(t.context.site)
  await post('/login', { username: 'viewer', password: PASSWORDS.viewer })
  const { text } = await get('/password')
  t.regex(text, /setting SERVICE_VIEWER_PASSWORD/)
  t.notRegex(text, /new_password/)
})

const pick = (fields: Record<string, string>, name: string) => ({ [name]: fields[name]! })
