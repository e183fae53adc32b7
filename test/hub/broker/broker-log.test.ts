/** Refusals come from outside: the same one is a line a minute, and all together are at most 200. */
import test from 'ava'
import { quietly } from '#hub/broker/broker.ts'

function open() {
  const lines: string[] = []
  const clock = { now: 1_000_000 }
  const warn = quietly({ warn: (text: string) => void lines.push(text) } as never, () => clock.now)
  return { lines, clock, warn }
}

test('a repeated refusal is logged once a minute', t => {
  const { lines, clock, warn } = open()
  for (let i = 0; i < 60; i++) {
    warn('refused: a')
    clock.now += 999
  }
  t.deepEqual(lines, ['refused: a'])
  clock.now = 1_000_000 + 60_000
  warn('refused: a')
  t.deepEqual(lines, ['refused: a', 'refused: a'])
})

test('at most 200 different refusals are logged in a minute, then one line says that more follow', t => {
  const { lines, clock, warn } = open()
  for (let i = 0; i < 1000; i++) warn(`refused: ${i}`)
  t.is(lines.length, 201)
  t.deepEqual([lines[199], lines[200]], ['refused: 199', 'more refusals follow than are logged in a minute'])
  clock.now += 60_000
  for (let i = 0; i < 1000; i++) warn(`refused: ${i}`)
  t.is(lines.length, 2 * 201)
})

test('a refusal is cut at 300 characters, and refusals that differ after that count as equal', t => {
  const { lines, warn } = open()
  for (const end of ['a', 'b']) warn('x'.repeat(300) + end)
  t.deepEqual(lines, ['x'.repeat(300)])
})
