/** State between two runs, part by part; `incremental.test.ts` tries the whole. */
import { deserialize, serialize } from 'node:v8'
import test from 'ava'
import fc from 'fast-check'
import { createEquipmentContext } from '#shared/core/rules/compile/equipment-context.ts'
import { buildNode, type BuildContext } from '#shared/core/rules/compile/build-nodes.ts'
import { checkExpr } from '#shared/core/rules/check/check-expr.ts'
import { Graph, orderOf } from '#shared/core/rules/evaluate/graph.ts'
import type { NodeState } from '#shared/core/rules/evaluate/node-state.ts'
import { createRun } from '#shared/core/rules/evaluate/run-rules.ts'
import { parseExpr } from '#shared/core/rules/language/parse-expr.ts'
import { createBuildingSignals } from '#shared/core/rules/compile/building-signals.ts'
import { outlineOf } from '#shared/core/rules/compile/topology.ts'
import { buildingDays, createRowLayout } from '#shared/core/rules/evaluate/day-rows.ts'
import type { EquipmentState } from '#shared/core/rules/evaluate/equipment-state.ts'
import type { Rule } from '#shared/core/rules/check/rule.ts'
import type { RunOutput, RunPlan } from '#shared/core/rules/evaluate/run-types.ts'
import type { EquipmentData, RoleSeries } from '#shared/core/rules/compile/equipment-data.ts'
import { DAY, HOUR, MINUTE, SECOND } from '#shared/core/time.ts'
import { ahu, equipment, ruleOf, seriesOf, START, yamlOf } from '../../../../support/rules/helpers.ts'
import { diceOf } from '../../../../support/rules/world.ts'

// ---- operators

const OPERATORS = [
  'avg(sa_t, 31h)',
  'avg(sa_t, 45s)',
  'min(sa_t, 31h)',
  'max(sa_t, 90m)',
  'range(sa_t, 25h)',
  'median(sa_t, 26h)',
  'percentile(sa_t, 3h, 0.8)',
  'delta(sa_t, 30h)',
  'lag(sa_t, 7m)',
  'changes(sa_t, 26h)',
  'travel(sa_t, 27h)',
  'reversals(sa_t, 40h, 1.5 K)',
  'duty(sa_t > 20, 26h)',
  'held(sa_t < 24, 2h)',
  'count(sa_t > 20, 30h)',
  'starts(sa_t > 20, 30h)',
  'since(sa_t > 22)',
  'age(sa_t)',
  'coverage(sa_t, 26h)',
  'cusum(sa_t - 18, 1 K, 30h)',
]
const DAYS = 3

/** A graph of all operators, which resumes from the saved state of another. */
function operatorsOf(
  own: EquipmentData,
  plant: ReturnType<typeof createBuildingSignals>,
  saved: Readonly<Record<string, NodeState>>,
) {
  const typed = OPERATORS.map(
    text => checkExpr(parseExpr(text), { roles: { sa_t: 'degC' }, params: {}, lets: new Map(), baselines: new Map() }).typed,
  )
  const graph = new Graph()
  const equipmentContext = createEquipmentContext(own, plant)
  const shared = { rule: ruleOf(yamlOf({})), role: undefined, equipmentContext, graph, params: {}, smoothMs: 0 }
  const missing = { missing: new Set<string>(), missingOptional: new Set<string>() }
  const sets = { ...missing, baselines: new Map(), leaves: new Set<never>(), namedNodes: new Map(), builtNodes: new Map() }
  const context: BuildContext = { ...shared, ...sets, active: graph.constant(1), dailyMinimumMs: 0, usesDayMedian: false }
  const nodes = typed.map(each => buildNode(each, context))
  graph.begin(saved)
  return { graph, nodes }
}

