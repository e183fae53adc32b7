import anyTest, { type TestFn } from 'ava'
import { paramRoutes } from '#shared/central/api/fdd/params.ts'
import { baselineRoutes } from '#shared/central/api/fdd/baselines.ts'
import { findingRoutes } from '#shared/central/api/fdd/findings.ts'
import { quantityRoutes } from '#shared/central/api/fdd/quantities.ts'
import { NOTE_MAX } from '#shared/central/commands/command.ts'
import { SNOOZE_MAX } from '#shared/central/commands/snoozes.ts'
import type { CentralParts } from '#shared/central/context.ts'
import { formatInstant, HOUR } from '#shared/core/time.ts'
import { NOW } from '../../../support/page-fixture.ts'
import { signedIn } from '../../../support/signed-in.ts'
import { openSite, PASSWORDS, type TestSite } from '../../../support/sites/page-site.ts'
import { keepBaselines } from '../pages/tuning-fixture.ts'

const test = anyTest as TestFn<{ site: TestSite }>
test.before(async t => {
  const site = await openSite({
    product: 'appliance',
    more: (_layout, context) =>
      [paramRoutes, baselineRoutes, findingRoutes, quantityRoutes].flatMap(routes => routes(context as CentralParts)),
  })
  keepBaselines(site.context)
  t.context = { site }
})
test.after.always(t => t.context.site.close())

const KEY = { building_id: 'school', equipment_id: 'ahu-1', rule_id: 'AHU-SUPPLY-WARM', name: 'usual' }
const SETTING = { building_id: 'school', rule_id: 'AHU-SUPPLY-WARM', param: 'tolerance', scope: 'site', value: 2 }
const SET = '/params/AHU-SUPPLY-WARM'
const FAULT = '/faults/f-cooling'
const FINDING = '/api/fdd/findings/f-cooling'
type Ask = [path: string, body: Record<string, unknown>]

/** Sends JSON as a signed-in browser does. */
async function send(site: TestSite, method: string, [path, body]: Ask): Promise<number> {
  const headers = { origin: site.url, 'content-type': 'application/json' }
  const login = await fetch(`${site.url}/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { ...headers, accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ username: 'agent', password: PASSWORDS.agent, next: '/' }).toString(),
  })
  const cookie = login.headers
    .getSetCookie()
    .map(one => one.split(';')[0]!)
    .join('; ')
  return (await fetch(site.url + path, { method, headers: { ...headers, cookie }, body: JSON.stringify(body) })).status
}

const newestRow = ({ context }: TestSite) => {
  const { action, subject, after } = context.audit.list({ limit: 1 })[0]!
  return { action, subject, after }
}

const SAME: [title: string, from: string, form: Ask, method: string, json: Ask][] = [
  ['a note', FAULT, [`${FAULT}/note`, { note: ' filter ' }], 'POST', [`${FINDING}/note`, { note: ' filter ' }]],
  ['an acknowledgement', FAULT, [`${FAULT}/ack`, {}], 'POST', [`${FINDING}/ack`, {}]],
  ['a reason', FAULT, [`${FAULT}/not-a-fault`, { reason: 'x ' }], 'POST', [`${FINDING}/not-a-fault`, { reason: 'x ' }]],
  [
    'a snooze',
    FAULT,
    [`${FAULT}/snooze`, { hours: '4' }],
    'POST',
    [`${FINDING}/snooze`, { until: formatInstant(NOW + 4 * HOUR) }],
  ],
  [
    'a parameter',
    SET,
    [`${SET}/set`, { building: 'school', param: 'tolerance', where: 'site', value: '2', role: '', note: ' hot ' }],
    'PUT',
    ['/api/fdd/params', { ...SETTING, note: ' hot ' }],
  ],
  [
    'a reset of a baseline',
    '/baselines',
    ['/baselines/reset', { ...KEY, role: '', note: 'new valve ' }],
    'POST',
    ['/api/fdd/baselines/reset', { ...KEY, note: 'new valve ' }],
  ],
  [
    'energy prices',
    '/quantities',
    ['/quantities/prices', { building_id: 'school', currency: 'EUR', electricity: '0.3', fuel: '' }],
    'PUT',
    ['/api/model/prices', { building_id: 'school', currency: 'EUR', electricity: 0.3 }],
  ],
]

for (const [title, from, [path, fields], method, json] of SAME) {
  test.serial(`${title} leaves the same audit row from the page as from the API`, async t => {
    const { site } = t.context
    const { post } = await signedIn(site.url, 'agent', PASSWORDS.agent)
    t.is((await post(path, from, fields as Record<string, string>)).status, 303)
    const byPage = newestRow(site)
    const rows = () => site.context.audit.list({ limit: 1000 }).filter(({ action }) => action === byPage.action).length
    const count = rows()
    t.is(await send(site, method, json), 200)
    t.is(rows(), count + 1)
    t.deepEqual(newestRow(site), byPage)
  })
}

const LONG = 'x'.repeat(NOTE_MAX + 1)
const REFUSED: [title: string, from: string, form: Ask, method: string, json: Ask, code: number][] = [
  ['a note over the limit', FAULT, [`${FAULT}/note`, { note: LONG }], 'POST', [`${FINDING}/note`, { note: LONG }], 400],
  [
    'a parameter with a note over the limit',
    SET,
    [`${SET}/set`, { building: 'school', param: 'tolerance', where: 'site', value: '2', role: '', note: LONG }],
    'PUT',
    ['/api/fdd/params', { ...SETTING, note: LONG }],
    400,
  ],
  [
    'a reset without a reason',
    '/baselines',
    ['/baselines/reset', { ...KEY, role: '', note: ' ' }],
    'POST',
    ['/api/fdd/baselines/reset', { ...KEY, note: ' ' }],
    400,
  ],
]

for (const [title, from, [path, fields], method, json, code] of REFUSED) {
  test.serial(`${title} is refused by page and API`, async t => {
    const { site } = t.context
    const { post } = await signedIn(site.url, 'agent', PASSWORDS.agent)
    t.is((await post(path, from, fields as Record<string, string>)).status, code)
    t.is(await send(site, method, json), code)
  })
}

test.serial('a snooze of more than 30 days is refused by page and API', async t => {
  const { site } = t.context
  const { post } = await signedIn(site.url, 'agent', PASSWORDS.agent)
  t.is((await post(`${FAULT}/snooze`, FAULT, { hours: String(SNOOZE_MAX / HOUR + 1) })).status, 400)
  t.is(await send(site, 'POST', [`${FINDING}/snooze`, { until: formatInstant(NOW + SNOOZE_MAX + HOUR) }]), 422)
  t.is(await send(site, 'POST', [`${FINDING}/snooze`, { until: formatInstant(NOW + SNOOZE_MAX) }]), 200)
})
