import { readFileSync } from 'node:fs'
import test from 'ava'
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { suppressionCycles } from '#shared/core/rules/episodes/suppress.ts'
import { ahu, type Rows, ruleOf, run, yamlOf } from '../../../../support/rules/helpers.ts'

const WARM = { id: 'WARM', when: 'sa_t > 20', cause: '{ cooling_valve: 0.6, heating_valve: 0.4 }' }
const rule = (keys: Record<string, string>) => ruleOf(yamlOf(keys))
const byId = (findings: { rule_id: string; suppressed_by?: string; finding_id: string }[]) =>
  Object.fromEntries(
    findings.map(({ rule_id, suppressed_by }) => [rule_id, findings.find(f => f.finding_id === suppressed_by)?.rule_id]),
  )
const vav = (equipment_id: string, parent_id: string) =>
  ahu({ damper: '1x12' }, 5 * MINUTE, { equipment_id, equipment_type: 'vav', parent_id })

test('the weights of a day add up, the heaviest first', t => {
  const rules = [rule(WARM), rule({ id: 'B', when: 'sa_t > 25', cause: '{ heating_valve: 0.5, sensor: 0.1 }' })]
  t.deepEqual(run(rules, [ahu({ sa_t: '30x12' })], HOUR).days, [
    {
      equipment_id: 'ahu-1',
      date: '2026-03-02',
      rule_ids: ['B', 'WARM'],
      cause: [
        { component: 'heating_valve', weight: 0.9 },
        { component: 'cooling_valve', weight: 0.6 },
        { component: 'sensor', weight: 0.1 },
      ],
    },
  ])
})

test('evidence against a component counts, and what falls to nothing is left out', t => {
  const rules = [rule(WARM), rule({ id: 'B', when: 'sa_t > 25', cause: '{ cooling_valve: -0.7, damper: 0.5 }' })]
  const [day] = run(rules, [ahu({ sa_t: '30x12' })], HOUR).days
  t.deepEqual(
    day!.cause.map(({ component }) => component),
    ['damper', 'heating_valve'],
  )
})

test('a conditional weight counts when its condition held for half of the time in fault', t => {
  const split = rule({ ...WARM, clear: '30m', cause: '{ valve: { sa_t > 25: 0.8, sa_t <= 25: 0.3 }, sensor: 0.1 }' })
  const weight = (rows: string) => run([split], [ahu({ sa_t: rows })], HOUR).findings[0]!.cause[0]
  t.deepEqual(weight('30x6 21x6'), { component: 'valve', weight: 1.1 })
  t.deepEqual(weight('30x7 21x5'), { component: 'valve', weight: 0.8 })
  t.deepEqual(weight('30x5 21x7'), { component: 'valve', weight: 0.3 })
})

test('where no condition held for half of the time in fault, each weight counts by its share of it', t => {
  const cause =
    '{ valve: { sa_t > 40: 0.8, sa_t < 24: 0.6 }, fan: { sa_t > 24 and sa_t <= 40: 0.9 }, sensor: { sa_t > 40: -0.1 } }'
  const split = rule({ ...WARM, clear: '30m', cause })
  const { findings, days } = run([split], [ahu({ sa_t: '50x4 21x4 30x4' })], HOUR)
  // A third each: (0.8 + 0.6) / 3 and 0.9 / 3.
  t.deepEqual(findings[0]!.cause, [
    { component: 'valve', weight: 0.466667 },
    { component: 'fan', weight: 0.3 },
  ])
  t.deepEqual(days[0]!.cause, findings[0]!.cause)
})

test("the tail of yesterday's episode does not make today a day in fault", t => {
  const lasting = rule({ ...WARM, daily_minimum: '60m', clear: '60m' })
  const dates = (tail: number) =>
    run([lasting], [ahu({ sa_t: `10x270 30x${18 + tail} 10x${270 - tail}` })], 2 * 24 * HOUR).days.map(({ date }) => date)
  t.deepEqual(dates(11), ['2026-03-02'])
  t.deepEqual(dates(12), ['2026-03-02', '2026-03-03'])
})

test('a rule without a cause makes no day', t => {
  t.deepEqual(run([rule({ id: 'A' })], [ahu({ sa_t: '30x12' })], HOUR).days, [])
})

