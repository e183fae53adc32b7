import test from 'ava'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DAY, formatInstant, HOUR } from '#shared/core/time.ts'
import { brokenYaml, crookedRule, failingRule, warmRule } from '../../../support/rule-texts.ts'
import type { TestCentral } from '../../../support/sites/central-site.ts'
import { deployTo, ISO, START, startWarm, WARM } from '../../../support/sites/warm-site.ts'

let site: TestCentral
const deploy = (rules: object[], more: object = {}, query = '') => deployTo(site, rules, more, query)
const run = (more: object = {}) => site.call('operator', 'POST', '/api/fdd/run', { building_id: 'b1', ...more })
const deployed = () => readdirSync(join(site.workspace, 'rules')).toSorted()

test.before(async () => {
  site = await startWarm()
})
test.after.always(() => site?.close())

test.serial('a run finds the fault, says what could not be evaluated, and stores both', async t => {
  const answer = await run({ rule_ids: ['TEST-WARM', 'TEST-NEEDY'], from: ISO(START), to: ISO(START + 2 * DAY) })
  t.is(answer.status, 200, answer.text)
  t.like(answer.body, { ok: true, rules_run: 2, rules_succeeded: 2, rules_failed: 0, rules_skipped: 0, failed: [] })
  const [needy, warm] = answer.body.results
  t.like(needy, {
    rule_id: 'TEST-NEEDY',
    equipment_id: 'AHU-1',
    status: 'not_evaluated',
    state: 'no_data',
    reason: 'missing_role',
    missing_roles: ['ra_rh'],
  })
  t.deepEqual(answer.body.counts, { fault: 1, pass: 0, gated: 0, no_data: 1 })
  t.like(warm, { rule_id: 'TEST-WARM', status: 'fault', state: 'fault', fault_secs: 3 * 3600, episodes: 1 })
  t.deepEqual(
    answer.body.timings.map(({ step }: { step: string }) => step),
    ['rules', 'history', 'evaluation'],
  )

  const { body } = await site.call('viewer', 'GET', '/api/fdd/findings?building_id=b1')
  t.is(body.findings.length, 1)
  const [finding] = body.findings
  t.like(finding, {
    building_id: 'b1',
    equipment_id: 'AHU-1',
    rule_id: 'TEST-WARM',
    from: ISO(WARM.from).replace('.000Z', 'Z'),
    to: ISO(WARM.to).replace('.000Z', 'Z'),
    duration_secs: 3 * 3600,
    state: 'cleared',
    ack: 'unacked',
    overrides: [],
  })
  t.is(Math.round(finding.evidence.inputs.sa_t * 10) / 10, 26.7, 'inputs are in canonical units')
  t.deepEqual(
    site.told.map(({ finding_id }) => finding_id),
    [finding.finding_id],
  )
  t.deepEqual((await site.call('viewer', 'GET', `/api/fdd/findings/${finding.finding_id}`)).body.finding, finding)

  const { body: equipment } = await site.call('viewer', 'GET', '/api/fdd/equipment?building_id=b1')
  t.like(equipment, { count: 1 })
  t.like(equipment.equipment[0], { equipment_id: 'AHU-1', roles: ['fan_status', 'oa_t', 'sa_t'], missing_roles: ['ra_rh'] })
  t.deepEqual(equipment.equipment[0].results, { fault: 1, pass: 0, gated: 0, no_data: 1 })
})

