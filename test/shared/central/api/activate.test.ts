import test from 'ava'
import { PASSWORDS, startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

let site: TestCentral
test.before(async () => {
  site = await startCentral()
})
test.after.always(() => site?.close())

const RULE = 'AHU-ALWAYS-ON'
const PATH = `/api/fdd-rules/${RULE}/activate`
const stateOf = ({ central }: TestCentral) => central.context.ruleStates.list().find(({ rule_id }) => rule_id === RULE)
const auditRows = () => site.central.context.audit.list({ limit: 1000 }).filter(({ action }) => action === 'activate_rule').length

/** @source the service specification, Data and model: any method */
for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']) {
  test.serial(`${method} with a token activates and deactivates a rule, and leaves an audit row each time`, async t => {
    const before = auditRows()
    for (const active of [false, true]) {
      const { status, body } = await site.call('operator', method, `${PATH}?active=${active}`)
      t.is(status, 200)
      if (method !== 'HEAD') t.like(body, { ok: true, rule_id: RULE, active, activated_by: 'agent' })
      t.is(stateOf(site)?.active, active)
    }
    t.is(auditRows(), before + 2)
    t.is((await site.call('viewer', method, PATH)).status, 403)
    t.is((await site.call('nobody', method, PATH)).status, 401)
  })
}

async function cookieOf(who: 'admin' | 'viewer'): Promise<string> {
  const { body } = await site.call('nobody', 'POST', '/api/auth/login', { username: who, password: PASSWORDS[who] })
  return `plenum_session=${body.token}`
}

test.serial("a link that carries an admin's cookie changes nothing, whoever follows it", async t => {
  const cookie = await cookieOf('admin')
  const before = stateOf(site)
  const origin = new URL(site.url).origin
  for (const method of ['GET', 'HEAD']) {
    for (const more of [{}, { origin, 'sec-fetch-site': 'same-origin' }, { authorization: 'Basic eDp5' }]) {
      const { status } = await site.call('nobody', method, `${PATH}?active=false`, undefined, { cookie, ...more })
      t.is(status, 401, `${method} ${JSON.stringify(more)}`)
    }
  }
  t.deepEqual(stateOf(site), before)
  const own = { cookie, origin, 'sec-fetch-site': 'same-origin' }
  t.is((await site.call('nobody', 'POST', `${PATH}?active=false`, undefined, own)).status, 200)
  const strange = { cookie, origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' }
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
    t.is((await site.call('nobody', method, PATH, undefined, strange)).status, 403, method)
  t.is(stateOf(site)?.active, false)
})

test.serial('where no login is configured a link changes nothing either', async t => {
  const open = await startCentral({ secret: undefined })
  t.teardown(() => open.close())
  t.is((await open.call('nobody', 'GET', `${PATH}?active=false`)).status, 401)
  t.is(stateOf(open), undefined)
  t.is((await open.call('nobody', 'GET', `${PATH}?active=false`, undefined, { authorization: 'Bearer any' })).status, 200)
  t.is(stateOf(open)?.active, false)
})

test.serial('a rule that is not there is named by every method, also when it is to be switched off', async t => {
  for (const method of ['GET', 'POST', 'DELETE']) {
    for (const active of [true, false]) {
      const { status, body } = await site.call('operator', method, `/api/fdd-rules/NOTHING/activate?active=${active}`)
      t.deepEqual([status, body.code], [404, 'unknown_rule'])
    }
  }
})