/** Every column of a graph over the days; `forgetful` makes a new graph each day from the saved state of the last one. */
function columnsOf(series: RoleSeries, forgetful: boolean): Float64Array[] {
  const own = equipment({ sa_t: series })
  const plant = createBuildingSignals([own])
  let { graph, nodes } = operatorsOf(own, plant, {})
  const columns: Float64Array[] = []
  const layOut = createRowLayout([plant.signal('ahu-1', 'sa_t')!])
  for (const day of buildingDays(START, START + DAYS * DAY, 'UTC')) {
    if (forgetful) ({ graph, nodes } = operatorsOf(own, plant, deserialize(serialize(graph.save()))))
    const rows = layOut(day)
    graph.run(orderOf(nodes), rows)
    columns.push(...nodes.map(({ out }) => out.slice(0, rows.n)))
  }
  return columns
}

/** Days by the minute, days with samples between the minutes, gaps, missing values. */
function samplesOf(seed: number): RoleSeries {
  const dice = diceOf(seed)
  const samples: [number, number][] = []
  let value = 20
  let isEven = dice.chance(0.5)
  for (let t = START; t < START + DAYS * DAY; ) {
    if ((t - START) % DAY < MINUTE) isEven = dice.chance(0.5)
    if (dice.chance(0.1)) value = 14 + dice.below(12)
    samples.push([t, dice.chance(0.01) ? Number.NaN : value])
    t = isEven ? Math.floor(t / MINUTE) * MINUTE + MINUTE : t + dice.below(20 * 60) * SECOND + SECOND
    if (dice.chance(0.001)) t += dice.below(30) * HOUR
  }
  const [ts, values] = [Float64Array.from(samples, ([t]) => t), Float64Array.from(samples, ([, v]) => v)]
  return { ts, values, nominalMs: 10 * MINUTE, point_id: 'p' }
}

test('what an operator has saved is all that it needs, to the last bit', t => {
  const known = OPERATORS.map(() => 0)
  fc.assert(
    fc.property(fc.integer(), seed => {
      const series = samplesOf(seed)
      const whole = columnsOf(series, false)
      for (const [i, column] of columnsOf(series, true).entries()) {
        const operator = i % OPERATORS.length
        const at = column.findIndex((value, row) => !Object.is(value, whole[i]![row]))
        if (at >= 0) throw new Error(`${OPERATORS[operator]}: ${column[at]} instead of ${whole[i]![at]} in row ${at}`)
        known[operator]! += column.filter(value => value === value).length
      }
    }),
    { numRuns: 30, endOnFailure: true },
  )
  t.deepEqual(
    OPERATORS.filter((_, i) => known[i] === 0),
    [],
  )
})

for (const [name, offset] of Object.entries({ 'on the minute': 0, 'between the minutes': 17 * SECOND })) {
  test(`what operators remember of samples ${name} does not grow with the past`, t => {
    const days = 40
    const hours = Array.from({ length: days * 24 }, (_, hour) => START + hour * HOUR)
    // A gap in every hour: what has been missing is remembered as long as a window sees it.
    const ts = Float64Array.from(hours.flatMap(from => Array.from({ length: 40 }, (_, i) => from + i * MINUTE + offset)))
    const series = { point_id: 'p', nominalMs: MINUTE, ts, values: ts.map(at => 18 + (Math.floor(at / MINUTE) % 7)) }
    const own = equipment({ sa_t: series })
    const { graph, nodes } = operatorsOf(own, createBuildingSignals([own]), {})
    const layOut = createRowLayout([createBuildingSignals([own]).signal('ahu-1', 'sa_t')!])
    const sizes = buildingDays(START, START + days * DAY, 'UTC').map(day => {
      graph.run(orderOf(nodes), layOut(day))
      return serialize(graph.save()).length
    })
    t.true(sizes.at(-1)! <= sizes[5]! * 1.01, `${sizes[5]} bytes after six days, ${sizes.at(-1)} after ${days}`)
  })
}

// ---- runs

type Given = { rules: Rule[]; data: EquipmentData[]; more?: Partial<RunPlan> }
const day = (n: number) => START + n * DAY

function open({ rules, data, more }: Given, from: number, to: number) {
  return createRun({ building_id: 'b', timezone: 'UTC', from, to, rules, equipment: data.map(outlineOf), ...more })
}

