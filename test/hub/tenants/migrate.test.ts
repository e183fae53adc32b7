/** Buildings of a hub are moved into a tenant by the command, with everything that belongs to them, whatever interrupts it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { runMigrate } from '#hub/tenants/migrate-command.ts'
import { packBody } from '#shared/core/telemetry/body.ts'
import { writeFindings } from '#shared/core/telemetry/findings.ts'
import { writeMetadata } from '#shared/core/telemetry/metadata.ts'
import { writeTelemetry } from '#shared/core/telemetry/telemetry.ts'
import { processPublish } from '#shared/flow/ingest/mqtt-ingest.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { COMPILED } from '#scripts/lib-start/process.ts'
import { folder } from '../../support/folders.ts'
import { envelope, finding } from '../../support/messages.ts'
import { airHandler, rows, table, zipForm, zipOf } from '../../support/packages/packages.ts'
import { edgeModel } from '../../support/sites/transport-site.ts'
import { openTenantSite, OWN_PASSWORD, sendAs, type TenantSite } from '../../support/sites/tenant-site.ts'
import { withHotRows } from '../../support/sites/hot-rows.ts'

const MAIN = fileURLToPath(new URL('../../../hub/tenants/main.ts', import.meta.url))
const ignore = { now: Date.now, onStep: () => undefined }

async function importPackage(site: TenantSite, token: string, building_id: string) {
  const zip = await zipOf(airHandler(table(rows(200)), { manifest: { building_id } }))
  const headers = { authorization: `Bearer ${token}` }
  const staged = await fetch(`${site.url}/api/csv/import/preflight`, { method: 'POST', headers, body: zipForm(zip) })
  const { session_id } = (await staged.json()) as { session_id: string }
  return site.call(token, 'POST', '/api/csv/import/execute', { session_id, confirm: true, mode: 'merge' })
}

/** Metadata, one reading and one finding of an edge of the hub itself. */
function sendToHub({ hub }: TenantSite, edge_id: string, building_id: string, seq: number) {
  const { ingest } = hub.ingestService
  const head = { ...envelope(seq), site_id: 'HQ', edge_id, sent_at: Date.now() }
  const base = `sites/HQ/edges/${edge_id}`
  const told = processPublish(ingest, `${base}/metadata`, packBody(writeMetadata('HQ', edge_id, edgeModel('HQ', building_id))))
  const readings = [{ id: 'p1', t: Date.now() - 60_000, v: seq, q: 'good' as const }]
  const body = writeTelemetry({ ...head, protocol: 'bacnet', time_synced: true, readings })
  const answer = processPublish(ingest, `${base}/telemetry/bacnet`, packBody(body))
  const found = { ...finding, building_id, finding_id: `f-${building_id}` }
  processPublish(ingest, `${base}/findings`, packBody(writeFindings({ ...head, seq: seq + 1, findings: [found] })))
  return { told, answer }
}

/** A hub with a building of an edge and one of a package, and a tenant with one user; closed. */
async function closedHub(t: ExecutionContext, { buildings = 0 } = {}) {
  const workspace = folder(t)
  const site = await openTenantSite(t, workspace)
  await site.addTenant('acme')
  await site.addUser('ann', 'admin', ['acme'])
  sendToHub(site, 'e1', 'HQ', 1)
  for (let n = 1; n <= buildings; n++) sendToHub(site, `more-${n}`, `house-${n}`, 1)
  t.is((await importPackage(site, site.admin, 'annex')).status, 200)
  const quantity = {
    quantity_id: 'q1',
    building_id: 'annex',
    equipment_id: 'AHU-1',
    kind: 'design_airflow',
    value: 1,
    unit: 'm3/s',
  }
  await site.call(site.admin, 'POST', '/api/model/quantities', quantity)
  t.is((await site.call(site.admin, 'POST', '/api/fdd/findings/f-HQ/note', { note: 'seen by Bo' })).status, 200)
  const view = { building_id: 'HQ', name: 'Supply', point_ids: ['p1'], days: 7 }
  t.is((await site.call(site.admin, 'POST', '/api/saved-trends', view)).status, 200)
  const before = await seenBy(site, site.admin)
  await site.close()
  return { workspace, before }
}

