import test from 'ava'
import { createConcurrencyLimit } from '#appliance/flow/concurrency-limit.ts'
import { virtualClock } from '../../support/virtual-clock.ts'

const turn = () => new Promise<void>(resolve => setImmediate(resolve))

/** Tasks that are ended by hand; `running` are their numbers in the order in which they began. */
function tasks(inSlot: ReturnType<typeof createConcurrencyLimit>, count: number) {
  const running: number[] = []
  const ends = new Map<number, () => void>()
  const all = Array.from({ length: count }, (_, i) =>
    inSlot(
      () =>
        new Promise<void>(resolve => {
          running.push(i)
          ends.set(i, resolve)
        }),
    ),
  )
  return {
    running,
    all,
    async end(i: number) {
      ends.get(i)!()
      await turn()
    },
  }
}

test('never do more tasks run at once than there are slots, and the others follow in the order they came', async t => {
  const { running, all, end } = tasks(createConcurrencyLimit(3, 1000, virtualClock(0)), 8)
  await turn()
  t.deepEqual(running, [0, 1, 2])
  await end(1)
  t.deepEqual(running, [0, 1, 2, 3])
  await end(0)
  await end(2)
  t.deepEqual(running, [0, 1, 2, 3, 4, 5])
  for (const i of [3, 4, 5, 6, 7]) await end(i)
  await Promise.all(all)
  t.deepEqual(running, [0, 1, 2, 3, 4, 5, 6, 7])
})

test('after all have ended as many may run as before, and no more', async t => {
  const inSlot = createConcurrencyLimit(2, 1000, virtualClock(0))
  const first = tasks(inSlot, 5)
  await turn()
  for (let i = 0; i < 5; i++) await first.end(i)
  await Promise.all(first.all)
  const second = tasks(inSlot, 4)
  await turn()
  t.deepEqual(second.running, [0, 1])
  for (let i = 0; i < 4; i++) await second.end(i)
  await Promise.all(second.all)
})

test('a task that takes too long gives its slot to the next, once', async t => {
  const clock = virtualClock(0)
  const { running, all, end } = tasks(createConcurrencyLimit(1, 1000, clock), 4)
  await turn()
  await clock.runTo(1000)
  t.deepEqual(running, [0, 1])
  await end(0)
  t.deepEqual(running, [0, 1], 'it had given its slot up already')
  await end(1)
  t.deepEqual(running, [0, 1, 2])
  await end(2)
  await end(3)
  await Promise.all(all)
})

test('a task that fails fails for its caller and frees its slot', async t => {
  const inSlot = createConcurrencyLimit(1, 1000, virtualClock(0))
  await t.throwsAsync(
    inSlot(() => Promise.reject(new Error('no'))),
    { message: 'no' },
  )
  t.is(await inSlot(() => Promise.resolve(7)), 7)
})
