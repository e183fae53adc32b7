import test from 'ava'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { expandRows } from '#shared/core/rules/parse-tests.ts'
import { ahu, type Rows, ruleOf, run, spans, START, yamlOf } from './helpers.ts'

type Case = {
  title: string
  rule: Record<string, string>
  /** Five minutes a row. */
  rows: Rows
  spans?: string[]
  status?: string
  coverage?: number
}

const ROLES = '{ sa_t: degC, fan_status: bool }'
const GATED = { roles: ROLES, gate: 'fan_status' }

const CASES: Case[] = [
  // ---- three values
  { title: 'a condition that never holds passes', rule: {}, rows: { sa_t: '10x24' }, spans: [], status: 'pass', coverage: 1 },
  {
    title: 'a role that is not there is missing',
    rule: { roles: ROLES },
    rows: { sa_t: '30x24' },
    spans: [],
    status: 'not_evaluated missing_role fan_status',
  },
  {
    title: 'a proof that is not there is missing',
    rule: { gate: 'fan_on' },
    rows: { sa_t: '30x24' },
    spans: [],
    status: 'not_evaluated missing_role fan_status',
  },
  {
    title: 'a proof for which something stands in is not',
    rule: { gate: 'first(fan_on, parent(fan_status) > 0, zones(damper, max) > 0, true)' },
    rows: { sa_t: '30x24' },
    spans: ['0-'],
    status: 'fault',
  },
  {
    title: 'a proof for which something stands in here is missing where nothing does',
    rule: { gate: 'first(fan_on, true) and fan_on' },
    rows: { sa_t: '30x24' },
    spans: [],
    status: 'not_evaluated missing_role fan_status',
  },
  {
    title: 'where all that could stand in is missing, the first is',
    rule: { gate: 'first(fan_on, pump_on)' },
    rows: { sa_t: '30x24' },
    spans: [],
    status: 'not_evaluated missing_role fan_status',
  },
  {
    title: 'what stands in need not be there when the first is',
    rule: { gate: 'first(fan_on, pump_on)' },
    rows: { sa_t: '30x24', fan_status: '1x24' },
    spans: ['0-'],
    status: 'fault',
  },
  {
    title: 'of optional roles that stand in for each other one must be there',
    rule: { optional: '{ oa_t: degC, wx_oa_t: degC }', when: 'first(oa_t, wx_oa_t) < 0' },
    rows: { sa_t: '30x24' },
    spans: [],
    status: 'not_evaluated missing_role oa_t',
  },
  {
    title: 'an optional role for which a figure stands in need not be there',
    rule: { optional: '{ oa_t: degC }', when: 'first(oa_t, -5) < 0' },
    rows: { sa_t: '30x24' },
    spans: ['0-'],
    status: 'fault',
  },
  { title: 'a role without samples has no data', rule: {}, rows: { sa_t: '_x24' }, spans: [], status: 'not_evaluated no_data' },
  { title: 'samples without a value are no data', rule: {}, rows: { sa_t: '?x24' }, spans: [], status: 'not_evaluated no_data' },
  { title: 'a point that fell silent is stale', rule: {}, rows: { sa_t: '10x3 _x21' }, spans: [], status: 'not_evaluated stale' },
  {
    title: 'a value that cannot be is out of range',
    rule: {},
    rows: { sa_t: '200x24' },
    spans: [],
    status: 'not_evaluated out_of_range',
  },
  {
    title: 'a raw rule sees a value that cannot be',
    rule: { raw: 'true' },
    rows: { sa_t: '200x24' },
    spans: ['0-'],
    status: 'fault',
  },
  {
    title: 'false and missing is not evaluated',
    rule: { roles: ROLES, when: 'fan_status and sa_t > 20' },
    rows: { fan_status: '0x24', sa_t: '?x24' },
    spans: [],
    status: 'not_evaluated no_data',
  },
  {
    title: 'a window without history is not evaluated',
    rule: { when: 'avg(sa_t, 4h) > 20' },
    rows: { sa_t: '30x24' },
    spans: [],
    status: 'not_evaluated insufficient_history',
  },
  {
    title: 'below the minimum coverage there is no pass',
    rule: {},
    rows: { sa_t: '10x18 ?x6' },
    spans: [],
    status: 'not_evaluated no_data',
    coverage: 0.75,
  },
  {
    title: 'at the minimum coverage there is a pass',
    rule: { min_coverage: '0.75' },
    rows: { sa_t: '10x18 ?x6' },
    spans: [],
    status: 'pass',
    coverage: 0.75,
  },
  { title: 'a fault is a fault whatever the coverage', rule: {}, rows: { sa_t: '30x2 ?x22' }, spans: ['0-'], status: 'fault' },
  // ---- holding
  { title: 'a sample holds for three intervals', rule: {}, rows: { sa_t: '30 _x2 10x9' }, spans: ['0-15'] },
  {
    title: 'after three intervals nothing is known',
    rule: { persistence: '16m' },
    rows: { sa_t: '30 _x4 30x9' },
    spans: ['25-'],
  },
  // ---- gate and settling
  {
    title: 'a shut gate is not evaluated',
    rule: GATED,
    rows: { sa_t: '30x24', fan_status: '0x24' },
    spans: [],
    status: 'not_evaluated gated',
    coverage: 0,
  },
  {
    title: 'gated time does not count for coverage',
    rule: GATED,
    rows: { sa_t: '10x12 ?x12', fan_status: '1x12 0x12' },
    spans: [],
    status: 'pass',
    coverage: 1,
  },
  {
    title: 'a gate that is not known is never open',
    rule: GATED,
    rows: { sa_t: '30x24', fan_status: '?x24' },
    spans: [],
    status: 'not_evaluated no_data',
  },
  {
    title: 'after the gate opens the rule waits',
    rule: { ...GATED, settle: '20m' },
    rows: { sa_t: '30x24', fan_status: '0x6 1x18' },
    spans: ['50-'],
  },
  {
    title: 'the wait begins anew with every opening',
    rule: { ...GATED, settle: '20m', persistence: '0' },
    rows: { sa_t: '30x24', fan_status: '1x2 0 1x3 0 1x17' },
    spans: ['55-'],
  },
  // ---- smoothing
  { title: 'smoothing takes the mean over the window', rule: { smooth: '10m' }, rows: { sa_t: '(10 28)x12' }, spans: [] },
  {
    title: 'without smoothing every second sample is a fault',
    rule: {},
    rows: { sa_t: '(10 28)x2 10x4' },
    spans: ['5-10', '15-20'],
  },
  // ---- persistence
  {
    title: 'a stretch as long as the persistence counts',
    rule: { persistence: '30m' },
    rows: { sa_t: '10x2 30x6 10x4' },
    spans: ['10-40'],
  },
  {
    title: 'a shorter stretch does not',
    rule: { persistence: '31m' },
    rows: { sa_t: '10x2 30x6 10x4' },
    spans: [],
    status: 'pass',
  },
  { title: 'a false moment breaks a stretch', rule: { persistence: '30m' }, rows: { sa_t: '30x5 10 30x5 10x4' }, spans: [] },
  {
    title: 'a moment that is not evaluated breaks a stretch',
    rule: { persistence: '30m' },
    rows: { sa_t: '30x5 ? 30x5 10x4' },
    spans: [],
  },
  {
    title: 'persistence may be a parameter',
    rule: { persistence: 'wait', params: '{ wait: { default: 30, min: 0, max: 60, unit: min } }' },
    rows: { sa_t: '30x6 10x4' },
    spans: ['0-30'],
  },
  // ---- daily minimum
  {
    title: 'short stretches add up within a day',
    rule: { daily_minimum: '30m', clear: '60m' },
    rows: { sa_t: '(30x2 10x2)x4 10x16' },
    spans: ['0-70'],
  },
  {
    title: 'too little in a day is no fault',
    rule: { daily_minimum: '45m', clear: '60m' },
    rows: { sa_t: '(30x2 10x2)x4 10x16' },
    spans: [],
  },
  // ---- clearing
  {
    title: 'a short recovery does not end an episode',
    rule: { clear: '30m' },
    rows: { sa_t: '30x3 10x5 30x3 10x9' },
    spans: ['0-55'],
  },
  {
    title: 'false for as long as clear ends it where it began',
    rule: { clear: '30m' },
    rows: { sa_t: '30x3 10x6 30x3 10x9' },
    spans: ['0-15', '45-60'],
  },
  {
    title: 'time that is not evaluated does not end it',
    rule: { clear: '30m' },
    rows: { sa_t: '30x3 10x3 ?x9 10x3 30x3' },
    spans: ['0-15', '90-'],
  },
  {
    title: 'a fault that nothing was evaluated of for less than three days goes on',
    rule: { clear: '30m' },
    rows: { sa_t: '30x3 ?x860 30x3' },
    spans: ['0-'],
  },
  {
    title: 'a fault that nothing was evaluated of for three days ends where it was last evaluated',
    rule: { clear: '30m' },
    rows: { sa_t: '30x3 10x3 30x3 ?x864 30x3' },
    spans: ['0-45', '4365-'],
  },
  {
    title: 'one that was seen false last ends there',
    rule: { clear: '30m' },
    rows: { sa_t: '30x3 10x3 ?x870' },
    spans: ['0-15'],
  },
  { title: 'until clear has passed the fault is active', rule: { clear: '60m' }, rows: { sa_t: '30x3 10x6' }, spans: ['0-'] },
]

