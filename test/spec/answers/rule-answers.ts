/** Rules, parameters, baselines, quantities and prices. */
import type { ExecutionContext } from 'ava'
import { BUILDING, EQUIPMENT, POINTS, samplesOf } from '../../support/page-fixture.ts'
import { warmRule } from '../../support/rule-texts.ts'
import type { Asked } from './asking.ts'
import { openEdgeHub } from './edge-hub.ts'

const RULE = 'AHU-FC12-COOL-NO-DROP'

export async function ruleAnswers(t: ExecutionContext, asked: Asked): Promise<void> {
  const { site, ask } = await openEdgeHub(t, asked)
  const annex = { building_id: 'annex' }
  site.context.model.put({
    building: { ...BUILDING, ...annex },
    equipment: EQUIPMENT.map(one => ({ ...one, ...annex })),
    points: POINTS.map(({ edge_id: _by, ...one }) => ({ ...one, ...annex })),
  })
  for (const one of POINTS) {
    const { ts, values } = samplesOf(one)
    await site.context.historian.append(
      'annex',
      Array.from(ts, (at, i) => ({ id: one.point_id, t: at, v: values[i]! })),
    )
  }
  const { rules } = await ask('GET', '/api/fdd-rules?limit=500')
  const rule = rules.find(({ id }: { id: string }) => id === RULE)
  t.truthy(rule)
  await ask('GET', `/api/fdd-rules/${RULE}`)
  await ask('GET', `/api/fdd-rules/${RULE}/text`)
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'GET'])
    await ask(method, `/api/fdd-rules/${RULE}/activate?active=false`)
  const changed = (await ask('GET', '/api/fdd-rules?limit=500')).rules.find(({ id }: { id: string }) => id === RULE)
  t.false(changed.active)
  await ask('POST', `/api/fdd-rules/${RULE}/activate`)
  await ask('GET', '/api/fdd/coverage?building_id=annex')
  await ask('GET', '/api/fault-definitions')

  await ask('POST', '/api/rules/batch', { confirm: true, rules: [{ filename: 'warm.yaml', yaml: warmRule() }] })
  const { versions } = await ask('GET', '/api/fdd-rules/TEST-WARM/versions')
  t.is(versions.length, 1)
  await ask('GET', `/api/fdd-rules/TEST-WARM/text?version=${versions[0].sha256}`)
  await ask('POST', '/api/fdd-rules/TEST-WARM/roll-back', { to: versions[0].sha256, confirm: true })
  t.is((await ask('POST', '/api/rules/batch', {})).runs.length, 1)
  await ask('POST', '/api/fdd/backtest', { ...annex, yaml: warmRule(), days: 1 })

  const [param, { min, max, unit }] = Object.entries<{ min: number; max: number; unit: string }>(rule.params)[0]!
  const setting = { ...annex, rule_id: RULE, param, scope: 'site' }
  await ask('PUT', '/api/fdd/params', { ...setting, value: min, unit, note: 'as built' })
  t.truthy((await ask('PUT', '/api/fdd/params', { ...setting, value: max })).before)
  t.is((await ask('GET', '/api/fdd/params?building_id=annex')).settings.length, 1)
  await ask('GET', `/api/fdd/params/${RULE}?building_id=annex`)
  await ask('POST', '/api/fdd/backtest', { ...annex, rule_id: RULE, params: { [param]: min }, days: 7 })
  await ask('DELETE', `/api/fdd/params?${new URLSearchParams(setting)}`)

  const [date, equipment_id] = ['2026-03-01', EQUIPMENT[0]!.equipment_id]
  const figures = { value: 1, spread: null, days_used: 1, dates: [date], left_out: [{ date, why: 'fault' }], cold: false }
  const looked = [{ equipment_id, rule_id: RULE }]
  site.context.baselines.keep({ ...annex, date, today: date, looked, baselines: [{ ...looked[0]!, ...figures, name: 'usual' }] })
  const baseline = { ...annex, ...looked[0]!, name: 'usual' }
  await ask('POST', '/api/fdd/baselines/reset', { ...baseline, note: 'new coil' })
  t.truthy((await ask('POST', '/api/fdd/baselines/reset', { ...baseline, note: 'another one' })).before)
  const { baselines } = await ask('GET', `/api/fdd/baselines?${new URLSearchParams({ ...annex, ...looked[0]! })}`)
  t.truthy(baselines.find((one: { name: string }) => one.name === 'usual').reset)
  await ask('POST', '/api/fdd/baselines/restore', baseline)

  const quantity = { ...annex, quantity_id: 'q', equipment_id, property: 'ratedCOP', numeric_value: 3, unit_code: '1' }
  const known = { quantity_kind: 'Efficiency', value_basis: 'Rated', source_type: 'plate', review_status: 'Reviewed' }
  await ask('POST', '/api/model/quantities', { quantities: [{ ...quantity, ...known }] })
  t.is((await ask('GET', '/api/model/quantities')).quantities.length, 1)
  t.is((await ask('GET', '/api/model/prices?building_id=annex')).prices, null)
  await ask('PUT', '/api/model/prices', { ...annex, currency: 'EUR', electricity: 0.3 })
  await ask('GET', '/api/model/prices?building_id=annex')

  t.true((await ask('GET', '/api/search?q=air')).items.length > 3)
  await ask('GET', '/api/restore')
}
