import test from 'ava'
import type { Equipment, Point } from '#shared/core/model/model.ts'
import type { ParamSetting } from '#shared/core/rules/check/param-settings.ts'
import type { Rule } from '#shared/core/rules/check/rule.ts'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import {
  backtest,
  type BacktestPorts,
  type BacktestRequest,
  type ParamTrial,
  prepareBacktest,
  scopeIdOf,
} from '#shared/flow/fdd/backtest.ts'
import { ruleOf, START, yamlOf } from '../../../support/rules/helpers.ts'

const END = START + 2 * DAY
const equipmentOf = (equipment_id: string, equipment_type: Equipment['equipment_type']): Equipment => {
  return { equipment_id, building_id: 'b1', name: equipment_id, equipment_type }
}
const EQUIPMENT = [
  equipmentOf('AHU-1', 'ahu'),
  equipmentOf('AHU-2', 'ahu'),
  equipmentOf('RTU-1', 'rtu'),
  equipmentOf('V-1', 'vav'),
]
const POINTS = EQUIPMENT.map(({ equipment_id }): Point => {
  const source = { protocol: 'csv', address: 'x' } as const
  return {
    point_id: `${equipment_id}.SAT`,
    building_id: 'b1',
    equipment_id,
    name: 'SAT',
    role: 'sa_t',
    unit: 'degC',
    kind: 'number',
    source,
  }
})
/** 15 °C, but 25 °C from 6 to 9 on the first day and 32 °C from 6 to 7 on the second. */
const levelAt = (t: number): number => {
  const hour = (t - START) / HOUR
  return hour >= 6 && hour < 9 ? 25 : hour >= 30 && hour < 31 ? 32 : 15
}
const TS = Float64Array.from({ length: (END - START) / (5 * MINUTE) }, (_, i) => START + i * 5 * MINUTE)
const series = { ts: TS, values: TS.map(levelAt) }
const historian = {
  read: async ({ point_ids, from, to }: { point_ids: string[]; from: number; to: number }) => {
    const [first, end] = [TS.findIndex(t => t >= from), TS.findLastIndex(t => t < to) + 1]
    const part = { ts: series.ts.slice(first, end), values: series.values.slice(first, end) }
    return point_ids.map(() => part)
  },
  lastAt: () => END - 5 * MINUTE,
  firsts: async () => Object.fromEntries(POINTS.map(({ point_id }) => [point_id, START])),
}

const rule = ruleOf(
  yamlOf({ equipment: '[ahu, rtu]', params: '{ limit: { default: 30, min: 10, max: 40, unit: degC } }', when: 'sa_t > limit' }),
)
const silencer = ruleOf(yamlOf({ id: 'WHY', equipment: '[any]', when: 'sa_t > 31', severity: '1', suppresses: '[R]' }))

const set = (more: Partial<ParamSetting>): ParamSetting => {
  return { rule_id: 'R', param: 'limit', scope: 'site', scope_id: 's1', value: 20, unit: 'degC', ...more }
}
const portsOf = (settings: ParamSetting[], inactive: string[] = []): BacktestPorts => {
  const building = { building_id: 'b1', name: 'B', site_id: 's1', timezone: 'UTC', unit_system: 'si' as const }
  return {
    model: { building: (id: string) => (id === 'b1' ? building : undefined), equipment: () => EQUIPMENT, points: () => POINTS },
    ruleStates: { list: () => inactive.map(rule_id => ({ rule_id, active: false })) },
    paramSettings: { list: () => settings },
    baselines: { resets: () => [] },
    historian,
    clock: { now: () => END },
  } as unknown as BacktestPorts
}
const ask = async (more: Partial<ParamTrial>, given: Given = {}) =>
  askFor({ building_id: 'b1', rule_id: 'R', params: { limit: 20 }, scope: 'site', days: 2, ...more }, given)
type Given = { settings?: ParamSetting[]; rules?: Rule[]; inactive?: string[] }
const askFor = async (request: BacktestRequest, { settings = [], rules = [rule], inactive = [] }: Given = {}) => {
  const job = await prepareBacktest(request, portsOf(settings, inactive))
  return backtest(structuredClone(job), { historian, loadRules: () => ({ rules, errors: [] }), elapsed: () => 0 })
}
type Report = Awaited<ReturnType<typeof ask>>
const told = ({ equipment }: Report) =>
  equipment.map(({ equipment_id, before, after, episodes }) =>
    [equipment_id, before.episodes, after.episodes, ...episodes.map(({ change }) => change)].join(' '),
  )

test('another value for the site is tried on all equipment that the rule is for', async t => {
  const report = await ask({})
  t.deepEqual(told(report), ['AHU-1 1 2 appears stays', 'AHU-2 1 2 appears stays', 'RTU-1 1 2 appears stays'])
  t.like(report, { building_id: 'b1', rule_id: 'R', from: START, to: END, failed: [] })
  const [first] = report.equipment
  t.like(first, { before: { fault_secs: 3600 }, after: { fault_secs: 4 * 3600 } })
  t.deepEqual([first!.result_before?.status, first!.result_after?.status], ['fault', 'fault'])
  t.deepEqual(first!.episodes[0]!.finding.evidence.params, { limit: { value: 20, unit: 'degC', source: 'site' } })
})

