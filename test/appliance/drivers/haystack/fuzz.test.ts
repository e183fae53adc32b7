/** Any bytes decode to a grid or to a reason. Nothing is thrown, nothing hangs. */
import test from 'ava'
import fc from 'fast-check'
import { pointState } from '#appliance/drivers/haystack/core/point.ts'
import { parseChallenges } from '#appliance/drivers/haystack/core/headers.ts'
import { makeGrid, takeGrid } from '#appliance/drivers/haystack/core/grid.ts'
import { decodeGrid, encodeGrid } from '#appliance/drivers/haystack/codec.ts'
import { type SimGrid, writeHaysonGrid, writeZincGrid } from '#scripts/simulator/haystack/values.ts'
import { point } from './harness.ts'

const GRID: SimGrid = {
  meta: { watchId: 'w-1', lease: { num: 2, unit: 'min' } },
  rows: [
    {
      id: { ref: 'p:demo:r:a1', dis: 'Supply "air", °C' },
      curVal: { num: -21.5, unit: '°C' },
      curStatus: 'ok',
      l: { list: [true, { num: 1 }] },
    },
    {
      id: { ref: 'a2' },
      curVal: { num: 'NaN' },
      curStatus: 'stale',
      l: { dict: { a: { kind: 'marker' }, b: { at: '2026-03-01T00:00:00Z' } } },
    },
    { id: null, curVal: { kind: 'na' }, curStatus: null, l: { sym: 'op:read' } },
  ],
}
const SEEDS = { zinc: Buffer.from(writeZincGrid(GRID, '3.0')), hayson: Buffer.from(writeHaysonGrid(GRID, '3.0')) }

/** Bytes changed, removed, duplicated and inserted. */
const mutations = fc.array(
  fc.record({
    at: fc.nat(1000),
    how: fc.constantFrom('set', 'cut', 'double', 'insert'),
    byte: fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from('"\\,\n@^`[]{}<>:()NRMTF-.eE+0 $'))),
    length: fc.integer({ min: 1, max: 40 }),
  }),
  { minLength: 1, maxLength: 6 },
)

function mutate(seed: Buffer, changes: { at: number; how: string; byte: number; length: number }[]): Buffer {
  let bytes = Buffer.from(seed)
  for (const { at, how, byte, length } of changes) {
    const i = at % (bytes.length + 1)
    const [head, tail] = [bytes.subarray(0, i), bytes.subarray(i)]
    if (how === 'set') bytes = Buffer.concat([head, Buffer.of(byte), tail.subarray(1)])
    else if (how === 'cut') bytes = Buffer.concat([head, tail.subarray(length)])
    else if (how === 'double') bytes = Buffer.concat([head, tail.subarray(0, length), tail])
    else bytes = Buffer.concat([head, Buffer.of(byte), tail])
  }
  return bytes
}

for (const format of ['zinc', 'hayson'] as const) {
  test(`a damaged grid in ${format} decodes to a grid or a reason, and its rows to readings or reasons`, t => {
    let rows = 0
    fc.assert(
      fc.property(mutations, changes => {
        const grid = decodeGrid(mutate(SEEDS[format], changes), format)
        if (typeof grid === 'string') return grid.length > 0
        rows += grid.rows.length
        for (const row of grid.rows) {
          const { value, quality } = pointState(row, point('@x'))
          if (quality === 'bad' ? value !== null : !Number.isFinite(value)) return false
        }
        return true
      }),
      { numRuns: 5000 },
    )
    t.true(rows > 100, `${rows} rows`)
  })
}

test('arbitrary bytes, values and headers decode to a grid or a reason', t => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom('zinc' as const, 'hayson' as const), (bytes, format) => {
      const grid = decodeGrid(bytes, format)
      return typeof grid === 'string' ? grid !== '' : Array.isArray(grid.rows)
    }),
    { numRuns: 3000 },
  )
  fc.assert(
    fc.property(fc.anything(), value => {
      const grid = takeGrid(value)
      return typeof grid === 'string' ? grid !== '' : Array.isArray(grid.rows)
    }),
  )
  fc.assert(fc.property(fc.string(), header => parseChallenges(header).every(({ scheme }) => scheme !== '')))
  t.pass()
})

test('ids and texts survive encoding and decoding', t => {
  const id = fc.stringMatching(/^[A-Za-z0-9_:.~-]{1,40}$/)
  fc.assert(
    fc.property(fc.array(id, { minLength: 1, maxLength: 20 }), fc.string({ unit: 'binary' }), (ids, text) => {
      const sent = makeGrid(ids.map(val => ({ id: { _kind: 'ref', val }, filter: text })))
      for (const format of ['zinc', 'hayson'] as const) {
        const grid = decodeGrid(Buffer.from(encodeGrid(sent, format)), format)
        if (typeof grid === 'string') return false
        if (grid.rows.some((row, i) => (row.id as { val: string }).val !== ids[i] || row.filter !== text)) return false
      }
      return true
    }),
  )
  t.pass()
})