for (const { title, rule, rows, ...wanted } of CASES) {
  test(title, t => {
    const count = Math.max(...Object.values(rows).map(row => expandRows(row)!.length))
    const output = run([ruleOf(yamlOf(rule))], [ahu(rows)], count * 5 * MINUTE)
    const result = output.results[0]!
    if (wanted.spans) t.deepEqual(spans(output), wanted.spans)
    if (wanted.status)
      t.is([result.status, result.reason, ...(result.missing_roles ?? [])].filter(Boolean).join(' '), wanted.status)
    if (wanted.coverage !== undefined) t.true(Math.abs(result.coverage - wanted.coverage) < 1e-9)
    t.deepEqual(output.failed, [])
  })
}

test('a finding is confirmed at the very instant, also between two samples', t => {
  const rule = ruleOf(yamlOf({ persistence: '47m', daily_minimum: '53m', clear: '60m' }))
  const { findings } = run([rule], [ahu({ sa_t: '10x2 30x22' })], 2 * HOUR)
  t.is(findings[0]!.confirmed_at - START, 63 * MINUTE)
  t.is(findings[0]!.from - START, 10 * MINUTE)
})

test('time in fault counts neither gaps nor gated time', t => {
  const rule = ruleOf(yamlOf({ ...GATED, clear: '6h' }))
  const { findings, results } = run([rule], [ahu({ sa_t: '30x6 ?x6 30x6 10x6', fan_status: '1x12 0x3 1x9' })], 2 * HOUR)
  t.is(findings[0]!.duration_secs, 45 * 60)
  t.is(results[0]!.fault_secs, 45 * 60)
})