test('a value for a type or an equipment is tried there alone', async t => {
  t.deepEqual(told(await ask({ scope: 'type', scope_id: 'rtu' })), ['RTU-1 1 2 appears stays'])
  t.deepEqual(told(await ask({ scope: 'equipment', scope_id: 'AHU-2', params: { limit: 35 } })), ['AHU-2 1 0 goes'])
  t.deepEqual(told(await ask({ scope: 'type', scope_id: 'vav' })), [], 'the rule is for no such equipment')
})

test('what is set counts as it would: a narrower setting stays, the same one is replaced', async t => {
  const settings = [set({ value: 35 }), set({ scope: 'equipment', scope_id: 'AHU-1', value: 20 })]
  t.deepEqual(told(await ask({ params: { limit: 30 } }, { settings })), [
    'AHU-1 2 2 stays stays',
    'AHU-2 0 1 appears',
    'RTU-1 0 1 appears',
  ])
})

test('rules that silence the one that is tried run beside it, unless they are switched off', async t => {
  const silenced = (report: Report) =>
    report.equipment[0]!.episodes.map(({ finding: { suppressed_by } }) => suppressed_by !== undefined)
  t.deepEqual(silenced(await ask({}, { rules: [rule, silencer] })), [false, true])
  t.deepEqual(silenced(await ask({}, { rules: [rule, silencer], inactive: ['WHY'] })), [false, false])
  t.deepEqual(told(await ask({}, { inactive: ['R'] })).length, 3, 'one that is switched off can be tried')
})

for (const [what, more, code, pointer] of [
  ['a building that is not there', { building_id: 'b2' }, 'unknown_building', undefined],
  ['equipment that is not there', { scope: 'equipment', scope_id: 'AHU-9' }, 'unknown_equipment', undefined],
  ['a type that there is not', { scope: 'type', scope_id: 'toaster' }, 'invalid', '/scope_id'],
  ['another site', { scope_id: 's2' }, 'invalid', '/scope_id'],
  ['a rule that is not there', { rule_id: 'NONE' }, 'unknown_rule', undefined],
  ['a parameter that the rule does not have', { params: { constructor: 1 } }, 'invalid', '/params/constructor'],
  ['a value out of bounds', { params: { limit: 50 } }, 'invalid', '/params/limit'],
  ['a role, for a rule that has none', { role: 'sa_t' }, 'invalid', '/params/limit'],
] as const) {
  test(`a backtest of ${what} is refused`, async t => {
    const error = await t.throwsAsync(ask(more as Partial<ParamTrial>))
    t.like(error, { code })
    t.is((error as unknown as { errors: { pointer?: string }[] }).errors[0]?.pointer, pointer)
  })
}

const draft = (keys: Record<string, string>, given: Given = {}) =>
  askFor({ building_id: 'b1', yaml: yamlOf({ equipment: '[ahu, rtu]', ...keys }), days: 2 }, given)

test('another text of a rule is compared with the one that is deployed, with the same settings', async t => {
  const report = await draft({ params: '{ limit: { default: 20, min: 10, max: 40, unit: degC } }', when: 'sa_t > limit' })
  t.deepEqual(told(report), ['AHU-1 1 2 appears stays', 'AHU-2 1 2 appears stays', 'RTU-1 1 2 appears stays'])
  t.like(report, { rule_id: 'R', is_deployed: true, settings: [], failed: [] })
  const settings = [set({ value: 35 })]
  const settled = { params: '{ limit: { default: 20, min: 10, max: 40, unit: degC } }', when: 'sa_t > limit' }
  t.deepEqual(told(await draft(settled, { settings })), ['AHU-1 0 0', 'AHU-2 0 0', 'RTU-1 0 0'])
})

test('a text for other equipment is tried there, and what it gives up goes', async t => {
  t.deepEqual(told(await draft({ equipment: '[rtu, vav]', when: 'sa_t > 30' })), [
    'AHU-1 1 0 goes',
    'AHU-2 1 0 goes',
    'RTU-1 1 1 stays',
    'V-1 0 1 appears',
  ])
})

test('the text of a new rule has nothing before it, and rules that silence it count', async t => {
  const report = await draft(
    { id: 'NEW', when: 'sa_t > 20' },
    { rules: [rule, ruleOf(yamlOf({ id: 'WHY', equipment: '[any]', when: 'sa_t > 31', severity: '1', suppresses: '[NEW]' }))] },
  )
  t.deepEqual(told(report)[0], 'AHU-1 0 2 appears appears')
  t.like(report, { rule_id: 'NEW', is_deployed: false })
  const [first] = report.equipment
  t.is(first!.result_before, undefined)
  t.deepEqual(
    first!.episodes.map(({ finding: { suppressed_by } }) => suppressed_by !== undefined),
    [false, true],
  )
})

test('a text that does not check is refused with the lines of its errors', async t => {
  const error = await t.throwsAsync(draft({ when: 'sa_t > 5 Pa' }))
  t.like(error, { code: 'rule_invalid' })
  t.like((error as unknown as { errors: { row?: number }[] }).errors[0], { row: 5 })
})

test('a scope stands for one id', t => {
  const of = (scope: 'site' | 'type' | 'equipment', scope_id?: string) =>
    scopeIdOf({ building_id: 'b1', scope, ...(scope_id !== undefined && { scope_id }) }, 's1', EQUIPMENT)
  t.deepEqual([of('site'), of('site', 's1'), of('type', 'ahu'), of('equipment', 'V-1')], ['s1', 's1', 'ahu', 'V-1'])
})
