import { mkdirSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import pino from 'pino'
import { MINUTE } from '#shared/core/time.ts'
import { metricsService } from '#shared/central/metrics.ts'
import { createRequestCounts } from '#shared/node/http/request-counts.ts'
import { freePort } from '#scripts/lib/free-port.ts'
import { folder } from '../../../support/folders.ts'
import { startCentral } from '../../../support/sites/central-site.ts'

async function* minutes() {
  const ts = Float64Array.from({ length: 1000 }, (_, i) => Date.UTC(2026, 1, 1) + i * MINUTE)
  yield { point_id: 'p', series: { ts, values: ts.map(Math.sin) } }
}

type Use = { name: string; bytes: number; max_bytes: number | null }

test('the API says how much each class of data takes, and what bounds it', async t => {
  const [resultsDir, workspace] = [folder(t), folder(t)]
  const site = await startCentral({ resultsDir, workspace })
  t.teardown(site.close)
  const take = (at: string, bytes: number) => {
    mkdirSync(at, { recursive: true })
    writeFileSync(join(at, 'file'), Buffer.alloc(bytes))
  }
  take(join(workspace, 'imports', 'a', 'upload'), 3000)
  take(join(workspace, 'imports', 'b'), 40)
  take(join(resultsDir, 'building_id=x'), 500)
  take(join(workspace, '.cache', 'rule-states', 'x'), 7)

  const { status, body } = await site.call('admin', 'GET', '/api/storage')
  t.is(status, 200)
  const uses = new Map((body.storage as Use[]).map(({ name, ...use }) => [name, use]))
  const { blocks, bsize } = statfsSync(workspace)
  t.deepEqual(uses.get('uploads'), { bytes: 3040, max_bytes: (blocks * bsize) / 8 })
  t.deepEqual(uses.get('history'), { bytes: 0, max_bytes: (blocks * bsize) / 2 })
  t.deepEqual(uses.get('results'), { bytes: 500, max_bytes: null })
  t.deepEqual(uses.get('cache'), { bytes: 7, max_bytes: null })
  t.true(uses.get('database')!.bytes > 100_000)
  t.deepEqual(body.history, [])
  for (const who of ['viewer', 'operator'] as const) t.is((await site.call(who, 'GET', '/api/storage')).status, 403)
})

test('metrics have the same figures, with the class as a label', async t => {
  const workspace = folder(t)
  const site = await startCentral({ workspace })
  t.teardown(site.close)
  writeFileSync(join(workspace, 'imports', 'left'), Buffer.alloc(123))
  await site.central.context.loader.load('b', ['p'], 'replace', minutes())
  const at = `127.0.0.1:${await freePort()}`
  const metrics = metricsService(site.central.context, createRequestCounts(), at, pino({ level: 'silent' }))
  await metrics.start()
  t.teardown(metrics.stop)
  const text = await (await fetch(`http://${at}/metrics`)).text()
  t.regex(text, /^plenum_storage_bytes\{class="uploads"\} 123$/m)
  t.regex(text, /^plenum_storage_max_bytes\{class="uploads"\} \d+/m)
  t.regex(text, /^plenum_history_building_bytes\{building_id="b"\} \d{3,}$/m)
  t.regex(text, /^plenum_history_building_whole_from_secs\{building_id="b"\} 1769904000$/m, '2026-02')
  t.notRegex(text, /^plenum_history_building_(thinned_from_secs|max_bytes)/m)
  const { body } = await site.call('admin', 'GET', '/api/storage')
  t.like(body.history, [{ building_id: 'b', max_bytes: null, whole_from: '2026-02', thinned_from: null }])
  t.notRegex(text, /^plenum_storage_max_bytes\{class="database"\}/m)
})