test.serial('the same run again gives the same findings, and a person’s words stay', async t => {
  const before = (await site.call('viewer', 'GET', '/api/fdd/findings')).body.findings
  const path = `/api/fdd/findings/${before[0].finding_id}`
  const until = formatInstant(Math.ceil(Date.now() / HOUR) * HOUR + HOUR)
  t.is((await site.call('operator', 'POST', `${path}/ack`, { assignee: 'Kim' })).body.finding.ack, 'acked')
  t.is((await site.call('operator', 'POST', `${path}/note`, { note: 'valve ordered' })).status, 200)
  t.is((await site.call('operator', 'POST', `${path}/snooze`, { until, reason: 'waits for a part' })).status, 200)
  t.is((await site.call('operator', 'POST', `${path}/not-a-fault`, { reason: 'commissioning' })).status, 200)
  await run({ rule_ids: ['TEST-WARM'], from: ISO(START), to: ISO(START + 2 * DAY) })
  const [after, ...more] = (await site.call('viewer', 'GET', '/api/fdd/findings')).body.findings
  t.deepEqual(more, [])
  t.deepEqual(after, {
    ...before[0],
    ack: 'acked',
    assignee: 'Kim',
    note: 'valve ordered',
    snoozed_until: until,
    snooze_reason: 'waits for a part',
    snooze_scope: 'episode',
    snoozed_by: after.snoozed_by,
    not_a_fault: 'commissioning',
  })
  const awake = (await site.call('operator', 'POST', `${path}/snooze`, { until: null })).body.finding
  t.is(awake.snoozed_until, undefined)
  t.is(awake.snooze_reason, undefined)
  t.is((await site.call('operator', 'POST', `${path}/snooze`, { until: 'tomorrow' })).body.code, 'bad_request')
  t.is((await site.call('operator', 'POST', '/api/fdd/findings/nothing/ack', {})).body.code, 'unknown_finding')
})

test.serial('parameters of a request change a run, and its evidence says so', async t => {
  const { body } = await run({
    rule_ids: ['TEST-WARM'],
    params: { 'TEST-WARM': { limit: 90 } },
    from: ISO(START),
    to: ISO(START + DAY),
  })
  t.is(body.results[0].status, 'pass')
  await run({ rule_ids: ['TEST-WARM'], from: ISO(START), to: ISO(START + 2 * DAY) })
})

test.serial('without a span a run looks back from the end of history, with every active rule', async t => {
  const { body } = await run()
  t.is(body.to, '2026-03-03T05:55:00.001Z')
  t.is(body.from, '2026-02-27T06:00:00Z', 'from the beginning of the building day three days before')
  t.true(body.rules_run > 20, `${body.rules_run} rules`)
  t.true(body.rules_skipped > 0, 'rules for boxes have no equipment here')
  const { body: runs } = await site.call('viewer', 'GET', '/api/fdd/runs?building_id=b1&limit=1')
  t.like(runs.runs[0], { run_id: body.run_id, trigger: 'request', to: body.to })
  t.truthy(runs.next_cursor)
})

for (const [what, params, pointer] of [
  ['of a rule that is not there', { NOTHING: { limit: 1 } }, '/params/NOTHING'],
  ['of a rule that is not run', { 'FC-1': { limit: 1 } }, '/params/FC-1'],
  ['that the rule does not have', { 'TEST-WARM': { limit: 90, 'a/b': 1 } }, '/params/TEST-WARM/a~1b'],
  ['beyond its limits', { 'TEST-WARM': { limit: 1e9 } }, '/params/TEST-WARM/limit'],
  ['with the name of something else', { 'TEST-WARM': { constructor: 1 } }, '/params/TEST-WARM/constructor'],
] as const) {
  test.serial(`a parameter ${what} is refused before the run, with its place`, async t => {
    const runs = () => site.central.context.results.runs({ limit: 1 })[0]?.run_id
    const before = runs()
    const fault = site.central.context.runs.status().last_error
    const { status, body } = await run({ rule_ids: ['TEST-WARM'], params })
    t.deepEqual([status, body.code], [422, 'invalid'])
    t.deepEqual(
      body.errors.map((error: { pointer: string }) => error.pointer),
      [pointer],
    )
    t.is(runs(), before)
    t.is(site.central.context.runs.status().last_error, fault, 'what a caller did wrong is no fault of the runs')
  })
}

