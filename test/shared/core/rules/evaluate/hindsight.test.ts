import { deserialize, serialize } from 'node:v8'
import test from 'ava'
import { splitOf, splitOfModel } from '#shared/core/rules/evaluate/hindsight.ts'
import type { EquipmentState } from '#shared/core/rules/evaluate/equipment-state.ts'
import { sumsOfDay } from '#shared/core/rules/evaluate/past-fit.ts'
import { createRun } from '#shared/core/rules/evaluate/run-rules.ts'
import { outlineOf } from '#shared/core/rules/compile/topology.ts'
import { withExplainers } from '#shared/core/rules/episodes/suppress.ts'
import type { RunInput, RunOutput } from '#shared/core/rules/evaluate/run-types.ts'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { ahu, ruleOf, run, START, yamlOf } from '../../../../support/rules/helpers.ts'
import { diceOf } from '../../../../support/rules/world.ts'

const STEP = 30 * MINUTE
/** The fan runs from 8 to 16 and supply air is `rise` above mixed air then: 8 h a day, one value. */
const plantOf = (rises: number[]) => [
  ahu(
    {
      sa_t: rises.map(rise => `10x16 ${20 + rise}x16 10x16`).join(' '),
      ma_t: `20x${48 * rises.length}`,
      fan_status: rises.map(() => '0x16 1x16 0x16').join(' '),
    },
    STEP,
  ),
]
const KEYS = {
  roles: '{ sa_t: degC, ma_t: degC }',
  gate: 'fan_on',
  params: '{ tol: { default: 1, min: 0, max: 9, unit: K } }',
  baseline: '{ rise: { of: sa_t - ma_t, days: 30, min_days: 3, fallback: 0 K, tolerance_cold: 4 K } }',
  when: 'abs(sa_t - ma_t - base(rise)) > tolerance(rise, tol)',
  persistence: '60m',
  clear: '60m',
  cause: '{ coil: 1 }',
  hindsight:
    '{ of: rise, usual: 0 K, limit: tol, above: { hot_valve: 0.7, sensor: 0.2 }, below: { cold_valve: 0.7 }, explains: "It was {early}, later {later}." }',
}
const rule = ruleOf(yamlOf(KEYS))
const seen = ({ findings }: RunOutput) => findings.filter(({ hindsight }) => hindsight)
const found = (rises: number[], rules = [rule], more: Partial<RunInput> = {}) =>
  seen(run(rules, plantOf(rises), rises.length * DAY, more))
/** Four days 3 K too warm, then seven of 0.5 K. */
const REPAIRED = [3, 3, 3.5, 3, ...Array<number>(7).fill(0.5)]
const AT_DAY = (day: number) => START + day * DAY

test('first days that later ones show as wrong are found at the end of the seventh normal day', t => {
  t.deepEqual(found(REPAIRED.slice(0, -1)), [])
  const [finding, ...others] = found(REPAIRED)
  t.deepEqual(others, [])
  t.like(finding, {
    rule_id: 'R',
    from: AT_DAY(0),
    to: AT_DAY(4),
    confirmed_at: AT_DAY(11),
    state: 'cleared',
    hindsight: { normal_from: AT_DAY(4) },
    duration_secs: (4 * 8 * HOUR) / 1000,
    cause: [
      { component: 'hot_valve', weight: 0.7 },
      { component: 'sensor', weight: 0.2 },
    ],
  })
  t.deepEqual(finding!.stretches, [[AT_DAY(0), AT_DAY(4), 4 * 8 * HOUR]])
  t.is(
    finding!.evidence.sentence,
    'It was 3.0 K, later 0.5 K. It was so from 2026-03-02 to 2026-03-05 and was found on 2026-03-13, because the later weeks show that the beginning was not normal.',
  )
  t.is(finding!.evidence.worst_at, AT_DAY(2))
  t.like(finding!.evidence.baselines![0], { value: 0.5, spread: 0, days_used: 7, cold: false })
  t.is(finding!.evidence.baselines![0]!.dates[0], '2026-03-06')
})

test('a day that is not over shows nothing', t => {
  const plant = plantOf(REPAIRED)
  t.deepEqual(seen(run([rule], plant, 11 * DAY - HOUR)), [])
  t.is(seen(run([rule], plant, 11 * DAY)).length, 1)
})

