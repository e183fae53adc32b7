/** What a fault costs, from a run to the API: quantities, reviews and prices change it, and everybody hears of it. */
import test from 'ava'
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { airHandler, table, zipForm, zipOf } from '../../../support/packages/packages.ts'
import { warmRule } from '../../../support/rule-texts.ts'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'
import { edgeRecord } from '../../../support/sites/edge-record.ts'

const START = Date.UTC(2026, 2, 1, 6)
const ISO = (ms: number) => new Date(ms).toISOString()

/** Twelve hours: 55 °F, and 80 °F from the third to the sixth; 40 °F outside. */
const csv = table(
  Array.from({ length: (12 * HOUR) / (5 * MINUTE) }, (_, i) => START + i * 5 * MINUTE).map(
    at => `${ISO(at)},${at >= START + 3 * HOUR && at < START + 6 * HOUR ? 80 : 55},40,1`,
  ),
)

let site: TestCentral
const finding = async () => (await site.call('viewer', 'GET', '/api/fdd/findings?building_id=b1')).body.findings[0]
const quantity = (property: string, numeric_value: number, unit_code: string, more: object = {}) => ({
  quantity_id: property,
  building_id: 'b1',
  equipment_id: 'AHU-1',
  property,
  numeric_value,
  unit_code,
  quantity_kind: property === 'designSupplyAirflow' ? 'VolumeFlow' : 'Efficiency',
  value_basis: 'TAB',
  source_type: 'balancing report',
  ...more,
})
const put = (...quantities: object[]) => site.call('operator', 'POST', '/api/model/quantities', { quantities })
const REVIEWED = { review_status: 'Reviewed' }

test.before(async () => {
  site = await startCentral()
  const preflight = await site.call('operator', 'POST', '/api/csv/import/preflight', zipForm(await zipOf(airHandler(csv))))
  const { session_id } = preflight.body
  const done = await site.call('operator', 'POST', '/api/csv/import/execute', { session_id, confirm: true })
  if (done.status !== 200) throw new Error(done.text)
  const yaml = warmRule().replace('severity: 2', 'severity: 2\nimpact: { kind: heating, waste: sa_t - oa_t }')
  const deployed = await site.call('operator', 'POST', '/api/rules/batch', {
    confirm: true,
    rules: [{ filename: 'warm.yaml', yaml }],
  })
  if (deployed.status !== 200) throw new Error(deployed.text)
  const span = { from: ISO(START), to: ISO(START + 12 * HOUR) }
  const run = await site.call('operator', 'POST', '/api/fdd/run', { building_id: 'b1', rule_ids: ['TEST-WARM'], ...span })
  if (run.status !== 200) throw new Error(run.text)
})
test.after.always(() => site?.close())

test.serial('without quantities the missing one is named, and what was measured inside is nobody’s business', async t => {
  const found = await finding()
  t.false('impact' in found)
  t.false('waste' in found)
  t.deepEqual(found.not_priced, [
    { what: 'quantity', name: 'designSupplyAirflow', equipment_id: 'AHU-1', why: 'not entered' },
    { what: 'quantity', name: 'ratedThermalEfficiency', equipment_id: 'AHU-1', why: 'not entered' },
  ])
})

test.serial('a quantity that nobody has reviewed prices nothing', async t => {
  const { body } = await put(
    quantity('designSupplyAirflow', 10_000, 'cfm', { quantity_kind: 'VolumeFlow' }),
    quantity('ratedThermalEfficiency', 0.8, 'fraction', { equipment_id: undefined, value_basis: 'Measured' }),
  )
  t.like(body, { ok: true, saved: 2, repriced: 1, unusable: [] })
  t.deepEqual(
    (await finding()).not_priced.map(({ why }: { why: string }) => why),
    ['not reviewed', 'not reviewed'],
  )
})

