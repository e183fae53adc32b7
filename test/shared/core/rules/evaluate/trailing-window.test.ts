import test from 'ava'
import fc from 'fast-check'
import { MEAN } from '#shared/core/rules/evaluate/moving-average.ts'
import { GREATEST, LEAST } from '#shared/core/rules/evaluate/moving-extreme.ts'
import { ColumnPool } from '#shared/core/rules/evaluate/column-pool.ts'
import { Graph } from '#shared/core/rules/evaluate/graph.ts'
import { type Node } from '#shared/core/rules/evaluate/node.ts'
import { trailingWindowRun, type WindowFunction } from '#shared/core/rules/evaluate/trailing-window.ts'
import { MinuteHistory } from '#shared/core/rules/evaluate/minute-history.ts'
import type { DayRows } from '#shared/core/rules/evaluate/day-rows.ts'
import { MINUTE } from '#shared/core/time.ts'

/** A short day: by the minute, or with one row between two minutes. */
const dayArb = fc.record({
  values: fc.array(fc.oneof({ weight: 8, arbitrary: fc.integer({ min: -5, max: 5 }) }, fc.constant(Number.NaN)), {
    minLength: 1,
    maxLength: 12,
  }),
  between: fc.boolean(),
})

const daysArb = fc.array(dayArb, { minLength: 1, maxLength: 8 })

function rowsOf(from: number, index: number, { values, between }: { values: number[]; between: boolean }): DayRows {
  const minutes = between ? values.length - 1 : values.length
  const t = values.map((_, i) => (between && i > 0 ? from + (i - 1) * MINUTE + (i === 1 ? 1000 : 0) : from + i * MINUTE))
  const to = from + Math.max(1, minutes) * MINUTE
  const minute = Uint8Array.from(t, at => (at % MINUTE === 0 ? 1 : 0))
  const day = { index, date: '', from, to }
  return { day, n: t.length, t: Float64Array.from([...t, to]), minute, isMinutely: !between }
}

const close = (a: number, b: number) => Object.is(a, b) || Math.abs(a - b) < 1e-9

for (const [name, ways] of Object.entries<WindowFunction>({ MEAN, GREATEST, LEAST })) {
  test(`${name}: by the minute and step by step give the same figures, also from one kind of day to the other`, t => {
    let reckoned = 0
    fc.assert(
      fc.property(daysArb, fc.integer({ min: 1, max: 15 }), fc.integer({ min: 0, max: 5 }), (days, w, longer) => {
        const input = new Graph().constant(0)
        const node: Node = { ...input, out: new Float64Array(20) }
        const window = { windowMs: w * MINUTE, coverMs: 0.8 * w * MINUTE }
        const history = new MinuteHistory(undefined, w + longer, new ColumnPool())
        const mixed = trailingWindowRun(node, { input, history }, window, ways)
        const steps = ways.create(window.windowMs, window.coverMs)
        let from = 0
        for (const [index, day] of days.entries()) {
          const rows = rowsOf(from, index, day)
          from = rows.day.to
          input.out = Float64Array.from(day.values)
          history.add(input.out, rows.n, rows.isMinutely)
          mixed(rows)
          const wanted = new Float64Array(rows.n)
          steps.run(rows, input.out, wanted)
          for (const [i, value] of wanted.entries()) {
            if (value === value) reckoned++
            if (!close(node.out[i]!, value)) return false
          }
        }
        return true
      }),
      { numRuns: 2000, seed: 7 },
    )
    t.true(reckoned > 1000)
  })
}