/** What a caller sees of the two buildings. */
async function seenBy(site: TenantSite, token: string) {
  const get = async (path: string) => (await site.call(token, 'GET', path)).body
  const series = `/api/fdd/series?building_id=annex&equipment_id=AHU-1&roles=sa_t&from=2026-03-01T00:00:00Z&to=2026-03-03T00:00:00Z`
  const hot = `/api/fdd/series?building_id=HQ&point_id=p1`
  return {
    buildings: (await get('/api/model/buildings')).buildings,
    points: (await get('/api/model/points?building_id=HQ')).points,
    annex: (await get('/api/model/points?building_id=annex')).points,
    sealed: (await get(series)).series,
    hot: (await get(hot)).series?.map(({ points }: { points: unknown[] }) => points?.length),
    findings: (await get('/api/fdd/findings')).findings,
    views: (await get('/api/saved-trends')).saved_trends,
    edges: (await get('/api/edges')).edges?.map(({ edge_id }: { edge_id: string }) => edge_id),
  }
}
const tokenOf = async (site: TenantSite) => (await site.login('ann', OWN_PASSWORD)).body.token as string
const env = (workspace: string) => ({ SERVICE_WORKSPACE: workspace })

test('a dry run over HTTP says what would move, and applying is refused there', async t => {
  const site = await openTenantSite(t)
  await site.addTenant('acme')
  const ann = await site.addUser('ann', 'admin', ['acme'])
  sendToHub(site, 'e1', 'HQ', 1)
  await importPackage(site, site.admin, 'annex')
  const migrate = (token: string, body: object) => site.call(token, 'POST', '/api/tenants/migrate', body)
  const planned = await migrate(site.admin, { tenant_id: 'acme' })
  t.is(planned.status, 200, planned.text)
  t.like(planned.body, { ok: true, applied: false, tenant_id: 'acme', conflicts: [] })
  const [hq, annex] = planned.body.buildings
  t.deepEqual(hq, {
    ...{ building_id: 'HQ', name: 'Building', state: 'here', edges: ['HQ/e1'] },
    ...{ points: 2, findings: 1, files: 0, bytes: 0 },
  })
  t.like(annex, { building_id: 'annex', edges: [], points: 3, findings: 0, files: 1 })
  t.true(annex.bytes > 100)
  t.is((await migrate(site.admin, { tenant_id: 'acme', building_ids: ['annex'], apply: false })).body.buildings.length, 1)
  for (const [token, body, status, code] of [
    [site.admin, { tenant_id: 'acme', apply: true }, 403, 'apply_refused_over_https'],
    [site.admin, { tenant_id: 'nobody' }, 404, 'unknown_tenant'],
    [site.admin, { tenant_id: 'legacy' }, 404, 'unknown_tenant'],
    [site.admin, { tenant_id: 'acme', building_ids: ['HQ', 'nowhere'] }, 404, 'unknown_building'],
    [site.admin, { tenant_id: 'acme', apply: 'true' }, 400, 'bad_request'],
    [ann, { tenant_id: 'acme' }, 403, 'forbidden'],
  ] as const)
    t.like(await migrate(token, body), { status, body: { code } }, JSON.stringify(body))
  t.is((await seenBy(site, site.admin)).buildings.length, 2, 'nothing has moved')
  const running = await runMigrate(['migrate', '--tenant', 'acme', '--apply'], env(site.workspace), ignore)
  t.is(running.exit, 3)
  t.regex(running.stderr, /in use by another process: stop the hub first/)
})

test('the command moves everything of the buildings, once, and the edges need another kit', async t => {
  const { workspace, before } = await closedHub(t)
  t.true(before.sealed.length > 0 && before.findings.length === 1)
  const json = (argv: string[]) =>
    runMigrate(['migrate', '--tenant', 'acme', '--json', ...argv], env(workspace), ignore).then(({ exit, stdout }) => ({
      exit,
      ...JSON.parse(stdout),
    }))
  const states = ({ buildings }: { buildings: { state: string }[] }) => buildings.map(({ state }) => state)
  const dry = await json([])
  t.deepEqual([dry.exit, dry.applied, states(dry)], [0, false, ['here', 'here']])
  const done = await json(['--apply'])
  t.deepEqual([done.exit, done.applied, states(done)], [0, true, ['here', 'here']])
  const again = await json(['--apply', '--building', 'HQ', '--building', 'annex'])
  t.deepEqual([again.exit, states(again)], [0, ['moved', 'moved']])
  t.like(again.buildings[1], {
    name: before.buildings.find((one: { building_id: string }) => one.building_id === 'annex').name,
    files: 1,
  })
  t.deepEqual(
    readdirSync(join(workspace, '.cache/parquet'))
      .filter(name => name.startsWith('building_id='))
      .flatMap(name =>
        readdirSync(join(workspace, '.cache/parquet', name), { recursive: true, encoding: 'utf8' }).filter(file =>
          file.endsWith('.parquet'),
        ),
      ),
    [],
  )

  const site = await openTenantSite(t, workspace)
  const ann = await tokenOf(site)
  t.deepEqual(await seenBy(site, ann), before)
  const note = (await site.call(ann, 'GET', '/api/fdd/findings/f-HQ')).body
  t.true(JSON.stringify(note).includes('seen by Bo'))
  const own = await seenBy(site, site.admin)
  t.deepEqual([own.buildings, own.edges, own.findings], [[], [], []])
  const rowsOf = async (token: string) => (await site.call(token, 'GET', '/api/audit?action=move_building')).body.rows.length
  t.deepEqual([await rowsOf(site.admin), await rowsOf(ann)], [2, 2])

  const late = sendToHub(site, 'e1', 'HQ', 3)
  t.is(late.answer?.ack, undefined, 'the hub acknowledges nothing under the old certificate')
  t.regex(late.told?.notices?.[0]?.text ?? '', /moved to the tenant acme: it needs a kit of this tenant/)
  t.is(sendAs(site.hub, 'acme', 'e1', edgeModel('HQ', 'HQ'), 1)?.ack?.through_seq, 2, 'the stream goes on where it was')
  t.is((await importPackage(site, ann, 'annex')).status, 200, 'history is written on')
})

