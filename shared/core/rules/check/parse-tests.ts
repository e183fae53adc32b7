/** The test notation inside a rule file: rows such as `16x18 13x6`, and the faults that must come out. */
import { nameTable } from '#shared/core/name-table.ts'
import { isScalar, YAMLMap } from 'yaml'
import { EQUIPMENT_TYPES } from '#shared/core/model/model.ts'
import { nearestRoles, roleOf } from '#shared/core/model/role.ts'
import { LEVELS } from '#shared/core/priority/priority-record.ts'
import { HOUR, MINUTE, parseDuration } from '#shared/core/time.ts'
import { instantsOf, isZone } from '#shared/core/time-zone.ts'
import { MACROS } from '#shared/core/rules/language/macros.ts'
import { getOwn } from '#shared/core/get-own.ts'
import type { TestCase, TestRows, TestVisit } from './rule.ts'
import { fieldsOf, type YamlFields, type YamlText } from '#shared/core/rules/language/yaml-text.ts'

/** Most rows of one test: two months of minutes. */
const ROWS_MAX = 90_000
/** An empty level of a priority array. */
const EMPTY = Infinity
/** Texts of a row in place of a figure. */
const WORDS = nameTable<number | null>({ _: null, '?': Number.NaN, '-': EMPTY })
const MONDAY = '2026-03-02T00:00'
const OUTCOME_KEYS = ['name', 'faults', 'status', 'reason', 'cause', 'causes', 'without']
const OWN_KEYS = [
  ...OUTCOME_KEYS,
  ...['step', 'irregular', 'rows', 'start', 'timezone', 'params', 'equipment', 'parent', 'zones', 'slots'],
]

const elapsed = (hours: unknown, minutes: unknown, seconds: unknown): number =>
  Number(hours) * HOUR + Number(minutes) * MINUTE + Number(seconds) * 1000

/**
 * `test_base` is the situation that all tests of the rule start from. A test states what differs, leaves out what `without`
 * names, and always states itself what must come out.
 */
export function parseTests(root: YamlFields, yaml: YamlText): TestCase[] {
  const base = root.fields('test_base')
  for (const key of base?.keys() ?? []) {
    if (OUTCOME_KEYS.includes(key)) yaml.complain(base!.keyNode(key), `${key} belongs to a test, not to the base of all tests`)
  }
  return root.items('tests').map(fields => parseCase(fields, base, yaml))
}

function parseCase(own: YamlFields, base: YamlFields | undefined, yaml: YamlText): TestCase {
  const fields = inherit(own, base, yaml)
  const rows = readRows(fields, yaml, OWN_KEYS)
  const parent = fields.fields('parent')
  const parentRows = parent && readRows(parent, yaml, [])
  const zones = fields.items('zones').map(zone => readRows(zone, yaml, []))
  const arrays = readArrays(fields.fields('slots'), yaml)
  const isOwn = (key: string) => own.has(key)
  const longest = (of: (key: string) => boolean) => {
    const parts = [
      ...Object.entries(rows).flatMap(([key, values]) => (of(key) ? [values] : [])),
      ...(parentRows && of('parent') ? Object.values(parentRows) : []),
      ...(of('zones') ? zones.flatMap(zone => Object.values(zone)) : []),
      ...(of('slots') ? Object.values(arrays).flatMap(({ levels }) => [...levels.values()]) : []),
    ]
    return Math.max(1, ...parts.map(values => values.length))
  }
  const count = readCount(fields, own, longest(isOwn), yaml) ?? longest(() => true)
  if (longest(() => true) > count) yaml.complain(own.map, `a row is longer than the test, which has ${count} rows`)
  const whole = (part: TestRows): TestRows =>
    Object.fromEntries(Object.entries(part).map(([key, row]) => [key, held(row, count)]))
  const gaps = readGaps(fields, yaml)
  const offsets = Array.from<number>({ length: count }).fill(0)
  for (let row = 1; row < count; row++) offsets[row] = offsets[row - 1]! + gaps[(row - 1) % gaps.length]!
  const lastGap = gaps[(count - 1) % gaps.length]!
  const timezone = fields.text('timezone') ?? 'UTC'
  if (!isZone(timezone)) yaml.complain(fields.node('timezone'), `${timezone} is no time zone`)
  const test: TestCase = {
    name: fields.need('name'),
    line: yaml.lineOf(own.map),
    timezone,
    start: isZone(timezone) ? readStart(fields, timezone, yaml) : 0,
    offsets,
    nominalMs: Math.max(...gaps),
    lengthMs: offsets[count - 1]! + lastGap,
    rows: whole(rows),
    zones: zones.map(whole),
    visits: visitsOf(arrays, count),
    params: Object.fromEntries(
      (fields.fields('params')?.keys() ?? []).map(name => [name, fields.fields('params')!.number(name) ?? 0]),
    ),
  }
  if (parentRows) test.parent = whole(parentRows)
  readExpected(fields, test, yaml)
  fields.close()
  return test
}

