/** A central that is killed while it imports a package, and does so again: each sample is there once, with its value. */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { DuckDBInstance } from '@duckdb/node-api'
import test, { type ExecutionContext } from 'ava'
import { parquetRootIn } from '#shared/node/historian/folder.ts'
import { openReadOnly } from '#shared/node/sqlite.ts'
import { timesOf } from '../support/optional.ts'
import { airHandler, rows, table, zipForm, zipOf } from '../support/packages/packages.ts'
import { loopback, program } from './field-site.ts'
import { freeBase, temporaryFolder } from './run-start.ts'
import { withHotRows } from '../support/sites/hot-rows.ts'

const KILLS = timesOf(6, 40)
const ROWS = 12_000
/** Half of a package was in the one before it, so that an import also meets samples that are there. */
const STEP = ROWS / 2
const GRID_MS = 300_000
const FROM = Date.UTC(2025, 0, 1)
const POINTS = 3

test('an import that is killed, and repeated after each kill, leaves each sample once and no file that is not listed', async t => {
  t.timeout(900_000)
  const [dir, base] = [await temporaryFolder(t), await freeBase(1)]
  const workspace = join(dir, 'workspace')
  const central = program(t, 'central', {
    main: 'hub/central/main.ts',
    url: loopback(base),
    logs: dir,
    env: {
      ...{ SERVICE_DEV_OPEN: '1', SERVICE_CENTRAL_BIND: '127.0.0.1', SERVICE_CENTRAL_PORT: String(base) },
      ...{ SERVICE_WORKSPACE: workspace, SERVICE_MQTT_ENABLED: '0' },
    },
  })
  const post = async (path: string, body: FormData | object) => {
    const form = body instanceof FormData
    const head = form ? {} : { headers: { 'content-type': 'application/json' } }
    const answer = await fetch(central.url + path, { method: 'POST', body: form ? body : JSON.stringify(body), ...head })
    return { status: answer.status, body: (await answer.json()) as any }
  }
  const packageOf = async (n: number) => zipForm(await zipOf(airHandler(table(rows(ROWS, FROM + n * STEP * GRID_MS)))))
  const preflight = async (n: number) => (await post('/api/csv/import/preflight', await packageOf(n))).body.session_id as string
  const execute = (session_id: string) => post('/api/csv/import/execute', { session_id, confirm: true })

  await central.start()
  const first = await preflight(0)
  const begun = performance.now()
  t.is((await execute(first)).status, 200)
  const calmMs = performance.now() - begun

  let cut = 0
  for (let n = 1; n <= KILLS; n++) {
    const session = await preflight(n)
    const answer = execute(session).then(
      () => false,
      () => true,
    )
    await wait((calmMs * (n - 0.5)) / KILLS)
    await central.kill()
    if (await answer) cut++
    await central.start()
    // The package may still wait under its session; where it does not, a person sends it again.
    const again = await execute(session)
    if (again.status !== 200) t.is((await execute(await preflight(n))).status, 200)
  }
  t.log(`${cut} of ${KILLS} kills before the answer to an import of ${calmMs.toFixed(0)} ms`)
  t.true(cut > 0, 'some kills came before the answer')
  await central.stop()

  const stored = await samplesOf(t, workspace)
  const expected = ROWS + KILLS * STEP
  t.is(stored.length, POINTS * expected, 'none is missing and none is twice')
  const supply = stored.filter(([point_id]) => point_id === 'AHU-1.SAT')
  t.is(supply.length, expected)
  for (const [i, [, at, value]] of supply.entries())
    if (at !== FROM + i * GRID_MS || value !== 60 - (i % 100) / 100) t.fail(`sample ${i} is ${value} at ${at}`)
})

/** What is stored, sealed or not: point, time and value. */
async function samplesOf(t: ExecutionContext, workspace: string): Promise<[string, number, number][]> {
  const db = openReadOnly(join(workspace, 'plenum.db'))
  t.teardown(() => db.close())
  const listed = db.prepare('SELECT file FROM parts').pluck().all() as string[]
  t.deepEqual(globSync('**/*.parquet', { cwd: parquetRootIn(workspace) }).toSorted(), listed.toSorted())
  const hot = withHotRows(db)
    .prepare('SELECT point_id, ts, value FROM hot_rows JOIN history_points USING (building, point)')
    .raw()
    .all()
  const sealed = await Promise.all(listed.map(file => sealedIn(join(parquetRootIn(workspace), file))))
  return [...sealed.flat(), ...(hot as [string, number, number][])].toSorted(([, a], [, b]) => a - b)
}

async function sealedIn(path: string): Promise<[string, number, number][]> {
  const connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect()
  const read = await connection.runAndReadAll(`SELECT point_id, epoch_ms(ts)::DOUBLE, value FROM read_parquet('${path}')`)
  connection.closeSync()
  return read.getRows() as [string, number, number][]
}
