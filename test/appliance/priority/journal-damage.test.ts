import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { decodeLine, encodeGroup, type LogPosition, LOG_START } from '#appliance/core/log/log-line.ts'
import { copyOf, inspectQuietly, assertRefused, threeSegments } from './journal-damaged.ts'
import { allRecords, journalFolder, openJournal } from '../../support/journal-harness.ts'
import { readings, deviations } from '../../support/journal-written.ts'

test('a flipped bit in any byte of three segments is damage and is not repaired', async t => {
  const { dir, names } = await threeSegments(t)
  const silent: string[] = []
  for (const name of names) {
    const path = join(dir, name)
    const bytes = readFileSync(path)
    for (let at = 0; at < bytes.length; at++) {
      bytes[at]! ^= 1 << (at % 8)
      writeFileSync(path, bytes)
      const found = await inspectQuietly(dir)
      if (found.state !== 'corrupt' || found.file !== name) silent.push(`${name} byte ${at}`)
      if (at % 401 === 0) await assertRefused(t, dir, new RegExp(`^${name}, byte \\d+: `), `${name} byte ${at}`)
      bytes[at]! ^= 1 << (at % 8)
    }
    writeFileSync(path, bytes)
  }
  t.deepEqual(silent, [])
  t.is((await inspectQuietly(dir)).state, 'verified')
})

const HEAD = /^\{"version":2,"first":(\d+),"last":(\d+),"segment":(\d+)\}\n$/

test('a flipped bit in any byte of head.json is damage, or changes the number of lost records', async t => {
  const { dir } = await threeSegments(t)
  const path = join(dir, 'head.json')
  const good = readFileSync(path)
  for (let bit = 0; bit < good.length * 8; bit++) {
    const bytes = Buffer.from(good)
    bytes[bit >> 3]! ^= 1 << (bit % 8)
    writeFileSync(path, bytes)
    const [, first, last, segment] = HEAD.exec(bytes.toString('latin1'))?.map(Number) ?? []
    const [, wasFirst, wasLast, wasSegment] = HEAD.exec(good.toString('latin1'))!.map(Number)
    const isLess = first! >= wasFirst! && segment! <= wasSegment!
    const found = await inspectQuietly(dir)
    t.is(found.state, isLess ? 'verified' : 'corrupt', `bit ${bit}: ${bytes.toString('latin1')}`)
    if (found.state === 'verified') t.is(found.lost, Math.max(0, last! - wasLast!))
  }
})

/** Pseudorandom bytes. */
function garbage(length: number, seed: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, i) => createHash('sha256').update(`${seed} ${i}`).digest())
  return Buffer.concat(blocks).subarray(0, length)
}
const SIZES = [1, 2, 3, 16, 55, 56, 57, 512, 4095, 4096, 4097, 32_768, 65_536]

for (const [what, tail, wanted] of [
  ['zeros', (size: number) => Buffer.alloc(size), 'repaired'],
  ['garbage', (size: number) => garbage(size, size), 'repaired'],
  ['a hole before garbage', (size: number) => Buffer.concat([Buffer.alloc(size), garbage(size, 2 * size)]), 'repaired'],
  ['the beginning of a line', (size: number) => Buffer.from(`{"n":99,"g":99${'9'.repeat(size)}`), 'repaired'],
  ['a written line that does not verify', (size: number) => Buffer.from(`{"n":${'9'.repeat(size + 60)}}\n`), 'disabled'],
] as const) {
  test(`${what} of 1 B to 64 KiB behind the last visit: the journal is ${wanted} and loses no record`, async t => {
    const { dir, names, last } = await threeSegments(t)
    for (const size of SIZES) {
      const copy = copyOf(t, dir)
      writeFileSync(join(copy, names[2]!), tail(size), { flag: 'a' })
      const journal = await openJournal(t, { dir: copy })
      t.is(journal.state().journal, wanted, `${size}`)
      t.is(allRecords(journal).length, wanted === 'repaired' ? last : 0, `${size}`)
    }
  })
}

