import test from 'ava'
import { openColumnCache } from '#shared/node/historian/column-cache.ts'
import type { Part } from '#shared/node/historian/manifest.ts'
import type { PartColumn, PartReader } from '#shared/node/historian/part-reader.ts'

const partOf = (file: string, point_ids: string[], samples = 3): Part => ({
  ...{ part: 1, file, month: '2026-01', rank: 1, rows: 9 },
  points: point_ids.map(point_id => ({ point_id, first: 0, last: 2, samples, step: 1 })),
})

/**
 * A reader whose columns say where they come from, and the questions it was asked.
 *
 * @param answers waited for before the answer to a question
 */
function readerOfNames(answers = async (_question: number): Promise<void> => undefined) {
  const asked: string[][] = []
  const nameOf = new Map<PartColumn, string>()
  const columns = async (parts: Part[]) => {
    await answers(asked.push(parts.flatMap(({ file, points }) => points.map(({ point_id }) => `${file} ${point_id}`))))
    return parts.map(({ file, points }) =>
      points.map(({ point_id, samples }) => {
        const column = { ts: undefined, values: new Float64Array(samples) }
        nameOf.set(column, `${file} ${point_id}`)
        return column
      }),
    )
  }
  const cached = openColumnCache(async () => ({ columns }) as unknown as PartReader)
  return { asked, names: async (parts: Part[]) => (await cached(parts)).map(some => some.map(one => nameOf.get(one))) }
}

test('a column is read once, and only what is not in memory is asked for', async t => {
  const { asked, names } = readerOfNames()
  t.deepEqual(await names([partOf('jan', ['p', 'q'])]), [['jan p', 'jan q']])
  t.deepEqual(await names([partOf('jan', ['q', 'r']), partOf('feb', ['q'])]), [['jan q', 'jan r'], ['feb q']])
  t.deepEqual(await names([partOf('jan', ['p', 'q', 'r'])]), [['jan p', 'jan q', 'jan r']])
  t.deepEqual(asked, [
    ['jan p', 'jan q'],
    ['jan r', 'feb q'],
  ])
})

test('requests at the same time read a column once, and a failed read is tried again', async t => {
  const { asked, names } = readerOfNames()
  await Promise.all([names([partOf('jan', ['p'])]), names([partOf('jan', ['p'])])])
  t.deepEqual(asked, [['jan p']])

  let attempts = 0
  const failing = openColumnCache(async () => {
    attempts++
    throw new Error('damaged')
  })
  await t.throwsAsync(failing([partOf('jan', ['p'])]), { message: 'damaged' })
  await t.throwsAsync(failing([partOf('jan', ['p'])]), { message: 'damaged' })
  t.is(attempts, 2)
})

test('what was not used for longest makes room', async t => {
  const { asked, names } = readerOfNames()
  const year = 525_600
  const months = Array.from({ length: 12 }, (_, i) => partOf(`file ${i}`, ['p'], year))
  for (const part of months) await names([part])
  t.deepEqual(await names([months[0]!]), [['file 0 p']], 'the answer is the same')
  await names([months[11]!])
  t.is(asked.filter(([one]) => one === 'file 0 p').length, 2)
  t.is(asked.filter(([one]) => one === 'file 11 p').length, 1)
})

test('a query reads a bounded number of samples, and each column comes back as its own', async t => {
  const { asked, names } = readerOfNames()
  const parts = ['jan', 'feb', 'mar', 'apr'].map(file => partOf(file, ['p', 'q'], 125_000))
  t.deepEqual(
    await names(parts),
    parts.map(({ file }) => [`${file} p`, `${file} q`]),
  )
  t.deepEqual(asked, [
    ['jan p', 'jan q', 'feb p', 'feb q'],
    ['mar p', 'mar q', 'apr p', 'apr q'],
  ])
})

test('queries are asked beside each other, and one that answers first is not taken for another', async t => {
  let answered: () => void
  const later = new Promise<void>(resolve => (answered = resolve))
  const { names } = readerOfNames(question => (question === 1 ? later : Promise.resolve(answered())))
  const parts = ['jan', 'feb'].map(file => partOf(file, ['p'], 500_000))
  t.deepEqual(
    await names(parts),
    parts.map(({ file }) => [`${file} p`]),
  )
})