test('the alarm after the repair is explained and ends, and the later days are the baseline', t => {
  const { findings, baselines } = run([rule], plantOf([...REPAIRED, 0.5]), 12 * DAY)
  const [late, alarm] = findings
  t.is(late!.hindsight?.normal_from, AT_DAY(4))
  t.like(alarm, { from: AT_DAY(4) + 8 * HOUR, suppressed_by: late!.finding_id, cause: [{ component: 'coil', weight: 1 }] })
  t.is(alarm!.to, AT_DAY(11) + 8 * HOUR)
  t.is(late!.suppressed_by, undefined)
  t.deepEqual(
    baselines[0]!.left_out.map(({ date }) => date),
    ['02', '03', '04', '05'].map(day => `2026-03-${day}`),
  )
  t.like(baselines[0], { value: 0.5, days_used: 7, cold: false })
})

const LASTING = {
  ...KEYS,
  id: 'L',
  baseline: '{ rise: { of: sa_t - ma_t, days: 30, min_days: 3 } }',
  when: 'abs(avg(sa_t - ma_t - base(rise), 2h)) > tol',
  clear: '24h',
}
test('an alarm that reaches into the day after and takes another to clear ends too: the later days stay the baseline', t => {
  const rises = [...REPAIRED, 0.5, 0.5, 0.5]
  const roles = { sa_t: rises.map(rise => `${20 + rise}x48`).join(' '), ma_t: `20x${48 * 14}`, fan_status: `1x${48 * 14}` }
  const { findings, baselines } = run([ruleOf(yamlOf(LASTING))], [ahu(roles, STEP)], 14 * DAY)
  // The mean of two hours falls from 2.5 K to the limit of 1 K in three fifths of them.
  t.like(findings[1], { to: AT_DAY(11) + 72 * MINUTE, suppressed_by: findings[0]!.finding_id })
  // All but the last day, on which the alarm ended.
  t.is(baselines[0]!.days_used, 8)
})

test('an alarm on the very day of the repair is explained too, and that day belongs to neither', t => {
  // The fault ends at 14 o'clock: the median of the day is still that of the fault.
  const [before, after] = ['10x16 23x16 10x16', '10x16 20.5x16 10x16']
  const rows = [before, before, before, before, '10x16 23x12 20.5x4 10x16', ...Array<string>(7).fill(after)]
  const roles = { sa_t: rows.join(' '), ma_t: `20x${48 * 12}`, fan_status: rows.map(() => '0x16 1x16 0x16').join(' ') }
  const { findings } = run([rule], [ahu(roles, STEP)], 12 * DAY)
  t.like(findings[0], { from: AT_DAY(0), to: AT_DAY(4), confirmed_at: AT_DAY(12), hindsight: { normal_from: AT_DAY(5) } })
  t.like(findings[1], { from: AT_DAY(4) + 14 * HOUR, suppressed_by: findings[0]!.finding_id })
})

test('below the later days another component is named', t => {
  t.is(found(REPAIRED.map(rise => -rise))[0]?.cause[0]?.component, 'cold_valve')
})

test('where one direction alone is a fault, the other one is none', t => {
  const hindsight = '{ of: rise, limit: tol, above: { hot_valve: 0.7 }, explains: "It was {early}." }'
  const oneWay = ruleOf(yamlOf({ ...KEYS, hindsight }))
  t.is(found(REPAIRED, [oneWay]).length, 1)
  t.deepEqual(
    found(
      REPAIRED.map(rise => -rise),
      [oneWay],
    ),
    [],
  )
})

test('what a rule told at the time is not told again', t => {
  t.deepEqual(found([3, 5, 3, 3, ...Array<number>(7).fill(0.5)]), [])
})

const other = (cause: string) =>
  ruleOf(yamlOf({ id: 'S', roles: KEYS.roles, gate: 'fan_on', when: 'sa_t > ma_t + 2', cause: `{ ${cause}: 0.4 }` }))
test('what another rule told of the same component is not told again', t => {
  t.is(found(REPAIRED, [rule, other('fan')]).length, 1)
  t.deepEqual(found(REPAIRED, [rule, other('hot_valve')]), [])
  t.deepEqual(
    withExplainers([rule], [rule, other('fan'), other('hot_valve')]).map(({ id, program }) => [id, program.causes[0]!.component]),
    [
      ['R', 'coil'],
      ['S', 'hot_valve'],
    ],
  )
})

