/** What the specification says of single requests and records, tried on a hub as it is installed. */
import test, { type ExecutionContext } from 'ava'
import { decodeJwt } from 'jose'
import { CENTRAL_ENV } from '#hub/central/env.ts'
import { parquetRootIn } from '#shared/node/historian/folder.ts'
import { readEnv } from '#shared/core/env.ts'
import { readVersion } from '#shared/node/version.ts'
import { airHandler, rows, table, zipForm, zipOf } from '../support/packages/packages.ts'
import { warmRule } from '../support/rule-texts.ts'
import { PASSWORDS } from '../support/sites/central-site.ts'
import { CONDITIONS } from './conditions.ts'
import { titleOf } from './rows.ts'
import { openSpecHub, sharedEnds, tokenOf } from './spec-site.ts'

const ends = sharedEnds()
let hub: Awaited<ReturnType<typeof openSpecHub>>
const tokens = { viewer: '', operator: '', admin: '' }
type Role = keyof typeof tokens
test.before(async () => {
  hub = await openSpecHub(ends)
  tokens.viewer = await tokenOf(hub.send, 'viewer')
  tokens.operator = await tokenOf(hub.send, 'agent')
  tokens.admin = await tokenOf(hub.send, 'admin')
})
test.after.always(ends.end)

const ask = (role: Role | undefined, method: string, path: string, body?: unknown) =>
  hub.send(method, path, { token: role && tokens[role], ...(body !== undefined && { body }) })
const condition = (text: (typeof CONDITIONS)[number], run: (t: ExecutionContext) => Promise<void> | void) =>
  test.serial(titleOf(text), run)

const START = Date.UTC(2026, 2, 1)
/** Imports two days of an air handler under a building id. */
async function imported(building_id: string) {
  const files = airHandler(table(rows(576, START)), { manifest: { building_id } })
  const { body } = await ask('operator', 'POST', '/api/csv/import/preflight', zipForm(await zipOf(files)))
  return ask('operator', 'POST', '/api/csv/import/execute', { session_id: body.session_id, confirm: true })
}

condition('the logins admin, agent and viewer have the roles admin, operator and viewer', async t => {
  for (const [username, role] of [
    ['admin', 'admin'],
    ['agent', 'operator'],
    ['viewer', 'viewer'],
  ] as const) {
    const { body } = await hub.send('POST', '/api/auth/login', { body: { username, password: PASSWORDS[username] } })
    t.like(decodeJwt(body.token), { sub: username, role })
  }
})

condition('ttl_secs is 3600 when absent, and clamped to 60 and 86400', async t => {
  for (const [body, lasts] of [
    [{}, 3600],
    [{ ttl_secs: 59 }, 60],
    [{ ttl_secs: 60 }, 60],
    [{ ttl_secs: 86_400 }, 86_400],
    [{ ttl_secs: 86_401 }, 86_400],
    [undefined, 3600],
  ] as const) {
    const { token } = (await ask('admin', 'POST', '/api/auth/agent-token', body)).body
    const { iat, exp } = decodeJwt(token)
    t.is(exp! - iat!, lasts)
  }
})

condition('an agent token has the subject agent and the role operator, and only an admin mints it', async t => {
  const { token } = (await ask('admin', 'POST', '/api/auth/agent-token')).body
  t.like(decodeJwt(token), { sub: 'agent', role: 'operator' })
  t.is((await ask('operator', 'POST', '/api/auth/agent-token')).status, 403)
  t.is((await hub.send('POST', '/api/auth/agent-token', { token })).status, 403)
  const { body: me } = await hub.send('GET', '/api/auth/me', { token })
  t.like(me, { username: 'agent', role: 'operator' })
})

condition('agent_login_configured is false without a password of the agent', async t => {
  t.like((await ask(undefined, 'GET', '/api/auth/status')).body, { auth_required: true, agent_login_configured: true })
  const other = await openSpecHub(t, { SERVICE_AGENT_PASSWORD: '' })
  t.like((await other.send('GET', '/api/auth/status')).body, { auth_required: true, agent_login_configured: false })
})

condition('with one tenant a selection changes nothing', async t => {
  const { status, body } = await ask('viewer', 'POST', '/api/tenants/select', { tenant_id: 'legacy' })
  t.is(status, 200)
  const { body: me } = await hub.send('GET', '/api/auth/me', { token: body.token })
  t.like(me, { username: 'viewer', role: 'viewer', multi_tenant: false, active_tenant_id: 'legacy' })
  t.like((await ask(undefined, 'GET', '/api/health')).body, { multi_tenant: false, historian_prefix: '', tenant_budgets: false })
})

condition('there is no limit of requests besides that of wrong passwords and tokens', async t => {
  const statuses = new Set<number>()
  for (let i = 0; i < 500; i++) statuses.add((await ask('viewer', 'GET', '/api/auth/me')).status)
  t.deepEqual([...statuses], [200])
})

