import test from 'ava'
import { openSync, closeSync, readdirSync, renameSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setImmediate as immediate } from 'node:timers/promises'
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { openHistorian } from '#shared/node/historian/historian.ts'
import { openHistoryReader } from '#shared/node/historian/reader.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { IDLE_MS, MEMORY_MB, type Place, temporaryFolder, temporaryHistorian } from '../../../support/sites/workspace.ts'

const T = Date.UTC(2026, 0, 5)
const query = { building_id: 'b', point_ids: ['p'], from: T, to: T + HOUR }
const tenMinutes = Array.from({ length: 10 }, (_, i) => ({ id: 'p', t: T + i * MINUTE, v: i }))

const partsIn = (root: string) =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.parquet'))
    .map(name => join(root, name))

/** A place with one sealed file, and the file. */
async function sealed(place: Place): Promise<string> {
  await place.historian.append('b', tenMinutes)
  await place.historian.seal({ before: T + HOUR })
  return partsIn(place.root)[0]!
}

const reopen = ({ db, root }: Place) => openHistorian({ db, root, memoryMb: MEMORY_MB, idleMs: IDLE_MS })

test('a folder that cannot be written is refused by name, with the reason', async t => {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'file'), '')
  const db = openDatabase(join(folder, 'plenum.db'))
  t.teardown(() => db.close())
  await t.throwsAsync(openHistorian({ db, root: join(folder, 'file', 'parquet'), memoryMb: MEMORY_MB, idleMs: IDLE_MS }), {
    message: /^the history folder .*file\/parquet cannot be written: .*file is not a folder$/,
  })
})

test('a folder of another database is refused, and nothing in it is touched', async t => {
  const place = await temporaryHistorian(t)
  const part = await sealed(place)
  const other = openDatabase(join(temporaryFolder(t), 'plenum.db'))
  t.teardown(() => other.close())
  const message = /belongs to another database/
  await t.throwsAsync(reopen({ ...place, db: other }), { message })
  rmSync(join(place.root, 'history.id'))
  await t.throwsAsync(reopen({ ...place, db: other }), { message })
  t.true(statSync(part).size > 0)
})

test('a start removes what no list names, and leaves alone what is not ours', async t => {
  const place = await temporaryHistorian(t)
  const part = await sealed(place)
  const strange = join(place.root, 'notes.parquet')
  const orphans = ['00000099-000.parquet', '00000099-001.parquet.tmp'].map(name => join(dirname(part), name))
  for (const path of [strange, ...orphans]) writeFileSync(path, 'x')
  t.teardown((await reopen(place)).stop)
  t.deepEqual(partsIn(place.root).toSorted(), [part, strange].toSorted())
})

test('a listed file that is missing or cut is refused at start, by name', async t => {
  const place = await temporaryHistorian(t)
  const part = await sealed(place)
  truncateSync(part, 100)
  await t.throwsAsync(reopen(place), {
    message: /is incomplete: building_id=b\/.*\.parquet has 100 bytes where \d+ were written/,
  })
  rmSync(part)
  await t.throwsAsync(reopen(place), { message: /is incomplete: building_id=b\/month=2026-01\/.*\.parquet is missing; restore/ })
})

test('a file that goes bad while in use fails the reads that need it, by name, and no others', async t => {
  const place = await temporaryHistorian(t)
  const part = await sealed(place)
  await place.historian.append('other', tenMinutes)
  const size = statSync(part).size
  const file = openSync(part, 'r+')
  writeSync(file, Buffer.alloc(size, 0xff), 0, size, 0)
  closeSync(file)
  await t.throwsAsync(place.historian.read(query), {
    code: 'history_damaged',
    message: /^the history file building_id=b\/.*cannot be read: /,
  })
  rmSync(part)
  await t.throwsAsync(place.historian.read(query), { code: 'history_damaged', message: /^the history file .* is missing$/ })
  const [series] = await place.historian.read({ ...query, building_id: 'other' })
  t.is(series!.ts.length, 10)
})

test('a seal that fails leaves the rows where they are, and the next one takes them', async t => {
  const place = await temporaryHistorian(t)
  await place.historian.append('b', tenMinutes)
  const blocked = join(place.root, 'building_id=b')
  writeFileSync(blocked, 'a file where a folder has to be')
  await t.throwsAsync(place.historian.seal({ before: T + HOUR }), { message: /is not a folder/ })
  t.is((await place.historian.read(query))[0]!.ts.length, 10)
  renameSync(blocked, `${blocked}.away`)
  t.deepEqual(await place.historian.seal({ before: T + HOUR }), { parts: 1, rows: 10 })
  t.is((await place.historian.read(query))[0]!.ts.length, 10)
})

test('a query whose process is killed fails, and the next one is answered by a new process', async t => {
  const place = await temporaryHistorian(t)
  await sealed(place)
  await place.historian.read(query)
  const pid = place.historian.readerPid()!
  process.kill(pid, 'SIGSTOP') // so that it cannot answer before it is killed
  const asked = place.historian.read(query)
  process.kill(pid, 'SIGKILL')
  await t.throwsAsync(asked, { code: 'query_failed', message: 'the history query process was ended by SIGKILL' })
  t.is((await place.historian.read(query))[0]!.ts.length, 10)
  t.not(place.historian.readerPid(), pid)
})

test('a reader beside the writer sees every sample, while files are merged away under it', async t => {
  const place = await temporaryHistorian(t)
  const { historian, dbPath, root } = place
  await historian.append('b', [tenMinutes[0]!])
  const reader = await openHistoryReader({ dbPath, root, memoryMb: MEMORY_MB })
  t.teardown(reader.close)
  let written = 1
  let ended = false
  const writing = (async () => {
    for (; written < 60; written++) {
      await historian.append('b', [{ id: 'p', t: T + written * MINUTE, v: written }])
      await historian.seal({ before: T + HOUR })
    }
  })().finally(() => {
    ended = true
  })
  let reads = 0
  for (let last = false; !last; reads++) {
    const least = written
    last = ended
    const [series] = await reader.read(query)
    t.true(series!.ts.length >= least, `${series!.ts.length} of ${least}`)
    t.true(series!.values.every((v, i) => v === i))
    await immediate() // a read of hot samples alone does not let the writer have a turn
  }
  await writing
  t.deepEqual(await reader.spans('b'), [{ point_id: 'p', first: T, last: T + 59 * MINUTE, samples: 60 }])
  t.log(`${reads} reads`)
})
