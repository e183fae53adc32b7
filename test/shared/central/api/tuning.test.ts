import test from 'ava'
import { join } from 'node:path'
import { DAY, formatInstant, HOUR, MINUTE } from '#shared/core/time.ts'
import { main } from '#scripts/rules.ts'
import { airHandler, table, zipForm, zipOf } from '../../../support/packages/packages.ts'
import { warmRule } from '../../../support/rule-texts.ts'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

const START = Date.UTC(2026, 2, 1, 6)
const DAYS = 5
const ISO = (ms: number) => new Date(ms).toISOString()

/** Five days of five minutes: 55 °F, each day from the sixth to the seventh hour 75 °F, and 85 °F on the last day. */
const supplyAir = Array.from({ length: (DAYS * DAY) / (5 * MINUTE) }, (_, i) => START + i * 5 * MINUTE).map(at => {
  const hour = ((at - START) % DAY) / HOUR
  const warm = at >= START + (DAYS - 1) * DAY ? 85 : 75
  return `${ISO(at)},${hour >= 6 && hour < 7 ? warm : 55},40,1`
})

/** Compares the supply air's rise above outdoors with its own past. */
const driftRule = `id: TEST-DRIFT
title: Supply air drifts away
equipment: [ahu]
roles: { sa_t: degF, oa_t: degF }
params:
  tol: { default: 20, min: 1, max: 90, unit: K }
baseline:
  usual: { of: sa_t - oa_t, days: 10, min_days: 3, minimum: 1h, fallback: 5 K, tolerance_cold: 50 K }
when: abs(sa_t - oa_t - base(usual)) > tolerance(usual, tol)
persistence: 30m
severity: 3
explains: It was {sa_t - oa_t} above outdoors, usually {base(usual)}.
source: test
tests:
  - name: cold
    step: 5m
    sa_t: 55x12
    oa_t: 40x12
    status: pass
    faults: []
`

let site: TestCentral
const run = (more: object = {}) =>
  site.call('operator', 'POST', '/api/fdd/run', { building_id: 'b1', from: ISO(START), to: ISO(START + DAYS * DAY), ...more })
const limit = { building_id: 'b1', rule_id: 'TEST-WARM', param: 'limit' }
const put = (body: object, query = '') => site.call('operator', 'PUT', `/api/fdd/params${query}`, { ...limit, ...body })
const remove = (query: object) =>
  site.call('operator', 'DELETE', `/api/fdd/params?${new URLSearchParams({ ...limit, ...query } as Record<string, string>)}`)
const settings = async () => (await site.call('viewer', 'GET', '/api/fdd/params?building_id=b1')).body.settings
const sources = async () => {
  const { body } = await site.call('viewer', 'GET', '/api/fdd/findings?rule_id=TEST-WARM')
  return [...new Set(body.findings.map((one: any) => JSON.stringify(one.evidence.params.limit)))].map(text =>
    JSON.parse(text as string),
  )
}
const audited = async (action: string) => {
  const { body } = await site.call('admin', 'GET', '/api/audit?limit=100')
  return body.rows.filter((row: { action: string }) => row.action === action)
}

test.before(async () => {
  site = await startCentral()
  const { body } = await site.call(
    'operator',
    'POST',
    '/api/csv/import/preflight',
    zipForm(await zipOf(airHandler(table(supplyAir)))),
  )
  const done = await site.call('operator', 'POST', '/api/csv/import/execute', { session_id: body.session_id, confirm: true })
  if (done.status !== 200) throw new Error(done.text)
  const rules = [
    { filename: 'warm.yaml', yaml: warmRule() },
    { filename: 'drift.yaml', yaml: driftRule },
  ]
  const deployed = await site.call('operator', 'POST', '/api/rules/batch', { confirm: true, rules })
  if (deployed.status !== 200) throw new Error(deployed.text)
})
test.after.always(() => site?.close())

