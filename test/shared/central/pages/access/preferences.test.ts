/** The page of language and units, and the way there from every page. */
import test from 'ava'
import { openSite, PASSWORDS, type TestSite } from '../../../../support/sites/page-site.ts'

const open = async (t: { teardown: (done: () => unknown) => void }, given: { open?: boolean } = {}): Promise<TestSite> => {
  const site = await openSite({ product: 'appliance', ...given })
  t.teardown(site.close)
  return site
}
const formOf = (fields: Record<string, string>) => ({ method: 'POST', body: new URLSearchParams(fields) })

/** @returns a request with the session of a login, where there is one */
async function browserOf({ url }: TestSite, username?: keyof typeof PASSWORDS) {
  let cookie = ''
  const send = async (path: string, init: RequestInit = {}) => {
    const headers = { accept: 'text/html', origin: url, cookie }
    const answer = await fetch(url + path, { redirect: 'manual', headers, ...init })
    cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? cookie
    return { status: answer.status, location: answer.headers.get('location'), text: await answer.text() }
  }
  if (username !== undefined) await send('/login', formOf({ username, password: PASSWORDS[username] }))
  return send
}
const csrfIn = (text: string): string => /name="csrf" value="([^"]+)"/.exec(text)![1]!
const chosenIn = (text: string, name = 'unit_system') =>
  new RegExp(`name="${name}".*?<option value="(\\w*)"[^>]* selected>`).exec(text)?.[1]

test('a viewer chooses units on the page, which says so and shows the choice again', async t => {
  const site = await open(t)
  const send = await browserOf(site, 'viewer')
  const { text } = await send('/preferences')
  t.is(chosenIn(text), '')
  site.context.preferences.put('viewer', { language: 'de' })
  const saved = await send('/preferences', formOf({ csrf: csrfIn(text), unit_system: 'us' }))
  t.deepEqual([saved.status, saved.location], [303, '/preferences?done=saved'])
  const after = await send(saved.location!)
  t.regex(after.text, /Ihre Wahl ist gespeichert/)
  t.is(chosenIn(after.text), 'us')
  t.deepEqual(site.context.preferences.get('viewer'), { language: 'de', unit_system: 'us' })
  await send('/preferences', formOf({ csrf: csrfIn(text), unit_system: '' }))
  t.deepEqual(site.context.preferences.get('viewer'), { language: 'de' })
})

test('a choice that there is not is refused with the name of the field', async t => {
  const send = await browserOf(await open(t), 'viewer')
  const csrf = csrfIn((await send('/preferences')).text)
  const refused = await send('/preferences', formOf({ csrf, unit_system: 'metric' }))
  t.is(refused.status, 400)
  t.regex(refused.text, /unit_system/)
})

test('the menu of the session leads to the page, also where nobody signs in', async t => {
  const MENU = /<details class="session"><summary>(\S+)[^<]*<\/summary>\s*<div><p><a href="\/preferences">Language and units<\/a>/
  const send = await browserOf(await open(t), 'viewer')
  const { text } = await send('/faults')
  t.is(MENU.exec(text)?.[1], 'viewer')
  t.regex(text, /action="\/logout"/)
  const site = await open(t, { open: true })
  const here = await browserOf(site)
  const { text: openText } = await here('/faults')
  t.is(MENU.exec(openText)?.[1], 'open')
  t.notRegex(openText, /action="\/logout"|href="\/password"/)
  t.is((await here('/preferences', formOf({ csrf: csrfIn((await here('/preferences')).text), unit_system: 'si' }))).status, 303)
  t.deepEqual(site.context.preferences.get('open'), { unit_system: 'si' })
})

test('a page is in the language of the reader, else of the browser, and says so', async t => {
  const site = await open(t)
  const send = await browserOf(site, 'viewer')
  const { text } = await send('/preferences')
  t.regex(text, /<html lang="en"/)
  t.is(chosenIn(text, 'language'), '')
  await send('/preferences', formOf({ csrf: csrfIn(text), language: 'de', unit_system: '' }))
  t.deepEqual(site.context.preferences.get('viewer'), { language: 'de' })
  const german = await send('/preferences')
  t.regex(german.text, /<html lang="de".*<h1>Sprache und Einheiten<\/h1>/s)
  t.is(chosenIn(german.text, 'language'), 'de')

  const asking = (language: string) =>
    fetch(`${site.url}/login`, { headers: { accept: 'text/html', 'accept-language': language } })
  const login = await asking('fr-CH, de;q=0.9, en;q=0.8')
  t.regex(login.headers.get('vary')!, /accept-language/i)
  t.regex(await login.text(), /<html lang="de".*<button[^>]*>Anmelden/s)
  t.regex(await (await asking('en-GB, de;q=0.5')).text(), /<html lang="en".*<button[^>]*>Sign in/s)
  t.regex(await (await asking('de;q=0')).text(), /<html lang="en"/)
})
