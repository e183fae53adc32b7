import test from 'ava'
import fc from 'fast-check'
import type { AppendCount, PointRows } from '#shared/core/ports.ts'
import { inWholeHours, toBuckets } from '#shared/core/series/buckets.ts'
import type { Buckets } from '#shared/core/series/series.ts'
import { DAY, MINUTE } from '#shared/core/time.ts'
import type { StoredHistorian } from '#shared/node/historian/historian.ts'
import { RANKS_MAX } from '#shared/node/historian/plan-merge.ts'
import { timesOf } from '../../../support/optional.ts'
import { temporaryHistorian } from '../../../support/sites/workspace.ts'

/** An hour before a month ends. */
const T = Date.UTC(2026, 0, 31, 23)
const MINUTES = 120
/** Each seals and merges Parquet files tens of times. */
const STORIES = timesOf(10, 100)
const POINTS = ['a', 'b', 'c']

type Sample = { id: string; t: number; v: number }
type Step =
  | { kind: 'append'; samples: Sample[]; sealing: boolean }
  | { kind: 'seal'; before: number }
  | { kind: 'load'; mode: 'merge' | 'replace'; points: string[]; samples: Sample[] }

const instant = fc.integer({ min: 0, max: MINUTES }).map(minute => T + minute * MINUTE)
const value = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 0, max: 3 }) },
  { weight: 1, arbitrary: fc.constant(Number.NaN) },
)
const samplesOf = (points: string[]) =>
  fc.array(fc.record({ id: fc.constantFrom(...points), t: instant, v: value }), { minLength: 1, maxLength: 12 })
const append = fc.record({ kind: fc.constant('append' as const), samples: samplesOf(POINTS), sealing: fc.boolean() })
const seal = fc.record({ kind: fc.constant('seal' as const), before: instant })
const load = fc.subarray(POINTS, { minLength: 1 }).chain(points =>
  fc.record({
    kind: fc.constant('load' as const),
    mode: fc.constantFrom('merge' as const, 'replace' as const),
    points: fc.constant(points),
    samples: samplesOf(points),
  }),
)
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof({ weight: 5, arbitrary: append }, { weight: 4, arbitrary: seal }, { weight: 1, arbitrary: load }),
  { minLength: 20, maxLength: 40 },
)

/** History as one would write it on paper: by point, value by instant. */
type Paper = Map<string, Map<number, number>>

function write(paper: Paper, samples: Sample[]): AppendCount {
  let duplicate = 0
  for (const { id, t, v } of samples) {
    const column = paper.get(id)!
    if (column.has(t) && Object.is(column.get(t), v)) duplicate += 1
    column.set(t, v)
  }
  return { added: samples.length - duplicate, duplicate }
}

async function* toRows(samples: Sample[]): AsyncGenerator<PointRows> {
  for (const { id, t, v } of samples) yield { point_id: id, series: { ts: Float64Array.of(t), values: Float64Array.of(v) } }
}

/** Does a step to both. @returns what each counted */
async function take(step: Step, historian: StoredHistorian, building_id: string, paper: Paper): Promise<unknown[]> {
  switch (step.kind) {
    case 'seal':
      await historian.seal({ before: step.before })
      return []
    case 'append': {
      const sealing = step.sealing ? historian.seal({ before: T + MINUTES * MINUTE }) : undefined
      const counted = await historian.append(building_id, step.samples)
      await sealing
      return [counted, write(paper, step.samples)]
    }
    case 'load': {
      const { points, mode, samples } = step
      const counted = await historian.load(building_id, points, mode, toRows(samples))
      if (mode === 'replace') for (const point of points) paper.set(point, new Map())
      return [counted, write(paper, samples)]
    }
  }
}

/** A mean depends in its last digit on the order of its samples. */
const withoutMean = ({ mean, ...rest }: Buckets) => ({ ...rest, means: mean.length })

test('whatever the order of appends, seals, merges and packages, history is what a map would be', async t => {
  const { historian, db } = await temporaryHistorian(t)
  const ranks = db.prepare('SELECT max(n) FROM (SELECT count(DISTINCT rank) AS n FROM parts GROUP BY building, month)').pluck()
  let runs = 0
  let merges = 0
  const property = fc.asyncProperty(steps, async story => {
    const building_id = `b${runs++}`
    const paper: Paper = new Map(POINTS.map(point => [point, new Map()]))
    for (const step of story) {
      const before = db.prepare('SELECT count(*) FROM parts').pluck().get() as number
      const [counted, expected] = await take(step, historian, building_id, paper)
      t.deepEqual(counted, expected)
      if ((db.prepare('SELECT count(*) FROM parts').pluck().get() as number) < before) merges += 1
    }
    const whole = { building_id, point_ids: POINTS, from: T, to: T + (MINUTES + 1) * MINUTE }
    const read = await historian.read(whole)
    const buckets = await historian.buckets({ ...whole, maxBuckets: 7 })
    const expectedBuckets = read.map(series => toBuckets(series, whole.from, whole.to, 7))
    t.deepEqual(buckets.map(withoutMean), expectedBuckets.map(withoutMean))
    const months = { ...whole, from: T - 40 * DAY, to: T + DAY, maxBuckets: 500 }
    const hours = inWholeHours(months)
    t.deepEqual(
      (await historian.buckets(months)).map(withoutMean),
      read.map(series => withoutMean(toBuckets(series, hours.from, hours.to, hours.maxBuckets))),
    )
    for (const [i, { ts, values }] of read.entries()) {
      const expected = [...paper.get(POINTS[i]!)!].toSorted(([a], [b]) => a - b)
      t.deepEqual(
        [...ts].map((at, j) => [at, values[j]]),
        expected,
      )
    }
    const spans = await historian.spans(building_id)
    t.deepEqual(
      await historian.spans(building_id, ['c', 'nothing']),
      spans.filter(({ point_id }) => point_id === 'c'),
    )
    const sizes = POINTS.map(point => [point, paper.get(point)!.size] as const).filter(([, size]) => size > 0)
    t.deepEqual(
      spans.map(({ point_id, samples }) => [point_id, samples]),
      sizes,
    )
    const firsts = POINTS.filter(point => paper.get(point)!.size > 0).map(point => [point, Math.min(...paper.get(point)!.keys())])
    t.deepEqual(await historian.firsts(building_id), Object.fromEntries(firsts))
  })
  await fc.assert(property, { numRuns: STORIES, endOnFailure: true })
  t.true((ranks.get() as number) <= RANKS_MAX)
  t.true(merges > 0, 'parts were merged')
  t.log(`${runs} stories, ${merges} steps that merged parts`)
})
