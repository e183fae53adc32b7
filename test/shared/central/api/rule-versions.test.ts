/** Rules that are tried before they are deployed, and texts that are gone back to, over real HTTP. */
import test from 'ava'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { airHandler, table, zipForm, zipOf } from '../../../support/packages/packages.ts'
import { crookedRule, failingRule, warmRule } from '../../../support/rule-texts.ts'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

const START = Date.UTC(2026, 2, 1, 6)
const DAYS = 3
const RULE = 'AHU-ALWAYS-ON'
/** Three days of five minutes: 55 °F, each day from the sixth to the seventh hour 75 °F. */
const supplyAir = Array.from({ length: (DAYS * DAY) / (5 * MINUTE) }, (_, i) => START + i * 5 * MINUTE).map(at => {
  const hour = ((at - START) % DAY) / HOUR
  return `${new Date(at).toISOString()},${hour >= 6 && hour < 7 ? 75 : 55},40,1`
})

let site: TestCentral
test.before(async () => {
  site = await startCentral()
  const form = zipForm(await zipOf(airHandler(table(supplyAir))))
  const { body } = await site.call('operator', 'POST', '/api/csv/import/preflight', form)
  const done = await site.call('operator', 'POST', '/api/csv/import/execute', { session_id: body.session_id, confirm: true })
  if (done.status !== 200) throw new Error(done.text)
})
test.after.always(() => site?.close())

const deploy = (yaml: string, more: object = {}, query = '') =>
  site.call('operator', 'POST', `/api/rules/batch${query}`, { confirm: true, rules: [{ yaml, ...more }] })
const versions = async (id = 'TEST-WARM') => (await site.call('viewer', 'GET', `/api/fdd-rules/${id}/versions`)).body
const limitOf = async (id = 'TEST-WARM') =>
  (await site.call('viewer', 'GET', `/api/fdd-rules/${id}`)).body.rule.params.limit?.default
const goBack = (to: string, more: object = {}, id = 'TEST-WARM') =>
  site.call('operator', 'POST', `/api/fdd-rules/${id}/roll-back`, { to, confirm: true, ...more })
const files = async () => (await site.call('admin', 'GET', '/rules')).body.files.filter(({ shipped }: any) => !shipped)
const tryOut = (yaml: string, more: object = {}) =>
  site.call('operator', 'POST', '/api/fdd/backtest', { building_id: 'b1', yaml, days: DAYS, ...more })

test.serial('a text is tried on history before anything is deployed, and nothing of it is stored', async t => {
  const before = (await site.call('viewer', 'GET', '/api/fdd-rules?limit=1000')).text
  const { status, body, text } = await tryOut(warmRule())
  t.is(status, 200, text)
  t.like(body, { rule_id: 'TEST-WARM', is_deployed: false, counts: { before: 0, after: 3, appears: 3 } })
  t.is((await site.call('viewer', 'GET', '/api/fdd-rules?limit=1000')).text, before)
  t.deepEqual(await files(), [])
  t.deepEqual((await site.call('viewer', 'GET', '/api/fdd/findings')).body.findings, [])
  t.is((await versions()).code, 'unknown_rule')
})

test.serial('a text that does not check is refused with its places, and so are a viewer and mixed requests', async t => {
  const refused = await tryOut(crookedRule)
  t.deepEqual([refused.status, refused.body.code], [422, 'rule_invalid'])
  t.is(refused.body.errors[0].row, crookedRule.split('\n').findIndex(line => line.startsWith('when')) + 1)
  t.is((await tryOut(failingRule)).status, 200, 'one whose tests fail is tried all the same')
  t.is((await site.call('viewer', 'POST', '/api/fdd/backtest', { building_id: 'b1', yaml: warmRule() })).status, 403)
  t.is((await tryOut(warmRule(), { params: { limit: 80 } })).status, 400)
  t.is((await tryOut(warmRule(), { building_id: 'b9' })).body.code, 'unknown_building')
})

test.serial('a rule without a file name goes into the file of its id, and stays in its file', async t => {
  t.deepEqual((await deploy(warmRule(), {}, '?dry_run=true')).body.files.rules, [
    { filename: 'TEST-WARM.yaml', rule_id: 'TEST-WARM', title: 'Supply air above 70 °F', equipment: ['ahu'], tests: 2 },
  ])
  t.is((await versions()).code, 'unknown_rule')
  t.is((await deploy(warmRule('TEST-NAMED'), { filename: 'named.yaml' })).status, 200)
  t.is((await deploy(warmRule('TEST-NAMED', 60))).status, 200)
  t.deepEqual(
    (await files()).map(({ filename }: any) => filename),
    ['named.yaml'],
  )
  const other = await deploy(warmRule('named'))
  t.deepEqual([other.status, other.body.code], [422, 'rule_invalid'])
  t.regex(other.body.detail, /named\.yaml holds TEST-NAMED/)
})

