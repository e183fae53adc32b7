/** A disk that is full, for real: the ballast makes room for what must be written, and readings wait for the rest. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import pino from 'pino'
import { createIngestService } from '#shared/central/ingest-service.ts'
import { packBody } from '#shared/core/telemetry/body.ts'
import { writeMetadata } from '#shared/core/telemetry/metadata.ts'
import { writeTelemetry } from '#shared/core/telemetry/telemetry.ts'
import { MINUTE, SECOND } from '#shared/core/time.ts'
import { processPublish } from '#shared/flow/ingest/mqtt-ingest.ts'
import { ballast } from '#shared/node/ballast.ts'
import { wallClock } from '#shared/node/clock.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { openInbox, withRoom } from '#shared/node/store/inbox.ts'
import { hubHealth } from '#hub/ingest/health.ts'
import { importer } from '../../support/packages/importer.ts'
import { airHandler, rows, table } from '../../support/packages/packages.ts'
import { warmRule } from '../../support/rule-texts.ts'
import { startCentral } from '../../support/sites/central-site.ts'
import { canMountTmpfs } from '../../support/disk/mounts.ts'
import { smallDisk } from '../../support/disk/small-disk.ts'
import { folder } from '../../support/folders.ts'
import { envelope, NOON } from '../../support/messages.ts'
import { edgeModel } from '../../support/sites/transport-site.ts'

const MB = 2 ** 20
const BALLAST = 4 * MB

/** @returns a disk in a folder that is gone after the test */
const diskOf = (t: ExecutionContext, size: number) => smallDisk(t, folder(t), size)

/** Lines of a log, as objects. */
function lines() {
  const said: { level: number; msg: string; err?: unknown }[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void said.push(JSON.parse(line)) })
  return { log, said }
}

