import test from 'ava'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { openHistorian } from '#shared/node/historian/historian.ts'
import { historianService } from '#shared/node/historian/service.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { until } from '../../../support/folders.ts'
import { IDLE_MS, MEMORY_MB, temporaryFolder } from '../../../support/sites/workspace.ts'

const NOVEMBER = Date.UTC(2026, 10, 20)
const JUNE = Date.UTC(2026, 5, 1)

/** Three days of minutes from an instant; the value counts the minutes, and of each hour the last one is not vouched for. */
async function* minutesFrom(...starts: number[]) {
  for (const from of starts) {
    const ts = Float64Array.from({ length: (3 * DAY) / MINUTE }, (_, i) => from + i * MINUTE)
    yield { point_id: 'p', series: { ts, values: ts.map((_, i) => (i % 60 === 59 ? Number.NaN : i)) } }
  }
}

async function open(
  t: { teardown(run: () => unknown): void },
  maxBytes: number,
  settled = async () => undefined as void,
  buildingMaxBytes = Infinity,
) {
  const folder = temporaryFolder(t)
  const root = join(folder, 'parquet')
  const db = openDatabase(join(folder, 'plenum.db'))
  t.teardown(() => db.close())
  const historian = await openHistorian({
    ...{ db, root, memoryMb: MEMORY_MB, idleMs: IDLE_MS, maxBytes, buildingMaxBytes, settled },
  })
  t.teardown(historian.stop)
  await historian.load('b', ['p'], 'replace', minutesFrom(JUNE, Date.UTC(2026, 9, 5), Date.UTC(2026, 10, 5)))
  const read = async (from: number) =>
    (await historian.read({ building_id: 'b', point_ids: ['p'], from, to: from + 3 * DAY }))[0]!
  return { db, root, historian, read }
}

test('an old month is thinned to the newest usable value of 15 minutes, then dropped, and newer months stay', async t => {
  const { db, root, historian, read } = await open(t, 1)
  const files = () => db.prepare("SELECT file FROM parts WHERE month = '2026-06'").pluck().all() as string[]
  const [before] = files()
  t.deepEqual(await historian.shrink(NOVEMBER), { what: 'thin', building_id: 'b', month: '2026-06' })
  const thinned = await read(JUNE)
  t.is(thinned.ts.length, (3 * DAY) / (15 * MINUTE))
  t.deepEqual(
    [...thinned.ts.slice(0, 5)].map(at => (at - JUNE) / MINUTE),
    [14, 29, 44, 58, 74],
    'minute 59 is not vouched for, so minute 58 stands for its slot',
  )
  t.deepEqual([...thinned.values.slice(0, 5)], [14, 29, 44, 58, 74])
  t.false(existsSync(join(root, before!)))
  t.deepEqual({ ...historian.extent(), bytes: 0 }, { bytes: 0, max_bytes: 1, whole_from: '2026-10', thinned_from: '2026-06' })

  const [after] = files()
  t.deepEqual(await historian.shrink(NOVEMBER), { what: 'drop', building_id: 'b', month: '2026-06' })
  t.is((await read(JUNE)).ts.length, 0)
  t.false(existsSync(join(root, after!)))
  t.is(await historian.shrink(NOVEMBER), undefined)
  t.is((await read(Date.UTC(2026, 9, 5))).ts.length, (3 * DAY) / MINUTE)
  t.is((await read(Date.UTC(2026, 10, 5))).ts.length, (3 * DAY) / MINUTE)
})

test('a file that is no longer listed stays until the list that lacks it is settled', async t => {
  let waitsFor = Promise.resolve()
  const { db, root, historian } = await open(t, 1, () => waitsFor)
  const [before] = db.prepare("SELECT file FROM parts WHERE month = '2026-06'").pluck().all() as string[]
  const isListed = () => db.prepare('SELECT 1 FROM parts WHERE file = ?').get(before) !== undefined
  const begun = historian.shrink(NOVEMBER)
  const settling = Promise.withResolvers<void>()
  await Promise.resolve()
  waitsFor = settling.promise
  await until(() => !isListed(), 'the list has changed')
  t.true(existsSync(join(root, before!)))
  settling.resolve()
  await begun
  t.false(existsSync(join(root, before!)))
})

test('samples that come late to a thinned month make it one that is thinned again', async t => {
  const { historian, read } = await open(t, 1)
  await historian.shrink(NOVEMBER)
  const late = Array.from({ length: 30 }, (_, i) => ({ id: 'p', t: JUNE + 10 * DAY + i * MINUTE, v: i }))
  await historian.append('b', late)
  await historian.seal({ before: NOVEMBER })
  const [own] = historian.extents('b')
  t.like(own, { whole_from: '2026-10', thinned_from: '2026-06' }, 'a month with thinned samples is not whole')
  t.deepEqual(await historian.shrink(NOVEMBER), { what: 'thin', building_id: 'b', month: '2026-06' })
  t.deepEqual([...(await read(JUNE + 10 * DAY)).values], [14, 29])
  t.is((await read(JUNE)).ts.length, (3 * DAY) / (15 * MINUTE), 'what was thinned stays as it was')
})

test('a building above its own bound is thinned, another one stays whole, and each says what is kept of it', async t => {
  const { historian } = await open(t, Infinity, undefined, 1)
  await historian.load('c', ['p'], 'replace', minutesFrom(Date.UTC(2026, 9, 5)))
  t.deepEqual(await historian.shrink(NOVEMBER), { what: 'thin', building_id: 'b', month: '2026-06' })
  t.deepEqual(await historian.shrink(NOVEMBER), { what: 'drop', building_id: 'b', month: '2026-06' })
  t.is(await historian.shrink(NOVEMBER), undefined)
  t.deepEqual(
    historian.extents().map(one => ({ ...one, bytes: 0 })),
    ['b', 'c'].map(building_id => ({ building_id, bytes: 0, max_bytes: 1, whole_from: '2026-10', thinned_from: null })),
  )
  t.deepEqual(historian.extents('d'), [])
})

test('the service keeps the quota after it has sealed, and says what was given up', async t => {
  const { historian } = await open(t, 1)
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push((JSON.parse(line) as { msg: string }).msg) })
  const waited = Promise.withResolvers<void>()
  const clock = {
    now: () => NOVEMBER,
    sleep: async (_: number, signal?: AbortSignal) => {
      waited.resolve()
      await new Promise<void>(done => signal?.addEventListener('abort', () => done()))
    },
  }
  const service = historianService(historian, { clock, log, everyMs: HOUR, keepMs: DAY })
  await service.start()
  await waited.promise
  await service.stop()
  t.deepEqual(lines, [
    'history takes more than its quota: a month is kept as one value for 15 minutes',
    'history takes more than its quota: a month is dropped',
  ])
})
