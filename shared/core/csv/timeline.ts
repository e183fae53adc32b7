/** Counts the timestamps of one table in constant memory, for both orders of day and month. */
import { isPlausibleTime } from '#shared/core/telemetry/misdated.ts'
import { MINUTE } from '../time.ts'
import type { Meaning } from './local-clock.ts'
import { type DateOrder, parseTimestamp, type ParsedTimestamp } from './timestamp.ts'

/** Maximum number of different intervals that are counted; real tables have a handful. */
const STEPS_MAX = 500
/** A gap is longer than this many steps. */
const GAP_STEPS = 3
/**
 * Maximum number of instants that are stored to find duplicates, 4 to 25 MB: a year of minutes. Beyond it only a row that
 * repeats the one before is counted; the import uses the last row in any case.
 */
const SEEN_MAX = 525_600
const EXAMPLES = 3

type Tally = { count: number; examples: string[] }
export type Timeline = {
  /** Rows with a usable instant. */
  rows: number
  first: number
  last: number
  /** Most frequent interval between rows, ms; undefined below two rows. */
  step: number | undefined
  unreadable: Tally
  twice: Tally
  skipped: Tally
  misdated: Tally
  duplicate: Tally
  outOfOrder: Tally
  gaps: Tally
}

/** The timeline for one order of day and month. */
type Track = Omit<Timeline, 'step' | 'gaps'> & {
  previous: number
  seen: Seen
  steps: Map<number, number>
  places: Map<number, string>
}

const tally = (): Tally => ({ count: 0, examples: [] })
const openTrack = (): Track => ({
  rows: 0,
  first: Number.NaN,
  last: Number.NaN,
  unreadable: tally(),
  twice: tally(),
  skipped: tally(),
  misdated: tally(),
  duplicate: tally(),
  outOfOrder: tally(),
  previous: Number.NaN,
  seen: { rising: [], late: new Set() },
  steps: new Map(),
  places: new Map(),
})

type TimelineReader = {
  /** Adds the timestamp of one row. @param line for examples */
  add(cell: string, line: number): void
  /** @returns the timeline, or an example with both readings when the order is unknown */
  end(): { order: DateOrder | undefined; timeline: Timeline } | { ambiguous: string }
}

/**
 * @param local converts a wall clock of the table's zone; undefined for a table in UTC
 * @param stated order of day and month, when it was stated
 * @param latest the last plausible instant, ms
 */
export function openTimeline(
  local: ((wallMs: number) => Meaning) | undefined,
  stated: DateOrder | undefined,
  latest: number,
): TimelineReader {
  const mdy = openTrack()
  let dmy: Track | undefined
  let example = ''
  const only = { mdy: 0, dmy: 0 }

  return {
    add(cell, line) {
      const stamp = parseTimestamp(cell)
      const differs = stamp !== undefined && !Object.is(stamp.mdy, stamp.dmy)
      if (differs && !dmy) {
        dmy = structuredClone(mdy)
        example = cell.trim()
      }
      if (differs && Number.isNaN(stamp.mdy)) only.dmy++
      if (differs && Number.isNaN(stamp.dmy)) only.mdy++
      follow(mdy, meaningOf(stamp, 'mdy', local, latest), cell, line)
      if (dmy) follow(dmy, meaningOf(stamp, 'dmy', local, latest), cell, line)
    },
    end() {
      if (!dmy) return { order: undefined, timeline: toTimeline(mdy) }
      const order = stated ?? (only.dmy > 0 && only.mdy === 0 ? 'dmy' : only.mdy > 0 && only.dmy === 0 ? 'mdy' : undefined)
      if (order) return { order, timeline: toTimeline(order === 'mdy' ? mdy : dmy) }
      const { mdy: a, dmy: b } = parseTimestamp(example)!
      return {
        ambiguous:
          only.mdy > 0 ? `some dates can only be read with the day first, others only with the month first` : both(example, a, b),
      }
    },
  }
}

const both = (text: string, mdy: number, dmy: number) => `${text} may be ${dateText(mdy)} or ${dateText(dmy)}`
const dateText = (ms: number) => (Number.isNaN(ms) ? 'no date' : new Date(ms).toISOString().slice(0, 10))

/** The instant of a row, or why it has none. */
type RowTime = Meaning | 'unreadable' | 'misdated'

/** The instant of a timestamp, or why there is none. */
export function meaningOf(
  stamp: ParsedTimestamp | undefined,
  order: DateOrder,
  local: ((wallMs: number) => Meaning) | undefined,
  latest: number,
): RowTime {
  if (!stamp || Number.isNaN(stamp[order])) return 'unreadable'
  const meaning = stamp.offset !== undefined ? stamp[order] - stamp.offset : local ? local(stamp[order]) : stamp[order]
  return typeof meaning === 'number' && !isPlausibleTime(meaning, latest) ? 'misdated' : meaning
}

function follow(track: Track, meaning: RowTime, cell: string, line: number): void {
  if (typeof meaning === 'string') {
    note(track[meaning], cell, line)
    return
  }
  const step = meaning - track.previous
  if (step === 0 || isSeen(track.seen, meaning)) note(track.duplicate, cell, line)
  if (step < 0) note(track.outOfOrder, cell, line)
  else if (step > 0) {
    const known = track.steps.get(step)
    if (known === undefined) track.places.set(step, placeOf(cell, line))
    if (known !== undefined || track.steps.size < STEPS_MAX) track.steps.set(step, (known ?? 0) + 1)
  }
  track.rows++
  track.previous = meaning
  if (!(track.first <= meaning)) track.first = meaning
  if (!(track.last >= meaning)) track.last = meaning
}

/** Instants so far: those later than all before them, ascending, which are nearly all; and the others. */
type Seen = { rising: number[]; late: Set<number> }

/** @returns whether the instant was there already; otherwise it is from now on */
function isSeen({ rising, late }: Seen, instant: number): boolean {
  const isLate = instant <= (rising.at(-1) ?? -Infinity)
  if (isLate && (late.has(instant) || holds(rising, instant))) return true
  if (rising.length + late.size < SEEN_MAX) {
    if (isLate) late.add(instant)
    else rising.push(instant)
  }
  return false
}

/** @param sorted ascending, not empty */
function holds(sorted: number[], wanted: number): boolean {
  let [low, high] = [0, sorted.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle]! < wanted) low = middle + 1
    else high = middle
  }
  return sorted[low] === wanted
}

const placeOf = (cell: string, line: number) => `line ${line}: ${cell.trim()}`

function note(tallied: Tally, cell: string, line: number): void {
  tallied.count++
  if (tallied.examples.length < EXAMPLES) tallied.examples.push(placeOf(cell, line))
}

function toTimeline(track: Track): Timeline {
  const { rows, first, last, unreadable, twice, skipped, misdated, duplicate, outOfOrder, steps, places } = track
  const [step] = [...steps].toSorted(([a, m], [b, n]) => n - m || a - b)[0] ?? []
  const gaps = tally()
  for (const [length, count] of steps) {
    if (step === undefined || length <= GAP_STEPS * step) continue
    gaps.count += count
    if (gaps.examples.length < EXAMPLES) gaps.examples.push(`${Math.round(length / MINUTE)} min before ${places.get(length)}`)
  }
  return { rows, first, last, step, unreadable, twice, skipped, misdated, duplicate, outOfOrder, gaps }
}
