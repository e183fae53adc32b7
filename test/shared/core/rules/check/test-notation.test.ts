import test from 'ava'
import { expandRows } from '#shared/core/rules/check/parse-tests.ts'
import { parseRule } from '#shared/core/rules/check/parse-rule.ts'
import { testRule } from '#shared/core/rules/testing/test-rule.ts'
import { ruleOf, yamlOf } from '../../../../support/rules/helpers.ts'

const ROWS: [string, (number | null)[] | undefined][] = [
  ['16x2 13', [16, 16, 13]],
  ['_ ? -1.5', [null, Number.NaN, -1.5]],
  ['_x2 1', [null, null, 1]],
  ['(1 0)x2 5', [1, 0, 1, 0, 5]],
  ['((1)x2 0)x2', [1, 1, 0, 1, 1, 0]],
  ['', []],
  ['1x', undefined],
  ['(1 0', undefined],
  ['1)', undefined],
  ['warm', undefined],
  ['1x99999', undefined],
  ['((1x999)x999)x999', undefined],
]
for (const [text, rows] of ROWS) {
  test(`rows "${text}" stand for ${rows ? JSON.stringify(rows) : 'nothing'}`, t => t.deepEqual(expandRows(text), rows))
}

const RULE = yamlOf({
  roles: '{ sa_t: degF, sa_t_sp: degF }',
  gate: 'fan_on',
  when: 'sa_t > sa_t_sp + 2',
  persistence: '15m',
  cause: '{ coil: 1 }',
})
const withTest = (lines: string) => `${RULE}\ntests:\n  - name: a case\n    ${lines.trim().replaceAll('\n', '\n    ')}\n`
const problems = (lines: string) => testRule(ruleOf(withTest(lines))).flatMap(result => result.problems)

/** Title, lines of the case, expected text. */
const CASES: [string, string, RegExp[]][] = [
  ['a case that holds', 'step: 5m\nsa_t: 60x6 50x6\nsa_t_sp: 55x12\nfaults: [00:00-00:30]\ncause: coil', []],
  ['all causes of the day', 'step: 5m\nsa_t: 60x6\nsa_t_sp: 55x6\ncauses: { coil: 1 }', []],
  [
    'another weight, and a cause too many',
    'step: 5m\nsa_t: 60x6\nsa_t_sp: 55x6\ncauses: { coil: 0.5, fan: 1 }',
    [/causes \{ coil: 0\.5, fan: 1 \} expected, \{ coil: 1 \} found/],
  ],
  ['rows in the unit of the rule', 'step: 5m\nsa_t: 57.1x6\nsa_t_sp: 55x6\nfaults: [00:00-]', []],
  ['a fault that lasts, written with the end of the rows', 'step: 5m\nsa_t: 60x6\nsa_t_sp: 55x6\nfaults: [00:00-00:30]', []],
  [
    'a wrong span',
    'step: 5m\nsa_t: 60x6\nsa_t_sp: 55x6\nfaults: [00:05-]',
    [/faults \[00:05-\] expected, \[00:00-\] found \(fault\)/],
  ],
  ['an unexpected fault', 'step: 5m\nsa_t: 60x6\nsa_t_sp: 55x6\nfaults: []', [/faults \[\] expected/]],
  [
    'a wrong status and reason',
    'step: 5m\nsa_t: 60x6\nsa_t_sp: 55x6\nfan_on: 0x6\nstatus: pass\nreason: stale',
    [/status pass expected, not_evaluated gated found/, /reason stale expected/],
  ],
  ['a wrong cause', 'step: 5m\nsa_t: 60x6\nsa_t_sp: 55x6\ncause: sensor', [/cause sensor expected, coil found/]],
  ['equipment off', 'step: 5m\nsa_t: 60x6\nsa_t_sp: 55x6\nfan_status: 0x6\nfaults: []\nstatus: not_evaluated\nreason: gated', []],
  ['a missing role', 'step: 5m\nsa_t: 60x6\nfaults: []\nstatus: not_evaluated\nreason: missing_role', []],
  ['a proof that falls silent', 'step: 5m\nsa_t: 60x8\nsa_t_sp: 55x8\nfan_on: 1 _x7\nfaults: [00:00-00:15]', [/found/]],
  ['gaps of their own', 'irregular: [3m, 11m, 1m]\nsa_t: 60x6 50x6\nsa_t_sp: 55x12\nfaults: [00:00-00:30]', []],
  ['a parameter that is none', 'step: 5m\nsa_t: 60x6\nsa_t_sp: 55x6\nparams: { nix: 3 }\nfaults: []', [/no parameter nix/]],
]
for (const [title, lines, told] of CASES) {
  test(`a test with ${title}`, t => {
    const found = problems(lines)
    t.is(found.length > 0, told.length > 0, found.join('; '))
    for (const message of told)
      t.true(
        found.some(problem => message.test(problem)),
        found.join('; '),
      )
  })
}