test('days on which a sensor was wrong count neither as first nor as later ones', t => {
  const sensor = ruleOf(yamlOf({ id: 'SEN', kind: 'sensor', when: 'sa_t > 22.9', gate: 'fan_on', suppresses: '[R]' }))
  t.deepEqual(found(REPAIRED, [rule, sensor]), [])
})

test('only the first days of the equipment are judged, as long as its baseline has all of them', t => {
  const short = ruleOf(yamlOf({ ...KEYS, baseline: KEYS.baseline.replace('days: 30', 'days: 11') }))
  t.is(found(REPAIRED, [short]).length, 0)
  t.is(found(REPAIRED, [ruleOf(yamlOf({ ...KEYS, baseline: KEYS.baseline.replace('days: 30', 'days: 12') }))]).length, 1)
})

test('it is reported by the runs in whose span it was found, however long ago it ended', t => {
  const plant = plantOf([...REPAIRED, 0.5, 0.5])
  t.is(seen(run([rule], plant, 13 * DAY, { from: AT_DAY(11) - HOUR, to: AT_DAY(13) })).length, 1)
  t.is(seen(run([rule], plant, 13 * DAY, { from: AT_DAY(11), to: AT_DAY(13) })).length, 0)
})

test('a component counts as a cause only where its point is there', t => {
  const above =
    '{ hot_valve: { has(htg_valve) and not has(clg_valve): 0.7 }, sensor: 0.2, coil: { has(htg_valve) or has(clg_valve): 0.1 } }'
  const hindsight = `{ of: rise, usual: 0 K, limit: tol, above: ${above}, below: { cold_valve: { has(clg_valve): 0.7 } }, explains: x }`
  const keys = { ...KEYS, optional: '{ htg_valve: fraction, clg_valve: fraction }', hindsight }
  const valved = ruleOf(yamlOf(keys))
  const rows = REPAIRED.map(rise => `10x16 ${20 + rise}x16 10x16`).join(' ')
  const plant = (roles: Record<string, string>) => [
    ahu({ sa_t: rows, ma_t: `20x${48 * 11}`, fan_status: REPAIRED.map(() => '0x16 1x16 0x16').join(' '), ...roles }, STEP),
  ]
  const causes = (roles: Record<string, string>) =>
    seen(run([valved], plant(roles), 11 * DAY)).map(({ cause }) => cause.map(({ component }) => component))
  const shut = `0x${48 * 11}`
  t.deepEqual(causes({}), [['sensor']])
  t.deepEqual(causes({ htg_valve: shut }), [['hot_valve', 'sensor', 'coil']])
  t.deepEqual(causes({ clg_valve: shut }), [['sensor', 'coil']])
  t.deepEqual(causes({ htg_valve: shut, clg_valve: shut }), [['sensor', 'coil']])
  t.deepEqual(
    found(
      REPAIRED.map(rise => -rise),
      [valved],
    ),
    [],
  )
})

test('the first days of a model are compared with that of the later ones', t => {
  const hindsight = KEYS.hindsight.replace('of: rise', 'of: fit')
  const baseline = '{ fit: { of: sa_t - ma_t, on: [htg_valve], days: 30, min_days: 4, minimum: 2h } }'
  const when = 'abs(sa_t - ma_t - base(fit)) > 9 K'
  const model = ruleOf(yamlOf({ ...KEYS, roles: '{ sa_t: degC, ma_t: degC, htg_valve: fraction }', baseline, when, hindsight }))
  const fan = REPAIRED.map(() => '0x16 1x16 0x16').join(' ')
  const valve = REPAIRED.map(() => '0x24 0.5x24').join(' ')
  const supply = REPAIRED.map(rise => `10x16 ${20 + rise}x8 ${25 + rise}x8 10x16`).join(' ')
  const plant = [ahu({ sa_t: supply, ma_t: `20x${48 * 11}`, htg_valve: valve, fan_status: fan }, STEP)]
  const [finding, ...others] = seen(run([model], plant, 11 * DAY))
  t.deepEqual(others, [])
  t.like(finding, {
    from: AT_DAY(0),
    to: AT_DAY(4),
    confirmed_at: AT_DAY(11),
    cause: [{ component: 'hot_valve' }, { component: 'sensor' }],
  })
  t.regex(finding!.evidence.sentence, /^It was 2\.5 K, later (-|−)?0\.0 K\./)
  t.is(finding!.evidence.worst_at, AT_DAY(2))
  t.is(finding!.evidence.baselines![0]!.days_used, 7)
  t.true(Math.abs(finding!.evidence.baselines![0]!.value! - 3) < 1e-9)
})

