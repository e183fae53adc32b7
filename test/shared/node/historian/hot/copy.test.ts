import test from 'ava'
import { join } from 'node:path'
import { moveEarlierSamples } from '#shared/node/historian/hot/copy.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { withHotRows } from '../../../../support/sites/hot-rows.ts'
import { temporaryFolder } from '../../../../support/sites/workspace.ts'

/** How a row of a table that earlier versions filled is written. */
const EARLIER = {
  samples: 'INSERT INTO samples (building, ts, point, value, quality, epoch) VALUES (1, @ts, 1, @value, 0, 1)',
  hot_samples: `INSERT INTO hot_samples (building, minute, point, ms, value, quality, epoch)
    VALUES (1, @minute, 1, @ts - @minute * 60000, @value, 0, 1)`,
}
for (const [table, sql] of Object.entries(EARLIER)) {
  test(`samples of an earlier version in ${table} are moved to where this one looks, also when it has run again meanwhile`, t => {
    const path = join(temporaryFolder(t), 'plenum.db')
    const opened = () => {
      const db = openDatabase(path)
      moveEarlierSamples(db)
      const rows = withHotRows(db).prepare('SELECT ts, value FROM hot_rows ORDER BY ts').raw().all()
      return { db, rows, left: db.prepare(`SELECT count(*) FROM ${table}`).pluck().get() }
    }
    const put = (db: ReturnType<typeof openDatabase>, rows: [ts: number, value: number | null][]) => {
      const one = db.prepare(sql)
      db.transaction(() => rows.forEach(([ts, value]) => one.run({ ts, value, minute: BigInt(Math.floor(ts / 60_000)) })))()
    }
    const first = opened().db
    const many = Array.from({ length: 20_000 }, (_, i): [number, number | null] => [-90_001 + i * 1000, i % 7 === 3 ? null : i])
    put(first, many)
    first.close()
    const second = opened()
    t.is(second.left, 0)
    t.deepEqual(second.rows, many)
    put(second.db, [
      [-90_001, 7],
      [5, 8],
    ])
    second.db.close()
    const third = opened()
    t.deepEqual([third.left, third.rows.length], [0, 20_001])
    t.deepEqual(third.rows[0], [-90_001, 7])
    third.db.close()
  })
}
