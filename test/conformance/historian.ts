import type { ExecutionContext, TestFn } from 'ava'
import type { BulkLoader, Historian, PointRows } from '#shared/core/ports.ts'
import { HOUR, MINUTE } from '#shared/core/time.ts'

type Subject = {
  historian: Historian & BulkLoader
  /** Moves samples to their final storage; no answer may depend on it. */
  settle: () => Promise<unknown>
  /** A building of which nothing is held yet. */
  b: string
}

/** The hour before a month ends, so that samples fall in two months. */
const T = Date.UTC(2026, 0, 31, 23)

/** `t: value` of each point, as an object that reads well in a failed test. */
async function held({ historian, b }: Subject, point_ids: string[], from = T, to = T + 4 * HOUR) {
  const series = await historian.read({ building_id: b, point_ids, from, to })
  return series.map(({ ts, values }) => Object.fromEntries([...ts].map((t, i) => [(t - T) / MINUTE, values[i]])))
}

const sample = (id: string, minute: number, v: number) => ({ id, t: T + minute * MINUTE, v })

async function* rowsOf(...rows: [string, [minute: number, value: number][]][]): AsyncGenerator<PointRows> {
  for (const [point_id, samples] of rows) {
    const ts = Float64Array.from(samples, ([minute]) => T + minute * MINUTE)
    yield { point_id, series: { ts, values: Float64Array.from(samples, ([, value]) => value) } }
  }
}

const packageRows = () =>
  rowsOf(
    [
      'p',
      [
        [0, 1],
        [90, 8],
      ],
    ],
    [
      'q',
      [
        [1, 1],
        [2, Number.NaN],
      ],
    ],
    [
      'p',
      [
        [100, 3],
        [101, 4],
      ],
    ],
  )

async function* brokenRows() {
  yield* rowsOf([
    'p',
    [
      [0, 9],
      [1, 9],
    ],
  ])
  throw new Error('the file ends in the middle of a row')
}