test.serial('reviewed quantities give energy at once, and the hub is told', async t => {
  site.told.length = 0
  const { body } = await put(
    quantity('designSupplyAirflow', 10_000, 'cfm', REVIEWED),
    quantity('ratedThermalEfficiency', 0.8, 'fraction', { equipment_id: undefined, value_basis: 'Measured', ...REVIEWED }),
  )
  t.is(body.repriced, 1)
  const { impact, not_priced, finding_id } = await finding()
  // 3 h × 40 °F (22.222 K) × 4.7195 m³/s × 70 % × 1.2 = 264.29 kWh of heat, / 0.8 = 330.4 kWh of fuel
  t.like(impact, { kind: 'heating', unit: 'kWh', mid: 330.4 })
  t.true(impact.low < impact.mid && impact.mid < impact.high)
  t.deepEqual(not_priced, [{ what: 'price', name: 'fuel' }])
  t.true(impact.basis.includes('designSupplyAirflow of AHU-1: 10000 cfm (TAB, ±10 %)'))
  t.deepEqual(
    site.told.map(one => [one.finding_id, one.impact?.mid]),
    [[finding_id, 330.4]],
  )
})

test.serial('a price gives money; who set it stands in the audit', async t => {
  const price = { building_id: 'b1', currency: 'EUR', fuel: 0.1 }
  t.is((await site.call('viewer', 'PUT', '/api/model/prices', price)).status, 403)
  t.is((await site.call('operator', 'PUT', '/api/model/prices', { ...price, currency: 'euro' })).status, 400)
  t.is((await site.call('operator', 'PUT', '/api/model/prices', { ...price, fuel: -1 })).status, 400)
  t.is((await site.call('operator', 'PUT', '/api/model/prices', { ...price, building_id: 'b9' })).status, 404)
  t.like((await site.call('operator', 'PUT', '/api/model/prices', price)).body, { ok: true, repriced: 1 })
  const { impact, not_priced } = await finding()
  t.like(impact, { unit: 'EUR', mid: 33.04 })
  t.is(not_priced, undefined)
  t.like(impact.energy[0], { carrier: 'fuel', mid: 330.4 })
  const { body } = await site.call('viewer', 'GET', '/api/model/prices?building_id=b1')
  t.deepEqual(body, { ok: true, building_id: 'b1', prices: { currency: 'EUR', fuel: 0.1 } })
  const { rows, audit } = (await site.call('admin', 'GET', '/api/audit')).body
  const row = (rows ?? audit).find(({ action }: { action: string }) => action === 'put_prices')
  t.like(row, { subject: 'b1', before: null, after: { currency: 'EUR', fuel: 0.1 } })
})

test.serial('a run prices what it finds in the same way, and nothing is told twice as changed', async t => {
  const before = await finding()
  await site.call('operator', 'POST', '/api/fdd/run', { building_id: 'b1', from: ISO(START), to: ISO(START + 12 * HOUR) })
  t.deepEqual((await finding()).impact, before.impact)
  site.told.length = 0
  t.is((await put(quantity('designSupplyAirflow', 10_000, 'cfm', REVIEWED))).body.repriced, 0)
  t.deepEqual(site.told, [])
})

test.serial('what an appliance found costs what the appliance says, whatever is set here', async t => {
  const { edges } = site.central.context
  const edge = edgeRecord({ building_id: 'b1' })
  const before = await finding()
  edges.put({ ...edge, status_body: { runs_rules: true } })
  const dearer = { building_id: 'b1', currency: 'EUR', fuel: 7 }
  t.is((await site.call('operator', 'PUT', '/api/model/prices', dearer)).body.repriced, 0)
  t.is((await put(quantity('designSupplyAirflow', 20_000, 'cfm', REVIEWED))).body.repriced, 0)
  t.deepEqual(await finding(), before)
  edges.put({ ...edge, status_body: { runs_rules: false } })
  t.is((await site.call('operator', 'PUT', '/api/model/prices', dearer)).body.repriced, 1)
})

test.serial('a unit of something else is kept and prices nothing; zero is refused once it is reviewed', async t => {
  const { body } = await put(quantity('designSupplyAirflow', 10_000, 'kW', REVIEWED))
  t.deepEqual(body.unusable, [{ quantity_id: 'designSupplyAirflow', why: 'unit_code kW is no unit of designSupplyAirflow' }])
  const found = await finding()
  t.false('impact' in found)
  t.like(found.not_priced[0], { name: 'designSupplyAirflow', why: 'unit_code kW is no unit of designSupplyAirflow' })
  const zero = await put(quantity('ratedCOP', 0, '1', REVIEWED))
  t.is(zero.status, 422)
  t.like(zero.body, { code: 'invalid', errors: [{ pointer: '/quantities/0/numeric_value' }] })
})