test.serial('a parameter is set for a site and for an equipment, the run takes the narrower, and evidence says so', async t => {
  await run({ rule_ids: ['TEST-WARM'] })
  t.deepEqual(await sources(), [{ value: 70, unit: 'degF', source: 'default' }])
  const { status, body } = await put({ scope: 'site', value: 60, note: 'comfort' })
  t.is(status, 200)
  t.like(body.setting, {
    scope: 'site',
    scope_id: 'site-1',
    site_id: 'site-1',
    value: 60,
    unit: 'degF',
    changed_by: 'agent',
    note: 'comfort',
  })
  await run({ rule_ids: ['TEST-WARM'] })
  t.deepEqual(await sources(), [{ value: 60, unit: 'degF', source: 'site' }])
  await put({ scope: 'equipment', scope_id: 'AHU-1', value: 80 })
  await run({ rule_ids: ['TEST-WARM'] })
  t.deepEqual(await sources(), [{ value: 80, unit: 'degF', source: 'equipment' }])
  const { body: uses } = await site.call('viewer', 'GET', '/api/fdd/params/TEST-WARM?building_id=b1')
  t.deepEqual(uses.params, [
    {
      param: 'limit',
      default: 70,
      min: 40,
      max: 100,
      unit: 'degF',
      in_use: [{ value: 80, source: 'equipment', equipment_ids: ['AHU-1'] }],
    },
  ])
})

test.serial('a changed and a removed setting say what was before, in the answer and in the audit', async t => {
  const { body } = await put({ scope: 'equipment', scope_id: 'AHU-1', value: 82 })
  t.like(body, { before: { value: 80 }, setting: { value: 82 } })
  t.like((await remove({ scope: 'equipment', scope_id: 'AHU-1' })).body.removed, { value: 82 })
  t.is((await remove({ scope: 'equipment', scope_id: 'AHU-1' })).body.code, 'not_found')
  const [changed] = await audited('set_param')
  t.like(changed, { actor: 'agent', subject: 'TEST-WARM limit equipment AHU-1', before: { value: 80 }, after: { value: 82 } })
  const [removed] = await audited('remove_param')
  t.like(removed, { before: { value: 82 }, after: null })
})

test.serial('a dry run says what would be and changes nothing', async t => {
  const [before, rows] = [await settings(), (await audited('set_param')).length]
  t.like((await put({ scope: 'type', scope_id: 'ahu', value: 90 }, '?dry_run=true')).body, { ok: true, setting: { value: 90 } })
  const { scope, scope_id } = before[0]
  t.like((await remove({ scope, scope_id, dry_run: 'true' })).body, { ok: true })
  t.deepEqual(await settings(), before)
  t.is((await audited('set_param')).length, rows)
})

for (const [what, body, status, code, pointer] of [
  ['out of bounds', { scope: 'site', value: 101 }, 422, 'invalid', '/value'],
  ['in another unit', { scope: 'site', value: 20, unit: 'degC' }, 422, 'invalid', '/unit'],
  ['of a parameter that there is not', { scope: 'site', param: 'nothing', value: 60 }, 422, 'invalid', '/param'],
  ['for a role, of a rule that runs over none', { scope: 'site', role: 'sa_t', value: 60 }, 422, 'invalid', '/role'],
  ['for a type that there is not', { scope: 'type', scope_id: 'toaster', value: 60 }, 422, 'invalid', '/scope_id'],
  ['for a type that is not named', { scope: 'type', value: 60 }, 422, 'invalid', '/scope_id'],
  ['for equipment that is not named', { scope: 'equipment', value: 60 }, 422, 'invalid', '/scope_id'],
  ['for another site', { scope: 'site', scope_id: 'elsewhere', value: 60 }, 422, 'invalid', '/scope_id'],
  ['for equipment that there is not', { scope: 'equipment', scope_id: 'AHU-9', value: 60 }, 404, 'unknown_equipment', undefined],
  ['of a rule that there is not', { scope: 'site', rule_id: 'NOTHING', value: 60 }, 404, 'unknown_rule', undefined],
  ['of a building that there is not', { scope: 'site', building_id: 'b9', value: 60 }, 404, 'unknown_building', undefined],
  ['of no scope', { value: 60 }, 400, 'bad_request', ''],
  ['without a number', { scope: 'site', value: '60' }, 400, 'bad_request', '/value'],
] as const) {
  test.serial(`a setting ${what} is answered with ${code}`, async t => {
    const answer = await put(body)
    t.deepEqual([answer.status, answer.body.code, answer.body.errors?.[0]?.pointer], [status, code, pointer])
  })
}

