/** A hub that goes back to an earlier state while its edges go on: what they still have is stored once, and what is missing is said. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { hubHealth } from '#hub/ingest/health.ts'
import { folder, until } from '../../support/folders.ts'
import { makeAuthority, page, reading, startBroker, startEdge, startHub } from '../../support/sites/transport-site.ts'

const MB = 2 ** 20

/** @param between writes what the backup lacks, beginning with reading 501 */
async function restoreBehind(t: ExecutionContext, between: (write: (n: number) => Promise<void>) => Promise<void>) {
  const dir = folder(t)
  const certs = join(dir, 'pki')
  const pki = await makeAuthority(certs)
  const broker = await startBroker(certs)
  t.teardown(broker.stop)
  const open = (name: string) => startHub(certs, join(dir, name), broker.port())
  const kit = await pki.kit({ site_id: 'A', edge_id: 'e1', broker_host: '127.0.0.1', broker_port: broker.port() })
  const edge = await startEdge(kit, join(dir, 'outbox'), 2 * MB)
  t.teardown(edge.stop)
  const acknowledged = () => until(() => edge.state().backlog === 0, 'everything is acknowledged', 120_000)
  const write = (n: number) => edge.outbox.write(page(n))
  const first = await open('hub')
  await write(0)
  await acknowledged()
  await first.stop()
  cpSync(join(dir, 'hub'), join(dir, 'backup'), { recursive: true })
  const second = await open('hub')
  await between(write)
  await acknowledged()
  await second.stop()
  const restored = await open('backup')
  t.teardown(restored.stop)
  await edge.outbox.write([reading(1_000_000)])
  await acknowledged()
  const values = restored.samples().map(({ v }) => v)
  t.deepEqual(
    values,
    [...new Set(values)].toSorted((a, b) => a - b),
    'each once',
  )
  const { checks } = hubHealth({ ...restored, broker: undefined, ingestService: restored.ingestService }, Date.now)
  return { values, ingest: await checks['ingest']!() }
}

test('what edges have sent after the backup of a hub is stored again where they still have it', async t => {
  const { values, ingest } = await restoreBehind(t, async write => {
    for (const n of [1, 2]) await write(n)
  })
  t.is(values.length, 1501)
  t.like(ingest, { status: 'ok', next_streams: 0 })
})

test('where edges no longer have all of it, the rest is stored once, and health counts that something is missing', async t => {
  const { values, ingest } = await restoreBehind(t, async write => {
    for (let n = 1; n <= 120; n++) await write(n)
  })
  t.true(values.length < 121 * 500, 'the outbox has dropped what was acknowledged')
  t.is(values[499], 499)
  t.is(values.at(-1), 1_000_000)
  t.like(ingest, { next_streams: 1 })
})