test('an episode goes across midnight, and each day counts its own time', t => {
  const rule = ruleOf(yamlOf({ persistence: '60m', cause: '{ coil: 1 }' }))
  const rows = { sa_t: `10x${23 * 12 + 6} 30x12 10x${12 * 23}` }
  const output = run([rule], [ahu(rows)], 2 * DAY)
  t.deepEqual(spans(output), [`${23 * 60 + 30}-${24 * 60 + 30}`])
  t.deepEqual(
    output.days.map(({ date }) => date),
    ['2026-03-02', '2026-03-03'],
  )
})

test('the daily minimum begins anew at midnight of the building', t => {
  const rule = ruleOf(yamlOf({ daily_minimum: '60m', clear: '3h' }))
  const rows = { sa_t: `10x${23 * 12 + 6} 30x12 10x${12 * 23}` }
  t.deepEqual(spans(run([rule], [ahu(rows)], 2 * DAY)), [])
  t.deepEqual(spans(run([rule], [ahu(rows)], 2 * DAY, { timezone: 'America/Chicago' })), [`${23 * 60 + 30}-${24 * 60 + 30}`])
})

for (const [what, date, hours] of [
  ['spring', Date.UTC(2026, 2, 8, 6), 23],
  ['autumn', Date.UTC(2026, 10, 1, 5), 25],
] as const) {
  test(`a day of ${hours} hours in ${what} is one day`, t => {
    const rule = ruleOf(yamlOf({ daily_minimum: `${hours}h`, cause: '{ coil: 1 }' }))
    const plant = [ahu({ sa_t: `30x${26 * 12}` }, 5 * MINUTE, {}, date)]
    const output = run([rule], plant, 0, { from: date, to: date + 26 * HOUR, timezone: 'America/Chicago' })
    t.is(output.findings.length, 1)
    t.is(output.findings[0]!.confirmed_at - date, hours * HOUR)
    t.deepEqual(
      output.days.map(({ date: day }) => day),
      [new Date(date).toISOString().slice(0, 10)],
    )
    const longer = ruleOf(yamlOf({ daily_minimum: `${hours * 60 + 1}m` }))
    t.deepEqual(run([longer], plant, 0, { from: date, to: date + 26 * HOUR, timezone: 'America/Chicago' }).findings, [])
  })
}