test.serial('each deployed text is a version with who and when, and an earlier one is deployed again', async t => {
  for (const limit of [70, 65, 60]) t.is((await deploy(warmRule('TEST-WARM', limit))).status, 200)
  await deploy(warmRule('TEST-WARM', 60))
  const { versions: listed } = await versions()
  t.deepEqual(
    listed.map(({ deployed_by, is_current }: any) => [deployed_by, is_current]),
    [
      ['agent', true],
      ['agent', false],
      ['agent', false],
    ],
  )
  t.true(Math.abs(Date.parse(listed[0].deployed_at) - Date.now()) < MINUTE)
  const { body } = await site.call('viewer', 'GET', `/api/fdd-rules/TEST-WARM/text?version=${listed[2].sha256}`)
  t.is(body.yaml, warmRule('TEST-WARM', 70))
  t.is((await goBack(listed[2].sha256, { confirm: undefined })).body.code, 'confirm_required')
  t.is(await limitOf(), 60)
  t.is((await goBack(listed[2].sha256)).status, 200)
  t.is(await limitOf(), 70)
  t.deepEqual(
    (await versions()).versions.map(({ sha256, is_current }: any) => [sha256, is_current]),
    [
      [listed[2].sha256, true],
      [listed[0].sha256, false],
      [listed[1].sha256, false],
    ],
  )
  const [row] = (await site.call('admin', 'GET', '/api/audit?action=roll_back_rule')).body.rows
  t.like(row, { actor: 'agent', subject: 'TEST-WARM.yaml', after: { deployed: ['TEST-WARM.yaml'] } })
})

test.serial('a text that was stored by hand is a version once it is replaced', async t => {
  const byHand = warmRule('TEST-HAND', 62)
  writeFileSync(join(site.workspace, 'rules', 'hand.yaml'), byHand)
  t.is(await limitOf('TEST-HAND'), 62)
  t.is((await deploy(warmRule('TEST-HAND', 64))).status, 200)
  const { versions: listed } = await versions('TEST-HAND')
  t.deepEqual(
    listed.map(({ deployed_by, deployed_at }: any) => [deployed_by, deployed_at === null]),
    [
      ['agent', false],
      [null, true],
    ],
  )
  t.is((await goBack(listed[1].sha256, {}, 'TEST-HAND')).status, 200)
  t.is(await limitOf('TEST-HAND'), 62)
})

test.serial('an own rule in the place of a shipped one gives it back, and can be taken up again', async t => {
  t.deepEqual(await versions(RULE), { ok: true, rule_id: RULE, shipped: true, versions: [] })
  t.is((await goBack('shipped', {}, RULE)).body.code, 'conflict')
  t.is((await deploy(warmRule(RULE))).status, 200)
  t.like(await versions(RULE), { shipped: true, versions: [{ is_current: true }] })
  t.is((await goBack('shipped', {}, RULE)).status, 200)
  t.is(await limitOf(RULE), undefined)
  const { versions: listed } = await versions(RULE)
  t.deepEqual(
    listed.map(({ is_current }: any) => is_current),
    [false],
  )
  t.is((await goBack(listed[0].sha256, {}, RULE)).status, 200)
  t.is(await limitOf(RULE), 70)
  t.is((await goBack('shipped', {}, 'TEST-WARM')).body.code, 'conflict')
  t.is((await goBack('0'.repeat(64))).body.code, 'not_found')
  t.is((await goBack('nonsense')).status, 400)
})

test.serial('the text of a rule comes with its explanation, causes, reasons and tests', async t => {
  const { body } = await site.call('viewer', 'GET', '/api/fdd-rules/NOTHING/text')
  t.is(body.code, 'unknown_rule')
  const { body: own } = await site.call('viewer', 'GET', '/api/fdd-rules/TEST-WARM/text')
  t.like(own, {
    yaml: warmRule('TEST-WARM', 70),
    explains: 'The supply air had {sa_t} for {duration}.',
    causes: [{ component: 'cooling_coil', weight: 0.6 }],
  })
  t.deepEqual(
    own.tests.map(({ name }: any) => name),
    ['warm for an hour', 'cool'],
  )
  t.true(own.words.includes('Fault when: sa_t > limit.'))
  t.is((await site.call('viewer', 'GET', `/api/fdd-rules/TEST-WARM/text?version=x`)).body.code, 'not_found')
})

test.serial('viewers read versions and go back to none, and a token of one building does neither', async t => {
  const body = { to: 'shipped', confirm: true }
  t.is((await site.call('viewer', 'POST', `/api/fdd-rules/${RULE}/roll-back`, body)).status, 403)
  const made = await site.call('admin', 'POST', '/api/tokens', {
    name: 'of b1',
    role: 'operator',
    scope: 'role',
    building_id: 'b1',
  })
  const asToken = (method: string, path: string, sent?: unknown) =>
    site.call('nobody', method, path, sent, { authorization: `Bearer ${made.body.secret}` })
  for (const path of ['versions', 'text']) t.is((await asToken('GET', `/api/fdd-rules/${RULE}/${path}`)).status, 403)
  t.is((await asToken('POST', `/api/fdd-rules/${RULE}/roll-back`, body)).status, 403)
  t.is((await asToken('POST', '/api/rules/batch', { confirm: true, rules: [{ yaml: warmRule() }] })).status, 403)
  t.is((await asToken('POST', '/api/fdd/backtest', { building_id: 'b1', yaml: warmRule(), days: 1 })).status, 200)
  t.is((await asToken('POST', '/api/fdd/backtest', { building_id: 'b2', yaml: warmRule() })).status, 403)
})
