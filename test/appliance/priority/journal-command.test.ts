import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { journalCommand } from '#appliance/priority/journal-command.ts'
import { journalFolder, openJournal } from '../../support/journal-harness.ts'
import { readings } from '../../support/journal-written.ts'

async function ran(dir: string, ...words: string[]): Promise<{ status: number; text: string; lines: string[]; said: string }> {
  const parts: string[] = []
  const said: string[] = []
  const err = async (part: string) => void said.push(part)
  const status = await journalCommand(dir, words, async part => void parts.push(part), err)
  const text = parts.join('')
  return { status, text, said: said.join(''), lines: text.trimEnd().split('\n') }
}

async function filled(t: ExecutionContext): Promise<{ dir: string; names: string[] }> {
  const dir = journalFolder(t)
  const journal = await openJournal(t, { dir, segmentBytes: 16_000 })
  for (let seq = 1; seq <= 100; seq += 5) await journal.append(readings(seq, seq + 4))
  await journal.close()
  const names = readdirSync(dir).filter(name => name.endsWith('.jsonl'))
  t.true(names.length > 2)
  return { dir, names }
}

/** Alters a byte of record `seq`. @returns its file and where its line begins */
function damage(dir: string, names: string[], seq: number): { file: string; offset: number } {
  for (const file of names) {
    const bytes = readFileSync(join(dir, file))
    const offset = bytes.indexOf(`{"n":${seq},`)
    if (offset < 0) continue
    bytes[offset + 150]! ^= 4
    writeFileSync(join(dir, file), bytes)
    return { file, offset }
  }
  throw new Error(`there is no record ${seq}`)
}

test('verify checks every segment, prints its hash, and changes nothing', async t => {
  const { dir, names } = await filled(t)
  const { status, lines } = await ran(dir, 'verify')
  t.is(status, 0)
  t.is(lines.length, names.length + 2)
  t.regex(lines[1]!, /^sha256 [0-9a-f]{64} {2}records 1 to \d+, \d+ bytes$/)
  t.is(lines.at(-1), `verified: 100 records in ${names.length} segments, each with the hash of the one before`)
  writeFileSync(join(dir, names.at(-1)!), '{"n"', { flag: 'a' })
  const torn = await ran(dir, 'verify')
  t.is(torn.status, 0)
  t.regex(torn.text, /torn end: .*4 bytes, never acknowledged, will be cut at the next start/)
  t.true(readFileSync(join(dir, names.at(-1)!), 'latin1').endsWith('{"n"'))
})

test('verify shows the place of damage', async t => {
  const { dir, names } = await filled(t)
  const { file, offset } = damage(dir, names, 3)
  const { status, lines } = await ran(dir, 'verify')
  t.is(status, 1)
  t.is(lines.at(-1), `DAMAGED: ${file}, byte ${offset}: damage in a segment that others follow`)
})

test('export writes the readable records, with a line for each gap, as JSON and as CSV', async t => {
  const { dir, names } = await filled(t)
  const { file, offset } = damage(dir, names, 3)
  const { status, lines } = await ran(dir, 'export')
  t.is(status, 0)
  const all = lines.map(
    line => JSON.parse(line) as { seq: number; slots: unknown[]; observed_at: string; gap?: { file: string } },
  )
  const records = all.filter(({ gap }) => !gap)
  const marks = all.filter(({ gap }) => gap).length - 2
  t.true(marks > 0, 'marks that refer to the altered record cannot be read either')
  t.is(records.length, 99 - marks)
  t.true(records.every(({ slots }) => slots.length === 16))
  t.is(records[0]!.observed_at, '2026-01-01T00:00:01Z')
  t.like(all[2], { gap: { file, offset, reason: 'no line here verifies' } })
  t.like(all[3], { gap: { reason: '1 missing before record 4' } })
  t.regex(lines.join('\n'), /record 16, 1000\/analog-output,3 at 2026-01-01T00:00:16Z, was as record 3, which cannot be read/)

  const csv = await ran(dir, 'export', '--csv')
  t.is(csv.lines.length, all.length + 1)
  const cells = (line: string) =>
    line
      .trimEnd()
      .replaceAll(/"(?:[^"]|"")*"/g, 'text')
      .split(',').length
  t.deepEqual(new Set(csv.lines.map(cells)), new Set([31]))
  t.regex(
    csv.lines[1]!,
    /^1,2026-01-01T00:00:01Z,,1000,analog-output,1,.*,error: read-access-denied,.*,1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16,scheduled,AO-1,/,
  )
})

test('a whole journal is exported whole', async t => {
  const { dir } = await filled(t)
  const { lines } = await ran(dir, 'export')
  t.deepEqual(
    lines.map(line => (JSON.parse(line) as { seq: number }).seq),
    Array.from({ length: 100 }, (_, i) => i + 1),
  )
})

test('an export with gaps reports them on the error output, and fails with --verify', async t => {
  const { dir, names } = await filled(t)
  const whole = await ran(dir, 'export', '--verify')
  t.deepEqual([whole.status, whole.said, whole.lines.length], [0, '', 100])
  writeFileSync(join(dir, names.at(-1)!), '{"n"', { flag: 'a' })
  const torn = await ran(dir, 'export', '--verify')
  t.deepEqual([torn.status, torn.lines.length], [0, 101], 'records that were never acknowledged are not missing')
  const { file } = damage(dir, names, 3)
  const plain = await ran(dir, 'export', '--csv')
  t.is(plain.status, 0)
  t.regex(plain.said, /^\d+ gaps: not everything that was written can be read\n$/)
  const proven = await ran(dir, 'export', '--csv', '--verify')
  t.deepEqual([proven.status, proven.text], [1, plain.text])
  t.true(proven.said.includes(`DAMAGED: ${file}, byte `), proven.said)
})