const swap = (dir: string, a: string, b: string) => {
  renameSync(join(dir, a), join(dir, 'between'))
  renameSync(join(dir, b), join(dir, a))
  renameSync(join(dir, 'between'), join(dir, b))
}
const SEGMENT_CASES: [string, (dir: string, names: string[], last: number) => void, RegExp][] = [
  ['the first is missing', (dir, [a]) => rmSync(join(dir, a!)), /byte 0: a segment is missing: record 1 was not dropped/],
  ['the second is missing', (dir, [, b]) => rmSync(join(dir, b!)), /byte 0: a segment is missing/],
  ['the last is missing', (dir, [, , c]) => rmSync(join(dir, c!)), /record \d+ was acknowledged, and the journal ends at/],
  [
    'all are missing',
    (dir, names) => names.forEach(name => rmSync(join(dir, name))),
    /head.json, byte 0: .* every segment is missing/,
  ],
  ['the second is there twice', (dir, [, b, c]) => cpSync(join(dir, b!), join(dir, c!)), /byte 0: record \d+ stands where/],
  [
    'a copy of the first follows the last',
    (dir, [a], last) => cpSync(join(dir, a!), join(dir, `${String(last + 1).padStart(16, '0')}-0000000000000099.jsonl`)),
    /a segment is missing: this one does not begin with/,
  ],
  ['the first two have changed places', (dir, [a, b]) => swap(dir, a!, b!), /byte 0: record \d+ stands where/],
  ['the last two have changed places', (dir, [, b, c]) => swap(dir, b!, c!), /byte 0: record \d+ stands where/],
  ['the first is empty', (dir, [a]) => truncateSync(join(dir, a!), 0), /a segment is missing/],
  ['head.json is empty', dir => truncateSync(join(dir, 'head.json'), 0), /head.json, byte 0: the file does not say/],
]
for (const [what, damage, reason] of SEGMENT_CASES) {
  test(`of three segments ${what}: the history is disabled with the place, and nothing is changed`, async t => {
    const { dir, names, last } = await threeSegments(t)
    damage(dir, names, last)
    await assertRefused(t, dir, reason, what)
  })
}

test('a record altered together with every later CRC is detected by the hash of its segment', async t => {
  const { dir, names } = await threeSegments(t)
  let position: LogPosition = LOG_START
  for (const name of names) {
    const path = join(dir, name)
    const groups: string[][] = [[]]
    for (const text of readFileSync(path, 'utf8').split('\n').slice(0, -1)) {
      const line = decodeLine(Buffer.from(text))!
      groups
        .at(-1)!
        .push(
          text
            .slice(line.from, Buffer.from(text).subarray(0, line.to).toString().length)
            .replace('"level":1,"state":"value"', '"level":2,"state":"value"'),
        )
      if (line.rest === 0) groups.push([])
    }
    const parts = groups.slice(0, -1).map(group => {
      const { bytes, end } = encodeGroup(group, position)
      position = end
      return bytes
    })
    writeFileSync(path, Buffer.concat(parts))
  }
  await assertRefused(t, dir, new RegExp(`^${names[1]}, byte 0: the segment before was altered: its SHA-256 is`), 'altered')
})

test('a log of another kind is refused at its first record', async t => {
  const dir = journalFolder(t)
  mkdirSync(dir)
  writeFileSync(join(dir, '0000000000000001-0000000000000001.jsonl'), encodeGroup(['{"a":1}'], LOG_START).bytes)
  await assertRefused(t, dir, /byte 0: record 1 is no record of a priority journal/, 'foreign')
})

test('a mark without its full record before it in the segment is damage', async t => {
  const mark =
    '{"observed_at":1,"target":{"device_instance":1000,"object_type":"analog-output","object_instance":1},"source":"scheduled","same_as":9}'
  const lonely = journalFolder(t)
  mkdirSync(lonely)
  writeFileSync(join(lonely, '0000000000000001-0000000000000001.jsonl'), encodeGroup([mark], LOG_START).bytes)
  await assertRefused(t, lonely, /record 1 refers to 9, which is not in full before it/, 'lonely mark')
})

test('a new journal after quarantine does not contain earlier records', async t => {
  const { dir, names } = await threeSegments(t)
  truncateSync(join(dir, names[0]!), 100)
  const journal = await openJournal(t, { dir, retryMs: 20 })
  t.is(journal.state().journal, 'disabled')
  renameSync(dir, `${dir}.damaged`)
  while (journal.state().journal !== 'ok') await new Promise(resolve => setTimeout(resolve, 5))
  await journal.append(readings(1, 20))
  t.deepEqual(deviations(allRecords(journal)), [])
  t.is(readdirSync(`${dir}.damaged`).length, 4)
})
