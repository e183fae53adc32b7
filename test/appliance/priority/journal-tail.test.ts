/** Records missing from the end of a journal are counted and reported for every place of the cut; all earlier ones are read. */
import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { copyOf, endsOf, inspectQuietly, assertRefused, segmentBytes, segmentsOf, threeSegments } from './journal-damaged.ts'
import { allRecords, journalFolder, openJournal } from '../../support/journal-harness.ts'
import { reading, readings } from '../../support/journal-written.ts'

/** How the end of a file is lost: it is cut at a power failure, or the file system returns zeros. */
const SPOILT = [
  ['cut', (bytes: Buffer, at: number) => bytes.subarray(0, at)],
  ['filled with zeros', (bytes: Buffer, at: number) => Buffer.concat([bytes.subarray(0, at), Buffer.alloc(bytes.length - at)])],
] as const

for (const [what, spoil] of SPOILT) {
  for (const [how, killed] of [
    ['was killed', true],
    ['was closed', false],
  ] as const) {
    test(`${what} at any byte of its last segment, a journal that ${how} keeps every whole visit before it and counts the lost records`, async t => {
      const { dir, names } = await threeSegments(t, killed)
      const path = join(dir, names[2]!)
      const whole = readFileSync(path)
      const { ends, head, first } = endsOf(dir, names, whole)
      for (let at = whole.length - 1; at >= 0; at -= what === 'cut' ? 1 : 5) {
        writeFileSync(path, spoil(whole, at))
        const last = ends.findLast(end => end.at <= at)?.last ?? first - 1
        const found = await inspectQuietly(dir)
        if (found.state !== 'verified') return t.fail(`at ${at}: ${found.reason}`)
        t.is(found.end.seq, last, `at ${at}`)
        t.is(found.lost, Math.max(0, head - last), `at ${at}`)
        t.is(found.cut !== undefined, what !== 'cut' || (at > 0 && !ends.some(end => end.at === at)), `at ${at}`)
      }
    })
  }

  test(`${what} anywhere in its last segment, a running journal counts the lost records: head.json soon names each visit`, async t => {
    const dir = journalFolder(t)
    const journal = await openJournal(t, { dir, headMs: 1 })
    for (let seq = 1; seq <= 9; seq += 3) await journal.append(readings(seq, seq + 2))
    const head = join(dir, 'head.json')
    while (!readFileSync(head, 'utf8').includes('"last":9,')) await new Promise(resolve => setTimeout(resolve, 2))
    const copy = copyOf(t, dir)
    const path = join(copy, segmentsOf(copy)[0]!)
    const whole = readFileSync(path)
    for (let at = 0; at < whole.length; at += 11) {
      writeFileSync(path, spoil(whole, at))
      const found = await inspectQuietly(copy)
      if (found.state !== 'verified') return t.fail(`at ${at}: ${found.reason}`)
      t.is(found.lost, 9 - found.end.seq, `${at}`)
      t.true(found.lost >= 3)
    }
  })
}

for (const [where, cutAt] of [
  ['in the middle of the last line', (ends: number[]) => ends.at(-1)! - 7],
  ['behind the last line but one of a visit', (_: number[], whole: Buffer) => whole.lastIndexOf('\n', whole.length - 2) + 1],
  ['behind the last visit but one', (ends: number[]) => ends.at(-2)!],
  ['in the middle of the first line', () => 100],
  ['before the first line', () => 0],
] as const) {
  test(`a last segment that is cut ${where} after a clean stop is repaired, and the lost records are reported once`, async t => {
    const { dir, names, last } = await threeSegments(t)
    const path = join(dir, names[2]!)
    const whole = readFileSync(path)
    const { ends, first } = endsOf(dir, names, whole)
    const at = cutAt(
      ends.map(end => end.at),
      whole,
    )
    truncateSync(path, at)
    const before = ends.findLast(end => end.at <= at)?.last ?? first - 1
    const journal = await openJournal(t, { dir, segmentBytes })
    t.like(journal.state(), { journal: 'repaired', last: before, lost: last - before })
    t.is(allRecords(journal).length, before)
    const aside = readdirSync(dir).find(name => name.endsWith('.cut'))
    t.is(aside === undefined ? 0 : readFileSync(join(dir, aside)).length, at - (ends.findLast(end => end.at <= at)?.at ?? 0))
    const [next] = await journal.append([reading(before + 1)])
    t.is(next!.seq, before + 1)
    await journal.close()
    const again = await openJournal(t, { dir, segmentBytes })
    t.deepEqual(again.state(), { journal: 'ok', first: 1, last: before + 1 })
    t.is(allRecords(again).length, before + 1)
  })
}

test('lost records are reported once also when the journal is killed right after the repair', async t => {
  const { dir, names } = await threeSegments(t)
  truncateSync(join(dir, names[2]!), 0)
  const journal = await openJournal(t, { dir })
  t.true(journal.state().lost! > 0)
  const copy = copyOf(t, dir)
  t.deepEqual({ ...(await openJournal(t, { dir: copy })).state() }, { journal: 'ok', first: 1, last: journal.state().last })
})

test('a journal of format 1 is continued, and its head does not show a missing segment', async t => {
  const { dir, names, last } = await threeSegments(t)
  writeFileSync(join(dir, 'head.json'), `{"first":1,"last":${last}}\n`)
  const { ends } = endsOf(dir, names, readFileSync(join(dir, names[2]!)))
  const whole = await openJournal(t, { dir: copyOf(t, dir) })
  t.deepEqual(whole.state(), { journal: 'ok', first: 1, last })
  truncateSync(join(dir, names[2]!), ends.at(-1)!.at - 7)
  const torn = await openJournal(t, { dir: copyOf(t, dir) })
  t.like(torn.state(), { journal: 'repaired', lost: last - ends.at(-2)!.last })
  truncateSync(join(dir, names[2]!), ends.at(-2)!.at)
  await assertRefused(t, dir, /record \d+ was acknowledged, and the journal ends at/, 'a whole visit less')
})

test('a journal of a later format is closed and left unchanged', async t => {
  const { dir } = await threeSegments(t)
  writeFileSync(join(dir, 'head.json'), '{"version":3,"first":1,"last":9}\n')
  await assertRefused(t, dir, /^head.json, byte 0: the journal is of format 3, and this program reads 1 to 2$/, 'format 3')
})
