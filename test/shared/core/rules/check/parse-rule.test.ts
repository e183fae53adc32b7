import test from 'ava'
import fc from 'fast-check'
import { roleAlternatives } from '#shared/core/rules/check/role-alternatives.ts'
import { explainRule } from '#shared/core/rules/report/explain.ts'
import { historyNeeded } from '#shared/core/rules/check/history-needed.ts'
import { parseRule } from '#shared/core/rules/check/parse-rule.ts'
import { DAY, HOUR } from '#shared/core/time.ts'
import { ruleOf, yamlOf } from '../../../../support/rules/helpers.ts'

const GOOD = `# Supply air too warm
id: AHU-FC13-COOL-SAT
title: Supply air too warm with the cooling valve wide open
equipment: [ahu]
roles: { sat: degC, sat_sp: degC, clg_valve: fraction }
params: { tolerance: { default: 1.1, min: 0.5, max: 5, unit: K } }
let:
  excess: sat - sat_sp
gate: fan_on
when: >-
  clg_valve >= 0.95
  and excess > tolerance
persistence: 60m
severity: 2
source: ASHRAE Guideline 36-2021 5.16.14 FC13
`

/** What is wrong, the text to replace, with what, line:column, part of the message. */
const HINDSIGHTS: [what: string, hindsight: string, place: string, message: RegExp][] = [
  ['a hindsight of no baseline', '{ of: c, limit: 1 K, above: { valve: 1 }, explains: x }', '16:18', /a baseline of its rule/],
  [
    'a hindsight of a model without usual',
    '{ of: fit, limit: 1 K, above: { valve: 1 }, explains: x }',
    '16:12',
    /of a model needs usual/,
  ],
  [
    'a cause of a hindsight that asks for more than a point',
    '{ of: b, limit: 1 K, above: { valve: { has(sat) and sat > 5: 1 } }, explains: x }',
    '16:51',
    /asks only which points are there/,
  ],
  [
    'a cause of a hindsight with a role that is none',
    '{ of: b, limit: 1 K, above: { valve: { has(satt): 1 } }, explains: x }',
    '16:55',
    /satt/,
  ],
  ['a hindsight without a limit', '{ of: b, above: { valve: 1 }, explains: x }', '16:12', /limit is missing/],
  [
    'a hindsight with a limit in another unit',
    '{ of: b, limit: 1 Pa, above: { valve: 1 }, explains: x }',
    '16:28',
    /is expected here/,
  ],
  ['a hindsight without a direction', '{ of: b, limit: 1 K, explains: x }', '16:12', /names causes above or below/],
  [
    'a hindsight of two directions',
    '{ of: b, limit: 1 K, above: { v: 1 }, below: { v: 1 }, explains: x }',
    '16:12',
    /need usual/,
  ],
  ['a hindsight with another figure', '{ of: b, limit: 1 K, above: { v: 1 }, explains: "{sat}" }', '16:60', /\{sat\} is neither/],
]
const MISTAKES: [string, string | RegExp, string, string, RegExp][] = [
  ['an unknown key', 'severity: 2', 'severity: 2\nseveritee: 3', '15:1', /unknown key severitee/],
  ['a missing key', 'title: Supply air too warm with the cooling valve wide open\n', '', '2:1', /title is missing/],
  ['an unknown role', 'sat_sp: degC', 'sat_spp: degC', '5:21', /sat_spp is no role \(like it: sa_t_sp/],
  [
    'readers of a role that the rule has not',
    'severity: 2',
    'severity: 2\nsuppresses: [readers(sat), readers(ra_t)]',
    '15:28',
    /the role ra_t is not declared/,
  ],
  ['readers of two roles at once', 'severity: 2', 'severity: 2\nsuppresses: ["readers(a, b)"]', '15:14', /nor readers/],
  ['a unit of something else', 'clg_valve: fraction', 'clg_valve: Pa', '5:46', /clg_valve is measured in fraction, not in Pa/],
  ['an unknown unit', 'clg_valve: fraction', 'clg_valve: smoots', '5:46', /unknown unit smoots/],
  ['kelvin for a reading', 'sat: degC', 'sat: K', '5:15', /is measured in degC, not in K/],
  ['a default out of bounds', 'default: 1.1', 'default: 9', '6:11', /min <= default <= max/],
  ["a parameter's unknown key", 'unit: K', 'unit: K, step: 1', '6:65', /unknown key step/],
  [
    'a dimension error in a let',
    'sat - sat_sp',
    'sat - clg_valve',
    '8:17',
    /cannot subtract a number or fraction from a temperature/,
  ],
  [
    'a dimension error on the second line of a folded text',
    'excess > tolerance',
    'excess > clg_valve',
    '12:16',
    /cannot compare/,
  ],
  ['an unknown name', 'clg_valve >= 0.95', 'ccv >= 0.95', '11:3', /role ccv is not declared/],
  ['an unknown macro', 'gate: fan_on', 'gate: fan_onn', '9:7', /fan_onn is no role, parameter, let or macro/],
  ['a gate that is no condition', 'gate: fan_on', 'gate: excess', '9:7', /a condition is expected/],
  ['a duration without a unit', 'persistence: 60m', 'persistence: 60', '13:14', /persistence is a duration such as 30m/],
  ['a duration of ages', 'persistence: 60m', 'persistence: 100000000000000h', '13:14', /persistence is at most 31 d/],
  ['a settling time of ages', 'gate: fan_on', 'gate: fan_on\nsettle: 32d', '10:9', /settle is at most 31 d/],
  ['a severity beyond 4', 'severity: 2', 'severity: 5', '14:11', /severity is 1/],
  ['an equipment type that is none', '[ahu]', '[ahu, elevator]', '4:18', /elevator is no equipment type/],
  ['a kind that is none', 'severity: 2', 'severity: 2\nkind: nuisance', '15:7', /kind is one of fault/],
  ['a key twice', 'severity: 2', 'severity: 2\nseverity: 3', '15:1', /twice/],
  ['broken YAML', 'equipment: [ahu]', 'equipment: [ahu', '5:1', /./],
  ['an id with blanks', 'id: AHU-FC13-COOL-SAT', 'id: AHU FC13', '2:5', /an id is made of/],
  ['a sentence with an unknown name', 'severity: 2', 'severity: 2\nexplains: "too warm by {exces}"', '15:25', /exces is no role/],
  [
    'a cause with a broken condition',
    'severity: 2',
    'severity: 2\ncause: { valve: { sat > 5 K: 0.5 } }',
    '15:25',
    /cannot compare/,
  ],
  ['a baseline that nobody declared', 'excess > tolerance', 'excess > base(usual)', '12:21', /not declared under baseline/],
  ['a median of the day in the gate', 'gate: fan_on', 'gate: day_median(excess) > 2', '9:7', /day_median cannot stand in a gate/],
  ['a let with the name of a macro', 'excess: sat', 'running: 5\n  excess: sat', '8:3', /running is already a macro/],
  ['a name that is none', 'excess: sat', 'ex(cess: sat', '8:3', /the name of a let/],
  ['a pattern of many stars', 'severity: 2', 'severity: 2\nsuppresses: ["*a*b*c*d"]', '15:14', /at most three \*/],
  ['a share above one', 'severity: 2', 'severity: 2\nmin_coverage: 80', '15:15', /share from 0 to 1/],
  [
    'a baseline without days',
    'severity: 2',
    'severity: 2\nbaseline: { b: { of: excess, min_days: 3 } }',
    '15:16',
    /days is a number of days/,
  ],
  [
    "a baseline's fallback of something else",
    'severity: 2',
    'severity: 2\nbaseline: { b: { of: excess, days: 9, min_days: 3, fallback: 5 Pa } }',
    '15:62',
    /a temperature difference is expected/,
  ],
  ...HINDSIGHTS.map(([what, hindsight, place, message]): (typeof MISTAKES)[number] => [
    what,
    'severity: 2',
    `severity: 2\nbaseline: { b: { of: excess, days: 9, min_days: 3 }, fit: { of: excess, on: [sat], days: 9, min_days: 3 } }\nhindsight: ${hindsight}`,
    place,
    message,
  ]),
]

for (const [what, text, replacement, place, message] of MISTAKES) {
  test(`${what} is an error at ${place}`, t => {
    const parsed = parseRule(GOOD.replace(text, replacement), 'x.yaml')
    if (parsed.ok) return t.fail('it was taken')
    const { line, column, message: told } = parsed.errors[0]!
    t.regex(told, message)
    t.is(`${line}:${column}`, place)
  })
}

test('all complaints come at once, in the order of the file', t => {
  const parsed = parseRule(GOOD.replace('severity: 2', 'severity: 9').replace('sat_sp: degC', 'nothing: degC'), 'x.yaml')
  t.false(parsed.ok)
  if (parsed.ok) return
  t.true(parsed.errors.length >= 2)
  t.deepEqual(
    parsed.errors,
    parsed.errors.toSorted((a, b) => a.line - b.line || a.column - b.column),
  )
})

test('a good rule carries roles under their own names, the hash of its text and plain data', t => {
  const rule = ruleOf(GOOD, 'rules/ahu/x.yaml')
  t.deepEqual(rule.roles, { sa_t: 'degC', sa_t_sp: 'degC', clg_valve: 'fraction' })
  t.is(rule.filename, 'rules/ahu/x.yaml')
  t.regex(rule.sha256, /^[0-9a-f]{64}$/)
  t.is(rule.kind, 'fault')
  t.is(rule.program.expression, 'clg_valve >= 0.95 and excess > tolerance')
  t.deepEqual(
    rule.program.terms.map(({ text }) => text),
    ['clg_valve >= 0.95', 'excess > tolerance'],
  )
  t.deepEqual(structuredClone(rule), rule)
})

test('a rule over every role takes no other role', t => {
  const parsed = parseRule(yamlOf({ roles: '{ x: any, sa_t: degC }', when: 'x > lowest(x)' }), 'x.yaml')
  t.false(parsed.ok)
})

test('a rule is told in words', t => {
  const words = explainRule(ruleOf(GOOD)).join('\n')
  for (const part of [
    'Supply air too warm',
    'sa_t (degC)',
    'only while: fan_on',
    'excess > tolerance',
    'tolerance = 1.1, from 0.5 to 5 K',
    'last 1 h',
    '80 %',
  ]) {
    t.true(words.includes(part), `${part} in ${words}`)
  }
})

const CHOICES: [string, string[]][] = [
  ['first(oa_t, wx_oa_t) > 5', ['oa_t or wx_oa_t']],
  ['first(avg(oa_t, 1h), wx_oa_t - 2 K) > 5', ['oa_t or wx_oa_t']],
  // A figure, a required role or a flag stands behind it.
  ['first(oa_t, 5 degC) > 5 and first(ra_t, sa_t) > 5 and first(oa_t > 5, has(oa_t))', []],
  ['first(oa_t, parent(oa_t)) > 5', ['oa_t or parent oa_t']],
  ['first(ra_t, wx_oa_t + avg(ma_t - ma_t, 1h)) > 5', ['ra_t or wx_oa_t with ma_t']],
  ['outdoor > 5 and first(ra_t, outdoor) > 5', ['oa_t or wx_oa_t']],
  ['outdoor > 5 and first(ra_t, ma_t) > outdoor', ['oa_t or wx_oa_t', 'ra_t or ma_t']],
]
for (const [when, said] of CHOICES) {
  test(`${when}: ${said.join(', and ') || 'nothing'} is needed of what is optional`, t => {
    const optional = '{ oa_t: degC, wx_oa_t: degC, ra_t: degC, ma_t: degC }'
    const rule = ruleOf(yamlOf({ optional, let: '{ outdoor: "first(oa_t, wx_oa_t)" }', when }))
    t.deepEqual(roleAlternatives(rule), said)
    const words = explainRule(rule).filter(line => line.startsWith('It needs one of'))
    t.deepEqual(words, said.length > 0 ? [`It needs one of: ${said.join('; ')}.`] : [])
  })
}

const needs = (keys: Record<string, string>): number => historyNeeded([ruleOf(yamlOf(keys))])

test('the history that a rule needs is the sum of windows in windows, or the days of its baselines', t => {
  t.is(needs({}), 0)
  t.is(needs({ when: 'held(avg(sa_t, 2h) > 20, 1h)', smooth: '30m' }), 3.5 * HOUR)
  t.is(needs({ params: '{ w: { default: 1, min: 1, max: 6, unit: h } }', when: 'avg(sa_t, w) > 20' }), 6 * HOUR)
  t.is(needs({ baseline: '{ b: { of: "avg(sa_t, 1h)", days: 9, min_days: 1 } }', when: 'sa_t > base(b)' }), 9 * DAY + HOUR)
})

test('a parameter of a duration may be no longer than a window', t => {
  const parsed = (max: number) =>
    parseRule(
      yamlOf({ params: `{ ages: { default: 1, min: 1, max: ${max}, unit: d } }`, settle: 'ages', gate: 'fan_on' }),
      'x.yaml',
    )
  t.true(parsed(31).ok)
  t.like(parsed(32), { ok: false, errors: [{ message: 'settle is at most 31 d' }] })
})

const NAMES = [
  'id',
  'title',
  'roles',
  'when',
  'let',
  'gate',
  'tests',
  'params',
  'cause',
  'baseline',
  '__proto__',
  'constructor',
  'equipment',
]

test('any text at all is a rule or a list of complaints with places', t => {
  const line = fc.tuple(fc.constantFrom(...NAMES), fc.string({ maxLength: 30 })).map(([name, text]) => `${name}: ${text}`)
  const text = fc.oneof(
    fc.string({ maxLength: 200 }),
    fc.array(line, { maxLength: 12 }).map(lines => lines.join('\n')),
    fc.array(line, { maxLength: 3 }).map(lines => `${lines.join('\n')}\n${GOOD}`),
  )
  fc.assert(
    fc.property(text, source => {
      const parsed = parseRule(source, 'x.yaml')
      return parsed.ok || parsed.errors.every(({ line: at, column, message }) => at >= 1 && column >= 1 && message.length > 0)
    }),
    { numRuns: 1500 },
  )
  t.pass()
})

test('a rule cut off or changed in one place never throws', t => {
  fc.assert(
    fc.property(fc.nat(GOOD.length), fc.string({ maxLength: 3 }), fc.boolean(), (at, insert, cut) => {
      parseRule(cut ? GOOD.slice(0, at) : GOOD.slice(0, at) + insert + GOOD.slice(at + 1), 'x.yaml')
    }),
    { numRuns: 1500 },
  )
  t.pass()
})

test('aliases that would blow up are refused', t => {
  const bomb = [
    'a: &a [x,x,x,x,x,x,x,x,x]',
    'b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]',
    'c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]',
    'd: [*c,*c,*c,*c,*c,*c]',
  ].join('\n')
  t.false(parseRule(`${bomb}\n${GOOD}`, 'x.yaml').ok)
  t.false(parseRule(`x: ${'a'.repeat(300_000)}`, 'x.yaml').ok)
})