/** What every historian must do. Each adapter's test calls this. */
export function historianConformance(test: TestFn, name: string, open: (t: ExecutionContext) => Promise<Subject>) {
  const it = (title: string, body: (t: ExecutionContext, subject: Subject) => Promise<void>) =>
    test(`${name}: ${title}`, async t => body(t, await open(t)))

  it('samples come back in time order, whatever the order in which they came', async (t, subject) => {
    await subject.historian.append(subject.b, [sample('p', 90, 3), sample('p', 0, 1), sample('q', 5, 9)])
    await subject.settle()
    await subject.historian.append(subject.b, [sample('p', 30, 2)])
    t.deepEqual(await held(subject, ['p', 'q']), [{ 0: 1, 30: 2, 90: 3 }, { 5: 9 }])
  })

  it('the same sample again is a duplicate, and another value at its instant replaces it', async (t, subject) => {
    const { historian, settle, b } = subject
    t.deepEqual(await historian.append(b, [sample('p', 0, 1), sample('p', 1, Number.NaN)]), { added: 2, duplicate: 0 })
    await settle()
    t.deepEqual(await historian.append(b, [sample('p', 0, 1), sample('p', 1, Number.NaN)]), { added: 0, duplicate: 2 })
    t.deepEqual(await historian.append(b, [sample('p', 0, 2), sample('p', 0, 1), sample('p', 0, 1)]), {
      added: 2,
      duplicate: 1,
    })
    t.deepEqual(await historian.append(b, [sample('p', 1, 7)]), { added: 1, duplicate: 0 })
    t.deepEqual(await held(subject, ['p']), [{ 0: 1, 1: 7 }])
    await settle()
    t.deepEqual(await held(subject, ['p']), [{ 0: 1, 1: 7 }])
  })

  it('a value that the device does not vouch for is kept as no data', async (t, subject) => {
    const q = ['good', 'uncertain', 'bad', 'stale'] as const
    await subject.historian.append(
      subject.b,
      q.map((quality, i) => ({ ...sample('p', i, 5), q: quality })),
    )
    await subject.settle()
    t.deepEqual(await held(subject, ['p']), [{ 0: 5, 1: 5, 2: Number.NaN, 3: Number.NaN }])
  })

  it('a read takes [from, to) and answers in the order of the question; an unknown point is empty', async (t, subject) => {
    await subject.historian.append(
      subject.b,
      [0, 1, 2, 3].flatMap(i => [sample('p', i, i), sample('q', i, 10 + i)]),
    )
    await subject.settle()
    t.deepEqual(await held(subject, ['q', 'x', 'p'], T + MINUTE, T + 3 * MINUTE), [{ 1: 11, 2: 12 }, {}, { 1: 1, 2: 2 }])
    t.deepEqual(await held(subject, ['p'], T + MINUTE, T + MINUTE), [{}])
    const elsewhere = await subject.historian.read({ building_id: 'other', point_ids: ['p'], from: T, to: T + HOUR })
    t.is(elsewhere[0]?.ts.length, 0)
  })

  it('buildings do not see each other, even where point ids are the same', async (t, { historian, settle, b }) => {
    await historian.append(`${b}-a`, [sample('p', 0, 1)])
    await historian.append(b, [sample('p', 0, 2)])
    await settle()
    for (const [building_id, value] of [
      [`${b}-a`, 1],
      [b, 2],
    ] as const) {
      const [series] = await historian.read({ building_id, point_ids: ['p'], from: T, to: T + HOUR })
      t.deepEqual([...series!.values], [value])
    }
  })

  it('the newest sample of a building is known, whichever point has it and whatever its value', async (t, {
    historian,
    settle,
    b,
  }) => {
    t.is(historian.lastAt(b), undefined)
    await historian.append(b, [sample('p', 30, 1), sample('q', 90, Number.NaN), { id: 'p', t: T + 90.5 * MINUTE, v: 2 }])
    await settle()
    t.is(historian.lastAt(b), T + 90.5 * MINUTE)
    await historian.append(b, [sample('p', 60, 3)])
    t.is(historian.lastAt(b), T + 90.5 * MINUTE, 'a late one')
    await historian.append(b, [sample('q', 91, 4)])
    t.is(historian.lastAt(b), T + 91 * MINUTE, 'a newer one')
  })

  it('spans tell first, last and how many, each instant once', async (t, subject) => {
    await subject.historian.append(subject.b, [sample('p', 0, 1), sample('p', 90, 2), sample('q', 5, 1)])
    await subject.settle()
    await subject.historian.append(subject.b, [sample('p', 90, 3), sample('p', 45, 3)])
    t.deepEqual(await subject.historian.spans(subject.b), [
      { point_id: 'p', first: T, last: T + 90 * MINUTE, samples: 3 },
      { point_id: 'q', first: T + 5 * MINUTE, last: T + 5 * MINUTE, samples: 1 },
    ])
    t.deepEqual(await subject.historian.spans('nowhere'), [])
    t.deepEqual(await subject.historian.firsts(subject.b), { p: T, q: T + 5 * MINUTE })
    t.deepEqual(await subject.historian.firsts('nowhere'), {})
  })

  it('the first sample of a point is the earliest that is held, in whatever order samples came', async (t, subject) => {
    await subject.historian.append(subject.b, [sample('p', 60, 1), sample('q', 30, 1)])
    await subject.settle()
    await subject.historian.append(subject.b, [sample('p', 20, 2), sample('q', 90, 1), sample('r', 70, 1)])
    t.deepEqual(await subject.historian.firsts(subject.b), { p: T + 20 * MINUTE, q: T + 30 * MINUTE, r: T + 70 * MINUTE })
  })

  it('the first sample of a building with one point is found before and after it is settled', async (t, subject) => {
    await subject.historian.append(subject.b, [sample('p', 40, 1), sample('p', 20, 1)])
    t.deepEqual(await subject.historian.firsts(subject.b), { p: T + 20 * MINUTE })
    await subject.settle()
    t.deepEqual(await subject.historian.firsts(subject.b), { p: T + 20 * MINUTE })
  })

  it('buckets sum up what each stretch held, and a stretch without values is NaN', async (t, subject) => {
    await subject.historian.append(subject.b, [
      sample('p', 0, 4),
      sample('p', 5, 2),
      sample('p', 9, 3),
      sample('p', 25, Number.NaN),
    ])
    await subject.settle()
    const query = { building_id: subject.b, point_ids: ['p'], from: T, to: T + 30 * MINUTE, maxBuckets: 3 }
    const [buckets] = await subject.historian.buckets(query)
    t.is(buckets?.step, 10 * MINUTE)
    const gap = [Number.NaN, Number.NaN]
    t.deepEqual(
      [buckets!.min, buckets!.max, buckets!.mean, buckets!.last, buckets!.count].map(column => [...column]),
      [
        [2, ...gap],
        [4, ...gap],
        [3, ...gap],
        [3, ...gap],
        [3, 0, 0],
      ],
    )
  })

  it('a merged package adds to what is there and counts as appending its rows would', async (t, subject) => {
    const { historian, settle, b } = subject
    await historian.append(b, [sample('p', 0, 1), sample('p', 90, 2), sample('other', 0, 5)])
    await settle()
    await historian.append(b, [sample('p', 100, 3)])
    t.deepEqual(await historian.load(b, ['p', 'q'], 'merge', packageRows()), { added: 4, duplicate: 2 })
    const whole = [{ 0: 1, 90: 8, 100: 3, 101: 4 }, { 1: 1, 2: Number.NaN }, { 0: 5 }]
    t.deepEqual(await held(subject, ['p', 'q', 'other']), whole)
    t.deepEqual(await historian.load(b, ['p', 'q'], 'merge', packageRows()), { added: 0, duplicate: 6 })
    await historian.append(b, [sample('p', 90, 9)])
    t.deepEqual((await held(subject, ['p']))[0], { ...whole[0], 90: 9 })
  })

  it('a replacing package drops what was held of its points, and of no others', async (t, subject) => {
    const { historian, settle, b } = subject
    await historian.append(b, [sample('p', 0, 1), sample('q', 0, 2), sample('other', 0, 5)])
    await settle()
    await historian.append(b, [sample('p', 90, 3)])
    const counts = await historian.load(
      subject.b,
      ['p', 'q'],
      'replace',
      rowsOf(
        [
          'p',
          [
            [0, 1],
            [1, 2],
          ],
        ],
        ['p', [[1, 3]]],
        ['p', [[1, 3]]],
      ),
    )
    t.deepEqual(counts, { added: 3, duplicate: 1 })
    t.deepEqual(await held(subject, ['p', 'q', 'other']), [{ 0: 1, 1: 3 }, {}, { 0: 5 }])
    t.deepEqual(await historian.spans(b).then(spans => spans.map(({ point_id, samples }) => [point_id, samples])), [
      ['other', 1],
      ['p', 2],
    ])
  })

  it('a package that breaks off, or holds nothing, changes nothing', async (t, subject) => {
    await subject.historian.append(subject.b, [sample('p', 0, 1)])
    for (const mode of ['merge', 'replace'] as const) {
      await t.throwsAsync(subject.historian.load(subject.b, ['p'], mode, brokenRows()), { message: /middle of a row/ })
      await t.throwsAsync(subject.historian.load(subject.b, ['p'], mode, rowsOf()), { message: /holds no rows/ })
      for (const order of [
        [1, 0],
        [1, 1],
      ] as const) {
        const back = rowsOf(['p', order.map(minute => [minute, 1])])
        await t.throwsAsync(subject.historian.load(subject.b, ['p'], mode, back), {
          message: /point p: .* not in the order of time/,
        })
      }
    }
    t.deepEqual(await held(subject, ['p']), [{ 0: 1 }])
  })
}