test('a rule silences the rules that it names, which are kept and take no part in the cause', t => {
  const rules = [rule(WARM), rule({ id: 'BAD', when: 'sa_t > 25', suppresses: '[WA*]' })]
  const { findings, days, results } = run(rules, [ahu({ sa_t: '30x12' })], HOUR)
  t.deepEqual(byId(findings), { WARM: 'BAD', BAD: undefined })
  t.deepEqual(days, [])
  t.deepEqual(
    results.map(({ status }) => status),
    ['fault', 'fault'],
  )
})

test('what covers less than half of a finding does not silence it', t => {
  const rules = [rule({ ...WARM, clear: '60m' }), rule({ id: 'BAD', when: 'sa_t > 25', suppresses: '[WARM]' })]
  t.deepEqual(byId(run(rules, [ahu({ sa_t: '30x5 21x7' })], HOUR).findings), { WARM: undefined, BAD: undefined })
  t.deepEqual(byId(run(rules, [ahu({ sa_t: '30x6 21x6' })], HOUR).findings), { WARM: 'BAD', BAD: undefined })
})

test('a sensor that is out of range for half an hour of each night does not silence what reads it by day', t => {
  const range = ruleOf(readFileSync('rules/sensor/sen-range.yaml', 'utf8')).body
  const bad = rule({
    id: 'RANGE',
    equipment: '[any]',
    roles: '{ x: measured }',
    raw: 'true',
    when: String(range.when),
    clear: '24h',
    suppresses: '[readers]',
  })
  const warm = rule({ ...WARM, clear: '24h' })
  const dayOf = (bad5min: number) => `-157x${bad5min} 10x${96 - bad5min} 30x120 10x72`
  const silencedBy = (bad5min: number) =>
    byId(run([warm, bad], [ahu({ sa_t: [1, 2, 3].map(() => dayOf(bad5min)).join(' ') })], 72 * HOUR).findings)
  t.deepEqual(silencedBy(6), { WARM: undefined, RANGE: undefined })
  t.deepEqual(silencedBy(60), { WARM: 'RANGE', RANGE: undefined })
})

test('a bad sensor silences every rule that reads it, also on equipment that it feeds', t => {
  const range = rule({
    id: 'RANGE',
    kind: 'sensor',
    equipment: '[any]',
    roles: '{ x: any }',
    raw: 'true',
    when: 'x > 40',
    suppresses: '[readers]',
  })
  const zone = rule({ id: 'ZONE', equipment: '[vav]', roles: '{ damper: fraction }', when: 'parent(sa_t) > 30 and damper > 0.1' })
  const other = rule({ id: 'OTHER', roles: '{ ra_t: degC }', when: 'ra_t > 20' })
  const plant = [
    ahu({ damper: '1x12' }, 5 * MINUTE, { equipment_id: 'v', equipment_type: 'vav' }),
    ahu({ sa_t: '50x12', ra_t: '25x12' }, 5 * MINUTE, { feeds: ['v'] }),
  ]
  t.deepEqual(byId(run([rule(WARM), range, zone, other], plant, HOUR).findings), {
    WARM: 'RANGE',
    RANGE: undefined,
    ZONE: 'RANGE',
    OTHER: undefined,
  })
})

test('exchanged sensors silence the rules that read one of them, there and below, and leave a broken fan visible', t => {
  const swapped = rule({
    id: 'SWAP',
    kind: 'data',
    roles: '{ sa_t: degC, ma_t: degC }',
    when: 'sa_t > ma_t + 5 K',
    suppresses: '[readers(sa_t), readers(ma_t)]',
  })
  const mixed = rule({ id: 'MIXED', roles: '{ ma_t: degC }', when: 'ma_t < 15' })
  const fan = rule({ id: 'FAN', roles: '{ fan_status: bool }', when: 'not fan_status' })
  const zone = rule({ id: 'ZONE', equipment: '[vav]', roles: '{ damper: fraction }', when: 'parent(sa_t) > 20 and damper > 0.1' })
  const damper = rule({ id: 'DAMPER', equipment: '[vav]', roles: '{ damper: fraction }', when: 'damper > 0.1' })
  const plant = [
    ahu({ damper: '1x12' }, 5 * MINUTE, { equipment_id: 'v', equipment_type: 'vav' }),
    ahu({ sa_t: '24x12', ma_t: '13x12', fan_status: '0x12' }, 5 * MINUTE, { feeds: ['v'] }),
  ]
  t.deepEqual(byId(run([swapped, mixed, fan, zone, damper], plant, HOUR).findings), {
    SWAP: undefined,
    MIXED: 'SWAP',
    FAN: undefined,
    ZONE: 'SWAP',
    DAMPER: undefined,
  })
})

