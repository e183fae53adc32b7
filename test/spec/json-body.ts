/** Random JSON bodies made from the schema of a route: valid ones, and ones with something broken. */
import type { TSchema } from '@sinclair/typebox'
import fc from 'fast-check'

/** What exists in the hub that is asked, by the name of the field, so that bodies get past the first look-up. */
const KNOWN: Record<string, unknown> = {
  building_id: 'b1',
  equipment_id: 'AHU-1',
  equipment_ids: ['AHU-1'],
  point_id: 'AHU-1.SAT',
  rule_id: 'TEST-WARM',
  rule_ids: ['TEST-WARM'],
  tenant_id: 'legacy',
  confirm: true,
  from: '2026-03-01T00:00:00Z',
  to: '2026-03-02T00:00:00Z',
}
const id = fc.stringMatching(/^[A-Za-z0-9._-]{1,12}$/)
const instant = fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }).map(date => date.toISOString())
const text = fc.oneof(id, instant, fc.string({ unit: 'grapheme', maxLength: 40 }))

type Json = Record<string, any>
/** The generator of matching strings knows no lookaround; what has it are ids. */
const LOOKAROUND = /\(\?<?[=!]/

/** Values that fit a schema, as far as its words say; what the routes demand beyond them is theirs to check. */
function fitting(schema: TSchema): fc.Arbitrary<unknown> {
  const { type, const: only, enum: words, anyOf, properties, items, pattern, required = [] } = schema as Json
  if (only !== undefined) return fc.constant(only)
  if (words) return fc.constantFrom(...words)
  if (anyOf) return fc.oneof(...anyOf.map(fitting))
  const { minimum = -1e9, maximum = 1e9, minLength = 0, maxLength = 200, minItems = 0, maxItems = 4 } = schema as Json
  switch (type) {
    case 'object': {
      const fields = Object.fromEntries(
        Object.entries<TSchema>(properties ?? {}).map(([name, one]) => [name, fieldOf(name, one)]),
      )
      return fc.record(fields, { requiredKeys: required })
    }
    case 'array':
      return fc.array(fitting(items), { minLength: minItems, maxLength: Math.max(minItems, Math.min(maxItems, 4)) })
    case 'integer':
      return fc.integer({ min: Math.max(minimum, -(2 ** 31)), max: Math.min(maximum, 2 ** 31 - 1) })
    case 'number':
      return fc.double({ min: minimum, max: maximum, noNaN: true })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'string':
      if (pattern) return LOOKAROUND.test(pattern) ? id : fc.oneof(fc.stringMatching(new RegExp(pattern)), id)
      return text.map(value => value.padEnd(minLength, 'x').slice(0, maxLength))
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

const fieldOf = (name: string, schema: TSchema): fc.Arbitrary<unknown> =>
  Object.hasOwn(KNOWN, name)
    ? fc.oneof({ arbitrary: fc.constant(KNOWN[name]), weight: 3 }, { arbitrary: fitting(schema), weight: 1 })
    : fitting(schema)

const JUNK: unknown[] = [
  null,
  '',
  0,
  -1,
  1e308,
  -1e308,
  2 ** 53,
  true,
  [],
  {},
  [[[[]]]],
  '\u0000',
  '../../etc/passwd',
  "'; DROP TABLE samples; --",
  '<script>alert(1)</script>',
  '\ud800',
  '=1+1',
  'x'.repeat(10_000),
  '1969-12-31T23:59:59Z',
  '+275760-09-13T00:00:00Z',
  { __proto__: null, constructor: { prototype: { admin: true } } },
]

/** A body with one field replaced, added or removed, at any depth. */
const broken = (body: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc
    .tuple(body, fc.nat(), fc.constantFrom(...JUNK), fc.constantFrom('replace', 'remove', 'add'))
    .map(([whole, at, junk, how]) => {
      const copy = structuredClone(whole)
      const places = placesIn(copy)
      if (places.length === 0 || how === 'add') return typeof copy === 'object' && copy ? { ...copy, unknown_field: junk } : junk
      const { holder, key } = places[at % places.length]!
      if (how === 'remove') delete holder[key]
      else holder[key] = junk
      return copy
    })

function placesIn(value: unknown): { holder: Json; key: string }[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, child]) => [{ holder: value as Json, key }, ...placesIn(child)])
}

/** Bytes of a body: as JSON, or as JSON that was cut or has a byte too many. */
export const bodyText = (schema: TSchema): fc.Arbitrary<string> => {
  const fits = fitting(schema)
  const json = fc
    .oneof({ arbitrary: fits, weight: 4 }, { arbitrary: broken(fits), weight: 5 })
    .map(value => JSON.stringify(value) ?? '')
  const damaged = fc.tuple(json, fc.nat()).map(([whole, at]) => whole.slice(0, at % (whole.length + 1)))
  return fc.oneof(
    { arbitrary: json, weight: 9 },
    { arbitrary: damaged, weight: 1 },
    { arbitrary: json.map(one => `${one},`), weight: 1 },
  )
}
