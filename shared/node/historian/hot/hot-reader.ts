import type { HistoryQuery } from '#shared/core/ports.ts'
import { MINUTE } from '#shared/core/time.ts'
import type { Database } from '../../sqlite.ts'
import { HotChunk, type HotRow, inOrder } from './chunk.ts'
import { HOT_SPAN, OF_POINTS, keySpan } from './chunks.ts'

/** @param value NaN where the point had no usable value */
type Take = (point: number, ts: number, value: number) => void
type Ask = Pick<HistoryQuery, 'from' | 'to'> & { building: number }
/** Of one point. */
type HotStretch = { point: number; first: number; last: number; samples: number }

type HotReader = {
  /** Reads samples of some points, those of each point ascending in time. */
  read(ask: Ask, points: readonly number[], take: Take): void
  /** First and last sample of each point that has some. */
  stretches(building: number, points: readonly number[]): HotStretch[]
}

type Found = { minute: number; first: number; last: number; low: number; high: number; data: Buffer }

/** Reads samples that are not sealed yet, inside the transaction of the caller. */
export function openHotReader(db: Database): HotReader {
  const chunks = db.prepare(
    `SELECT minute, first, last, low, high, data FROM hot_chunks WHERE ${HOT_SPAN} AND ${OF_POINTS} ORDER BY minute`,
  )

  function read(ask: Ask, points: readonly number[], take: Take): void {
    if (points.length === 0) return
    const wanted = points.toSorted((a, b) => a - b)
    const takeWithin: Take = (point, ts, value) => {
      if (ts >= ask.from && ts < ask.to) take(point, ts, value)
    }
    for (const some of byMinute(chunks.iterate({ ...ask, ...keySpan(wanted) }) as IterableIterator<Found>)) {
      const inTurn = inTurnOf(some)
      if (inTurn) for (const { minute, data } of inTurn) takeFrom(new HotChunk(data), minute * MINUTE, wanted, takeWithin)
      else takeMixed(some, wanted, takeWithin)
    }
  }
  return {
    read,
    stretches: (building, points) => {
      const found = new Map<number, HotStretch>()
      read({ building, from: -Infinity, to: Infinity }, points, (point, ts) => {
        const stretch = found.get(point)
        if (!stretch) found.set(point, { point, first: ts, last: ts, samples: 1 })
        else {
          stretch.last = ts
          stretch.samples += 1
        }
      })
      return [...found.values()]
    },
  }
}

/** Chunks that follow each other and are of one minute, together. */
function* byMinute(chunks: Iterable<Found>): Generator<Found[]> {
  let some: Found[] = []
  for (const chunk of chunks) {
    if (some.length > 0 && some[0]!.minute !== chunk.minute) {
      yield some
      some = []
    }
    some.push(chunk)
  }
  if (some.length > 0) yield some
}

/**
 * @returns the chunks of a minute in an order in which each point ascends: either they follow each other in time, or they have
 * different points. undefined where samples of a point may lie between those of another chunk
 */
function inTurnOf(some: Found[]): Found[] | undefined {
  const byTime = some.toSorted((a, b) => a.first - b.first)
  if (byTime.every((chunk, i) => i === 0 || byTime[i - 1]!.last < chunk.first)) return byTime
  const byPoint = some.toSorted((a, b) => a.low - b.low)
  return byPoint.every((chunk, i) => i === 0 || byPoint[i - 1]!.high < chunk.low) ? byPoint : undefined
}

/** Above so many points for each sample of a chunk it is read from end to end. */
const SEARCHED = 0.1

/** @param wanted keys of points, ascending */
function takeFrom(chunk: HotChunk, start: number, wanted: readonly number[], take: Take): void {
  const takeOne = (i: number) => take(chunk.point(i), start + chunk.ms(i), chunk.value(i))
  if (wanted.length < chunk.length * SEARCHED) {
    for (const point of wanted)
      for (let i = chunk.indexFrom(point, 0); i < chunk.length && chunk.point(i) === point; i++) takeOne(i)
    return
  }
  for (let i = 0, next = 0; i < chunk.length; i++) {
    const point = chunk.point(i)
    while (next < wanted.length && wanted[next]! < point) next++
    if (wanted[next] === point) takeOne(i)
  }
}

function takeMixed(some: Found[], wanted: readonly number[], take: Take): void {
  const rows: HotRow[] = some.flatMap(({ data }) => new HotChunk(data).rows())
  const start = some[0]!.minute * MINUTE
  const asked = new Set(wanted)
  for (const { point, ms, value } of rows.toSorted(inOrder)) if (asked.has(point)) take(point, start + ms, value)
}