test('data before the run serves windows, and an episode that began there is told with its beginning', t => {
  const rule = ruleOf(yamlOf({ when: 'avg(sa_t, 1h) > 20' }))
  const output = run([rule], [ahu({ sa_t: '30x48' })], 0, { from: START + 3 * HOUR, to: START + 4 * HOUR })
  t.deepEqual(spans(output), ['48-'])
  t.is(output.results[0]!.coverage, 1)
  t.is(output.results[0]!.fault_secs, 3600)
})

test('an episode that ended before the run is not told', t => {
  const output = run([ruleOf(yamlOf({}))], [ahu({ sa_t: '30x12 10x36' })], 0, { from: START + 3 * HOUR, to: START + 4 * HOUR })
  t.deepEqual(output.findings, [])
  t.is(output.results[0]!.status, 'pass')
})

test('what an earlier run left open goes on under its own id', t => {
  const rule = ruleOf(yamlOf({ persistence: '30m', clear: '30m' }))
  const whole = [ahu({ sa_t: '30x36 10x12' })]
  const early = run([rule], whole, 0, { from: START, to: START + 2 * HOUR }).findings[0]!
  t.is(early.state, 'active')
  const cut = [ahu({ sa_t: '30x24 10x12' }, 5 * MINUTE, {}, START + HOUR)]
  const carried = [{ ...early, up_to: START + 2 * HOUR }]
  const late = run([rule], cut, 0, { from: START + 2 * HOUR, to: START + 4 * HOUR, carried }).findings[0]!
  t.is(late.finding_id, early.finding_id)
  t.is(late.to! - START, 3 * HOUR)
  t.is(late.duration_secs, 3 * 3600)
  const without = run([rule], cut, 0, { from: START + 2 * HOUR, to: START + 4 * HOUR }).findings[0]!
  t.not(without.finding_id, early.finding_id)
})

test('the same input gives the same ids, another building or equipment gives others', t => {
  const rule = ruleOf(yamlOf({}))
  const id = (more: object, building_id = 'b') =>
    run([rule], [ahu({ sa_t: '30x6' }, 5 * MINUTE, more)], HOUR, { building_id }).findings[0]!.finding_id
  t.is(id({}), id({}))
  t.regex(id({}), /^[0-9a-f]{32}$/)
  t.not(id({}), id({ equipment_id: 'ahu-2' }))
  t.not(id({}), id({}, 'c'))
})

test('a rule over every role runs on each and names it', t => {
  const rule = ruleOf(
    yamlOf({ equipment: '[any]', roles: '{ x: any }', raw: 'true', when: 'x > highest(x)', explains: '"{role} reads {x}"' }),
  )
  const { findings, results } = run([rule], [ahu({ sa_t: '200x6', oa_damper: '1x6', ra_t: '99x6' })], 30 * MINUTE)
  t.deepEqual(findings.map(({ role, evidence }) => `${role}: ${evidence.sentence}`).toSorted(), [
    'ra_t: ra_t reads 99',
    'sa_t: sa_t reads 200',
  ])
  t.is(new Set(findings.map(({ finding_id }) => finding_id)).size, 2)
  t.deepEqual(
    results.map(({ status, episodes }) => [status, episodes]),
    [['fault', 2]],
  )
})

