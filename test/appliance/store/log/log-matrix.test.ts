import test from 'ava'
import { encodeGroup, LOG_START } from '#appliance/core/log/log-line.ts'
import { type SegmentScan, scanSegment } from '#appliance/core/log/segment-check.ts'

/**
 * A log of five groups (3, 1, 2, 1 and 4 records) that is longer than a sector. Its payloads hold what is hard: spaces and
 * `@` (one bit from NUL), `*` and `J` (one bit from a newline), text of several bytes, and text that looks like a line.
 */
const GROUPS = [
  ['{"t":"a @ J*"}', '1', '"é€😀"'],
  ['{"x":[1,2,3]}'],
  [`{"n":1,"g":1,"r":0,"p":"00000000","d":0,"c":"0"}`, '" @@  "'],
  [JSON.stringify('long '.repeat(60))],
  ['true', '"J*"', '"x @ y"', 'null'],
]
function build(groups: string[][]) {
  let position = LOG_START
  const parts: Buffer[] = []
  const ends: { bytes: number; records: number }[] = [{ bytes: 0, records: 0 }]
  const lines: Buffer[] = []
  for (const payloads of groups) {
    const { bytes, offsets, end } = encodeGroup(payloads, position)
    parts.push(bytes)
    position = end
    ends.push({ bytes: ends.at(-1)!.bytes + bytes.length, records: end.seq })
    for (const [i, offset] of offsets.entries()) lines.push(bytes.subarray(offset, offsets[i + 1] ?? bytes.length))
  }
  return { whole: Buffer.concat(parts), ends, lines }
}
const { whole, ends, lines } = build(GROUPS)
/** The last group that is complete within the first `bytes`. */
const completeWithin = (bytes: number) => ends.findLast(end => end.bytes <= bytes)!
const read = (bytes: Buffer) => scanSegment(bytes, LOG_START, true)

function count(scans: Iterable<SegmentScan>) {
  const counted = { clean: 0, torn: 0, corrupt: 0 }
  for (const { state } of scans) counted[state]++
  return counted
}

/** What the log reads as when `change` has been made at each of its lines in turn. */
const atEachLine = (change: (i: number) => Buffer[]) =>
  lines.map((_, i) => {
    const scan = read(Buffer.concat(change(i)))
    return scan.state === 'corrupt' ? 'corrupt' : `${scan.state} ${scan.end.seq}`
  })

test('the whole log is clean', t => {
  const scan = read(whole)
  t.is(scan.state === 'clean' ? scan.end.seq : scan.reason, 11)
})

test('cut at every byte, the log keeps every complete group and nothing of the next', t => {
  const scans = Array.from({ length: whole.length + 1 }, (_, length) => read(whole.subarray(0, length)))
  for (const [length, scan] of scans.entries()) {
    if (scan.state === 'corrupt') return t.fail(`cut at ${length}: ${scan.reason}`)
    const kept = completeWithin(length)
    t.is(scan.end.seq, kept.records, `cut at ${length}`)
    if (scan.state === 'torn') t.is(scan.cutAt, kept.bytes)
  }
  t.deepEqual(count(scans), { clean: 6, torn: whole.length + 1 - 6, corrupt: 0 })
})

test('filled with zeros from every byte, the log keeps every complete group and nothing of the next', t => {
  const scans = Array.from({ length: whole.length }, (_, from) => read(Buffer.from(whole).fill(0, from)))
  for (const [from, scan] of scans.entries()) {
    if (scan.state !== 'torn') return t.fail(`zeros from ${from}: ${scan.state}`)
    t.is(scan.end.seq, completeWithin(from).records)
  }
  t.deepEqual(count(scans), { clean: 0, torn: whole.length, corrupt: 0 })
})

test('every flipped bit is corruption', t => {
  const scans = Array.from({ length: whole.length * 8 }, (_, bit) => {
    const bytes = Buffer.from(whole)
    bytes[bit >> 3]! ^= 1 << (bit & 7)
    return read(bytes)
  })
  t.deepEqual(count(scans), { clean: 0, torn: 0, corrupt: whole.length * 8 })
})

test('unwritten sectors of the last group are torn, and those of an earlier group are corruption', t => {
  const long = build([['"first"'], [JSON.stringify('x'.repeat(700))], Array.from({ length: 40 }, (_, i) => `"record ${i} @"`)])
  const [second, end] = [long.ends[2]!, long.ends[3]!]
  const counted = { last: 0, earlier: 0 }
  for (let sector = 0; sector < end.bytes; sector += 512) {
    for (const [where, from] of [
      ['last', Math.max(sector, second.bytes)],
      ['earlier', sector],
    ] as const) {
      const to = Math.min(sector + 512, where === 'last' ? end.bytes : second.bytes)
      if (from >= to) continue
      const scan = read(Buffer.from(long.whole).fill(0, from, to))
      t.is(scan.state, where === 'last' ? 'torn' : 'corrupt', `${where} ${from}`)
      counted[where]++
    }
  }
  t.deepEqual(counted, {
    last: Math.ceil(end.bytes / 512) - Math.floor(second.bytes / 512),
    earlier: Math.ceil(second.bytes / 512),
  })
})

test('a hole of one byte, where a sector ends with the first byte of the last group, is torn', t => {
  const start = ends.at(-2)!
  const scan = read(Buffer.from(whole).fill(0, start.bytes, start.bytes + 1))
  t.is(scan.state === 'torn' ? scan.end.seq : scan.state, start.records)
})

test('bytes of another kind behind the last group are cut, and no record is lost', t => {
  let seed = 1
  const random = () => (seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) >>> 16
  for (const text of ['\n', 'ab\ncd\n', '{"n":12\n']) t.is(read(Buffer.concat([whole, Buffer.from(text)])).state, 'torn')
  for (const length of [1, 2, 7, 40, 55, 200, 513, 4096, 65_536]) {
    const tail = Buffer.from(Array.from({ length }, random))
    const scan = read(Buffer.concat([whole, tail]))
    t.is(scan.state === 'torn' ? scan.end.seq : scan.state, 11, `${length} bytes`)
  }
})

test('a line deleted, doubled or swapped is corruption, unless it is at the end, where it looks like a cut', t => {
  t.deepEqual(
    atEachLine(i => lines.toSpliced(i, 1)),
    [...Array(10).fill('corrupt'), 'torn 7'],
  )
  t.deepEqual(
    atEachLine(i => lines.toSpliced(i, 0, lines[i]!)),
    Array(11).fill('corrupt'),
  )
  t.deepEqual(
    atEachLine(i => lines.with(i, lines[(i + 1) % 11]!).with((i + 1) % 11, lines[i]!)),
    Array(11).fill('corrupt'),
  )
})

test('in a segment that others follow, every cut is corruption', t => {
  const scans = Array.from({ length: whole.length }, (_, length) => scanSegment(whole.subarray(0, length), LOG_START, false))
  t.deepEqual(count(scans), { clean: 5, torn: 0, corrupt: whole.length - 5 })
})