// ---- the split

const LIMITS = { minDays: 3, limit: 1, usual: undefined, above: true, below: true }
const WEEK = Array<number>(7).fill(0)

test('values are split where every first one is beyond the limit and every later one well within it', t => {
  t.like(splitOf([2, 2, 3, ...WEEK], LIMITS), {
    early: 3,
    later: 3,
    medians: [2, 0],
    spread: 0,
    mean: 0,
    misses: [2, 2, 3, ...WEEK],
  })
  t.is(splitOf([2, 1, 3, ...WEEK], LIMITS), undefined)
  t.is(splitOf([2, 2, ...WEEK], LIMITS), undefined)
  t.is(splitOf([2, 2, 3, 0, 0, 0, 0.6, 0, 0, 0], LIMITS), undefined)
  t.is(splitOf([2, 2, 3, 0, 0, 0, 0.5, 0, 0, 0], LIMITS)?.early, 3)
})

test('the day of the repair may belong to neither', t => {
  t.like(splitOf([2, 2, 2, 0.7, ...WEEK], LIMITS), { early: 3, later: 4 })
  t.is(splitOf([2, 2, 2, 0.7, 0.7, ...WEEK], LIMITS), undefined)
})

test('a slow change through the year is none', t => {
  t.is(
    splitOf(
      Array.from({ length: 28 }, (_, day) => 3 - day / 9),
      LIMITS,
    ),
    undefined,
  )
})

test('later days that differ among themselves ask for more', t => {
  // Their median is 0, the median distance 0.2: six times 1.4826 × 0.2 is 1.78.
  const later = [0.2, -0.2, 0, 0.2, -0.2, 0, 0.2, -0.2, 0.2, -0.2]
  t.is(splitOf([1.77, 1.77, 1.77, ...later], LIMITS), undefined)
  t.is(splitOf([1.79, 1.79, 1.79, ...later], LIMITS)?.early, 3)
})

test('first days are twice as far from what physics expects as the later ones', t => {
  const usual = { ...LIMITS, usual: 1 }
  t.is(splitOf([3.1, 3.1, 3.1, ...WEEK], usual)?.early, 3)
  t.is(splitOf([2.9, 2.9, 2.9, ...WEEK], usual), undefined)
  t.is(splitOf([-1.5, -1.5, -1.5, ...WEEK], usual)?.early, 3)
  t.is(splitOf([1.5, 1.5, 1.5, ...WEEK], usual), undefined)
})

// ---- the split of a model

/** Days on which a coil warms by ten times the opening of its valve, and by `leak` whatever it does. */
const coilDays = (leaks: number[], least = 0, effect: (day: number) => number = () => 10) =>
  leaks.map((leak, day) => {
    const open = [0, 0.2, 0.4 + 0.1 * (day % 3), 0.6].map(each => least + each)
    const gain = open.map(each => 0.5 + leak + effect(day) * each)
    return sumsOfDay(rowsOf(open.length), { out: gain } as never, [{ out: open } as never], { out: [1, 1, 1, 1] } as never)
  })
const rowsOf = (n: number) => ({ n, minute: Array<number>(n).fill(1) }) as never
const MODEL = { ...LIMITS, minDays: 4, usual: 0.5 }
const split = (leaks: number[], limits: typeof MODEL = MODEL, least = 0, effect?: (day: number) => number) =>
  splitOfModel(coilDays(leaks, least, effect), 1, limits)

test('days of a model are split by what is added whatever its drivers are', t => {
  const found = split([2, 3, 2, 2, ...WEEK])!
  t.like(found, { early: 4, later: 4 })
  t.deepEqual(
    found.medians.map(each => Math.round(each * 1e6)),
    [2e6, 0],
  )
  t.true(Math.abs(found.misses[1]! - 3) < 1e-9)
  t.is(split([-2, -3, -2, -2, ...WEEK])?.early, 4)
  t.is(split([-2, -3, -2, -2, ...WEEK], { ...MODEL, below: false }), undefined)
  t.is(split([2, 3, 2, ...WEEK]), undefined)
  t.is(split([2, 2, 2, 2, 0, 0, 0, 0.6, 0, 0, 0]), undefined)
})

