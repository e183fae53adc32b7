import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { decodeLine, encodeGroup, type Position, START } from '#appliance/core/log/log-line.ts'
import { copyOf, inspect, refused, three } from './journal-damaged.ts'
import { everything, folder, opened } from '../../support/journal-harness.ts'
import { readings, strange } from '../../support/journal-written.ts'

test('one bit flipped in any byte of three segments is damage, and none is repaired', async t => {
  const { dir, names } = await three(t)
  const silent: string[] = []
  for (const name of names) {
    const path = join(dir, name)
    const bytes = readFileSync(path)
    for (let at = 0; at < bytes.length; at++) {
      bytes[at]! ^= 1 << (at % 8)
      writeFileSync(path, bytes)
      const found = await inspect(dir)
      if (found.state !== 'corrupt' || found.file !== name) silent.push(`${name} byte ${at}`)
      if (at % 401 === 0) await refused(t, dir, new RegExp(`^${name}, byte \\d+: `), `${name} byte ${at}`)
      bytes[at]! ^= 1 << (at % 8)
    }
    writeFileSync(path, bytes)
  }
  t.deepEqual(silent, [])
  t.is((await inspect(dir)).state, 'verified')
})

const HEAD = /^\{"version":2,"first":(\d+),"last":(\d+),"segment":(\d+)\}\n$/

test('one bit flipped in any byte of head.json is damage, or shows as more or less at the end', async t => {
  const { dir } = await three(t)
  const path = join(dir, 'head.json')
  const good = readFileSync(path)
  for (let bit = 0; bit < good.length * 8; bit++) {
    const bytes = Buffer.from(good)
    bytes[bit >> 3]! ^= 1 << (bit % 8)
    writeFileSync(path, bytes)
    const [, first, last, segment] = HEAD.exec(bytes.toString('latin1'))?.map(Number) ?? []
    const [, wasFirst, wasLast, wasSegment] = HEAD.exec(good.toString('latin1'))!.map(Number)
    const isLess = first! >= wasFirst! && segment! <= wasSegment!
    const found = await inspect(dir)
    t.is(found.state, isLess ? 'verified' : 'corrupt', `bit ${bit}: ${bytes.toString('latin1')}`)
    if (found.state === 'verified') t.is(found.lost, Math.max(0, last! - wasLast!))
  }
})

/** Repeatable bytes of any value. */
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
  test(`behind the last visit, ${what} of 1 B to 64 KiB: ${wanted}, and every record is there`, async t => {
    const { dir, names, last } = await three(t)
    for (const size of SIZES) {
      const copy = copyOf(t, dir)
      writeFileSync(join(copy, names[2]!), tail(size), { flag: 'a' })
      const journal = await opened(t, { dir: copy })
      t.is(journal.state().journal, wanted, `${size}`)
      t.is(everything(journal).length, wanted === 'repaired' ? last : 0, `${size}`)
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
  ['the last is missing', (dir, [, , c]) => rmSync(join(dir, c!)), /record \d+ was kept, and the journal ends at/],
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
  test(`of three segments ${what}: history is disabled, says where, and touches nothing`, async t => {
    const { dir, names, last } = await three(t)
    damage(dir, names, last)
    await refused(t, dir, reason, what)
  })
}

test('a record that was altered with every later CRC made to fit is seen by the hash of its segment', async t => {
  const { dir, names } = await three(t)
  let position: Position = START
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
  await refused(t, dir, new RegExp(`^${names[1]}, byte 0: the segment before was altered: its SHA-256 is`), 'altered')
})

test('a log that is no journal is refused at its first record', async t => {
  const dir = folder(t)
  mkdirSync(dir)
  writeFileSync(join(dir, '0000000000000001-0000000000000001.jsonl'), encodeGroup(['{"a":1}'], START).bytes)
  await refused(t, dir, /byte 0: record 1 is no record of priorities/, 'foreign')
})

test('a mark whose full record is not before it in its segment is damage', async t => {
  const mark =
    '{"observed_at":1,"target":{"device_instance":1000,"object_type":"analog-output","object_instance":1},"source":"scheduled","same_as":9}'
  const lonely = folder(t)
  mkdirSync(lonely)
  writeFileSync(join(lonely, '0000000000000001-0000000000000001.jsonl'), encodeGroup([mark], START).bytes)
  await refused(t, lonely, /record 1 refers to 9, which is not in full before it/, 'lonely mark')
})

test('after quarantine the records of before are not mixed with new ones', async t => {
  const { dir, names } = await three(t)
  truncateSync(join(dir, names[0]!), 100)
  const journal = await opened(t, { dir, retryMs: 20 })
  t.is(journal.state().journal, 'disabled')
  renameSync(dir, `${dir}.damaged`)
  while (journal.state().journal !== 'ok') await new Promise(resolve => setTimeout(resolve, 5))
  await journal.append(readings(1, 20))
  t.deepEqual(strange(everything(journal)), [])
  t.is(readdirSync(`${dir}.damaged`).length, 4)
})