test('days, zones and the equipment above have their notation', t => {
  const zone = yamlOf({ equipment: '[vav]', roles: '{ damper: fraction }', when: 'damper > 0.9 and parent(sa_t) < 20' })
  const lines =
    'step: 1h\nstart: 2026-03-08T00:00\ntimezone: America/Chicago\ndamper: 1x24\nparent: { sa_t: 13x24 }\nfaults: [00:00-]'
  const text = `${zone}\ntests:\n  - name: a case\n    ${lines.replaceAll('\n', '\n    ')}\n`
  t.deepEqual(
    testRule(ruleOf(text)).flatMap(result => result.problems),
    [],
  )
  const above = yamlOf({ when: 'zones(damper, min) > 0.9 and sa_t > 0' })
  const zones = 'step: 1h\nsa_t: 13x4\nzones: [{ damper: 1x4 }, { damper: 0.95x4 }]\nfaults: [00:00-]'
  t.deepEqual(
    testRule(ruleOf(`${above}\ntests:\n  - name: a case\n    ${zones.replaceAll('\n', '\n    ')}\n`)).flatMap(
      result => result.problems,
    ),
    [],
  )
})

const withBase = (base: string, cases: string[]) =>
  `${RULE}\ntest_base: { ${base} }\ntests:\n${cases.map(one => `  - { ${one} }\n`).join('')}`
const BASE = 'step: 5m, rows: 12, sa_t: 60x6 50x6, sa_t_sp: 55'

test('a test states what differs from the base, and a single value holds for all rows', t => {
  const cases = [
    'name: as the base, faults: [00:00-00:30]',
    'name: another row, sa_t: 50, faults: []',
    'name: a longer row makes the test longer, sa_t: 60x20, faults: [00:00-01:40]',
    'name: fewer rows, rows: 3, sa_t: 60, faults: [00:00-]',
    'name: other intervals, irregular: [3m, 11m, 1m], faults: [00:00-00:30]',
    'name: a role left out, without: sa_t_sp, status: not_evaluated, reason: missing_role',
  ]
  const { tests } = ruleOf(withBase(BASE, cases))
  t.deepEqual(
    tests.map(({ offsets, rows }) => [offsets.length, rows['sa_t']!.length, rows['sa_t_sp']?.length ?? 0]),
    [
      [12, 12, 12],
      [12, 12, 12],
      [20, 20, 20],
      [3, 3, 3],
      [12, 12, 12],
      [12, 12, 0],
    ],
  )
  t.deepEqual(
    testRule(ruleOf(withBase(BASE, cases))).flatMap(({ name, problems }) => problems.map(problem => `${name}: ${problem}`)),
    [],
  )
})

for (const [base, one, place, message] of [
  [BASE, 'name: a, without: oa_t, faults: []', '13:25', /oa_t is not in the base of the tests/],
  [`${BASE}, faults: []`, 'name: a', '11:64', /faults belongs to a test/],
  [BASE, 'name: a, rows: 0, faults: []', '13:22', /rows is a whole number from 1 to 90000/],
  [BASE, 'name: a, rows: 3, faults: []', '13:5', /a row is longer than the test, which has 3 rows/],
  ['step: 5m, sa_tt: 60', 'name: a, faults: []', '11:24', /sa_tt is no role/],
] as const) {
  test(`"${one}" after the base "${base}" is refused at ${place}`, t => {
    const parsed = parseRule(withBase(base, [one, one]), 'x.yaml')
    if (parsed.ok) return t.fail('it was accepted')
    const found = parsed.errors.filter(error => message.test(error.message)).map(({ line, column }) => `${line}:${column}`)
    t.is(found[0], place)
    t.is(new Set(found).size, found.length, 'an error of the base is reported once')
  })
}

/** A mistake in the notation, its place, the message. */
const MISTAKES: [string, string, RegExp][] = [
  ['step: 5m\nsa_t: 60y6\nfaults: []', '14:11', /rows are written/],
  ['step: 5m\nsa_tt: 60x6\nfaults: []', '14:5', /no role and no key of a test/],
  ['sa_t: 60x6\nfaults: []', '12:5', /needs a step/],
  ['step: 5m\nsa_t: 60x6', '12:5', /says what must come out/],
  ['step: 5m\nsa_t: 60x6\nfaults: [1-2]', '15:14', /no span such as/],
  ['step: 5m\nstart: soon\nsa_t: 60x6\nfaults: []', '14:12', /wall clock/],
  ['step: 5m\ntimezone: Mars\nsa_t: 60x6\nfaults: []', '14:15', /no time zone/],
]
for (const [lines, place, message] of MISTAKES) {
  test(`"${lines.replaceAll('\n', ' | ')}" is refused at ${place}`, t => {
    const parsed = parseRule(withTest(lines), 'x.yaml')
    if (parsed.ok) return t.fail('it was taken')
    const { line, column, message: told } = parsed.errors[0]!
    t.regex(told, message)
    t.is(`${line}:${column}`, place)
  })
}