/** Of samples until `to`, and of a run that resumes there, only later ones. */
const cut = (data: EquipmentData[], from: number, to: number): EquipmentData[] =>
  data.map(each => {
    const roles = Object.entries(each.roles).map(([role, { ts, values, ...series }]) => {
      const kept = [...ts.keys()].filter(i => ts[i]! >= from && ts[i]! < to)
      return [role, { ...series, ts: Float64Array.from(kept, i => ts[i]!), values: Float64Array.from(kept, i => values[i]!) }]
    })
    return { ...each, roles: Object.fromEntries(roles) }
  })

/** Runs in turn, each on from the last closed day of the one before; the output of the last. */
function chained(given: Given, spans: [from: number, to: number][]): RunOutput {
  const states = new Map<string, EquipmentState>()
  let output: RunOutput | undefined
  for (const [from, to] of spans) {
    const run = open({ ...given, more: { ...given.more, saveStatesAt: [Math.floor(to / DAY) * DAY] } }, from, to)
    for (const id of run.order) {
      const resume = states.get(id)
      const evaluated = run.evaluate(id, cut(given.data, resume?.at ?? 0, to), resume)
      if (evaluated.outdated !== undefined) throw new Error(evaluated.outdated)
      for (const state of evaluated.states) states.set(id, deserialize(serialize(state)) as EquipmentState)
    }
    output = run.finish()
  }
  return output!
}

function whole(given: Given, from: number, to: number): RunOutput {
  const run = open(given, from, to)
  for (const id of run.order) run.evaluate(id, cut(given.data, 0, to))
  return run.finish()
}

/** The first state that a run over two days and a bit leaves. */
function stateOf(given: Given, at = day(1)): EquipmentState {
  const run = open({ ...given, more: { ...given.more, saveStatesAt: [at] } }, START, at + HOUR)
  const evaluated = run.evaluate('ahu-1', cut(given.data, 0, at + HOUR))
  if (evaluated.outdated !== undefined) throw new Error(evaluated.outdated)
  return evaluated.states[0]!
}

const rule = (keys: Record<string, string>) => ruleOf(yamlOf(keys))

test('what ended before the span still explains what goes on in it', t => {
  const rules = [
    rule({ id: 'UP', roles: '{ ma_t: degC }', when: 'ma_t > 20', suppresses: '[LOW]', severity: '2' }),
    rule({ id: 'LOW', when: 'sa_t > 20' }),
  ]
  // Half-hours: UP from noon of the first day to the evening of the second, LOW through the second and a little longer.
  const data = [ahu({ ma_t: '10x24 25x64 10x152', sa_t: '10x48 25x52 10x140' }, HOUR / 2)]
  const spans: [number, number][] = [
    [START, day(2) + 6 * HOUR],
    [day(2), day(3) + 6 * HOUR],
    [day(2), day(4) + 6 * HOUR],
  ]
  const output = chained({ rules, data }, spans)
  t.deepEqual(output, whole({ rules, data }, day(2), day(4) + 6 * HOUR))
  t.deepEqual(
    output.findings.map(({ rule_id, suppressed_by }) => [rule_id, suppressed_by !== undefined]),
    [['LOW', true]],
  )
})

test('days of a candidate become days in fault though they lie before the span', t => {
  const past = '{ own: { of: sa_t, when: "sa_t > 0", stat: median, days: 20, min_days: 1, fallback: 20 } }'
  const rules = [rule({ baseline: past, when: 'sa_t > base(own) + 1', gate: 'fan_on', daily_minimum: '10h', clear: '1h' })]
  // An hour of it on each of four days, then twelve hours; the fan rests in between.
  const hour = { sa_t: '20x23 30x1', fan_status: '0x23 1x1' }
  const rows = (role: 'sa_t' | 'fan_status', long: string) => Array.from({ length: 4 }, () => hour[role]).join(' ') + long
  const data = [ahu({ sa_t: rows('sa_t', ' 30x12 20x36'), fan_status: rows('fan_status', ' 1x12 0x36') }, HOUR)]
  const spans = Array.from({ length: 5 }, (_, n): [number, number] => [day(n), day(n + 1) + 2 * HOUR])
  const output = chained({ rules, data }, spans)
  t.deepEqual(output, whole({ rules, data }, day(4), day(5) + 2 * HOUR))
  t.is(output.findings[0]!.from, day(0) + 23 * HOUR)
  t.is(output.baselines[0]!.left_out.length, 5)
})

