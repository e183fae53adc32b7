import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { decodeLine, encodeGroup, type Position, START } from '#shared/core/history/line.ts'
import { inspectJournal } from '../../appliance/priority/journal-log.ts'
import { everything, folder, opened } from './journal-harness.ts'
import { reading, readings, strange } from './journal-written.ts'

const segmentBytes = 4800
const inspect = async (dir: string) => inspectJournal(dir, { record: () => undefined })
const segmentsOf = (dir: string) =>
  readdirSync(dir)
    .filter(name => name.endsWith('.jsonl'))
    .toSorted()
const contents = (dir: string) => new Map(readdirSync(dir).map(name => [name, readFileSync(join(dir, name), 'latin1')]))
const copyOf = (t: ExecutionContext, dir: string): string => {
  const copy = folder(t)
  cpSync(dir, copy, { recursive: true })
  return copy
}

/** Three segments, of visits of two to four records. `killed`: nothing says how far the last one reaches. */
async function three(t: ExecutionContext, killed = false): Promise<{ dir: string; names: string[]; last: number }> {
  const dir = folder(t)
  const journal = await opened(t, { dir, segmentBytes, headMs: 3_600_000 })
  const point = { target: { ...reading(1).target }, label: 'Damper' }
  let last = 0
  for (;;) {
    const size = 2 + (last % 3)
    await journal.append(readings(last + 1, last + size).map(seen => ({ ...seen, ...point })))
    last += size
    const names = segmentsOf(dir)
    if (names.length === 3 && readFileSync(join(dir, names[2]!), 'latin1').split('"r":0,').length === 4) break
    if (names.length > 3) throw new Error('a segment holds fewer than three visits')
  }
  const head = readFileSync(join(dir, 'head.json'))
  await journal.close()
  if (killed) writeFileSync(join(dir, 'head.json'), head)
  return { dir, names: segmentsOf(dir), last }
}

/** Opens a damaged journal, which must stay as it is, closed, and say where. */
async function refused(t: ExecutionContext, dir: string, reason: RegExp, what: string) {
  const before = contents(dir)
  const journal = await opened(t, { dir })
  const state = journal.state()
  t.is(state.journal, 'disabled', what)
  t.regex(state.reason!, reason, what)
  t.deepEqual(everything(journal), [])
  t.deepEqual(contents(dir), before, `${what}: nothing is touched`)
}

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

test('one bit flipped in any byte of head.json is damage, or says less than it did', async t => {
  const { dir } = await three(t)
  const path = join(dir, 'head.json')
  const good = readFileSync(path)
  for (let bit = 0; bit < good.length * 8; bit++) {
    const bytes = Buffer.from(good)
    bytes[bit >> 3]! ^= 1 << (bit % 8)
    writeFileSync(path, bytes)
    const head = /^\{"first":(\d+),"last":(\d+)\}\n$/.exec(bytes.toString('latin1'))
    const wanted = /^\{"first":(\d+),"last":(\d+)\}\n$/.exec(good.toString('latin1'))!
    const isLess = head !== null && Number(head[1]) >= Number(wanted[1]) && Number(head[2]) <= Number(wanted[2])
    t.is((await inspect(dir)).state, isLess ? 'verified' : 'corrupt', `bit ${bit}: ${bytes.toString('latin1')}`)
  }
})