test.serial('a list that names nothing is refused, and does not stand for everything', async t => {
  const runs = () => site.central.context.runs.list({ limit: 1 })[0]?.run.run_id
  const before = runs()
  for (const list of ['rule_ids', 'equipment_ids']) {
    const { status, body } = await run({ [list]: [] })
    t.deepEqual([status, body.code, body.errors[0].pointer], [400, 'bad_request', `/${list}`])
  }
  const { status, body } = await site.call('operator', 'POST', '/api/rules/batch', { confirm: true, rules: [] })
  t.deepEqual([status, body.code, body.errors[0].pointer], [400, 'bad_request', '/rules'])
  t.is(runs(), before)
})

for (const [what, body, status, code] of [
  ['a day that its month does not have', { from: '2026-02-30T00:00:00Z' }, 400, 'bad_request'],
  ['a building that is not there', { building_id: 'nowhere' }, 404, 'unknown_building'],
  ['equipment that is not there', { equipment_ids: ['AHU-9'] }, 404, 'unknown_equipment'],
  ['a rule that is not there', { rule_ids: ['NOTHING'] }, 404, 'unknown_rule'],
  ['a span of no length', { from: ISO(START), to: ISO(START) }, 422, 'invalid'],
  ['a span of ten years', { from: '2016-03-01T00:00:00Z', to: ISO(START) }, 422, 'invalid'],
  ['a time without a zone', { from: '2026-03-01T00:00:00' }, 400, 'bad_request'],
  ['SQL', { sql: 'SELECT 1' }, 400, 'bad_request'],
] as const) {
  test.serial(`a run with ${what} is answered with ${code}`, async t => {
    const answer = await run(body)
    t.deepEqual([answer.status, answer.body.code], [status, code])
  })
}

test.serial('a second run of the same building is refused while the first lasts', async t => {
  // Which of the two arrives first is not known.
  const answers = await Promise.all([run(), run()])
  const [taken, refused] = answers.toSorted((a, b) => a.status - b.status)
  t.deepEqual([taken!.status, refused!.status, refused!.body.code], [200, 409, 'run_in_progress'])
})

for (const [what, rules, code, pattern] of [
  ['a dimension error', [{ filename: 'a.yaml', yaml: crookedRule }], 'rule_invalid', /a\.yaml:\d+:\d+ .*/],
  ['broken YAML', [{ filename: 'a.yaml', yaml: brokenYaml }], 'rule_invalid', /a\.yaml:\d+/],
  [
    'a test that fails',
    [{ filename: 'a.yaml', yaml: failingRule }],
    'rule_tests_failed',
    /warm for an hour: faults \[00:00-00:35\] expected/,
  ],
  [
    'one good file and one bad',
    [
      { filename: 'a.yaml', yaml: warmRule('TEST-A') },
      { filename: 'b.yaml', yaml: crookedRule },
    ],
    'rule_invalid',
    /b\.yaml/,
  ],
  [
    'one id in two files',
    [
      { filename: 'a.yaml', yaml: warmRule('TEST-A') },
      { filename: 'b.yaml', yaml: warmRule('TEST-A') },
    ],
    'rule_invalid',
    /both define TEST-A/,
  ],
  ['an id that another file has', [{ filename: 'a.yaml', yaml: warmRule() }], 'rule_invalid', /both define TEST-WARM/],
  ['a way out', [{ filename: '../a.yaml', yaml: warmRule('TEST-A') }], 'bad_request', /filename/],
  ['no YAML file', [{ filename: 'a.txt', yaml: warmRule('TEST-A') }], 'bad_request', /filename/],
] as const) {
  test.serial(`a batch with ${what} deploys nothing`, async t => {
    const before = deployed()
    const answer = await deploy([...rules])
    t.is(answer.body.code, code, answer.text)
    t.regex(answer.body.detail, pattern)
    t.deepEqual(deployed(), before)
  })
}

test.serial('a batch says what is new and what is unchanged, needs its confirmation, and may be tried dry', async t => {
  const rules = [
    { filename: 'warm.yaml', yaml: warmRule() },
    { filename: 'hot.yaml', yaml: warmRule('TEST-HOT', 90) },
  ]
  t.is((await deploy(rules, { confirm: undefined })).body.code, 'confirm_required')
  t.like((await deploy(rules, {}, '?dry_run=true')).body, { deployed: 1, unchanged: 1 })
  t.deepEqual(deployed(), ['needy.yaml', 'warm.yaml'])
  t.like((await deploy(rules)).body, { ok: true, deployed: 1, unchanged: 1, errors: [] })
  t.deepEqual(deployed(), ['hot.yaml', 'needy.yaml', 'warm.yaml'])
  t.like((await deploy(rules)).body, { deployed: 0, unchanged: 2 })
})

