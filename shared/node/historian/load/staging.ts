/** The rows of a package on their way to parts: a file of runs, and a list of where they are. */
import assert from 'node:assert/strict'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { PointRows } from '#shared/core/ports.ts'
import { firstAtOrAfter } from '#shared/core/rules/compile/step-signal.ts'
import { INSTANT_END, INSTANT_MIN } from '#shared/core/time.ts'
import { makeFolder } from '../../files.ts'
import { monthOf, monthSpan } from '../folder.ts'
import { isInstant } from '../hot/rows.ts'

/** Bytes that are written at once, while the next rows are read. */
const WRITE_BYTES = 4 * 1024 * 1024
const RUNS_MIN = 256

/**
 * Runs in the order in which they came. A run holds samples of one point that came together and are in one month: in the
 * file its instants, then its values, as float64 of this machine.
 */
export type Runs = {
  count: number
  /** [count] start of the month, ms. */
  month: Float64Array
  /** [count] index of the point in the list of the package. */
  point: Float64Array
  /** [count] number of samples. */
  rows: Float64Array
  /** [count] first byte in the file. */
  at: Float64Array
}
export type Staged = {
  runs: Runs
  rows: number
  /** First and last instant, ms. */
  first: number
  last: number
  /** Whether the samples of each point came in the order of time, none twice. */
  ascending: boolean
}

/** Bytes of a run: its instants and its values. */
export const bytesOfRun = (rows: number): number => 2 * Float64Array.BYTES_PER_ELEMENT * rows

/** Writes the rows of a package to a new file. The file needs no sync: nothing reads it after a crash. */
export async function stageRows(path: string, points: string[], rows: AsyncIterable<PointRows>): Promise<Staged> {
  await makeFolder(dirname(path))
  const file = await open(path, 'wx', 0o600)
  const staging = createStaging(points)
  let writing: Promise<unknown> = Promise.resolve()
  const write = async () => {
    const pieces = staging.takePieces()
    await writing
    writing = pieces.length > 0 ? file.writev(pieces) : Promise.resolve()
    writing.catch(() => undefined) // The next wait for it throws.
  }
  try {
    for await (const each of rows) {
      staging.add(each)
      if (staging.waiting() >= WRITE_BYTES) await write()
    }
    await write()
    await writing
    return staging.end()
  } finally {
    await writing.catch(() => undefined)
    await file.close()
  }
}

function createStaging(points: string[]) {
  const index = new Map(points.map((point_id, i) => [point_id, i]))
  const lasts = new Float64Array(points.length).fill(-Infinity)
  const list = createRunList()
  let bytes = 0
  let waiting = 0
  let pieces: Uint8Array[] = []
  const staged = { rows: 0, first: INSTANT_END, last: INSTANT_MIN, ascending: true }

  return {
    add({ point_id, series: { ts, values } }: PointRows): void {
      const point = index.get(point_id)
      assert(point !== undefined, `${point_id} is not one of the points of the package`)
      for (let from = 0, to = 0; from < ts.length; from = to) {
        const { from: month, to: end } = monthSpan(monthOf(checked(point_id, ts, from)))
        to = firstAtOrAfter(ts, end)
        list.add(month, point, to - from, bytes)
        for (const column of [ts, values]) pieces.push(bytesBetween(column, from, to))
        bytes += bytesOfRun(to - from)
        waiting += bytesOfRun(to - from)
      }
      if (ts.length === 0) return
      const [first, last] = [ts[0]!, ts.at(-1)!]
      if (first <= lasts[point]!) staged.ascending = false
      lasts[point] = last
      staged.first = Math.min(staged.first, first)
      staged.last = Math.max(staged.last, last)
      staged.rows += ts.length
    },
    waiting: () => waiting,
    takePieces: () => {
      const taken = pieces
      pieces = []
      waiting = 0
      return taken
    },
    end: (): Staged => ({ ...staged, runs: list.end() }),
  }
}

/** @throws AssertionError unless the instants are ms, ascending; looked at once, with the first of them */
function checked(point_id: string, ts: Float64Array, at: number): number {
  if (at > 0) return ts[at]!
  for (let i = 0; i < ts.length; i++) {
    if (!isInstant(ts[i]!)) assert.fail(`point ${point_id}: ${ts[i]} is not an instant in ms`)
    if (i > 0 && ts[i]! <= ts[i - 1]!) assert.fail(`point ${point_id}: samples are not in the order of time`)
  }
  return ts[at]!
}

function bytesBetween(column: Float64Array, from: number, to: number): Uint8Array {
  const part = column.subarray(from, to)
  return new Uint8Array(part.buffer, part.byteOffset, part.byteLength)
}

/** Numbers in columns: a package of thousands of columns has a million runs. */
function createRunList() {
  let columns = Array.from({ length: 4 }, () => new Float64Array(RUNS_MIN))
  let count = 0
  return {
    add(...run: [month: number, point: number, rows: number, at: number]): void {
      if (count === columns[0]!.length) {
        columns = columns.map(column => {
          const longer = new Float64Array(2 * count)
          longer.set(column)
          return longer
        })
      }
      for (const [i, value] of run.entries()) columns[i]![count] = value
      count++
    },
    end(): Runs {
      const [month, point, rows, at] = columns.map(column => column.slice(0, count)) as [
        Float64Array,
        Float64Array,
        Float64Array,
        Float64Array,
      ]
      return { count, month, point, rows, at }
    },
  }
}
