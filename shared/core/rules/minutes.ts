/**
 * Days of full minutes. Most buildings are read by the minute, and then a window is so many values of an array: nothing need
 * be remembered but the minutes before. Any other day is reckoned step by step, with the same figures.
 */
import { MINUTE } from '../time.ts'
import type { Node } from './graph.ts'
import { type Memory, within } from './memory.ts'
import type { Rows } from './rows.ts'

/** Reckons a window over one stretch after another; remembers between them what the window still sees. */
export type WindowColumn = {
  run(rows: Pick<Rows, 'n' | 't' | 'minute'>, x: Float64Array, out: Float64Array): void
  save(): Memory
}

/** The same by the minute: `z` is [w + n], the minutes before the day and the day's; `least` of `w` have to be known. */
export type MinuteWindow = (z: Float64Array, w: number, n: number, least: number, out: Float64Array) => void

/** One window function in both ways; they give the same figures. */
export type TwoWays = { byMinute: MinuteWindow; create: MakeColumn }
type MakeColumn = (windowMs: number, coverMs: number, saved?: Memory) => WindowColumn

/**
 * @param coverMs how much of the window has to be known
 * @param saved what the same node remembered
 */
export function minuteRun(
  node: Node,
  input: Node,
  windowMs: number,
  coverMs: number,
  ways: TwoWays,
  saved?: Memory,
): Node['run'] {
  const w = windowMs / MINUTE
  const least = coverMs / MINUTE
  if (!Number.isInteger(w)) {
    const column = ways.create(windowMs, coverMs, saved)
    node.save = column.save
    return rows => column.run(rows, input.out, node.out)
  }
  let z = minutesBefore(w, saved)
  /** How many minutes at the head of `z` are such: before the first day there was nothing, minute by minute. */
  let before = saved ? (saved.before as number) : w
  let column = saved?.column ? ways.create(windowMs, coverMs, within(saved, 'column')) : undefined
  node.save = () => ({ before, z: z.slice(Math.max(0, w - before), w), ...(column && { column: column.save() }) })
  return rows => {
    const { n, isMinutely } = rows
    if (z.length < w + n) z = widened(z, w, n)
    if (isMinutely && before >= w) {
      z.set(input.out.subarray(0, n), w)
      ways.byMinute(z, w, n, least, node.out)
      column = undefined
    } else {
      column ??= remembering(ways.create(windowMs, coverMs, undefined), z.subarray(0, w), rows.t[0]!)
      column.run(rows, input.out, node.out)
      before = isMinutely ? Math.min(before + n, w) : 0
      z.set(input.out.subarray(0, n), w)
    }
    z.copyWithin(0, n, n + w)
  }
}

/** The longest building day. */
const DAY_MINUTES = 1500

/** The `w` minutes before a day, the last of them as they were saved, with room for those of the day. */
function minutesBefore(w: number, saved?: Memory): Float64Array {
  const z = new Float64Array(w + DAY_MINUTES)
  const known = saved ? (saved.z as Float64Array) : new Float64Array(0)
  z.fill(Number.NaN, 0, w - known.length)
  z.set(known, w - known.length)
  return z
}

function widened(z: Float64Array, w: number, n: number): Float64Array {
  const wider = new Float64Array(w + Math.ceil(n * 1.25))
  wider.set(z.subarray(0, w))
  return wider
}

/** Goes on step by step after days by the minute: what a window saw of them is told once more. */
function remembering(column: WindowColumn, before: Float64Array, from: number): WindowColumn {
  const n = before.length
  const t = Float64Array.from({ length: n + 1 }, (_, i) => from - (n - i) * MINUTE)
  column.run({ n, t, minute: new Uint8Array(n).fill(1) }, before, new Float64Array(n))
  return column
}