test('on two of five first days water may have rested, but the last of them shows it, and none the other way', t => {
  t.is(split([0, 3, 0, 3, 3, ...WEEK])?.early, 5)
  t.is(split([0, 0, 3, 0, 3, 3, 0, 3, ...WEEK]), undefined)
  t.is(split([2, 2, 2, 2, 0, ...WEEK])?.early, 4)
  t.is(split([-0.6, 2, 2, 2, 2, ...WEEK]), undefined)
})

test('the constant of the first days is further from what physics expects than that of the later ones', t => {
  t.is(split([2, 2, 2, 2, ...WEEK], { ...MODEL, usual: 3 }), undefined)
  t.is(split([2, 2, 2, 2, ...WEEK], { ...MODEL, usual: 1.1 })?.early, 4)
  t.is(split([2, 2, 2, 2, ...WEEK], { ...MODEL, usual: 1.3 }), undefined)
})

test('another effect of the same opening is no leak', t => {
  t.is(
    split(Array<number>(11).fill(0), MODEL, 0, day => (day < 4 ? 20 : 10)),
    undefined,
  )
})

test('what is added whatever the driver is is half of the distance at least', t => {
  // The mean opening is 0.3 to 0.35: another effect of 8 adds 2.6 K to the 3 K of the leak, one of 12 adds 3.9 K.
  const early = [3, 3, 3, 3, ...WEEK]
  t.is(split(early, MODEL, 0, day => (day < 4 ? 18 : 10))?.early, 4)
  t.is(
    split(early, MODEL, 0, day => (day < 4 ? 22 : 10)),
    undefined,
  )
  t.is(
    split([0.9, 0.9, 0.9, 0.9, ...WEEK], MODEL, 0, day => (day < 4 ? 11 : 10)),
    undefined,
  )
  t.is(split([1.1, 1.1, 1.1, 1.1, ...WEEK], MODEL, 0, day => (day < 4 ? 11 : 10))?.early, 4)
})

test('a coil whose valve was never nearly shut has no constant that is known', t => {
  t.is(split([2, 2, 2, 2, ...WEEK], MODEL, 0.05)?.early, 4)
  t.is(split([2, 2, 2, 2, ...WEEK], MODEL, 0.1), undefined)
})

// ---- from one run to the next

/** The same run, stopped at the end of every day. */
function resumed(input: RunInput): RunOutput {
  const states = new Map<string, EquipmentState>()
  for (let to = input.from + DAY; ; to += DAY) {
    const from = Math.max(input.from, to - 3 * DAY)
    const one = createRun({ ...input, from, to, equipment: input.equipment.map(outlineOf), saveStatesAt: [to] })
    for (const equipment_id of one.order) {
      const evaluated = one.evaluate(equipment_id, input.equipment, states.get(equipment_id))
      if (evaluated.outdated !== undefined) throw new Error(evaluated.outdated)
      for (const state of evaluated.states) states.set(equipment_id, deserialize(serialize(state)) as EquipmentState)
    }
    if (to >= input.to) return one.finish()
  }
}

test('day by day the same is found as in one run over the same span', t => {
  const dice = diceOf(7)
  let late = 0
  for (let round = 0; round < 60; round++) {
    const early = 3 + dice.below(6)
    const lag = dice.below(3)
    const level = dice.of([3, -3, 2, 0])
    const rises = Array.from({ length: early + 7 + lag }, (_, day) => (day < early ? level : 0.3) + dice.below(3) / 10)
    const to = AT_DAY(rises.length)
    const input = {
      building_id: 'b',
      timezone: 'UTC',
      rules: [rule, ruleOf(yamlOf(LASTING)), other('hot_valve')],
      equipment: plantOf(rises),
      to,
    }
    const whole = run(input.rules, input.equipment, 0, { from: Math.max(START, to - 3 * DAY), to })
    t.is(JSON.stringify(resumed({ ...input, from: START })), JSON.stringify(whole))
    late += seen(whole).length
  }
  t.true(late >= 8, `${late} were found in hindsight`)
})
