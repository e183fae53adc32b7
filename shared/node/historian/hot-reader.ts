import type { HistoryQuery } from '#shared/core/ports.ts'
import { MINUTE } from '#shared/core/time.ts'
import type { Database } from '../sqlite.ts'
import { HOT_SPAN } from './hot.ts'
import type { Keys } from './keys.ts'

/** @param value null where the point had no usable value */
type Take = (point: number, ts: number, value: number | null) => void
type Ask = Pick<HistoryQuery, 'from' | 'to'> & { building: number }
/** Of one point. */
export type HotStretch = { point: number; first: number; last: number; samples: number }

type HotReader = {
  /**
   * Reads rows, those of each point ascending in time.
   *
   * @param take is called for the rows of `points`, and possibly for other points of the building
   */
  read(ask: Ask, points: number[], take: Take): void
  /** First and last row of each point that has some. */
  stretches(building: number, points: number[]): HotStretch[]
}

/** Points whose keys are at most so many times as many apart as there are points are read as one run of keys. */
const RUN = 4

/** The minutes that have rows, one step for each. */
const MINUTES = `WITH RECURSIVE minutes (minute) AS (
  SELECT min(minute) FROM hot_samples WHERE building = @building AND minute BETWEEN @from / 60000 - 1 AND @to / 60000
  UNION ALL
  SELECT (SELECT min(minute) FROM hot_samples
    WHERE building = @building AND minute > minutes.minute AND minute <= @to / 60000)
  FROM minutes WHERE minute IS NOT NULL)`
const OF_MINUTES = 'FROM minutes CROSS JOIN hot_samples ON building = @building AND hot_samples.minute = minutes.minute'
/** The points of one equipment or device mostly have keys that follow each other: they are one step for each minute. */
const IN_RUN = 'AND point BETWEEN @first AND @last'
const ONE_BY_ONE = 'AND point IN (SELECT value FROM json_each(@points))'

/**
 * Reads rows that are not sealed yet, inside the transaction of the caller.
 *
 * A few points are searched minute by minute: the cost follows what is asked, not the size of the building. Otherwise most of
 * the cost is returning a row from SQLite; a column of plain numbers is five times as fast. A query for most points of a building
 * therefore reads all of them, as two columns: the values, and instant and point combined in one number.
 */
export function openHotReader(db: Database, keys: Keys): HotReader {
  const within = 'ts >= @from AND ts < @to'
  const rows = (which: string) => db.prepare(`${MINUTES} SELECT point, ts, value ${OF_MINUTES} ${which} WHERE ${within}`).raw()
  const [inRun, oneByOne] = [rows(IN_RUN), rows(ONE_BY_ONE)]
  const sums = (which: string) =>
    db.prepare(
      `${MINUTES} SELECT point, min(ts) AS first, max(ts) AS last, count(*) AS samples ${OF_MINUTES} ${which} GROUP BY point`,
    )
  const [sumsInRun, sumsOneByOne] = [sums(IN_RUN), sums(ONE_BY_ONE)]
  const span = `FROM hot_samples WHERE ${HOT_SPAN}`
  const bounds = db.prepare(`SELECT (SELECT min(minute) ${span}), (SELECT max(minute) ${span})`).raw()
  const inOrder = 'ORDER BY minute, point, ms'
  const places = db.prepare(`SELECT (ts - @from) * @room + point ${span} ${inOrder}`).pluck()
  const values = db.prepare(`SELECT value ${span} ${inOrder}`).pluck()

  function takeAll(ask: Ask, take: Take): void {
    const [firstMinute, lastMinute] = bounds.get(ask) as [number | null, number | null]
    if (firstMinute === null || lastMinute === null) return
    const first = Math.max(ask.from, firstMinute * MINUTE)
    const end = Math.min(ask.to, (lastMinute + 1) * MINUTE)
    const room = keys.lastPoint() + 1
    const longest = Math.floor(Number.MAX_SAFE_INTEGER / room)
    for (let from = first; from < end; from += longest) {
      const part = { building: ask.building, from, to: Math.min(from + longest, end) }
      const placed = places.all({ ...part, room }) as number[]
      const taken = values.all(part) as (number | null)[]
      for (let i = 0; i < placed.length; i++) {
        const place = placed[i]!
        take(place % room, from + Math.floor(place / room), taken[i]!)
      }
    }
  }

  return {
    read(ask, points, take) {
      if (points.length === 0) return
      if (points.length * 2 > keys.countPoints(ask.building)) return takeAll(ask, take)
      const run = runOf(points)
      const found = run ? inRun.all({ ...ask, ...run }) : oneByOne.all({ ...ask, points: JSON.stringify(points) })
      for (const row of found as Parameters<Take>[]) take(...row)
    },
    stretches(building, points) {
      if (points.length === 0) return []
      const all = { building, from: -Infinity, to: Infinity }
      const run = runOf(points)
      if (!run) return sumsOneByOne.all({ ...all, points: JSON.stringify(points) }) as HotStretch[]
      const wanted = new Set(points)
      return (sumsInRun.all({ ...all, ...run }) as HotStretch[]).filter(({ point }) => wanted.has(point))
    },
  }
}

/** @returns undefined where the keys are too far apart */
function runOf(points: number[]): { first: number; last: number } | undefined {
  const first = points.reduce((a, b) => Math.min(a, b))
  const last = points.reduce((a, b) => Math.max(a, b))
  return last - first < points.length * RUN ? { first, last } : undefined
}