test.serial(
  'a setting that its rule no longer takes is shown with the reason, does not stop a run, and can be removed',
  async t => {
    t.is((await put({ scope: 'type', scope_id: 'ahu', value: 45 })).status, 200)
    const yaml = warmRule().replace('min: 40', 'min: 50')
    await site.call('operator', 'POST', '/api/rules/batch', { confirm: true, rules: [{ filename: 'warm.yaml', yaml }] })
    t.deepEqual(
      (await settings()).map(({ scope, problem }: any) => [scope, problem]),
      [
        ['site', undefined],
        ['type', 'limit takes 50 to 100 degF, not 45'],
      ],
    )
    t.is((await run({ rule_ids: ['TEST-WARM'] })).body.rules_failed, 0)
    t.deepEqual(await sources(), [{ value: 60, unit: 'degF', source: 'site' }], 'the wider one counts')
    t.is((await remove({ scope: 'type', scope_id: 'ahu' })).status, 200)
  },
)

test.serial('a backtest says what appears and goes, and stores nothing', async t => {
  const before = (await site.call('viewer', 'GET', '/api/fdd/findings')).text
  const runs = (await site.call('viewer', 'GET', '/api/fdd/runs')).text
  const { status, body, text } = await site.call('operator', 'POST', '/api/fdd/backtest', {
    building_id: 'b1',
    rule_id: 'TEST-WARM',
    params: { limit: 80 },
    days: 3,
  })
  t.is(status, 200, text)
  t.deepEqual(body.counts, { before: 3, after: 1, before_secs: 3 * 3600, after_secs: 3600, appears: 0, goes: 2, stays: 1 })
  t.is(Date.parse(body.to) - Date.parse(body.from), 3 * DAY)
  t.like(body.equipment[0], { equipment_id: 'AHU-1', result_before: { status: 'fault' }, result_after: { status: 'fault' } })
  t.like(body.equipment[0].episodes[2], {
    change: 'stays',
    from: formatInstant(START + 4 * DAY + 6 * HOUR),
    duration_secs: 3600,
    before_secs: 3600,
    silenced: false,
  })
  t.regex(body.equipment[0].episodes[0].sentence, /The supply air had/)
  t.is((await site.call('viewer', 'GET', '/api/fdd/findings')).text, before)
  t.is((await site.call('viewer', 'GET', '/api/fdd/runs')).text, runs)
  const lines: string[] = []
  const where = ['--workspace', site.workspace, '--building', 'b1', '--days', '3', '--param', 'limit=80']
  t.is(await main(['backtest', join(site.workspace, 'rules'), 'TEST-WARM', ...where], line => lines.push(line)), 0)
  t.is(lines[1], 'AHU-1  TEST-WARM  3 episodes, 3 h in fault  ->  1 episodes, 1 h in fault', 'the command says the same')
  t.deepEqual(
    lines.slice(2).map(line => line.trim().split(' ')[0]),
    ['goes', 'goes', 'stays'],
  )
  t.deepEqual((await settings()).length, 1)
})

test.serial('a backtest is refused to viewers, for too many days and out of bounds, and one runs at a time', async t => {
  const body = { building_id: 'b1', rule_id: 'TEST-WARM', params: { limit: 80 } }
  const ask = (more: object, who: 'viewer' | 'operator' = 'operator') =>
    site.call(who, 'POST', '/api/fdd/backtest', { ...body, ...more })
  t.is((await ask({}, 'viewer')).status, 403)
  t.is((await ask({ days: 32 })).status, 400)
  t.is((await ask({ params: {} })).status, 400)
  const wrong = await ask({ params: { limit: 1e6 } })
  t.deepEqual([wrong.status, wrong.body.errors[0].pointer], [422, '/params/limit'])
  const [first, second] = await Promise.all([ask({ days: 1 }), ask({ days: 1 })])
  t.deepEqual([first.status, second.status].toSorted(), [200, 409])
})

const baselines = async () =>
  (await site.call('viewer', 'GET', '/api/fdd/baselines?building_id=b1&rule_id=TEST-DRIFT')).body.baselines
const KEY = { building_id: 'b1', equipment_id: 'AHU-1', rule_id: 'TEST-DRIFT', name: 'usual' }
const reset = (body: object = {}) =>
  site.call('operator', 'POST', '/api/fdd/baselines/reset', { ...KEY, note: 'new coil', ...body })

/** The outdoor air of the package never moves: as long as a rule says so, no day of it is a usual one. */
const watchStillness = (active: boolean) => site.call('operator', 'POST', `/api/fdd-rules/SEN-FLAT/activate?active=${active}`)

