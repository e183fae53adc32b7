import test from 'ava'
import { diffLines } from '#shared/central/pages/rules/line-diff.ts'

const signed = (before: string, after: string) => diffLines(before, after).map(({ sign, line, text }) => `${sign}${line} ${text}`)

test('lines that two texts have in common stay, others are removed and added in place', t => {
  t.deepEqual(signed('a\nb\nc', 'a\nB\nc'), [' 1 a', '-2 b', '+2 B', ' 3 c'])
  t.deepEqual(signed('a\nb', 'a\nx\nb'), [' 1 a', '+2 x', ' 3 b'])
  t.deepEqual(signed('a\nb\nc', 'c'), ['-1 a', '-2 b', ' 1 c'])
  t.deepEqual(signed('a', 'a'), [' 1 a'])
})

test('texts that are too long are removed and added as a whole', t => {
  const long = Array.from({ length: 2001 }, (_, i) => String(i)).join('\n')
  const lines = diffLines(long, '5')
  t.deepEqual([lines.length, lines[0]!.sign, lines.at(-1)], [2002, '-', { sign: '+', line: 1, text: '5' }])
})