test('a finding goes on under the id that it was carried over with', t => {
  const rules = [rule({ when: 'sa_t > 20', clear: '1h' })]
  const data = [ahu({ sa_t: '25x96' }, HOUR)]
  const from = START - 9 * DAY
  const one = { rule_id: 'R', equipment_id: 'ahu-1', from, confirmed_at: from, duration_secs: 7200, up_to: START }
  const given = { rules, data, more: { carried: [one] } }
  const output = chained(given, [
    [START, day(1) + HOUR],
    [START, day(2) + HOUR],
    [day(1), day(3)],
  ])
  t.deepEqual(output, whole(given, day(1), day(3)))
  t.is(output.findings[0]!.from, from)
})

// ---- when a state is of no use

const RULE = rule({ params: '{ limit: { default: 20, min: 10, max: 30, unit: degC } }', when: 'sa_t > limit' })
const PLANT = [ahu({ sa_t: '25x144', fan_status: '1x144' }, HOUR / 2, { visits: {} })]
const GIVEN: Given = { rules: [RULE], data: PLANT }
const REFUSED: [string, Given, from: number, to: number, why: RegExp][] = [
  ['another rule', { ...GIVEN, rules: [{ ...RULE, sha256: 'another' }] }, START, day(2), /rules, parameters, points/],
  ['a rule more', { ...GIVEN, rules: [RULE, rule({ id: 'S' })] }, START, day(2), /rules, parameters, points/],
  ['a parameter', { ...GIVEN, more: { params: { R: { limit: 21 } } } }, START, day(2), /rules, parameters, points/],
  ['another zone', { ...GIVEN, more: { timezone: 'Europe/Berlin' } }, START, day(2), /begins within a building day|have changed/],
  ['another point', { ...GIVEN, data: [withSeries({ point_id: 'q' })] }, START, day(2), /rules, parameters, points/],
  ['another unit', { ...GIVEN, data: [withSeries({ unit: 'degF' })] }, START, day(2), /rules, parameters, points/],
  ['another interval', { ...GIVEN, data: [withSeries({ nominalMs: 7 })] }, START, day(2), /rules, parameters, points/],
  [
    'equipment above',
    { ...GIVEN, data: [...PLANT, ahu({}, 1, { equipment_id: 'up', feeds: ['ahu-1'] })] },
    START,
    day(2),
    /equip/,
  ],
  ['an earlier span', GIVEN, START - DAY, day(2), /begins earlier/],
  ['a span within a day', GIVEN, START + HOUR, day(2), /within a building day/],
  ['an end before it', GIVEN, START, day(1) - HOUR, /later than the end/],
]

function withSeries(more: Partial<RoleSeries>): EquipmentData {
  const [own] = PLANT
  return { ...own!, roles: { ...own!.roles, sa_t: { ...own!.roles.sa_t!, ...more } } }
}

for (const [name, given, from, to, why] of REFUSED) {
  test(`a state is of no use with ${name}`, t => {
    const run = open(given, from, to)
    const first = run.order.find(id => id !== 'ahu-1')
    if (first !== undefined) run.evaluate(first, given.data)
    const evaluated = run.evaluate('ahu-1', cut(given.data, day(1), to), stateOf(GIVEN))
    t.regex(evaluated.outdated ?? '', why)
    // Nothing has been done: the same run can begin again.
    t.is(run.evaluate('ahu-1', cut(given.data, 0, to)).outdated, undefined)
    t.deepEqual(run.finish(), whole(given, from, to))
  })
}