test.serial('a rule that is switched off does not run, one that fails its tests is not switched on', async t => {
  const activate = (id: string, query = '') => site.call('operator', 'POST', `/api/fdd-rules/${id}/activate${query}`)
  t.like((await activate('TEST-HOT', '?active=false')).body, {
    ok: true,
    rule_id: 'TEST-HOT',
    active: false,
    activated_by: 'agent',
  })
  t.false((await run()).body.results.some((result: { rule_id: string }) => result.rule_id === 'TEST-HOT'))
  t.is((await activate('TEST-HOT')).body.active, true)
  t.true((await run()).body.results.some((result: { rule_id: string }) => result.rule_id === 'TEST-HOT'))
  writeFileSync(join(site.workspace, 'rules', 'failing.yaml'), failingRule)
  const refused = await activate('TEST-FAILING')
  t.deepEqual([refused.status, refused.body.code], [422, 'rule_tests_failed'])
  t.regex(refused.body.detail, /warm for an hour/)
  t.is((await activate('NOTHING')).body.code, 'unknown_rule')
  const { body } = await site.call('viewer', 'GET', '/api/fdd-rules?limit=1000')
  t.like(
    body.rules.find(({ id }: { id: string }) => id === 'TEST-HOT'),
    { filename: 'hot.yaml', active: true, changed_by: 'agent' },
  )
})

test.serial('a rule file that is broken by hand fails alone', async t => {
  writeFileSync(join(site.workspace, 'rules', 'broken.yaml'), crookedRule)
  const { status, body } = await run()
  t.is(status, 200)
  t.like(body, { rules_failed: 1 })
  t.regex(body.failed[0].rule_id, /broken\.yaml$/)
  t.true(body.results.some((result: { rule_id: string; status: string }) => result.rule_id === 'TEST-WARM'))
  const { body: listed } = await site.call('viewer', 'GET', '/api/fdd-rules')
  t.regex(listed.errors[0].filename, /broken\.yaml$/)
})

test.serial('findings are filtered and cut into pages', async t => {
  const get = async (query: string) => (await site.call('viewer', 'GET', `/api/fdd/findings?${query}`)).body
  t.is((await get('state=active&rule_id=TEST-WARM')).findings.length, 0)
  t.is((await get('rule_id=TEST-WARM')).findings.length, 1)
  t.is((await get('rule_id=TEST-WARM&from=2026-03-01T15:00:00Z')).findings.length, 0)
  t.is((await get('equipment_id=AHU-9')).findings.length, 0)
  t.is((await get('state=broken')).code, 'bad_request')
  t.is((await get('cursor=bm90aGluZw')).code, 'bad_cursor')
  const all = (await get('limit=1000')).findings.map(({ finding_id }: { finding_id: string }) => finding_id)
  const paged: string[] = []
  for (let cursor: string | undefined, first = true; first || cursor; first = false) {
    const page = await get(`limit=1${cursor ? `&cursor=${cursor}` : ''}`)
    paged.push(page.findings[0].finding_id)
    cursor = page.next_cursor
  }
  t.deepEqual(paged, all)
})

