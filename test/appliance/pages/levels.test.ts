import test, { type ExecutionContext } from 'ava'
import { LEVELS_PATH } from '#appliance/pages/levels.route.ts'
import { levelMeanings, levelSettings } from '#shared/core/priority/priority-levels.ts'
import { openNewBox } from '../../support/sites/new-box.ts'
import { PASSWORDS } from '../../support/sites/page-site.ts'
import { signedIn } from '../../support/signed-in.ts'

const API = '/api/site/priority-levels'
/** The form as the page shows it, with what is changed. */
const filled = (change: Record<string, string | undefined>) => {
  const names = levelMeanings().map((_, i): [string, string] => [`name_${i + 1}`, ''])
  const ticks = levelMeanings().flatMap(({ override }, i): [string, string][] => (override ? [[`override_${i + 1}`, 'yes']] : []))
  const all = { ...Object.fromEntries([...names, ...ticks]), ...change }
  return Object.fromEntries(Object.entries(all).filter((one): one is [string, string] => one[1] !== undefined))
}

async function open(t: ExecutionContext, role: keyof typeof PASSWORDS = 'admin') {
  const box = await openNewBox()
  t.teardown(box.close)
  const browser = await signedIn(box.url, role, PASSWORDS[role])
  const levels = async () => ((await (await browser.get(API)).json()) as { levels: object[] }).levels
  return { box, ...browser, levels }
}

async function putter(url: string) {
  const login = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password: PASSWORDS.admin }),
  })
  const { token } = (await login.json()) as { token: string }
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
  return (body: object) => fetch(url + API, { method: 'PUT', headers, body: JSON.stringify(body) })
}

test('the form stores only what differs from the standard, audited, and counts at once', async t => {
  const { box, post, get, levels } = await open(t)
  const typed = filled({ name_10: ' Plant sequence ', override_9: 'yes', override_8: undefined, name_1: 'Manual life safety' })
  const answer = await post(LEVELS_PATH, LEVELS_PATH, typed)
  t.deepEqual([answer.status, answer.headers.get('location')], [303, `${LEVELS_PATH}?saved=1`])
  const stored = [
    { level: 8, override: false },
    { level: 9, override: true },
    { level: 10, name: 'Plant sequence' },
  ]
  t.deepEqual(box.stored().priority_levels, stored)
  t.deepEqual(box.file.current().priority_levels, stored, 'readers take it from there')
  t.deepEqual((await levels())[9], { level: 10, name: 'Plant sequence', override: false, standard: false })
  t.like(box.context.audit.list({ limit: 1 })[0], { action: 'change_priority_levels', before: [], after: stored })
  const page = await (await get(LEVELS_PATH)).text()
  t.regex(page, /name="name_10" value="Plant sequence"/)
  t.regex(page, /name="name_8" value="" placeholder="Manual operator"/)
  await post(LEVELS_PATH, LEVELS_PATH, filled({}))
  t.false('priority_levels' in box.stored(), 'as in the standard, nothing is stored')
})

test('the API changes the levels, refuses one that occurs twice, and lets only an admin do it', async t => {
  const { box, levels } = await open(t)
  const put = await putter(box.url)
  t.is((await put({ levels: [{ level: 3, name: 'Fire <1>' }] })).status, 200)
  t.like((await levels())[2], { name: 'Fire <1>', override: true })
  const twice = await put({ levels: [{ level: 3 }, { level: 3, name: 'again' }] })
  t.is(twice.status, 422)
  t.regex(((await twice.json()) as { detail: string }).detail, /level 3 occurs twice/)
  t.deepEqual(box.stored().priority_levels, [{ level: 3, name: 'Fire <1>' }])
  const { get, post } = await signedIn(box.url, 'agent', PASSWORDS.agent)
  t.deepEqual([(await get(LEVELS_PATH)).status, (await post(LEVELS_PATH, '/', filled({}))).status], [403, 403])
})

test('settings and meanings of levels are each made from the other', t => {
  const settings = [
    { level: 6, name: 'Pump kick', override: true },
    { level: 8, override: false },
    { level: 16, name: 'Schedule' },
  ]
  t.deepEqual(levelSettings(levelMeanings(settings)), settings)
  t.deepEqual(levelSettings(levelMeanings()), [])
})