test('a sensor that only stands in for one that is there silences nobody', t => {
  const range = rule({
    id: 'RANGE',
    kind: 'sensor',
    equipment: '[any]',
    roles: '{ x: any }',
    raw: 'true',
    when: 'x > 40',
    suppresses: '[readers]',
  })
  const optional = '{ oa_t: degC, wx_oa_t: degC }'
  const one = rule({ id: 'ONE', optional, when: 'first(oa_t, wx_oa_t) > 20' })
  const lets = { let: '{ outdoor: "first(oa_t - 1 K, wx_oa_t - 3 K)" }', gate: 'outdoor > 10 degC' }
  const two = rule({ id: 'TWO', optional, ...lets, when: 'first(oa_t, wx_oa_t) > 20' })
  const both = rule({ id: 'BOTH', optional, when: 'first(oa_t, wx_oa_t) > 20 and wx_oa_t > 40' })
  const silencedBy = (station: string, own: Rows) => {
    const plant = [
      ahu({ wx_oa_t: station }, 5 * MINUTE, { equipment_id: 'w', equipment_type: 'weather' }),
      ahu({ ...own, sa_t: '20x12' }, 5 * MINUTE),
    ]
    const { ONE, TWO, BOTH } = byId(run([range, one, two, both], plant, HOUR).findings)
    return [ONE, TWO, BOTH]
  }
  t.deepEqual(silencedBy('45x12', { oa_t: '25x12' }), [undefined, undefined, 'RANGE'])
  t.deepEqual(silencedBy('45x12', {}), ['RANGE', 'RANGE', 'RANGE'])
  // One that is mapped and has never said anything is not there.
  t.deepEqual(silencedBy('45x12', { oa_t: '_x12' }), ['RANGE', 'RANGE', 'RANGE'])
  t.deepEqual(silencedBy('30x12', { oa_t: '45x12' }), ['RANGE', 'RANGE', undefined])
})

test("an air handler's fault silences its zones' symptoms, not those of another's", t => {
  const above = rule({ id: 'AHU', when: 'sa_t > 20', suppresses: '[ZONE]' })
  const zone = rule({ id: 'ZONE', equipment: '[vav]', roles: '{ damper: fraction }', when: 'damper > 0.9' })
  const plant = [
    vav('v1', 'a1'),
    vav('v2', 'a2'),
    ahu({ sa_t: '30x12' }, 5 * MINUTE, { equipment_id: 'a1' }),
    ahu({ sa_t: '10x12' }, 5 * MINUTE, { equipment_id: 'a2' }),
  ]
  const { findings } = run([above, zone], plant, HOUR)
  const zones = findings.filter(({ rule_id }) => rule_id === 'ZONE')
  t.deepEqual(
    zones.map(({ equipment_id, suppressed_by }) => [equipment_id, suppressed_by !== undefined]),
    [
      ['v1', true],
      ['v2', false],
    ],
  )
})

test('of two rules that silence each other the more severe one speaks', t => {
  const a = rule({ id: 'A', severity: '3', suppresses: '[B]' })
  const b = rule({ id: 'B', severity: '2', suppresses: '[A]' })
  t.deepEqual(byId(run([a, b], [ahu({ sa_t: '30x12' })], HOUR).findings), { A: 'B', B: undefined })
})

