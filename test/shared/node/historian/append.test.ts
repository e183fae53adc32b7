import test from 'ava'
import { toHours } from '#shared/core/series/buckets.ts'
import { openAppend } from '#shared/node/historian/append.ts'
import { packHours } from '#shared/node/historian/hours.ts'
import { openManifestWriter } from '#shared/node/historian/manifest-writer.ts'
import { temporaryDatabase } from '../../../support/sites/workspace.ts'

test('a sample that is sealed while another is looked up is looked up too', async t => {
  const db = temporaryDatabase(t)
  const manifest = openManifestWriter(db)
  const sealed = new Map<number, number>()
  const seal = (at: number, value: number) =>
    manifest.commit(list => {
      const hours = packHours(toHours({ ts: Float64Array.of(at), values: Float64Array.of(value) }))
      const points = [{ point_id: 'p', first: at, last: at, samples: 1, step: null, hours }]
      list.add(1, manifest.nextEpoch(), [{ file: `${at}.parquet`, month: '1970-01', bytes: 1, rows: 1, points }])
      db.prepare('DELETE FROM hot_chunks WHERE first = ?').run(at)
      sealed.set(at, value)
    })
  let reads = 0
  const append = openAppend(db, manifest, async ({ from, to }) => {
    const held = [...sealed].filter(([at]) => at >= from && at < to)
    if (reads++ === 0) seal(5, 50)
    return [{ ts: Float64Array.from(held, ([at]) => at), values: Float64Array.from(held, ([, value]) => value) }]
  })
  const samples = [
    { id: 'p', t: 1, v: 10 },
    { id: 'p', t: 5, v: 50 },
  ]
  t.deepEqual(await append('b', samples), { added: 2, duplicate: 0 })
  t.is(reads, 0)
  seal(1, 10)
  t.deepEqual(await append('b', samples), { added: 0, duplicate: 2 })
  t.is(reads, 2)
  t.deepEqual(db.prepare('SELECT * FROM hot_chunks').all(), [])
})