condition('the mapping without /import is 404', async t => {
  t.is((await ask('viewer', 'GET', '/api/csv/package/mapping?building_id=b1')).status, 404)
})

condition('an append as a ZIP is refused', async t => {
  for (const type of ['application/zip', 'multipart/form-data; boundary=x']) {
    const sent = { token: tokens.operator, body: 'PK', type }
    const { status, body } = await hub.send('POST', '/api/csv/import/package/append', sent)
    t.deepEqual([status, body.code], [415, 'append_takes_json'])
  }
})

condition('an append without confirm is refused', async t => {
  const chunk = { building_id: 'b1', equipment_id: 'AHU-1', csv: table(rows(1, START)) }
  for (const confirm of [undefined, false]) {
    const { status, body } = await ask('operator', 'POST', '/api/csv/import/package/append', { ...chunk, confirm })
    t.deepEqual([status, body.code], [422, 'confirm_required'])
  }
})

condition('a package that fails validation is rejected with agent_hints', async t => {
  const files = airHandler('timestamp_utc,SAT,OAT,Fan\nno time,60,40,1\n')
  const { status, body } = await ask('operator', 'POST', '/api/csv/import/preflight', zipForm(await zipOf(files)))
  t.like([status, body.verdict, body.can_execute], [200, 'fail', false])
  t.true(body.agent_hints.length > 0)
  const refused = await ask('operator', 'POST', '/api/csv/import/execute', { session_id: body.session_id, confirm: true })
  t.deepEqual([refused.status, refused.body.code], [422, 'package_invalid'])
  t.true(refused.body.agent_hints.length > 0)
})

condition('an empty mapping is a failure', async t => {
  const empty = { building_id: 'empty', name: 'Empty', site_id: 'local', timezone: 'UTC', unit_system: 'si' }
  await ask('operator', 'POST', '/api/model/buildings', { buildings: [empty] })
  const { status, body } = await ask('viewer', 'GET', '/api/csv/import/package/mapping?building_id=empty')
  t.deepEqual([status, body.code], [422, 'mapping_empty'])
})

condition('a viewer triggers no visit', async t => {
  const { status, body } = await ask('viewer', 'POST', '/api/connectors/fieldbus-1/priority-history/trigger', {})
  t.deepEqual([status, body.code], [403, 'forbidden'])
})

const QUANTITY = {
  quantity_id: 'q1',
  property: 'ratedCoolingCapacity',
  numeric_value: 350,
  unit_code: 'kW',
  quantity_kind: 'ThermalPower',
  value_basis: 'Rated',
  source_type: 'nameplate',
}
const save = (more: object) => ask('operator', 'POST', '/api/model/quantities', { quantities: [{ ...QUANTITY, ...more }] })

condition('a quantity has the required fields and no others', async t => {
  t.is((await save({})).status, 200)
  for (const field of Object.keys(QUANTITY)) {
    const { status, text } = await save({ [field]: undefined })
    t.is(status, 400, field)
    t.true(text.includes(field), text)
  }
  for (const field of ['quantity_id', 'unit_code', 'source_type']) t.is((await save({ [field]: '' })).status, 400, field)
  t.is((await save({ colour: 'red' })).status, 400)
  t.is((await save({ numeric_value: '350' })).status, 400)
  t.is((await save({ schema_version: 'svc_engineering_quantities_v2' })).status, 400)
  const whole = { equipment_id: 'AHU-1', building_id: 'b1', source_reference: 'plan', source_locator: 'M-101', notes: 'x' }
  t.is((await save({ schema_version: 'svc_engineering_quantities_v1', ...whole })).status, 200)
})

/** @source the service specification, engineering quantity record */
const WORDS: Record<string, string[]> = {
  property: [
    'ratedCoolingCapacity',
    'ratedHeatingCapacity',
    'ratedFuelInputPower',
    'ratedElectricalInputPower',
    'ratedShaftPower',
    'designSupplyAirflow',
    'designOutdoorAirflow',
    'designWaterFlow',
    'designExternalStaticPressure',
    'designPumpHead',
    'ratedCOP',
    'ratedEER',
    'ratedThermalEfficiency',
  ],
  quantity_kind: [
    'ThermalPower',
    'ElectricalPower',
    'ShaftPower',
    'VolumeFlow',
    'Pressure',
    'Efficiency',
    'Energy',
    'CoolingLoad',
  ],
  value_basis: ['Design', 'Rated', 'TAB', 'Measured', 'Assumed'],
  review_status: ['NeedsReview', 'Reviewed', 'NeedsReview', 'Rejected'],
}

condition('property, quantity_kind, value_basis and review_status take the words of the specification', async t => {
  for (const [field, words] of Object.entries(WORDS)) {
    for (const word of words) t.is((await save({ quantity_id: `q-${field}`, [field]: word })).status, 200, `${field} ${word}`)
    for (const word of ['', 'other', words[0]!.toUpperCase()])
      t.is((await save({ [field]: word })).status, 400, `${field} ${word}`)
  }
})