test.serial('the latest results of one piece of equipment are cut into pages, and another list is not gone on with', async t => {
  const get = async (query: string) => (await site.call('viewer', 'GET', `/api/fdd/results?building_id=b1${query}`)).body
  const all = (await get('&limit=1000')).results.map(({ equipment_id, rule_id }: Pair) => ({ equipment_id, rule_id }))
  const [{ equipment_id }] = all as [Pair]
  const paged: Pair[] = []
  for (let cursor = '', first = true; first || cursor; first = false) {
    const page = await get(`&limit=1&equipment_id=${equipment_id}${cursor && `&cursor=${cursor}`}`)
    paged.push(...page.results.map((one: Pair) => ({ equipment_id: one.equipment_id, rule_id: one.rule_id })))
    cursor = page.next_cursor
  }
  t.true(paged.length > 1)
  t.deepEqual(
    paged,
    all.filter((one: Pair) => one.equipment_id === equipment_id),
  )
  t.deepEqual((await get('&equipment_id=A')).results, [])
  const other = Buffer.from('A TEST-HOT').toString('base64url')
  t.is((await get(`&equipment_id=${equipment_id}&cursor=${other}`)).code, 'bad_cursor')
})
type Pair = { equipment_id: string; rule_id: string }

const older = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  site.call('nobody', method, path, body, { authorization: 'Bearer key-of-the-older-api', ...headers })
test.serial('the older API takes its key, changes settings and asks for a run', async t => {
  t.like((await older('GET', '/config')).body, {
    rule_interval_hours: 3,
    lookback_days: 3,
    rules_dir: join(site.workspace, 'rules'),
  })
  t.is((await older('PUT', '/config', { lookback_days: 0 })).status, 400)
  t.is((await older('PUT', '/config', { rules_dir: '/etc' })).body.code, 'invalid')
  const changed = await older('PUT', '/config', { lookback_days: 5 })
  t.like(changed.body, { ok: true, lookback_days: 5, rule_interval_hours: 3 })
  t.deepEqual((await older('PUT', '/config', (await older('GET', '/config')).body)).body, changed.body)
  const trigger = join(site.workspace, 'config', '.run_fdd_now')
  t.like((await older('GET', '/run-fdd/status')).body, { running: false, triggered: false })
  const asked = await older('POST', '/run-fdd')
  t.deepEqual([asked.status, asked.body], [202, { ok: true, status: 'triggered' }])
  t.true(existsSync(trigger))
  t.true((await older('GET', '/run-fdd/status')).body.triggered)
  t.is((await site.call('operator', 'POST', '/run-fdd')).status, 403)
})

test.serial('the older API lists, takes, gives and removes rule files', async t => {
  const yaml = { 'content-type': 'application/yaml' }
  t.is((await older('PUT', '/rules/older.yaml', brokenYaml, yaml)).body.code, 'rule_invalid')
  t.is((await older('PUT', '/rules/older.yaml', warmRule('TEST-OLDER'), yaml)).body.changed, true)
  t.is((await older('GET', '/rules/older.yaml')).text, warmRule('TEST-OLDER'))
  t.true((await older('GET', '/rules')).body.files.some(({ filename }: { filename: string }) => filename === 'older.yaml'))
  t.true((await older('POST', '/rules/sync-definitions')).body.count > 20)
  t.is((await older('DELETE', '/rules/older.yaml')).status, 200)
  t.is((await older('GET', '/rules/older.yaml')).body.code, 'unknown_rule')
  for (const name of ['..%2Fsecret.yaml', '.hidden.yaml', 'x.txt']) t.is((await older('GET', `/rules/${name}`)).status, 400, name)
})

test.serial('what a crash left of a deployment is finished when it was decided, and dropped when it was not', async t => {
  const folder = join(site.workspace, 'rules')
  mkdirSync(join(folder, '.decided-1'))
  writeFileSync(join(folder, '.decided-1', 'late.yaml'), warmRule('TEST-LATE'))
  writeFileSync(join(folder, '.decided-1', 'removals.json'), '["hot.yaml"]')
  mkdirSync(join(folder, '.writing-2'))
  writeFileSync(join(folder, '.writing-2', 'half.yaml'), 'id: TEST-HA')
  const { files } = (await older('GET', '/rules')).body
  const names = files.map(({ filename }: { filename: string }) => filename)
  t.true(names.includes('late.yaml'))
  t.false(names.includes('hot.yaml'))
  t.deepEqual(
    deployed().filter(name => name.startsWith('.')),
    [],
  )
})