test('what cannot be moved is refused before anything changes', async t => {
  const { workspace } = await closedHub(t)
  const run = (...argv: string[]) => runMigrate(['migrate', ...argv], env(workspace), ignore)
  t.is((await run()).exit, 2)
  t.is((await run('--tenant', 'acme', '--appply')).exit, 2)
  t.is((await run('--help')).exit, 0)
  t.is((await run('--tenant', 'nobody', '--apply')).exit, 3)
  t.is((await run('--tenant', 'acme', '--building', 'nowhere', '--apply')).exit, 3)
  t.is((await runMigrate(['migrate', '--tenant', 'acme'], env(join(workspace, 'elsewhere')), ignore)).exit, 78)
  const db = openDatabase(join(workspace, 'plenum.db'))
  db.prepare("UPDATE points SET edge_id = 'e1' WHERE building_id = 'annex'").run()
  db.prepare("UPDATE buildings SET site_id = 'HQ' WHERE building_id = 'annex'").run()
  db.close()
  const divided = await run('--tenant', 'acme', '--building', 'annex', '--apply', '--json')
  t.is(divided.exit, 3)
  t.like(JSON.parse(divided.stdout), { ok: false, code: 'conflict' })
  t.regex(divided.stderr, /edge HQ\/e1 measures the buildings HQ and annex: move both or neither/)
  const tenant = openDatabase(join(workspace, 'tenants/acme/plenum.db'))
  tenant.prepare("INSERT INTO buildings VALUES ('HQ', 'Other', 'HQ', 'UTC', 'si', NULL, NULL)").run()
  tenant.close()
  t.regex((await run('--tenant', 'acme', '--apply')).stderr, /the tenant has a building HQ already/)
  t.regex((await run('--tenant', 'acme')).stdout, /conflict: the tenant has a building HQ already/)
})

/** Rows of each building in a database, as `points/findings/samples of both kinds/bytes of hours`. */
function contentOf(path: string): Map<string, string> {
  const db = openDatabase(path)
  try {
    const found = withHotRows(db).prepare(
      `SELECT building_id, format('%d/%d/%d/%d/%d', (SELECT count(*) FROM points WHERE points.building_id = b.building_id),
         (SELECT count(*) FROM findings WHERE findings.building_id = b.building_id),
         (SELECT count(*) FROM hot_rows JOIN history_buildings AS h USING (building) WHERE h.building_id = b.building_id),
         (SELECT coalesce(sum(samples), 0) FROM part_points JOIN history_points USING (point)
          JOIN history_buildings AS h USING (building) WHERE h.building_id = b.building_id),
         (SELECT coalesce(sum(length(hours)), 0) FROM part_hours JOIN history_points USING (point)
          JOIN history_buildings AS h USING (building) WHERE h.building_id = b.building_id))
       FROM buildings AS b ORDER BY 1`,
    )
    return new Map(found.raw().all() as [string, string][])
  } finally {
    db.close()
  }
}