test('the first sample of a role that had none is another equipment', t => {
  const rules = [rule({ when: 'sa_t > 20', gate: 'fan_on' })]
  const silent = [ahu({ sa_t: '25x144', fan_speed: '1x144', fan_status: '_x60 1x84' }, HOUR / 2)]
  const state = stateOf({ rules, data: silent })
  const run = open({ rules, data: silent }, START, day(3))
  t.is(
    open({ rules, data: silent }, START, day(1) + HOUR).evaluate('ahu-1', cut(silent, day(1), day(1) + HOUR), state).outdated,
    undefined,
  )
  t.regex(run.evaluate('ahu-1', cut(silent, day(1), day(3)), state).outdated!, /have changed/)
})

test('a baseline begun anew outdates the states after it alone', t => {
  const past = '{ own: { of: sa_t, when: "sa_t > 0", stat: median, days: 20, min_days: 1, fallback: 20 } }'
  const given = { rules: [rule({ baseline: past, when: 'sa_t > base(own) + 1' })], data: PLANT }
  const reset = (at: number) => ({ ...given, more: { resets: [{ rule_id: 'R', equipment_id: 'ahu-1', name: 'own', at }] } })
  const goOn = (at: number) =>
    open(reset(at), START, day(2)).evaluate('ahu-1', cut(PLANT, day(1), day(2)), stateOf(given)).outdated
  t.regex(goOn(day(1) - HOUR) ?? '', /have changed/)
  t.is(goOn(day(1) + HOUR), undefined)
})

// ---- failing, asking

test('a rule that takes too long fails alone, and stays out until the state is given up', t => {
  const rules = [rule({ id: 'SLOW' }), rule({ id: 'FINE' })]
  const asked: string[] = []
  const isOvertime = (rule_id: string) => asked.push(rule_id) > 2 && rule_id === 'SLOW'
  const given = { rules, data: PLANT, more: { isOvertime } }
  const output = chained(given, [
    [START, day(2) + HOUR],
    [START, day(2) + 5 * HOUR],
  ])
  t.deepEqual(output.failed, [{ rule_id: 'SLOW', equipment_id: 'ahu-1', error: 'takes too long: left out on this equipment' }])
  t.deepEqual(
    output.findings.map(({ rule_id }) => rule_id),
    ['FINE'],
  )
  t.deepEqual(asked.slice(0, 5), ['FINE', 'SLOW', 'FINE', 'SLOW', 'FINE'])
})

test('a run to the very end of a day tells of it all without another day', t => {
  const given = { rules: [RULE], data: PLANT }
  t.deepEqual(
    chained(given, [
      [START, day(2)],
      [START, day(2)],
    ]),
    whole(given, START, day(2)),
  )
})

test('a run says what it reads: all of its own, elsewhere what some rule may look at', t => {
  const series = seriesOf('1x2', HOUR)
  const data = [
    equipment({ sa_t: series, fan_cmd: series, ra_t: series }, { feeds: ['v'], visits: { sa_t: [] } }),
    equipment({ zone_t: series, damper: series }, { equipment_id: 'v', equipment_type: 'vav' }),
    equipment({ wx_oa_t: series, sa_t: series }, { equipment_id: 'w', equipment_type: 'weather' }),
  ]
  const rules = [
    rule({ roles: '{ sa_t: degC }', when: 'zones(zone_t, avg) > 20' }),
    rule({ id: 'V', equipment: '[vav]', roles: '{ zone_t: degC }', when: 'zone_t > parent(sa_t)', gate: 'fan_on' }),
  ]
  const run = open({ rules, data }, START, day(1))
  t.deepEqual(run.order, ['w', 'ahu-1', 'v'])
  t.deepEqual(run.needs('ahu-1'), [
    { equipment_id: 'ahu-1', roles: ['sa_t', 'fan_cmd', 'ra_t'], visits: ['sa_t'] },
    { equipment_id: 'w', roles: ['wx_oa_t'], visits: [] },
    { equipment_id: 'v', roles: ['zone_t'], visits: [] },
  ])
  t.deepEqual(run.needs('v').slice(1), [
    { equipment_id: 'w', roles: ['wx_oa_t'], visits: [] },
    { equipment_id: 'ahu-1', roles: ['sa_t', 'fan_cmd'], visits: [] },
  ])
})
