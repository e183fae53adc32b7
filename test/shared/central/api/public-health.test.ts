/** Whatever is broken, everybody's routes name no point, host, path or user. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { createIngestService } from '#shared/central/ingest-service.ts'
import { publicCheck } from '#shared/central/public-health.ts'
import { packBody } from '#shared/core/telemetry/body.ts'
import { writeMetadata } from '#shared/core/telemetry/metadata.ts'
import { wallClock } from '#shared/node/clock.ts'
import { openInbox } from '#shared/node/store/inbox.ts'
import { journalCheck, pollCheck, publisherCheck } from '#appliance/services/health-checks.ts'
import { PUBLISHER_OFF } from '#appliance/services/publisher.ts'
import { hubHealth } from '#hub/ingest/health.ts'
import { edgeModel, pollStatus, silent } from '../../../support/sites/transport-site.ts'
import { finding } from '../../../support/messages.ts'
import { startCentral } from '../../../support/sites/central-site.ts'
import { processPublish } from '#shared/flow/ingest/mqtt-ingest.ts'

/** Everything that a site calls its own has this in its name, whichever way it is written. */
const MARK = 'zanzibar'
const HOST = '203.0.113.77'
const NAMED = /zanzibar|203\.0\.113\.77|\/tmp\/|\.db\b|\.jsonl?\b|admin|agent|viewer/i
const PUBLIC = ['/api/health', '/health', '/api/building/snapshot', '/api/dashboard/summary']

async function brokenSite(t: ExecutionContext) {
  const workspace = mkdtempSync(join(tmpdir(), `${MARK}-`))
  t.teardown(() => rmSync(workspace, { recursive: true, force: true }))
  const resultsDir = join(workspace, `results-${MARK}`)
  const site = await startCentral({ workspace, resultsDir })
  t.teardown(site.close)
  const { context, db, stores } = site.central
  const { model, edges, health } = context
  const named = edgeModel(MARK, `building-${MARK}`)
  const ingestService = createIngestService({
    ...context,
    claims: context.edgeClaims,
    inbox: openInbox(db),
    clock: wallClock,
    log: silent,
  })
  const topic = `sites/${MARK}/edges/edge-${MARK}`
  processPublish(ingestService.ingest, `${topic}/metadata`, packBody(writeMetadata(MARK, `edge-${MARK}`, named)))
  for (const boot_id of ['x', 'y', 'x', 'y', 'x'])
    processPublish(ingestService.ingest, `${topic}/status`, packBody({ online: true, boot_id }))
  model.put({ equipment: [{ ...named.equipment[0]!, name: `Chiller of ${MARK}` }] })
  stores.findings.put([
    { ...finding, finding_id: MARK, building_id: `building-${MARK}`, equipment_id: `ahu-${MARK}`, title: MARK },
  ])
  ingestService.ingest.monitor.recordFailure({ site_id: MARK, edge_id: MARK }, new Error(`SQLITE_FULL: ${workspace}/plenum.db`))

  const away = {
    ...PUBLISHER_OFF,
    state: 'connecting' as const,
    reason: `connect ECONNREFUSED ${HOST}:8883`,
    conflict: MARK,
    note: MARK,
  }
  const hub = hubHealth({ edges, claims: context.edgeClaims, ingestService, broker: { isConnected: () => false } }, Date.now)
  Object.assign(health.checks, hub.checks, {
    poll: () =>
      pollCheck(
        pollStatus,
        { waiting: 7, waiting_max: 9, trouble: { reason: `ENOSPC: write '${workspace}/outbox'`, since: 0 } },
        1,
        [],
      ),
    way: () => publisherCheck(away),
    priority_history: () => journalCheck({ journal: 'disabled', reason: `${MARK}.jsonl, byte 7`, first: 1, last: 2 }),
    thrown: () => {
      throw new Error(`${workspace}/thrown by agent at ${HOST}`)
    },
  })
  return { site, workspace, resultsDir, db }
}

test('with everything broken, the public routes name nothing, and those who are signed in read why', async t => {
  const { site, workspace, resultsDir } = await brokenSite(t)
  const { call } = site
  await call('nobody', 'POST', '/api/auth/login', { username: `user-${MARK}`, password: MARK })
  rmSync(resultsDir, { recursive: true, force: true })
  writeFileSync(resultsDir, 'a file where the folder was')
  mkdirSync(join(workspace, 'config'), { recursive: true })
  writeFileSync(join(workspace, 'config', 'platform.json'), `{"rules_dir": "${MARK}`)
  mkdirSync(join(workspace, 'config', '.run_fdd_now'), { recursive: true })
  for (const path of PUBLIC) {
    const { text, status } = await call('nobody', 'GET', path)
    t.true(status === 200 || status === 503, path)
    t.notRegex(text, NAMED, path)
    t.notRegex((await call('nobody', 'GET', `${path}?x=${MARK}`)).text.replaceAll(`${path}?x=${MARK}`, ''), NAMED, path)
  }
  const { body, status } = await call('nobody', 'GET', '/api/health')
  t.is(status, 503)
  t.like(body.checks, { thrown: { status: 'fail' }, way: { status: 'warn', state: 'connecting', backlog: 0 } })
  t.like(body.checks.priority_history, { status: 'warn', journal: 'disabled', records: 2 })

  t.is((await call('nobody', 'GET', '/api/health/details')).status, 401)
  const details = await call('viewer', 'GET', '/api/health/details')
  t.is(details.status, 200)
  t.false(details.body.ok)
  t.regex(details.body.checks.thrown.detail, /thrown by agent at 203/)
  t.regex(details.body.checks.way.detail, /ECONNREFUSED/)
  t.regex(details.body.checks.config.detail, /platform\.json/)
})

test('with the database gone, too', async t => {
  const { site, db } = await brokenSite(t)
  const real = db.prepare.bind(db)
  db.prepare = () => {
    throw new Error(`disk I/O error in ${site.workspace}/plenum.db`)
  }
  t.teardown(() => (db.prepare = real))
  const { status, text, body } = await site.call('nobody', 'GET', '/api/health')
  t.is(status, 503)
  t.is(body.checks.database.status, 'fail')
  t.notRegex(text, NAMED)
})

test('no text that a check may ever say gets out, under whatever name', t => {
  const leaf = fc.oneof(fc.constant(MARK), fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.constant('up'))
  const value = fc.oneof(leaf, fc.array(leaf), fc.dictionary(fc.string(), leaf))
  const word = /^(ok|warn|fail|off|connecting|up|repaired|disabled)$/
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('detail', 'reason', 'note', 'state', 'x', 'y'), value), figures => {
      for (const shown of Object.values(publicCheck({ ...figures, status: 'warn' }))) {
        const fits = shown === null || ['number', 'boolean'].includes(typeof shown) || word.test(String(shown))
        if (!fits || typeof shown === 'object' ? shown !== null : false) t.fail(JSON.stringify(shown))
      }
    }),
  )
  t.pass()
})