/** @returns the keys of the test, and those of the base that it neither has nor leaves out */
function inherit(own: YamlFields, base: YamlFields | undefined, yaml: YamlText): YamlFields {
  const dropped = own.list('without').map(({ text, node }) => {
    if (!base?.has(text)) yaml.complain(node, `${text} is not in the base of the tests`)
    return text
  })
  const isSpaced = own.has('step') || own.has('irregular')
  const map = new YAMLMap()
  map.range = own.map.range ?? null
  const inherited = base?.map.items.filter(({ key }) => {
    const name = isScalar(key) ? String(key.value) : ''
    return !own.has(name) && !dropped.includes(name) && !(isSpaced && (name === 'step' || name === 'irregular'))
  })
  map.items = [...own.map.items, ...(inherited ?? [])]
  const fields = fieldsOf(map, yaml)
  fields.list('without')
  return fields
}

/** @returns `rows` of the test, else its longest row, else `rows` of the base; undefined when all rows are single values */
function readCount(fields: YamlFields, own: YamlFields, ownLongest: number, yaml: YamlText): number | undefined {
  const rows = fields.number('rows')
  if (!own.has('rows') && ownLongest > 1) return ownLongest
  if (rows === undefined || (Number.isInteger(rows) && rows >= 1 && rows <= ROWS_MAX)) return rows
  yaml.complain(fields.node('rows'), `rows is a whole number from 1 to ${ROWS_MAX}`)
  return undefined
}

/** A single value holds for the whole test. */
const held = <T>(values: T[], count: number): T[] =>
  values.length === 1 && count > 1 ? Array.from<T>({ length: count }).fill(values[0]!) : values

function readExpected(fields: YamlFields, test: TestCase, yaml: YamlText): void {
  if (fields.has('faults')) test.faults = fields.list('faults').map(({ text, node }) => readSpan(text, node, yaml))
  const status = fields.text('status')
  if (status === 'fault' || status === 'pass' || status === 'not_evaluated') test.status = status
  else if (status !== undefined) yaml.complain(fields.node('status'), 'status is fault, pass or not_evaluated')
  const reason = fields.text('reason')
  if (reason !== undefined) test.reason = reason
  const cause = fields.text('cause')
  if (cause !== undefined) test.cause = cause
  const causes = fields.fields('causes')
  if (causes) test.causes = causes.keys().map(component => ({ component, weight: causes.number(component) ?? 0 }))
  const equipment = EQUIPMENT_TYPES.find(type => type === fields.text('equipment'))
  if (equipment) test.equipment = equipment
  if (!test.faults && !status && !cause && !causes)
    yaml.complain(fields.map, 'a test says what must come out: faults, status, cause or causes')
}

/** `01:00-02:30` or, while it lasts, `01:00-`: hours and minutes after the first row. */
function readSpan(text: string, node: unknown, yaml: YamlText): { from: number; to: number | null } {
  const match = /^(\d+):(\d\d)(?::(\d\d))?-(?:(\d+):(\d\d)(?::(\d\d))?)?$/.exec(text.replaceAll(' ', ''))
  if (!match) yaml.complain(node, `${text} is no span such as 01:00-02:30`)
  const [, h = 0, m = 0, s = 0, toH, toM, toS = 0] = match ?? []
  return { from: elapsed(h, m, s), to: toH === undefined ? null : elapsed(toH, toM, toS) }
}

function readGaps(fields: YamlFields, yaml: YamlText): number[] {
  const key = fields.has('irregular') ? 'irregular' : 'step'
  const gaps = fields.list(key).map(({ text, node }) => {
    const ms = parseDuration(text)
    if (!ms) yaml.complain(node, `${key} is made of durations such as 5m`)
    return ms || MINUTE
  })
  if (gaps.length === 0) yaml.complain(fields.map, 'a test needs a step, such as 5m, or irregular: [3m, 11m, 1m]')
  return gaps.length ? gaps : [MINUTE]
}

function readStart(fields: YamlFields, timezone: string, yaml: YamlText): number {
  const text = fields.text('start') ?? MONDAY
  const wall = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?)?$/.test(text)
    ? Date.parse(`${text.length === 10 ? `${text}T00:00` : text}Z`)
    : Number.NaN
  const instant = Number.isNaN(wall) ? undefined : instantsOf(wall, timezone)[0]
  if (instant === undefined) yaml.complain(fields.node('start'), 'start is a wall clock of the building such as 2026-03-02T06:00')
  return instant ?? 0
}

