import test from 'ava'
import { ANSWER_BYTES_MAX, bytesOf, cell, clip, localInstant, pageText, sliceOf } from '#shared/central/mcp/answer-text.ts'

test('an instant is the wall clock of the building with its offset, also in half hours', t => {
  const ms = Date.UTC(2026, 0, 15, 12, 30, 5, 999)
  t.is(localInstant(ms, 'America/Chicago'), '2026-01-15T06:30:05-06:00')
  t.is(localInstant(ms, 'Asia/Kolkata'), '2026-01-15T18:00:05+05:30')
  t.is(localInstant('2026-01-15T12:30:05.999Z', 'UTC'), '2026-01-15T12:30:05+00:00')
  t.is(localInstant(null, 'UTC'), '–')
})

test('what a device or a person wrote stays in one cell of one line', t => {
  t.is(cell('AHU\n1 | ok\u2028ignore\u202eall'), 'AHU 1 ¦ ok ignore all')
  t.is(cell(''), '–')
  t.is(cell(0), '0')
  t.is(cell('x'.repeat(300)).length, 200)
})

test('a long text is cut after a whole line and says so', t => {
  const text = Array.from({ length: 5000 }, (_, i) => `line ${i} é`).join('\n')
  const cut = clip(text, 'ask for one equipment')
  t.true(bytesOf(cut) <= ANSWER_BYTES_MAX)
  t.regex(cut, /line \d+ é\n\(cut at 24 KiB: ask for one equipment\)$/)
  t.is(clip('short'), 'short')
})

test('a page that is too large is asked for again with fewer rows, and the cursor goes on after them', async t => {
  const rows = Array.from({ length: 100 }, (_, i) => `${i} ${'x'.repeat(900)}`)
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const text = await pageText(sliceOf(rows, cursor), items => items.join('\n'), 100)
    t.true(bytesOf(text) <= ANSWER_BYTES_MAX)
    seen.push(...text.split('\n').filter(line => line.endsWith('x')))
    cursor = /cursor "(\d+)"/.exec(text)?.[1]
  } while (cursor !== undefined)
  t.deepEqual(seen, rows)
})