test.serial('a run keeps its baselines, and one over an earlier span does not replace them', async t => {
  t.deepEqual(await baselines(), [])
  t.is((await reset()).body.code, 'not_found', 'nothing has seen it yet')
  t.is((await watchStillness(false)).status, 200)
  await run({ rule_ids: ['TEST-DRIFT'] })
  const [usual] = await baselines()
  t.like(usual, { ...KEY, cold: false, unit: 'degF', absolute: false, min_days: 3, days_used: 4, date: '2026-03-05' })
  t.is(Math.round(usual.value * 100) / 100, 8.33)
  t.is(Math.round(usual.tolerance_cold), 50)
  t.is(usual.dates.length, 4)
  await run({ rule_ids: ['TEST-DRIFT'], to: ISO(START + DAY) })
  t.deepEqual(await baselines(), [usual])
})

test.serial('a reset is audited, lets no earlier day count, leaves earlier findings, and can be taken back', async t => {
  const found = async () => (await site.call('viewer', 'GET', '/api/fdd/findings?rule_id=TEST-DRIFT')).body.findings
  await put({ rule_id: 'TEST-DRIFT', param: 'tol', scope: 'site', value: 10 })
  await run({ rule_ids: ['TEST-DRIFT'] })
  const before = await found()
  t.deepEqual(
    before.map((one: any) => [one.from, one.evidence.baselines[0].cold]),
    [
      [formatInstant(START + 4 * DAY + 6 * HOUR), false],
      [formatInstant(START + 3 * DAY + 6 * HOUR), false],
    ],
  )
  const at = formatInstant(START + DAYS * DAY - MINUTE)
  const { body } = await reset({ at })
  t.like(body.reset, { at, note: 'new coil', changed_by: 'agent' })
  t.like((await baselines())[0], { cold: false, reset: { at } })
  await run({ rule_ids: ['TEST-DRIFT'] })
  const [cold] = await baselines()
  t.like(cold, { cold: true, days_used: 0, fallback: 5 })
  t.deepEqual(
    cold.left_out.map(({ why }: { why: string }) => why),
    Array.from({ length: 4 }, () => 'reset'),
  )
  t.deepEqual(await found(), [before[1]], 'the day of the reset is looked at anew, what was found before stands')
  const [row] = await audited('reset_baseline')
  t.like(row, { actor: 'agent', subject: 'AHU-1 TEST-DRIFT usual', after: { note: 'new coil' } })
  const restore = () => site.call('operator', 'POST', '/api/fdd/baselines/restore', KEY)
  t.like((await restore()).body.restored, { at })
  t.is((await restore()).body.code, 'not_found')
  await run({ rule_ids: ['TEST-DRIFT'] })
  t.like((await baselines())[0], { cold: false, days_used: 3 })
  t.is((await audited('restore_baseline')).length, 1)
})

test.serial('without an instant a baseline begins anew where history ends, never at an instant to come', async t => {
  await run({ rule_ids: ['TEST-DRIFT'], to: ISO(START + DAY) })
  const { body } = await reset()
  t.is(body.reset.at, formatInstant(START + DAYS * DAY - 1), 'the newest run looked at a past day')
  t.like((await reset({ at: '2999-01-01T00:00:00Z' })).body, { code: 'invalid', errors: [{ pointer: '/at' }] })
  t.is((await reset({ at: 'yesterday' })).body.code, 'bad_request')
  t.is((await reset({ note: '' })).status, 400)
  t.is((await reset({ building_id: 'b9' })).body.code, 'unknown_building')
  t.is((await reset({ name: 'other' })).body.code, 'not_found')
})

test.serial('a run that goes on from where the last one ended takes what was set and reset meanwhile', async t => {
  const { runs, findings } = site.central.context
  const goOn = () => runs.run({ building_id: 'b1' }, 'schedule')
  const warm = () => findings.list({ building_id: 'b1', rule_id: 'TEST-WARM', from: START + 3 * DAY, limit: 100 })
  const whys = async () => [...new Set((await baselines())[0].left_out.map(({ why }: { why: string }) => why))]
  await site.call('operator', 'POST', '/api/fdd/baselines/restore', KEY)
  t.is((await watchStillness(true)).status, 200)
  await put({ scope: 'site', value: 60 })
  await goOn()
  t.deepEqual(
    warm().map(({ evidence }) => evidence.params['limit']!.value),
    [60, 60],
  )
  t.deepEqual(await whys(), ['SEN-FLAT'], 'the test’s outdoor air never moves')
  await put({ scope: 'type', scope_id: 'ahu', value: 80 })
  await reset()
  await goOn()
  t.deepEqual(
    warm().map(({ evidence }) => evidence.params['limit']),
    [{ value: 80, unit: 'degF', source: 'type' }],
  )
  t.deepEqual(await whys(), ['reset'])
})