function readRows(fields: YamlFields, yaml: YamlText, others: string[]): TestRows {
  const rows: TestRows = {}
  for (const key of fields.keys()) {
    if (others.includes(key)) continue
    const name = getOwn(MACROS, key) ? key : roleOf(key)
    const values = expandRows(fields.text(key) ?? '')
    if (!name)
      yaml.complain(fields.keyNode(key), `${key} is no role and no key of a test (like it: ${nearestRoles(key).join(', ')})`)
    else if (!values || values.includes(EMPTY)) yaml.complain(fields.node(key), 'rows are written as in 16x18 13x6 _ (1 0)x4')
    else rows[name] = values
  }
  return rows
}

/** One priority array: the value without a command, and each level row by row. */
type WrittenArray = { fallback: number; levels: Map<number, (number | null)[]> }

/** `slots: { clg_valve: { 8: 1x30 -x4, default: 0 } }`: what hourly or other visits saw of an array. */
function readArrays(fields: YamlFields | undefined, yaml: YamlText): Record<string, WrittenArray> {
  const arrays: Record<string, WrittenArray> = {}
  for (const key of fields?.keys() ?? []) {
    const name = roleOf(key)
    const levels = fields!.fields(key)
    if (!name) yaml.complain(fields!.keyNode(key), `${key} is no role (like it: ${nearestRoles(key).join(', ')})`)
    if (name && levels) arrays[name] = readArray(levels, yaml)
  }
  return arrays
}

function readArray(fields: YamlFields, yaml: YamlText): WrittenArray {
  const fallback = fields.number('default') ?? 0
  const levels = new Map<number, (number | null)[]>()
  for (const key of fields.keys()) {
    if (key === 'default') continue
    const level = Number(key)
    const values = expandRows(fields.text(key) ?? '')
    if (!(Number.isInteger(level) && level >= 1 && level <= LEVELS))
      yaml.complain(fields.keyNode(key), `${key} is no level from 1 to ${LEVELS} and not default`)
    else if (!values) yaml.complain(fields.node(key), 'rows are written as in 1x18 -x6 _ (1 -)x4')
    else levels.set(level, values)
  }
  return { fallback, levels }
}

const visitsOf = (arrays: Record<string, WrittenArray>, count: number): TestCase['visits'] =>
  Object.fromEntries(
    Object.entries(arrays).map(([role, { fallback, levels }]) => {
      const rows = [...levels].map(([level, values]) => [level, held(values, count)] as const)
      const length = Math.max(0, ...rows.map(([, values]) => values.length))
      return [role, Array.from({ length }, (_, row) => visitOf(rows, row, fallback))]
    }),
  )

function visitOf(rows: (readonly [number, (number | null)[]])[], row: number, fallback: number): TestVisit | null {
  const seen = rows.map(([level, values]) => [level, values[row] ?? null] as const).filter(([, value]) => value !== null)
  if (seen.length === 0) return null
  const slots = seen.filter(([, value]) => value !== EMPTY)
  return { fallback, slots: Object.fromEntries(slots) as Record<number, number> }
}

/** @returns the values that a row stands for, or undefined when it is malformed or longer than `ROWS_MAX` */
export function expandRows(text: string): (number | null)[] | undefined {
  const stack: (number | null)[][] = [[]]
  const words = text.match(/\(|\)(?:x\d+)?|[^\s()]+/g) ?? []
  for (const word of words) {
    if (word === '(') stack.push([])
    else if (word.startsWith(')')) {
      const group = stack.pop()!
      const outer = stack.at(-1)
      const times = Number(word.slice(2) || 1)
      if (!outer || outer.length + group.length * times > ROWS_MAX) return undefined
      for (let i = 0; i < times; i++) outer.push(...group)
    } else if (!pushRun(word, stack.at(-1)!)) return undefined
  }
  return stack.length === 1 ? stack[0] : undefined
}

function pushRun(word: string, rows: (number | null)[]): boolean {
  const match = /^(_|\?|-|-?\d+(?:\.\d+)?)(?:x(\d+))?$/.exec(word)
  if (!match) return false
  const value = getOwn(WORDS, match[1]!) === undefined ? Number(match[1]) : WORDS[match[1]!]!
  const times = Number(match[2] ?? 1)
  if (rows.length + times > ROWS_MAX) return false
  for (let i = 0; i < times; i++) rows.push(value)
  return true
}
