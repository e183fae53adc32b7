import test from 'ava'
import { setImmediate } from 'node:timers/promises'
import { openTurns } from '#shared/node/turns.ts'

test('callers go on one in each round of the event loop, in the order in which they came', async t => {
  const turn = openTurns()
  const seen: string[] = []
  const callers = Array.from({ length: 5 }, async (_, i) => {
    await turn()
    seen.push(`caller ${i}`)
  })
  const others = (async () => {
    for (let round = 0; round < 5; round++) {
      await setImmediate()
      seen.push('somebody else')
    }
  })()
  await Promise.all([...callers, others])
  for (let i = 1; i < 5; i++) {
    const between = seen.slice(seen.indexOf(`caller ${i - 1}`) + 1, seen.indexOf(`caller ${i}`))
    t.deepEqual(between, ['somebody else'])
  }
})
