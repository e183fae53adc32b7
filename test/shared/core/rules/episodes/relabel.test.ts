/** An override renames the cause of what it explains, and hides nothing. */
import test from 'ava'
import type { Finding } from '#shared/core/findings/finding.ts'
import type { ArraySnapshot } from '#shared/core/priority/array-snapshot.ts'
import { HOUR } from '#shared/core/time.ts'
import { loadRules } from '#shared/node/rules/rule-files.ts'
import { ahu, ruleOf, run, START, yamlOf } from '../../../../support/rules/helpers.ts'

const { rules: OVERRIDE_RULES } = loadRules([new URL('../../../../../rules/override', import.meta.url).pathname])
const HELD = OVERRIDE_RULES.find(({ id }) => id === 'OVR-HELD')!
const HOURS = 24

/** Hourly visits; in each of `hours` the operator's level commands shut, and a program asks for 80 % throughout. */
const hand = (hours: [from: number, to: number]): ArraySnapshot[] =>
  Array.from({ length: HOURS + 1 }, (_, i) => {
    const isHeld = i >= hours[0] && i <= hours[1]
    const slots = Array.from({ length: 16 }, (_level, k) => (k === 7 && isHeld ? 0 : k === 15 ? 0.8 : null))
    return { t: START + i * HOUR, slots, fallback: 0, date: '2026-03-02', overridden: isHeld }
  })

const WARM = {
  id: 'WARM',
  roles: '{ sa_t: degC, clg_valve: fraction }',
  when: 'sa_t > 20 and clg_valve < 0.1',
  cause: '{ coil: 0.7, sensor: 0.2 }',
}
const rule = (keys: Record<string, string>) => ruleOf(yamlOf({ ...WARM, ...keys }))
const unit = (visits: Record<string, ArraySnapshot[]>, rows: Record<string, string> = {}) => ({
  ...ahu({ sa_t: `25x${HOURS}`, clg_valve: `0x${HOURS}`, ...rows }, HOUR),
  visits,
})
const found = (rules: ReturnType<typeof rule>[], plant: ReturnType<typeof unit>[]) => run(rules, plant, HOURS * HOUR)
const of = (findings: Finding[], id: string) => findings.filter(({ rule_id }) => rule_id === id)

test('what a held point explains stays in sight, with the override as its likeliest cause', t => {
  const { findings, days } = found([HELD, rule({})], [unit({ clg_valve: hand([0, 24]) })])
  const [held] = of(findings, 'OVR-HELD')
  const [warm] = of(findings, 'WARM')
  t.like(warm, { relabelled_by: held!.finding_id, severity: 3, suppressed_by: undefined })
  t.deepEqual(warm!.cause, [
    { component: 'override', weight: 0.9 },
    { component: 'coil', weight: 0.7 },
    { component: 'sensor', weight: 0.2 },
  ])
  t.deepEqual(days, [
    {
      equipment_id: 'ahu-1',
      date: '2026-03-02',
      rule_ids: ['OVR-HELD', 'WARM'],
      cause: [
        { component: 'override', weight: 1.9 },
        { component: 'coil', weight: 0.7 },
        { component: 'sensor', weight: 0.2 },
      ],
    },
  ])
})

for (const [what, keys, isRelabelled] of [
  ['judges the point through a let', { let: '{ shut: clg_valve < 0.1 }', when: 'sa_t > 20 and shut' }, true],
  ['only looks while the point stands so', { gate: 'clg_valve < 0.1', when: 'sa_t > 20' }, false],
  ['does not read the point', { roles: '{ sa_t: degC }', when: 'sa_t > 20' }, false],
  ['is of missing data', { kind: 'data' }, false],
  ['is of an override', { kind: 'override' }, false],
  ['is of a control loop', { kind: 'control' }, true],
  ['names no cause', { cause: '{}' }, true],
  ['reads the value only as `each`', { roles: '{ x: any }', when: 'x < 0.1', cause: '{ coil: 1 }' }, true],
] as const) {
  test(`a rule that ${what} is ${isRelabelled ? '' : 'not '}relabelled`, t => {
    const { findings } = found([HELD, rule(keys)], [unit({ clg_valve: hand([0, 24]) })])
    const judged = of(findings, 'WARM').filter(({ role = 'clg_valve' }) => role === 'clg_valve')
    t.is(judged.length, 1)
    t.is(judged[0]!.relabelled_by !== undefined, isRelabelled)
    t.is(judged[0]!.cause[0]?.component === 'override', isRelabelled)
  })
}

test('an override that covers less than half of a fault is not its cause', t => {
  const isRelabelled = (to: number) =>
    of(found([HELD, rule({})], [unit({ clg_valve: hand([0, to]) })]).findings, 'WARM')[0]!.relabelled_by !== undefined
  t.false(isRelabelled(10))
  t.true(isRelabelled(11))
})

test('a hand on an air handler explains what its zones see through it, and nothing on another', t => {
  const zone = rule({
    id: 'ZONE',
    equipment: '[vav]',
    roles: '{ damper: fraction }',
    when: 'parent(clg_valve) < 0.1 and damper > 0.9',
    cause: '{ damper: 1 }',
  })
  const vav = (equipment_id: string, parent_id: string) => ({
    ...ahu({ damper: `1x${HOURS}` }, HOUR, { equipment_id, equipment_type: 'vav', parent_id }),
    visits: {},
  })
  const held = { ...unit({ clg_valve: hand([0, 24]) }), equipment_id: 'a1' }
  const free = { ...unit({}), equipment_id: 'a2' }
  const { findings } = found([HELD, zone], [vav('v1', 'a1'), vav('v2', 'a2'), held, free])
  t.deepEqual(
    of(findings, 'ZONE').map(({ equipment_id, relabelled_by }) => [equipment_id, relabelled_by !== undefined]),
    [
      ['v1', true],
      ['v2', false],
    ],
  )
})

test('of two overrides the more severe one is named', t => {
  const grave = ruleOf(
    yamlOf({
      id: 'GRAVE',
      kind: 'override',
      equipment: '[any]',
      roles: '{ x: commandable }',
      when: 'overridden(x)',
      severity: '1',
      cause: '{ life_safety: 1 }',
      relabels: '[WA*]',
    }),
  )
  const { findings } = found([HELD, grave, rule({})], [unit({ clg_valve: hand([0, 24]) })])
  t.is(of(findings, 'WARM')[0]!.relabelled_by, of(findings, 'GRAVE')[0]!.finding_id)
  t.is(of(findings, 'WARM')[0]!.cause[0]!.component, 'life_safety')
})