if (canMountTmpfs()) {
  test('the ballast is there from the start, emptied when the disk is full, and back when there is space, with a line for each', async t => {
    const disk = diskOf(t, 16 * MB)
    const { log, said } = lines()
    const reserve = ballast({ folder: disk.dir, bytes: BALLAST, log })
    t.teardown(reserve.stop)
    await reserve.start()
    const path = join(disk.dir, 'ballast')
    t.is(statSync(path).size, BALLAST)
    t.true(disk.freeBytes() <= 12 * MB, 'it has its bytes on the disk')
    t.notThrows(reserve.needRoom)

    disk.fill()
    t.true(disk.freeBytes() < MB)
    for (let i = 0; i < 5; i++) await reserve.check()
    t.is(statSync(path).size, 0)
    t.true(disk.freeBytes() >= BALLAST)
    t.throws(reserve.needRoom, { code: 'ENOSPC' })
    t.is(said.length, 1)

    // Some room is not enough: it would be allocated and released again and again.
    await reserve.check()
    t.true(reserve.isGivenUp())
    t.true(ballast({ folder: disk.dir, bytes: BALLAST, log }).isGivenUp(), 'also after a start')
    disk.free()
    for (let i = 0; i < 5; i++) await reserve.check()
    t.is(statSync(path).size, BALLAST)
    t.notThrows(reserve.needRoom)
    t.deepEqual(
      said.map(({ msg }) => msg),
      ['disk full: ballast given up, readings wait until there is space', 'disk has space again: readings are stored'],
    )
  })

  test('before anything is opened a full disk gets its ballast back, and where that is not enough, what is made again goes', async t => {
    const disk = diskOf(t, 16 * MB)
    const derived = join(disk.dir, 'derived')
    mkdirSync(derived)
    writeFileSync(join(derived, 'state'), Buffer.alloc(2 * MB))
    const { log, said } = lines()
    const open = () => ballast({ folder: disk.dir, bytes: BALLAST, derived: [derived], log })
    const first = open()
    await first.start()
    await first.stop()
    first.makeRoom()
    t.false(first.isGivenUp(), 'there is room')

    disk.fill()
    const next = open()
    next.makeRoom()
    t.true(next.isGivenUp())
    t.true(disk.freeBytes() >= BALLAST)
    t.true(existsSync(derived))

    disk.fill()
    open().makeRoom()
    t.true(disk.freeBytes() >= 2 * MB)
    t.false(existsSync(derived))

    mkdirSync(derived)
    await next.check()
    t.true(existsSync(derived), 'there is room for it')
    disk.fill()
    await next.check()
    t.false(existsSync(derived), 'also while it runs')
    t.deepEqual(
      said.map(({ msg }) => msg),
      [
        'disk full: ballast given up, readings wait until there is space',
        'disk full: what can be made again is deleted',
        'disk full: what can be made again is deleted',
      ],
    )
  })

  test('a database that cannot be opened on a full disk says so', t => {
    const disk = diskOf(t, MB)
    disk.fill()
    t.throws(() => openDatabase(join(disk.dir, 'plenum.db')), { message: /plenum\.db cannot be opened: the disk is full/ })
  })

  test('a ballast that a crash left half made is made anew', async t => {
    const disk = diskOf(t, 16 * MB)
    const path = join(disk.dir, 'ballast')
    execFileSync('dd', ['if=/dev/zero', `of=${path}`, 'bs=1000', 'count=1'], { stdio: 'ignore' })
    const reserve = ballast({ folder: disk.dir, bytes: BALLAST, log: lines().log })
    t.teardown(reserve.stop)
    await reserve.start()
    t.is(statSync(path).size, BALLAST)
  })

  test('a disk that is full at the start, with no room for a ballast, makes readings wait and says so once', async t => {
    const disk = diskOf(t, 2 * MB)
    disk.fill()
    const { log, said } = lines()
    const reserve = ballast({ folder: disk.dir, bytes: BALLAST, log })
    t.teardown(reserve.stop)
    await reserve.start()
    for (let i = 0; i < 5; i++) await reserve.check()
    t.true(reserve.isGivenUp())
    t.is(said.length, 1)
  })

  test('where imports have too little room a package is refused with 507, and what is written stays as it was', async t => {
    const disk = diskOf(t, 96 * MB)
    const workspace = join(disk.dir, 'workspace')
    mkdirSync(workspace)
    const site = await startCentral({ workspace, ballastBytes: BALLAST })
    t.teardown(site.close)
    const { preflight, ownBuilding } = importer(() => site)
    const { status, body } = await preflight(airHandler(table(rows(3)), { manifest: ownBuilding() }))
    t.is(status, 507)
    t.like(body, { ok: false, code: 'workspace_full' })
    t.regex(body.detail, /Only \d+ MB are free; an import needs 256 MB/)
    t.like((await site.call('nobody', 'GET', '/api/health')).body, { checks: { workspace: { status: 'warn' } } })
  })

  test('a rule that finds no room on the disk is refused with 507 and is not there; with room it is taken', async t => {
    const disk = diskOf(t, 32 * MB)
    const workspace = join(disk.dir, 'workspace')
    mkdirSync(workspace)
    const site = await startCentral({ workspace, ballastBytes: BALLAST })
    t.teardown(site.close)
    const batch = { confirm: true, rules: [{ filename: 'warm.yaml', yaml: warmRule() }] }
    const deploy = () => site.call('admin', 'POST', '/api/rules/batch', batch)
    t.is((await site.call('admin', 'GET', '/rules/warm.yaml')).status, 404)
    disk.fill()
    const refused = await deploy()
    t.is(refused.status, 507, refused.text)
    t.like(refused.body, { ok: false, code: 'workspace_full' })
    await site.central.ballast.check()
    t.true(site.central.ballast.isGivenUp())
    t.is((await deploy()).status, 507, 'what the ballast has given back is not for rules')
    disk.free()
    await site.central.ballast.check()
    t.is((await site.call('admin', 'GET', '/rules/warm.yaml')).status, 404)
    t.is((await deploy()).status, 200)
    t.is((await site.call('admin', 'GET', '/rules/warm.yaml')).status, 200)
  })

  test('on a full disk marks and deletes are written, readings wait and health fails after a minute; all recovers', async t => {
    const disk = diskOf(t, 32 * MB)
    const workspace = join(disk.dir, 'workspace')
    mkdirSync(workspace)
    const at = { now: NOON }
    const clock = { now: () => at.now, sleep: wallClock.sleep }
    const site = await startCentral({ workspace, ballastBytes: BALLAST, clock })
    t.teardown(site.close)
    const { context, db, ballast: reserve } = site.central
    const { log, said } = lines()
    const inbox = withRoom(openInbox(db), reserve.needRoom)
    const ingestService = createIngestService({ ...context, claims: context.edgeClaims, inbox, clock, log })
    const hub = hubHealth({ edges: context.edges, claims: context.edgeClaims, ingestService, broker: undefined }, clock.now)
    Object.assign(context.health.checks, { ingest: hub.checks['ingest'] })
    const health = () => site.call('nobody', 'GET', '/api/health')
    processPublish(ingestService.ingest, 'sites/A/edges/e1/metadata', packBody(writeMetadata('A', 'e1', edgeModel('A'))))
    const send = (seq: number) => {
      const readings = Array.from({ length: 500 }, (_, i) => ({ id: 'p1', t: NOON - seq * MINUTE - i, v: i, q: 'good' as const }))
      const message = writeTelemetry({ ...envelope(seq), protocol: 'bacnet', time_synced: true, readings })
      const reply = processPublish(ingestService.ingest, 'sites/A/edges/e1/telemetry/bacnet', packBody(message))
      return reply && 'ack' in reply ? reply.ack?.through_seq : undefined
    }
    t.is(send(1), 1)

    disk.fill()
    await reserve.check()
    t.true(reserve.isGivenUp())
    for (let tries = 0; tries < 20; tries++) t.is(send(2), undefined)
    t.like((await health()).body.checks.ingest, { status: 'warn' })
    at.now = NOON + 61 * SECOND
    t.is(send(2), undefined)
    const failing = await health()
    t.is(failing.status, 503)
    t.like(failing.body.checks.ingest, { status: 'fail', not_stored_secs: 61, readings_waiting: 0 })

    // What makes room and what must be known is written all the same.
    t.notThrows(() => db.prepare('DELETE FROM hot_chunks').run())
    t.is((db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[])[0]!.busy, 0)
    t.notThrows(() => db.prepare("INSERT INTO edge_marks VALUES ('A', 'e2', 'stream', 7, NULL)").run())
    const { status } = await site.call('operator', 'POST', '/api/model/buildings', {
      buildings: [{ building_id: 'b9', name: 'Nine', timezone: 'UTC', unit_system: 'si' }],
    })
    t.is(status, 200)

    disk.free()
    await reserve.check()
    t.is(send(2), 2)
    t.like(await health(), { status: 200, body: { checks: { ingest: { status: 'ok' } } } })
    t.deepEqual(
      said.map(({ msg, err }) => [msg, err]),
      [
        ['ingest: the disk is full: readings wait until there is space', undefined],
        ['ingest: messages of edges are stored again', undefined],
      ],
    )
  })
}
