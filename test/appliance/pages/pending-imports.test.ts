import test from 'ava'
import { HOUR } from '#shared/core/time.ts'
import { PendingImports } from '#appliance/pages/pending-imports.ts'

type Source = Parameters<PendingImports['add']>[1]
const source = (name: string): Source => ({ format: 'ede', files: [{ name }] }) as unknown as Source

test('four imports are kept, and a fifth drops the oldest', t => {
  const pending = new PendingImports(() => 0)
  const kept = () => ['a', 'b', 'c', 'd', 'e', 'f'].filter(id => !throws(() => pending.get(id)))
  for (const [id, wanted] of [
    ['a', 'a'],
    ['b', 'ab'],
    ['c', 'abc'],
    ['d', 'abcd'],
    ['e', 'bcde'],
    ['f', 'cdef'],
  ] as const) {
    pending.add(id, source(id))
    t.is(kept().join(''), wanted)
  }
  t.deepEqual(pending.get('f'), { source: source('f'), typed: new Map(), fault: undefined, done: undefined, at: 0 } as never)
})

test('an import expires after an hour, with the reason', t => {
  let now = 0
  const pending = new PendingImports(() => now)
  pending.add('a', source('a'))
  now = HOUR
  t.notThrows(() => pending.get('a'))
  now++
  t.throws(() => pending.get('a'), { code: 'unknown_session', message: /expired, after an hour/ })
})

function throws(work: () => unknown): boolean {
  try {
    work()
    return false
  } catch {
    return true
  }
}
