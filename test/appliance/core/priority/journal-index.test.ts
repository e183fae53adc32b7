import test from 'ava'
import fc from 'fast-check'
import { JournalIndex } from '#appliance/core/priority/journal-index.ts'

const ALL = { limit: 1000 }

test('a point without records is new again, and gets no record of the point that reuses its id', t => {
  const index = new JournalIndex(3)
  const keys = ['a', 'b', 'c', 'd', 'a', 'e', 'a', 'd', 'a']
  for (const [i, key] of keys.entries()) {
    index.add(i + 1, key, i)
    const first = Math.max(1, i - 1)
    for (const one of new Set(keys)) {
      const wanted = keys.flatMap((other, j) => (j <= i && j + 1 >= first && other === one ? [j + 1] : [])).toReversed()
      t.deepEqual(index.find({ keys: [one], ...ALL }), wanted, `${one} after ${i + 1}`)
    }
  }
})

test('the index holds the newest records of each point for any sequence of records', t => {
  const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), fc.array(key, { maxLength: 60 }), (capacity, keys) => {
      const index = new JournalIndex(capacity)
      for (const [i, one] of keys.entries()) {
        const before = keys.slice(Math.max(0, i - capacity), i)
        const after = keys.slice(Math.max(0, i + 1 - capacity), i + 1)
        const [gone] = before.filter(other => !after.includes(other))
        t.is(index.add(i + 1, one, i), gone)
      }
      const first = Math.max(1, keys.length - capacity + 1)
      const held = keys.map((one, i) => ({ key: one, seq: i + 1 })).filter(({ seq }) => seq >= first)
      for (const one of new Set(keys)) {
        const own = held.filter(other => other.key === one).map(({ seq }) => seq)
        t.deepEqual(index.find({ keys: [one], ...ALL }), own.toReversed())
        t.is(index.newest().find(newest => newest.key === one)?.seq, own.at(-1))
      }
      if (keys.length > 0) t.deepEqual(index.range(), { first, last: keys.length })
    }),
  )
})
