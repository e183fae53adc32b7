/** A hub asks an edge for its log and its diagnostics, over the broker and over HTTPS. */
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import pino from 'pino'
import { inspectionOperations, inspectionService } from '#appliance/system/inspection-service.ts'
import { PACKAGE_LIMITS } from '#shared/core/csv/package-limits.ts'
import { unpackZip } from '#shared/node/zip.ts'
import { folder } from '../../support/folders.ts'
import { openSite } from '../../support/sites/page-site.ts'
import { openEdge } from '../../support/sites/priority-edge.ts'
import { joinBroker, listen, openHub } from './hub-site.ts'

const SECRET = 'a-secret-of-the-box-0123456789'
const path = (rest: string) => `/api/connectors/edge-1/${rest}`

/** A box with a log of its own, and a hub that reaches it by one transport. */
async function openReachable(t: ExecutionContext, transport: 'broker' | 'https') {
  const box = await openSite({ product: 'appliance' })
  t.teardown(box.close)
  const { inspection } = box.context
  inspection.secrets = [SECRET]
  inspection.log = pino({ base: { name: 'box' } }, { write: (line: string) => inspection.recent.add(line) })
  const service = inspectionService(() => box.context, Date.now)
  const hub = await openHub(t)
  const edge = await openEdge(t)
  const operations = inspectionOperations(service)
  const answering = transport === 'https' ? undefined : edge.service
  const { kit, heard } = await joinBroker(t, hub, 'edge-1', answering, 'A', { operations })
  if (transport === 'https') {
    const { url } = await listen(t, hub, kit, edge.service, service)
    await hub.call('agent', 'PUT', '/api/connectors/edge-1', { connector_url: url })
  }
  return { hub, box, log: inspection.log, heard }
}

for (const transport of ['broker', 'https'] as const) {
  test(`over ${transport}: the log page by page, its level, and a file of diagnostics in pieces`, async t => {
    const { hub, box, log } = await openReachable(t, transport)
    for (let i = 1; i <= 30; i++) log.info({ line: i }, `event ${i} ${SECRET}`)
    log.warn('a warning')
    const first = await hub.call('admin', 'GET', path('log?limit=20&level=info'))
    t.is(first.status, 200, JSON.stringify(first.body))
    t.like(first.body.lines[0], { level: 'warn', text: 'a warning' })
    t.like(first.body.lines[1], { text: 'event 30 ********', fields: { line: 30 } })
    const second = await hub.call('admin', 'GET', path(`log?limit=20&before_line=${first.body.next_before_line}`))
    t.is(second.body.lines.length, 11)
    t.is(second.body.next_before_line, undefined)
    t.deepEqual(
      hub.rows.filter(({ action }) => action.startsWith('edge_')),
      [],
      'reading leaves no row',
    )

    t.is(first.body.level, 'info')
    const set = await hub.call('admin', 'PUT', path('log/level'), { level: 'debug' })
    t.deepEqual(set, { status: 200, body: { ok: true, level: 'debug' } })
    t.is(log.level, 'debug')
    t.like(hub.rows.at(-1), { actor: 'admin', action: 'edge_log_level', subject: 'A/edge-1', after: { level: 'debug' } })
    t.like(box.context.audit.list({ limit: 1 })[0], { actor: 'hub', action: 'set_log_level', after: { level: 'debug' } })

    for (let i = 0; i < 300; i++) log.debug({ noise: randomBytes(1500).toString('base64') }, SECRET)
    const answer = await hub.send('admin', 'POST', path('diagnostics'))
    t.is(answer.status, 200)
    t.is(answer.headers.get('content-disposition'), 'attachment; filename="plenum-edge-1-diagnostics.zip"')
    const bytes = Buffer.from(await answer.arrayBuffer())
    t.true(bytes.length > 300_000, 'more than a message may have')
    const files = await unpacked(t, bytes)
    t.deepEqual([...files.keys()].slice(0, 3), ['about.json', 'health.json', 'settings.json'])
    t.is(files.get('log.jsonl')!.trim().split('\n').length, 331)
    t.false([...files.values()].join().includes(SECRET))
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    t.like(hub.rows.at(-1), { actor: 'admin', action: 'edge_diagnostics', after: { bytes: bytes.length, sha256 } })
  })
}

