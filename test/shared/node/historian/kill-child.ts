/**
 * Appends, seals and loads until it is killed. Its samples are predictable: minute i of every point of `live` has the
 * value i, and all of `package` has the number of the package that was loaded last.
 *
 * On standard output, one JSON object a line: first what it found, then what was acknowledged.
 */
import { existsSync, readdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { PointRows } from '#shared/core/ports.ts'
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { openHistorian } from '#shared/node/historian/historian.ts'
import { openManifest } from '#shared/node/historian/manifest.ts'
import { openDatabase } from '#shared/node/sqlite.ts'

export type Found = {
  /** Minutes of `live` that are there whole, from the first without a hole; -1 when something is wrong with them. */
  minutes: number
  /** Rows in the database and in listed files. Together they hold each sample of `live` once. */
  hot: number
  sealed: number
  /** Value of `package`; -1 when it is not whole, 0 when there is none. */
  package: number
  parts: number
  /** Files that a crash left and the start removed; files that are listed or not listed wrongly after it. */
  orphans: number
  wrong: string[]
}

const T = Date.UTC(2026, 0, 31, 22)
const POINTS = Array.from({ length: 20 }, (_, i) => `p${i}`)
const PACKAGE_ROWS = 5_000
const [folder = ''] = process.argv.slice(2)
const root = join(folder, 'parquet')
const say = (line: object) => writeSync(1, `${JSON.stringify(line)}\n`)

const filesIn = () =>
  existsSync(root) ? readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(name => name.includes('.parquet')) : []

const db = openDatabase(join(folder, 'plenum.db'), 1024)
const manifest = openManifest(db)
const listed = () => manifest.files().map(({ file }) => file)
const before = filesIn().filter(name => !name.startsWith('.'))
const known = new Set(listed())
const historian = await openHistorian({ db, root, memoryMb: 64, idleMs: 60_000 })
const orphans = before.filter(name => !known.has(name))

const count = (sql: string) => (db.prepare(sql).pluck().get() as number | null) ?? 0

async function look(): Promise<Found> {
  const all = { from: 0, to: Date.UTC(2100, 0) }
  const live = await historian.read({ building_id: 'live', point_ids: POINTS, ...all })
  const minutes = live[0]!.ts.length
  const whole = live.every(
    ({ ts, values }) => ts.length === minutes && ts.every((t, i) => t === T + i * MINUTE) && values.every((v, i) => v === i),
  )
  const [loaded] = await historian.read({ building_id: 'package', point_ids: ['p'], ...all })
  const value = loaded!.values[0] ?? 0
  const one = loaded!.values.every(v => v === value) && [0, PACKAGE_ROWS].includes(loaded!.values.length)
  const ofLive = "WHERE building = (SELECT building FROM history_buildings WHERE building_id = 'live')"
  return {
    minutes: whole ? minutes : -1,
    hot: count(`SELECT coalesce(sum(samples), 0) FROM hot_chunks ${ofLive}`),
    sealed: count(`SELECT sum(samples) FROM part_points JOIN parts USING (part) ${ofLive}`),
    package: one ? value : -1,
    parts: count('SELECT count(*) FROM parts'),
    orphans: orphans.length,
    wrong: [...listed().filter(name => !existsSync(join(root, name))), ...orphans.filter(name => existsSync(join(root, name)))],
  }
}

async function* packageOf(value: number): AsyncGenerator<PointRows> {
  const ts = Float64Array.from({ length: PACKAGE_ROWS }, (_, i) => T + i * 10 * MINUTE)
  yield { point_id: 'p', series: { ts, values: new Float64Array(PACKAGE_ROWS).fill(value) } }
}

// The process that seals is there from now on.
await historian.append('earlier', [{ id: 'p', t: T - HOUR, v: Date.now() }])
await historian.seal({ before: T })
const found = await look()
say(found)

let minute = found.minutes
const appending = async () => {
  for (;;) {
    const t = T + minute * MINUTE
    await historian.append(
      'live',
      POINTS.map(id => ({ id, t, v: minute })),
    )
    minute += 1
    say({ minutes: minute })
    await new Promise(resolve => setImmediate(resolve)) // lets the other loop have a turn
  }
}
const sealing = async () => {
  for (let n = 1; ; n++) {
    await historian.seal({ before: T + (minute - 5) * MINUTE })
    if (n % 2) continue
    const value = found.package + n
    await historian.load('package', ['p'], 'replace', packageOf(value))
    say({ package: value })
  }
}
await Promise.all([appending(), sealing()])