test('a move that is killed again and again is ended by the same command, and no building is ever incomplete', async t => {
  const { workspace, before } = await closedHub(t, { buildings: 30 })
  const [hub, tenant] = [join(workspace, 'plenum.db'), join(workspace, 'tenants/acme/plenum.db')]
  const whole = contentOf(hub)
  t.is(whole.size, 32)
  let kills = 0
  // The first process waits for this transaction, so it is killed in the middle however fast it is.
  const lock = openDatabase(tenant)
  lock.exec('BEGIN IMMEDIATE')
  for (let exit: number | null = null; exit !== 0; ) {
    const argv = [MAIN, 'migrate', '--tenant', 'acme', '--apply']
    const child = spawn(process.execPath, argv, { env: { ...COMPILED, ...env(workspace) }, stdio: ['ignore', 'ignore', 'pipe'] })
    const lines: string[] = []
    createInterface(child.stderr).on('line', line => {
      lines.push(line)
      // Later steps from kill to kill, and a little further until the signal arrives.
      if (kills < 12 && lines.length === 2 + (kills % 4)) child.kill('SIGKILL')
    })
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
    exit = code
    if (lock.open) lock.close()
    if (signal === 'SIGKILL') kills++
    else t.is(code, 0, lines.join('\n'))
    const [here, there] = [contentOf(hub), contentOf(tenant)]
    const incomplete = [...whole].filter(
      ([id, content]) => here.get(id) !== content && (here.has(id) || there.get(id) !== content),
    )
    t.deepEqual(incomplete, [], `after ${lines.at(-1)}`)
  }
  t.true(kills > 0)
  t.log(`killed ${kills} times`)
  t.deepEqual([contentOf(hub).size, contentOf(tenant)], [0, whole])
  const site = await openTenantSite(t, workspace)
  t.deepEqual(await seenBy(site, await tokenOf(site)), before)
})

test('an interrupted move keeps the tenant closed, and never takes the only copy for a stale one', async t => {
  const { workspace, before } = await closedHub(t)
  const argv = ['migrate', '--tenant', 'acme', '--apply']
  const stopAt = (wanted: string) => (text: string) => {
    if (text === wanted) throw new Error('no more')
  }
  const first = await runMigrate(argv, env(workspace), { now: Date.now, onStep: stopAt('HQ: deleting rows') })
  t.is(first.exit, 5)
  t.regex(first.stderr, /run the same command again/)
  const site = await openTenantSite(t, workspace)
  t.is((await site.call(await tokenOf(site), 'GET', '/api/model/buildings')).status, 503)
  sendToHub(site, 'e1', 'HQ', 3)
  const asked = (await site.call(site.admin, 'POST', '/api/tenants/migrate', { tenant_id: 'acme' })).body.buildings
  t.deepEqual(
    asked.map(({ state }: { state: string }) => state),
    ['interrupted', 'here'],
  )
  await site.addTenant('beta')
  await site.close()
  const elsewhere = await runMigrate(['migrate', '--tenant', 'beta', '--apply'], env(workspace), ignore)
  t.is(elsewhere.exit, 3)
  t.regex(elsewhere.stderr, /the move of HQ to the tenant acme was interrupted: end that one first/)

  const second = await runMigrate(argv, env(workspace), { now: Date.now, onStep: stopAt('annex: removing files') })
  t.is(second.exit, 5)
  const hub = await openTenantSite(t, workspace)
  t.is((await importPackage(hub, hub.admin, 'annex')).status, 200, 'the hub begins another building of this id')
  await hub.close()
  t.is((await runMigrate(argv, env(workspace), ignore)).exit, 0)
  const ended = await openTenantSite(t, workspace)
  const seen = await seenBy(ended, await tokenOf(ended))
  t.deepEqual([seen.sealed, seen.findings, seen.edges], [before.sealed, before.findings, before.edges])
  t.deepEqual(
    seen.hot,
    before.hot?.map((n: number) => n),
    'with what arrived in between',
  )
  t.deepEqual((await seenBy(ended, ended.admin)).sealed, before.sealed, 'the other building stays the hub’s')
})

test('every table that names a building is moved with it, or stays for a reason', t => {
  const STAYS = {
    audit: 'what the people of the hub did',
    api_tokens: 'tokens of the hub',
    building_moves: 'the moves themselves',
    edge_buildings: 'follows the table of edges, and counts on for those that were moved',
    active_findings: 'follows the table of findings',
  }
  const db = openDatabase(join(folder(t), 'plenum.db'))
  t.teardown(() => db.close())
  const tables = db
    .prepare(
      "SELECT m.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c WHERE m.type = 'table' AND c.name = 'building_id'",
    )
    .pluck()
    .all() as string[]
  const text = readFileSync(new URL('../../../hub/tenants/building-rows.ts', import.meta.url), 'utf8')
  const unknown = tables.filter(name => !(name in STAYS) && !new RegExp(`\\b${name}\\b`).test(text))
  t.deepEqual(unknown, [])
  t.true(tables.length > 15)
})