test('a rule over sensors leaves out what rests', t => {
  const rule = ruleOf(yamlOf({ equipment: '[any]', roles: '{ x: sensor }', when: 'range(x, 30m) <= 0' }))
  const { findings } = run([rule], [ahu({ sa_t: '20x12', sa_t_sp: '13x12', fan_status: '1x12' })], HOUR)
  t.deepEqual(
    findings.map(({ role }) => role),
    ['sa_t'],
  )
})

test('a parameter of the request replaces the default and says so; one out of bounds fails that rule alone', t => {
  const rule = ruleOf(yamlOf({ params: '{ limit: { default: 20, min: 10, max: 40, unit: degC } }', when: 'sa_t > limit' }))
  const other = ruleOf(yamlOf({ id: 'OTHER' }))
  const at = (limit: number) => run([rule, other], [ahu({ sa_t: '25x6' })], 30 * MINUTE, { params: { R: { limit } } })
  t.is(at(30).findings.length, 1)
  t.deepEqual(at(24).findings.find(({ rule_id }) => rule_id === 'R')!.evidence.params, {
    limit: { value: 24, unit: 'degC', source: 'request' },
  })
  const broken = at(50)
  t.deepEqual(
    broken.failed.map(({ rule_id, error }) => [rule_id, /50 is not within 10 and 40/.test(error)]),
    [['R', true]],
  )
  t.deepEqual(
    broken.findings.map(({ rule_id }) => rule_id),
    ['OTHER'],
  )
})

test('a rule whose program is broken fails alone', t => {
  const rule = ruleOf(yamlOf({}))
  const broken = { ...rule, id: 'BROKEN', program: { ...rule.program, when: { kind: 'op' as const, op: 'nonsense', args: [] } } }
  const output = run([broken, rule], [ahu({ sa_t: '30x6' })], 30 * MINUTE)
  t.deepEqual(
    output.failed.map(({ rule_id, equipment_id }) => [rule_id, equipment_id]),
    [['BROKEN', 'ahu-1']],
  )
  t.is(output.findings.length, 1)
})

test('macros take the best proof, here or on what feeds the equipment', t => {
  const rule = ruleOf(yamlOf({ equipment: '[vav]', roles: '{ damper: fraction }', gate: 'fan_on', when: 'damper > 0.5' }))
  const status = (own: Rows, above: Rows) => {
    const plant = [
      ahu({ damper: '1x6', ...own }, 5 * MINUTE, { equipment_id: 'v', equipment_type: 'vav', parent_id: 'a' }),
      ahu(above, 5 * MINUTE, { equipment_id: 'a' }),
    ]
    const { status, reason, missing_roles } = run([rule], plant, 30 * MINUTE).results[0]!
    return [status, reason, ...(missing_roles ?? [])].filter(Boolean).join(' ')
  }
  t.is(status({}, {}), 'not_evaluated missing_role fan_status')
  t.is(status({}, { fan_status: '1x6' }), 'fault')
  t.is(status({}, { fan_status: '0x6', fan_cmd: '1x6' }), 'not_evaluated gated')
  t.is(status({}, { fan_status: '_x6', fan_speed: '0.3x6' }), 'fault')
  t.is(status({}, { fan_speed: '0.04x6' }), 'not_evaluated gated')
  t.is(status({ fan_cmd: '1x6' }, { fan_status: '0x6' }), 'fault')
})