async function unpacked(t: ExecutionContext, zip: Buffer): Promise<Map<string, string>> {
  const at = folder(t)
  mkdirSync(join(at, 'files'))
  writeFileSync(join(at, 'diagnostics.zip'), zip)
  const files = await unpackZip(join(at, 'diagnostics.zip'), join(at, 'files'), PACKAGE_LIMITS)
  return new Map(files.map(({ path: name, file }) => [name, readFileSync(file, 'utf8')]))
}

const ASKS: [string, string, object?][] = [
  ['GET', 'log'],
  ['PUT', 'log/level', { level: 'debug' }],
  ['POST', 'diagnostics'],
]

test('only an admin asks; for anybody else no message leaves the hub', async t => {
  const { hub, heard } = await openReachable(t, 'broker')
  for (const [method, rest, body] of ASKS) {
    for (const who of ['viewer', 'agent'] as const) t.is((await hub.call(who, method, path(rest), body)).status, 403, rest)
    t.is((await hub.call('nobody', method, path(rest), body)).status, 401, rest)
  }
  t.deepEqual(heard, [])
  t.is((await hub.call('admin', 'GET', path('log?level=loud'))).status, 400)
  t.is((await hub.call('admin', 'PUT', path('log/level'), { level: 'loud' })).status, 400)
  t.is((await hub.call('admin', 'GET', '/api/connectors/edge-9/log')).status, 404)
  t.deepEqual(heard, [])
})

test('an edge of an older version, one that is silent and one that is gone each say so', async t => {
  const hub = await openHub(t)
  const impatient = await openHub(t, { timeoutMs: 400 })
  const older = await openEdge(t)
  await joinBroker(t, hub, 'older', older.service)
  await joinBroker(t, impatient, 'silent', undefined)
  const gone = await joinBroker(t, hub, 'gone', older.service)
  await gone.stop()
  const told: [string, number, string, RegExp][] = [
    ['older', 502, 'edge_failed', /does not know this request: its version is older/],
    ['silent', 504, 'edge_timeout', /did not answer over the broker within 0\.4 s/],
    ['gone', 502, 'edge_unreachable', /is not connected to the broker and has no HTTPS address/],
  ]
  for (const [edge_id, status, code, detail] of told) {
    for (const [method, rest, body] of ASKS) {
      const answer = await (edge_id === 'silent' ? impatient : hub).call(
        'admin',
        method,
        `/api/connectors/${edge_id}/${rest}`,
        body,
      )
      t.deepEqual([answer.status, answer.body.code], [status, code], `${edge_id} ${rest}`)
      t.regex(answer.body.detail, detail)
    }
  }
  t.deepEqual(
    hub.rows.filter(({ action }) => action.startsWith('edge_')),
    [],
  )
})

test('pieces of another file than the announced one are refused', async t => {
  const { hub } = await openReachable(t, 'broker')
  const whole = randomBytes(100_000)
  const sha256 = createHash('sha256').update(whole).digest('hex')
  const lies: [string, (offset: number) => Buffer, RegExp][] = [
    ['short', offset => whole.subarray(offset, offset + 10), /sent a piece of 10 bytes at 0 of 100000/],
    ['changed', offset => Buffer.alloc(Math.min(65_536, 100_000 - offset)), /does not have its checksum/],
  ]
  for (const [edge_id, pieceAt, detail] of lies) {
    const { service } = await openEdge(t)
    const request = inspectionOperations(inspectionService(() => undefined!, Date.now))['diagnostics']!.request
    const answer = ({ file }: { file?: { offset: number } }) => ({
      ...{ ok: true, file_id: 'f', bytes: whole.length, sha256 },
      piece: pieceAt(file?.offset ?? 0).toString('base64'),
    })
    await joinBroker(t, hub, edge_id, service, 'A', { operations: { diagnostics: { request, status: 200, answer } } })
    const { status, body } = await hub.call('admin', 'POST', `/api/connectors/${edge_id}/diagnostics`)
    t.is(status, 502)
    t.regex(body.detail, detail)
  }
})