/** Where each visit of the last segment ends, and with which record; what `head.json` knows to be kept. */
function endsOf(dir: string, names: string[], whole: Buffer) {
  const head = Number(/"last":(\d+)/.exec(readFileSync(join(dir, 'head.json'), 'utf8'))![1])
  const ends = [...whole.toString('latin1').matchAll(/\{"n":(\d+),"g":\d+,"r":0,.*\n/g)].map(line => ({
    at: line.index + line[0].length,
    last: Number(line[1]),
  }))
  return { ends, head, first: Number(names[2]!.slice(0, 16)) }
}

test('cut at any byte of its last segment, a journal keeps every whole visit before, and refuses where more is known to be kept', async t => {
  const { dir, names } = await three(t, true)
  const path = join(dir, names[2]!)
  const whole = readFileSync(path)
  const { ends, head, first } = endsOf(dir, names, whole)
  for (let at = whole.length; at >= 0; at--) {
    truncateSync(path, at)
    const last = ends.findLast(end => end.at <= at)?.last ?? first - 1
    const found = await inspect(dir)
    const wanted = last < head ? 'corrupt' : ends.some(end => end.at === at) ? 'clean' : 'torn'
    const state = found.state === 'corrupt' ? 'corrupt' : found.cut ? 'torn' : 'clean'
    t.is(state, wanted, `cut at ${at}`)
    if (found.state === 'verified') t.is(found.end.seq, last, `cut at ${at}`)
  }
  writeFileSync(path, whole.subarray(0, -7))
  const journal = await opened(t, { dir })
  t.is(journal.state().journal, 'repaired')
  t.is(journal.state().last, ends.at(-2)!.last)
  t.is(readFileSync(join(dir, readdirSync(dir).find(name => name.endsWith('.cut'))!)).length, whole.length - 7 - ends.at(-2)!.at)
})

for (const [what, spoil] of [
  ['cut', (bytes: Buffer, at: number) => bytes.subarray(0, at)],
  ['filled with zeros', (bytes: Buffer, at: number) => Buffer.concat([bytes.subarray(0, at), Buffer.alloc(bytes.length - at)])],
] as const) {
  test(`${what} anywhere in its last segment, a journal that runs is damaged: soon after a visit it is known to be kept`, async t => {
    const dir = folder(t)
    const journal = await opened(t, { dir, headMs: 1 })
    for (let seq = 1; seq <= 9; seq += 3) await journal.append(readings(seq, seq + 2))
    const head = join(dir, 'head.json')
    while (readFileSync(head, 'utf8') !== '{"first":1,"last":9}\n') await new Promise(resolve => setTimeout(resolve, 2))
    const copy = copyOf(t, dir)
    const path = join(copy, segmentsOf(copy)[0]!)
    const whole = readFileSync(path)
    for (let at = 0; at < whole.length; at += 11) {
      writeFileSync(path, spoil(whole, at))
      const found = await inspect(copy)
      t.is(found.state, 'corrupt', `${at}`)
      if (found.state === 'corrupt') t.regex(found.reason, /record 9 was kept, and the journal ends at [0-6]$/)
    }
  })
}

test('filled with zeros anywhere in its last segment, a journal keeps every whole visit before, and refuses where more is known to be kept', async t => {
  const { dir, names } = await three(t, true)
  const path = join(dir, names[2]!)
  const whole = readFileSync(path)
  const { ends, head, first } = endsOf(dir, names, whole)
  // The log's own matrix takes every byte; here it is what the journal makes of it.
  for (let at = whole.length - 1; at >= 0; at -= 5) {
    writeFileSync(path, Buffer.concat([whole.subarray(0, at), Buffer.alloc(whole.length - at)]))
    const last = ends.findLast(end => end.at <= at)?.last ?? first - 1
    const found = await inspect(dir)
    t.is(found.state === 'corrupt' ? 'corrupt' : found.cut ? 'torn' : 'clean', last < head ? 'corrupt' : 'torn', `from ${at}`)
    if (found.state === 'verified') t.is(found.end.seq, last, `from ${at}`)
  }
})

test('a journal that was closed is whole or damaged: cut at any byte it says so', async t => {
  const { dir, names, last } = await three(t)
  const path = join(dir, names[2]!)
  for (let at = readFileSync(path).length - 1; at >= 0; at -= 3) {
    truncateSync(path, at)
    const found = await inspect(dir)
    t.is(found.state, 'corrupt')
    if (found.state === 'corrupt') t.regex(found.reason, new RegExp(`record ${last} was kept`))
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
