import test from 'ava'
import { HOUR } from '#shared/core/time.ts'
import { importShelf } from '#appliance/pages/pending-imports.ts'

type Source = Parameters<ReturnType<typeof importShelf>['put']>[1]
const source = (name: string): Source => ({ format: 'ede', files: [{ name }] }) as unknown as Source

test('four imports are kept, and of more the oldest makes way', t => {
  const shelf = importShelf(() => 0)
  const kept = () => ['a', 'b', 'c', 'd', 'e', 'f'].filter(id => !throws(() => shelf.get(id)))
  for (const [id, wanted] of [
    ['a', 'a'],
    ['b', 'ab'],
    ['c', 'abc'],
    ['d', 'abcd'],
    ['e', 'bcde'],
    ['f', 'cdef'],
  ] as const) {
    shelf.put(id, source(id))
    t.is(kept().join(''), wanted)
  }
  t.deepEqual(shelf.get('f'), { source: source('f'), typed: new Map(), fault: undefined, done: undefined, at: 0 } as never)
})

test('an import is kept for an hour, and is then gone with the reason', t => {
  let now = 0
  const shelf = importShelf(() => now)
  shelf.put('a', source('a'))
  now = HOUR
  t.notThrows(() => shelf.get('a'))
  now++
  t.throws(() => shelf.get('a'), { code: 'unknown_session', message: /kept for an hour/ })
})

function throws(work: () => unknown): boolean {
  try {
    work()
    return false
  } catch {
    return true
  }
}
