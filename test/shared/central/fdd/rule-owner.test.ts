/** A building whose own appliance runs its rules: what it says stands, and whoever sets something for it here is told that it does not get there. */
import test from 'ava'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatInstant, HOUR } from '#shared/core/time.ts'
import { finding } from '../../../conformance/run-cases.ts'
import { warmRule } from '../../../support/rule-texts.ts'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'
import { edgeRecord } from '../../../support/sites/edge-record.ts'

const b1 = { building_id: 'b1' }
const setting = { ...b1, rule_id: 'TEST-WARM', param: 'limit', scope: 'site' }
const baseline = { ...b1, equipment_id: 'AHU-1', rule_id: 'TEST-WARM', name: 'usual' }
const quantity = {
  ...{ ...b1, quantity_id: 'q', equipment_id: 'AHU-1', property: 'ratedCOP', numeric_value: 3, unit_code: '1' },
  ...{ quantity_kind: 'Efficiency', value_basis: 'Rated', source_type: 'plate', review_status: 'Reviewed' },
}

/** Everything that is set, entered or begun anew for a building, and everything that shows it. */
const ASKED: [string, string, object?][] = [
  ['PUT', '/api/fdd/params', { ...setting, value: 60 }],
  ['GET', '/api/fdd/params?building_id=b1'],
  ['GET', '/api/fdd/params/TEST-WARM?building_id=b1'],
  ['POST', '/api/fdd/backtest', { ...b1, rule_id: 'TEST-WARM', params: { limit: 80 }, days: 1 }],
  ['DELETE', `/api/fdd/params?${new URLSearchParams(setting)}`],
  ['GET', '/api/fdd/baselines?building_id=b1'],
  ['POST', '/api/fdd/baselines/reset', { ...baseline, note: 'new coil' }],
  ['POST', '/api/fdd/baselines/restore', baseline],
  ['POST', '/api/model/quantities', { quantities: [quantity] }],
  ['GET', '/api/model/quantities'],
  ['PUT', '/api/model/prices', { ...b1, currency: 'USD', electricity: 0.1 }],
  ['GET', '/api/model/prices?building_id=b1'],
  ['POST', '/api/fdd-rules/TEST-WARM/activate', {}],
  ['POST', '/api/rules/batch', { confirm: true, rules: [{ filename: 'warm.yaml', yaml: warmRule() }] }],
]

const EDGE = edgeRecord({ ...b1, name: 'Plant room', status_body: { runs_rules: true } })

async function open(): Promise<TestCentral> {
  const site = await startCentral()
  const { model, baselines } = site.central.context
  const building = { ...b1, name: 'Riverside', site_id: 'site-1', timezone: 'UTC', unit_system: 'si' } as const
  model.put({ building, equipment: [{ ...b1, equipment_id: 'AHU-1', name: '', equipment_type: 'ahu' }] })
  mkdirSync(join(site.workspace, 'rules'), { recursive: true })
  writeFileSync(join(site.workspace, 'rules', 'warm.yaml'), warmRule())
  const figures = { value: 1, spread: null, days_used: 1, dates: [], left_out: [], cold: false }
  const looked = [{ equipment_id: 'AHU-1', rule_id: 'TEST-WARM' }]
  const report = { ...b1, date: '2026-03-01', today: '2026-03-01', looked }
  baselines.keep({ ...report, baselines: [{ ...looked[0]!, ...figures, name: 'usual' }] })
  return site
}

test('what is set for a building whose appliance runs its rules is answered with a notice, and for no other', async t => {
  const site = await open()
  t.teardown(() => site.close())
  const said = async ([method, path, body]: (typeof ASKED)[number]) => {
    const { status, body: answer, text } = await site.call('operator', method, path, body)
    t.is(status, 200, `${method} ${path} ${text}`)
    t.is(answer.ok, true, `${method} ${path}`)
    return answer.notice
  }
  for (const asked of ASKED) t.is(await said(asked), undefined, asked.slice(0, 2).join(' '))
  site.central.context.edges.put({ ...EDGE, status_body: { runs_rules: false } })
  for (const asked of ASKED.slice(0, 2)) t.is(await said(asked), undefined, 'an edge that only polls')
  site.central.context.edges.put({ ...EDGE, status_body: {} })
  for (const asked of ASKED.slice(0, 2)) t.is(await said(asked), undefined, 'an edge that says nothing of rules')
  site.central.context.edges.put(EDGE)
  for (const asked of ASKED) {
    t.is(
      await said(asked),
      'The rules of Riverside run on the appliance Plant room. Parameters, quantities, prices and baselines that you set here do not reach it: set them there.',
      asked.slice(0, 2).join(' '),
    )
  }
})

test('a run is refused with the name of the appliance, and what the appliance found stays as it said', async t => {
  const site = await open()
  t.teardown(() => site.close())
  const { runs, historian } = site.central.context
  const { edges, findings } = site.central.stores
  edges.put(EDGE)
  const found = finding('of the appliance', 1, null, { ...b1, equipment_id: 'AHU-1', rule_id: 'TEST-WARM' })
  findings.put([found])
  await historian.append('b1', [{ id: 'p', t: found.from, v: 20 }])
  for (const path of ['/api/fdd/run', '/api/fdd/run?async=true']) {
    const { status, body } = await site.call('operator', 'POST', path, { ...b1, from: formatInstant(found.from - HOUR) })
    t.deepEqual([status, body.code], [409, 'ran_by_appliance'], path)
    t.regex(body.error, /The rules of b1 run on the appliance Plant room.*run them there/)
  }
  const everything = await site.call('operator', 'POST', '/api/rules/batch')
  t.deepEqual([everything.status, everything.body.runs], [200, []])
  t.regex(everything.body.notice, /run on the appliance Plant room/)
  t.deepEqual(runs.list({ limit: 9 }), [], 'what was refused leaves no run')
  t.deepEqual(findings.get(found.finding_id), found)
})