test('a plant without a proof of its own is on while one of its machines is', t => {
  const rule = ruleOf(
    yamlOf({ equipment: '[chw_plant]', roles: '{ chw_supply_t: degC }', gate: 'chiller_on', when: 'chw_supply_t > 9' }),
  )
  const status = (own: Rows, ...chillers: Rows[]) => {
    const plant = [
      ahu({ chw_supply_t: '12x6', ...own }, 5 * MINUTE, { equipment_id: 'p', equipment_type: 'chw_plant' }),
      ahu({ chiller_status: '1x6' }, 5 * MINUTE, { equipment_id: 'a', equipment_type: 'ahu', parent_id: 'p' }),
      ...chillers.map((rows, i) => ahu(rows, 5 * MINUTE, { equipment_id: `c${i}`, equipment_type: 'chiller', parent_id: 'p' })),
    ]
    const { status, reason } = run([rule], plant, 30 * MINUTE).results[0]!
    return [status, reason].filter(Boolean).join(' ')
  }
  t.is(status({}), 'not_evaluated missing_role')
  t.is(status({}, { chiller_status: '0x6' }, { chiller_cmd: '1x6' }), 'fault')
  t.is(status({}, { chiller_status: '0x6' }, {}), 'not_evaluated gated')
  t.is(status({ chiller_status: '0x6' }, { chiller_status: '1x6' }), 'not_evaluated gated')
})

test("the weather's roles are the site's, and a faulty weather station silences everywhere", t => {
  const warm = ruleOf(yamlOf({ equipment: '[ahu, weather]', roles: '{ wx_oa_t: degC }', when: 'wx_oa_t > 30', severity: '4' }))
  const flat = ruleOf(
    yamlOf({
      id: 'F',
      equipment: '[weather]',
      roles: '{ wx_wb_t: degC }',
      when: 'wx_wb_t > 30',
      suppresses: '[R]',
      severity: '3',
    }),
  )
  const plant = [
    ahu({ sa_t: '20x6' }, 5 * MINUTE, { equipment_id: 'a' }),
    ahu({ wx_oa_t: '10x6' }, 5 * MINUTE, { equipment_id: 'b' }),
    ahu({ wx_oa_t: '35x6', wx_wb_t: '35x6' }, 5 * MINUTE, { equipment_id: 'w', equipment_type: 'weather' }),
  ]
  const { results, findings } = run([warm, flat], plant, 30 * MINUTE)
  t.deepEqual(results.map(({ rule_id, equipment_id, status }) => `${rule_id} ${equipment_id} ${status}`).toSorted(), [
    'F w fault',
    'R a fault',
    'R b pass',
    'R w fault',
  ])
  const by = findings.find(({ rule_id }) => rule_id === 'F')!.finding_id
  t.deepEqual(
    findings.filter(({ rule_id }) => rule_id === 'R').map(({ suppressed_by }) => suppressed_by),
    [by, by],
  )
})

test('the outdoor-air fraction is gated while the airs are too close to tell', t => {
  const rule = ruleOf(yamlOf({ roles: '{ oa_damper: fraction }', when: 'oaf > 0.5' }))
  const status = (oa_t: string) =>
    run([rule], [ahu({ oa_t, ra_t: '20x6', ma_t: '18x6', oa_damper: '0x6' })], 30 * MINUTE).results[0]!
  t.is(status('17x6').status, 'fault')
  t.is(status('17.1x6').reason, 'gated')
  t.is(run([rule], [ahu({ oa_damper: '0x6' })], 30 * MINUTE).results[0]!.reason, 'missing_role')
})

test('a rule that flaps without end fails and says what it lacks', t => {
  const rows = Array.from({ length: 11_000 }, (_, i) => (i % 2 ? 30 : 10)).join(' ')
  const output = run([ruleOf(yamlOf({}))], [ahu({ sa_t: rows }, MINUTE)], 11_000 * MINUTE)
  t.deepEqual(output.findings, [])
  t.regex(output.failed[0]!.error, /50\d\d episodes in 31 days: the rule needs clear/)
})

test('a stray sample of long ago does not make the run long', t => {
  const plant = [ahu({ sa_t: '30x12' })]
  const series = plant[0]!.roles.sa_t!
  const stray = { ...series, ts: Float64Array.of(0, ...series.ts), values: Float64Array.of(20, ...series.values) }
  const output = run([ruleOf(yamlOf({}))], [{ ...plant[0]!, roles: { sa_t: stray } }], HOUR)
  t.deepEqual(spans(output), ['0-'])
})
