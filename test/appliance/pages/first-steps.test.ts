import { readFileSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import { siteRoutes } from '#appliance/pages/site.route.ts'
import { PROBLEMS } from '#shared/core/problem.ts'
import { hashPassword } from '#shared/node/auth/password-hash.ts'
import { openNewBox } from '../../support/sites/new-box.ts'
import { PASSWORDS } from '../../support/sites/page-site.ts'
import { signedIn } from '../../support/signed-in.ts'

const words = (text: string) => text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
const SCHOOL = { building_id: 'school', name: 'School', timezone: 'Europe/Berlin', unit_system: 'us' }

async function open(t: ExecutionContext, role: keyof typeof PASSWORDS = 'admin') {
  const box = await openNewBox()
  t.teardown(box.close)
  const browser = await signedIn(box.url, role, PASSWORDS[role])
  const page = async (path: string) => (await browser.get(path)).text()
  const steps = async () => {
    const text = await page('/first-steps')
    return Object.fromEntries(
      [...text.matchAll(/id="step-(\w+)">\n<h2>([^]*?)<\/h2>/g)].map(([, id, title]) => [
        id,
        words(title!).trim().split(' ').at(-1),
      ]),
    )
  }
  return { box, ...browser, page, steps }
}

test('a new box says on Home what is left, and each first step leads to its page', async t => {
  const { page } = await open(t)
  t.regex(words(await page('/')), /This box is being set up\. Go on with the first steps/)
  t.regex(words(await page('/first-steps')), /reads a building\. 4 steps left\. /, 'the commissioning is one of them')
  const text = await page('/first-steps')
  t.regex(words(text), /Sign in as yourself open Nobody has a name/)
  t.regex(
    words(text),
    /Say which building this is open It has its first name still: New building , building-1 , times in Etc\/UTC/,
  )
  t.regex(words(text), /work alone as you like It works alone, which it may/)
  t.regex(words(text), /Find the devices open No device is read yet/)
  t.regex(words(text), /Commission the building later Needs devices/)
  for (const path of ['/users', '/site', '/network', '/hub', '/backups', '/discover', '/modbus', '/devices']) {
    t.true(text.includes(`<a href="${path}">`), path)
  }
})

test('the building is stored for the next start, audited, and shown as waiting', async t => {
  const { box, post, page } = await open(t)
  const answer = await post('/site', '/site', SCHOOL)
  t.deepEqual([answer.status, answer.headers.get('location')], [303, '/first-steps'])
  t.deepEqual(box.stored(), { site_id: 'local', edge_id: 'plenum-ab12', building: SCHOOL, equipment: [] })
  t.regex(
    words(await page('/first-steps')),
    /Say which building this is done School , school , times in Europe\/Berlin, pages in °F\. This is stored and counts from the next start of the program/,
  )
  t.regex(await page('/first-steps'), /action="\/system\/restart"/)
  t.like(box.context.audit.list({ limit: 1 })[0], { actor: 'admin', action: 'change_building', subject: 'school', after: SCHOOL })
})

test('what the building cannot be is refused with the reason, and what was typed stays', async t => {
  const { box, post } = await open(t)
  const before = box.stored()
  const wrong = await post('/site', '/site', { ...SCHOOL, timezone: 'Berlin <b>' })
  t.is(wrong.status, 422)
  const text = await wrong.text()
  t.regex(words(text), /&quot;Berlin &lt;b&gt;&quot; is no IANA zone\. Nothing was saved/)
  t.true(text.includes('value="School"'))
  box.now.devices = [{}]
  const used = await post('/site', '/first-steps', SCHOOL)
  t.is(used.status, 409)
  t.regex(words(await used.text()), /Building building-1 has devices or points; its id stays/)
  t.deepEqual(box.stored(), before)
  const renamed = await post('/site', '/site', { ...SCHOOL, building_id: 'building-1' })
  t.is(renamed.status, 303, 'a name may change later')
  t.like(box.stored().building, { building_id: 'building-1', name: 'School' })
})

test('an admin with an own password, a hub and devices each end their step; a first password and a lock do not', async t => {
  const { box, steps } = await open(t)
  const user = {
    name: '',
    role: 'admin',
    created_by: 'admin',
    created_at: 0,
    last_login_at: null,
    password_expires_at: null,
  } as const
  const password_hash = await hashPassword('a long password of ann')
  const put = (more: { must_change_password: boolean; locked_at: number | null }) =>
    box.context.users.put({ ...user, ...more, username: 'ann', password_hash })
  put({ must_change_password: true, locked_at: null })
  t.is((await steps())['people'], 'open')
  put({ must_change_password: false, locked_at: 1 })
  t.is((await steps())['people'], 'open')
  put({ must_change_password: false, locked_at: null })
  box.now.enrolment = { state: 'enrolled', hub: 'hub.example' }
  box.now.devices = [{}]
  t.like(await steps(), { people: 'done', hub: 'done', devices: 'done', building: 'open', commission: 'open' })
})

test('a viewer reads the steps and is told who makes the changes; the form is for an admin', async t => {
  const { box, get, post, page } = await open(t, 'viewer')
  const text = await page('/first-steps')
  t.regex(words(text), /You can read this\. The changes need an operator or an admin/)
  for (const path of ['/users', '/site', '/hub']) t.false(text.includes(`<a href="${path}">`), path)
  t.is((await get('/site')).status, 403)
  t.is((await post('/site', '/first-steps', SCHOOL)).status, 403)
  t.like(await (await get('/api/site')).json(), {
    ok: true,
    site_id: 'local',
    building: { building_id: 'building-1' },
    waits_for_start: false,
  })
  t.is(box.stored().building.building_id, 'building-1')
})

test('API.md of the appliance lists the routes of the building with their role and problems', t => {
  const text = readFileSync(new URL('../../../appliance/API.md', import.meta.url), 'utf8')
  const routes = siteRoutes({} as never, {} as never).filter(({ path }) => path.startsWith('/api/'))
  t.is(routes.length, 2)
  for (const { method, path, auth, problems = [] } of routes) {
    const row = text.split('\n').find(line => line.startsWith(`| ${method} | \`${path}\` | ${auth} |`))
    t.truthy(row, path)
    t.deepEqual([...row!.matchAll(/`([a-z_]+)`/g)].map(([, code]) => code!).toSorted(), [...problems].toSorted())
    for (const code of problems) t.true(code in PROBLEMS)
  }
})