test('an export of a journal without its newest segment shows no gap and fails with --verify', async t => {
  const { dir, names } = await filled(t)
  rmSync(join(dir, names.at(-1)!))
  const { status, said, text } = await ran(dir, 'export', '--verify')
  t.false(text.includes('"gap"'))
  t.is(status, 1)
  t.regex(said, /^DAMAGED: /)
})

test('quarantine --yes sets a damaged journal aside, deletes nothing, and leaves one that verifies', async t => {
  const { dir, names } = await filled(t)
  t.deepEqual(await ran(dir, 'quarantine', '--yes').then(({ status }) => status), 1)
  damage(dir, names, 3)
  const before = readdirSync(dir)
  const asked = await ran(dir, 'quarantine')
  t.is(asked.status, 1)
  t.regex(asked.text, /DAMAGED: .*\nWith --yes it is set aside as /)
  t.deepEqual(readdirSync(dir), before)
  t.is((await ran(dir, 'quarantine', '--yes')).status, 0)
  const [aside, ...others] = readdirSync(dirname(dir))
  t.deepEqual(others, [])
  t.deepEqual(readdirSync(join(dirname(dir), aside!)), before)
  const journal = await openJournal(t, { dir })
  t.deepEqual(journal.state(), { journal: 'ok', first: 1, last: 0 })
})

test('while an appliance writes, its journal verifies, is exported whole and is not quarantined', async t => {
  const dir = journalFolder(t)
  const journal = await openJournal(t, { dir, segmentBytes: 16_000, maxRecords: 100, headMs: 1 })
  const said = new Set<string>()
  let writing = true
  const look = async () => {
    for (const words of [['verify'], ['export', '--verify'], ['quarantine', '--yes']]) {
      const { status, text } = await ran(dir, ...words)
      const last = text.trimEnd().split('\n').at(-1)!
      said.add(
        `${words[0]} ${status} ${words[0] === 'export' ? text.includes('"gap"') : last.replaceAll(/\d+ (record|segment)s?/g, 'n $1s')}`,
      )
    }
  }
  const looks = (async () => {
    while (writing) await look()
  })()
  for (let seq = 1; seq <= 2000; seq += 5) await journal.append(readings(seq, seq + 4))
  writing = false
  await looks
  t.deepEqual([...said].toSorted(), [
    'export 0 false',
    'quarantine 1 The journal verifies and stays in place.',
    'verify 0 verified: n records in n segments, each with the hash of the one before',
  ])
})

test('of two quarantines at once, one moves the journal and the other reports that it is gone', async t => {
  const { dir, names } = await filled(t)
  damage(dir, names, 3)
  const both = await Promise.all([ran(dir, 'quarantine', '--yes'), ran(dir, 'quarantine', '--yes')])
  t.deepEqual(both.map(({ status }) => status).toSorted(), [0, 1])
  t.regex(both.find(({ status }) => status === 1)!.text, /there is no journal any more/)
  t.is(readdirSync(dirname(dir)).length, 1)
})

test('an empty journal verifies, and a file in its place or an unreadable segment is reported', async t => {
  const empty = journalFolder(t)
  mkdirSync(empty)
  t.deepEqual((await ran(empty, 'verify')).lines, [empty, 'verified: 0 records'])
  const file = journalFolder(t)
  writeFileSync(file, '')
  for (const words of [['verify'], ['export'], ['quarantine', '--yes']]) {
    const { status, text } = await ran(file, ...words)
    t.is(status, 1)
    t.regex(text, /it cannot be read: ENOTDIR/)
  }
  const { dir, names } = await filled(t)
  rmSync(join(dir, names[1]!))
  mkdirSync(join(dir, names[1]!))
  t.regex((await ran(dir, 'verify')).lines.at(-1)!, /^UNREADABLE: EISDIR/)
  const { lines } = await ran(dir, 'export')
  t.true(lines.some(line => line.includes('"gap"') && line.includes(names[1]!)))
  t.true(lines.at(-1)!.startsWith('{"seq":100,'))
  t.is((await ran(dir, 'quarantine', '--yes')).status, 0)
})

test('a journal that is moved away while it is open is replaced by a new one at the next visit', async t => {
  const { dir } = await filled(t)
  const journal = await openJournal(t, { dir })
  await journal.append(readings(101, 105))
  renameSync(dir, `${dir}.aside`)
  const [record] = await journal.append([readings(1, 1)[0]!])
  t.is(record!.seq, 1)
  t.deepEqual(journal.state(), { journal: 'ok', first: 1, last: 1 })
  t.is(journal.latest().size, 1)
})

test('an unknown command and a missing journal are reported', async t => {
  const { dir } = await filled(t)
  for (const words of [[], ['delete'], ['verify', '--yes'], ['toString']])
    t.is((await ran(dir, ...words)).status, 2, words.join(' '))
  const nowhere = await ran(`${dir}-nowhere`, 'verify')
  t.deepEqual([nowhere.status, nowhere.lines[0]], [1, `${dir}-nowhere: there is no journal`])
})

test('the appliance has the command', async t => {
  const { dir } = await filled(t)
  const main = new URL('../../../appliance/main.ts', import.meta.url).pathname
  const env = { ...process.env, SERVICE_EDGE_STORE_DIR: dirname(dir) }
  const run = promisify(execFile)(process.execPath, [main, 'journal', 'verify'], { env })
  const { code, stdout } = (await t.throwsAsync(run)) as Error & { code: number; stdout: string }
  t.deepEqual([code, stdout], [1, `${join(dirname(dir), 'priority')}: there is no journal\n`])
})