condition('a quantity without review_status is NeedsReview, and its review goes through NeedsReview', async t => {
  const review = async (review_status?: string) => (await save({ quantity_id: 'q-review', review_status })).status
  const statusNow = async () => {
    const { body } = await ask('viewer', 'GET', '/api/model/quantities?limit=1000')
    return body.quantities.find((one: { quantity_id: string }) => one.quantity_id === 'q-review').review_status
  }
  t.is(await review(), 200)
  t.is(await statusNow(), 'NeedsReview')
  for (const [to, status] of [
    ['Reviewed', 200],
    ['Rejected', 409],
    ['NeedsReview', 200],
    ['Rejected', 200],
    ['Reviewed', 409],
    ['NeedsReview', 200],
  ] as const) {
    t.is(await review(to), status, to)
    if (status === 200) t.is(await statusNow(), to)
  }
})

condition('equipment may carry roles such as zone_t', async t => {
  const building = { building_id: 'zones', name: 'Zones', site_id: 'local', timezone: 'UTC', unit_system: 'si' }
  await ask('operator', 'POST', '/api/model/buildings', { buildings: [building] })
  const at = { building_id: 'zones', equipment_id: 'VAV-1' }
  await ask('operator', 'POST', '/api/model/equipment', { equipment: [{ ...at, name: 'Room', equipment_type: 'vav' }] })
  const source = { protocol: 'csv', address: 'x' }
  const point = { ...at, point_id: 'VAV-1.t', name: 'Room', unit: 'degC', kind: 'number', source }
  await ask('operator', 'POST', '/api/model/points', { points: [point] })
  const assignments = [{ point_id: 'VAV-1.t', equipment_id: 'VAV-1', role: 'zone_t' }]
  const saved = await ask('operator', 'POST', '/api/model/assignments/save', { confirm: true, building_id: 'zones', assignments })
  t.is(saved.body.saved, 1, saved.text)
  const { body } = await ask('viewer', 'GET', '/api/model/points?building_id=zones')
  t.is(body.points[0].role, 'zone_t')
})

condition('the FDD run takes building_id and rule_ids, and says how many rules succeeded', async t => {
  t.is((await imported('run-b')).status, 200)
  const rules = [{ filename: 'condition.yaml', yaml: warmRule('TEST-CONDITION', 50) }]
  await ask('operator', 'POST', '/api/rules/batch', { confirm: true, rules })
  const { status, body, text } = await ask('operator', 'POST', '/api/fdd/run', {
    building_id: 'run-b',
    rule_ids: ['TEST-CONDITION'],
  })
  t.is(status, 200, text)
  t.is(body.rules_succeeded, 1, text)
  t.is((await ask('operator', 'POST', '/api/fdd/run', { rule_ids: ['TEST-CONDITION'] })).status, 400)
})

condition('a series has the full span of the history', async t => {
  t.is((await imported('series-b')).status, 200)
  const path = '/api/fdd/series?building_id=series-b&equipment_id=AHU-1&roles=sa_t'
  const [series] = (await ask('viewer', 'GET', path)).body.series
  const times: string[] = series.points.map((point: { t: string }) => point.t)
  t.is(Date.parse(times[0]!), START)
  t.true(Date.parse(times.at(-1)!) >= START + 575 * 300_000 - 86_400_000 / 100, times.at(-1))
})

condition('SERVICE_PARQUET_ROOT is .cache/parquet in the workspace', t => {
  const read = readEnv(CENTRAL_ENV, { env: {} }, () => '')
  t.true(read.ok)
  t.is(parquetRootIn('/workspace'), '/workspace/.cache/parquet')
})

condition('the version is <major>.<minor>.<patch>+<12 hexadecimal digits>', async t => {
  const { body } = await ask(undefined, 'GET', '/api/health')
  t.regex(body.version, /^\d+\.\d+\.\d+\+[0-9a-f]{12}$/)
  t.is(body.version, readVersion())
})

condition('pages show the version with a short revision', async t => {
  const [release, revision] = readVersion().split('+')
  const { text } = await hub.send('GET', '/', { token: tokens.viewer, accept: 'text/html' })
  const [, shown = ''] = /<span class="version">(.*?)<\/span>/.exec(text) ?? []
  t.is(shown.replace('<wbr>', ''), `${release}+${revision!.slice(0, 7)}`)
})

condition('a manifest of svc_package_v1 is accepted, another schema is not', async t => {
  for (const [schema_version, verdict] of [
    ['svc_package_v1', 'pass'],
    ['svc_package_v2', 'fail'],
  ] as const) {
    const files = airHandler(table(rows(288, START)), { manifest: { schema_version, building_id: 'schema' } })
    const { body, text } = await ask('operator', 'POST', '/api/csv/import/preflight', zipForm(await zipOf(files)))
    if (verdict === 'pass') t.not(body.verdict, 'fail', text)
    else t.true(body.verdict === 'fail' || body.code === 'package_invalid', text)
  }
})