test('what a bad sensor explains silences nothing on its own equipment', t => {
  const doubted = rule({ id: 'MIX', roles: '{ ma_t: degC }', when: 'ma_t > 20', suppresses: '[WARM, ZONE]' })
  const zone = rule({ id: 'ZONE', equipment: '[vav]', roles: '{ damper: fraction }', when: 'damper > 0.9' })
  const found = (kind: string, suppresses = '[MIX]', warm = '30x12') => {
    const bad = rule({ id: 'BAD', kind, roles: '{ ma_t: degC, sa_t: degC }', when: 'ma_t > 25', suppresses })
    const around = [ahu({ sa_t: warm, ma_t: '21x5 30x7' }), vav('vav-1', 'ahu-1')]
    return byId(run([rule(WARM), zone, doubted, bad], around, HOUR).findings)
  }
  t.deepEqual(found('sensor'), { WARM: undefined, MIX: 'BAD', BAD: undefined, ZONE: 'MIX' })
  t.is(found('sensor', '[MIX, readers(sa_t)]', '30x9 10x3').WARM, 'MIX')
  t.is(found('sensor', '[MIX, WARM]', '30x9 10x3').WARM, 'MIX')
  t.is(found('sensor', '[MIX]', '30x9 10x3').WARM, undefined)
  t.deepEqual(found('fault'), { WARM: 'MIX', MIX: 'BAD', BAD: undefined, ZONE: 'MIX' })
})

test('rings of silence are found', t => {
  const rules = [
    rule({ id: 'A', suppresses: '[B]' }),
    rule({ id: 'B', suppresses: '[C]' }),
    rule({ id: 'C', suppresses: '["A*"]' }),
  ]
  t.deepEqual(suppressionCycles(rules), [['A', 'B', 'C', 'A']])
  t.deepEqual(suppressionCycles(rules.slice(0, 2)), [])
})

test('a chain of feeding equipment that closes on itself is not followed for ever', t => {
  const above = rule({ id: 'AHU', when: 'sa_t > 20', gate: 'pump_on' })
  const plant = [
    ahu({ sa_t: '30x12' }, 5 * MINUTE, { equipment_id: 'a', feeds: ['b'] }),
    ahu({ sa_t: '30x12' }, 5 * MINUTE, { equipment_id: 'b', feeds: ['a'] }),
  ]
  t.is(run([above], plant, HOUR).results[0]!.reason, 'missing_role')
})

test('shares that are apart are told in percentage points, what is left of a whole in percent', t => {
  const apart = rule({
    roles: '{ clg_valve: fraction, htg_valve: percent }',
    when: 'clg_valve > 0.5',
    explains: '"{abs(clg_valve - htg_valve)} over {htg_valve}, {1 - clg_valve} left"',
  })
  const { findings } = run([apart], [ahu({ clg_valve: '0.79x6', htg_valve: '0.2x6' })], 30 * MINUTE)
  t.is(findings[0]!.evidence.sentence, '59 percentage points over 20 %, 21 % left')
})

test('evidence tells the condition term by term at the worst moment', t => {
  const full = rule({
    roles: '{ sa_t: degC, sa_t_sp: degF, clg_valve: percent }',
    when: 'clg_valve >= 95 and sa_t > sa_t_sp + tol',
    params: '{ tol: { default: 2, min: 0, max: 9, unit: degF } }',
    explains: '"{sa_t}, {sa_t - sa_t_sp} above {sa_t_sp} at {clg_valve}, for {duration}; fan {fan_on}"',
    persistence: '10m',
  })
  const { findings } = run(
    [full],
    [ahu({ sa_t: '16x2 18x2 17x2', sa_t_sp: '13x6', clg_valve: '1x6', fan_status: '1x6' })],
    30 * MINUTE,
  )
  const { evidence, from } = findings[0]!
  t.is(evidence.expression, 'clg_valve >= 95 and sa_t > sa_t_sp + tol')
  t.deepEqual(evidence.terms, [
    { text: 'clg_valve >= 95', holds: true },
    { text: 'sa_t > sa_t_sp + tol', holds: true },
  ])
  t.is(evidence.worst_at - from, 10 * MINUTE)
  t.deepEqual(evidence.inputs, { clg_valve: 1, sa_t: 18, sa_t_sp: 13, fan_status: 1 })
  t.is(evidence.sentence, '18.0 °C, 5.0 K above 55.4 °F at 100 %, for 30 min; fan on')
})
