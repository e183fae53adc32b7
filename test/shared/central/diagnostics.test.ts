import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import pino from 'pino'
import { CENTRAL_ENV } from '#hub/central/env.ts'
import { readEnv, type VariableTable } from '#shared/core/env.ts'
import { PACKAGE_LIMITS } from '#shared/core/csv/package-limits.ts'
import { diagnosticsFile } from '#shared/central/diagnostics.ts'
import { readLog } from '#shared/central/inspection.ts'
import { createCentralOf, openWorkspaceOf } from '#shared/central/process.ts'
import { wallClock } from '#shared/node/clock.ts'
import { RecentLog } from '#shared/node/recent-log.ts'
import { unpackZip } from '#shared/node/zip.ts'
import { folder } from '../../support/folders.ts'

/** Where the secret is the password of an address. */
const IN_ADDRESS: Record<string, string> = {
  SERVICE_SMTP_URL: 'smtp://mailer:*@mail.example:587',
  SERVICE_CLUSTER_URL: 'postgres://hub:*@data.example/hub',
}

/** A value for each secret of the process, in the form that the table asks for. */
const SECRETS = Object.fromEntries(
  Object.entries(CENTRAL_ENV as VariableTable).flatMap(([name, { secret }], i) => {
    if (!secret) return []
    const value = `canary-${i}-with-more-than-thirty-two-characters`
    return [[name, IN_ADDRESS[name]?.replace('*', value) ?? value]]
  }),
)

async function openCentral(t: ExecutionContext) {
  const env = {
    ...SECRETS,
    SERVICE_WORKSPACE: folder(t),
    SERVICE_CENTRAL_BIND: '127.0.0.1',
    SERVICE_SMTP_FROM: 'box@mail.example',
    SERVICE_BACKUP_DIR: folder(t),
  }
  const read = readEnv(CENTRAL_ENV, { env }, () => '')
  if (!read.ok) throw new Error(read.complaints.join('; '))
  const recent = new RecentLog()
  const log = pino({ level: 'info', base: { name: 'test' } }, { write: (line: string) => recent.add(line) })
  const own = { clock: wallClock, log }
  const opened = await openWorkspaceOf(read.settings, own)
  const counters = { edges: 0, ingest_ok: 0, ingest_duplicate: 0, ingest_rejected: 0, last_ingest_at: null }
  const central = createCentralOf(read.settings, opened, {
    ...{ ...own, recent, effective: read.effective, service: 'test', scheduled: false, onFindings: () => undefined },
    health: { checks: {}, counters: () => counters },
    sources: { 'own.json': () => ({ leaked: Object.values(SECRETS) }) },
  })
  t.teardown(async () => {
    for (const service of [...opened.services, ...central.services].toReversed()) await service.stop()
  })
  return central
}

async function unpacked(t: ExecutionContext, zip: Buffer): Promise<Map<string, string>> {
  const at = folder(t)
  const to = join(at, 'files')
  mkdirSync(to)
  writeFileSync(join(at, 'diagnostics.zip'), zip)
  const files = await unpackZip(join(at, 'diagnostics.zip'), to, PACKAGE_LIMITS)
  return new Map(files.map(({ path, file }) => [path, readFileSync(file, 'utf8')]))
}

test('a file of diagnostics has settings, log, health and machine, and no secret of the process', async t => {
  const { context } = await openCentral(t)
  t.is(Object.keys(SECRETS).length, 9, 'a new secret is tried as well: raise this figure')
  for (const [name, value] of Object.entries(SECRETS)) context.log.warn({ name_of_setting: name }, `cannot use ${value}`)
  const files = await unpacked(t, await diagnosticsFile(context))
  const names = ['about', 'health', 'settings', 'machine', 'storage', 'edges', 'runs', 'own'].map(name => `${name}.json`)
  t.deepEqual([...files.keys()], [...names, 'log.jsonl'])
  const all = [...files.values()].join('\n')
  for (const [name, value] of Object.entries(SECRETS)) {
    t.false(all.includes(value), name)
    t.false(all.includes(/canary-\d+[a-z-]*/.exec(value)![0]), `${name} in parts`)
  }
  t.is(files.get('log.jsonl')!.match(/cannot use \*{8}/g)?.length, 9)
  const settings: { name: string; value: string; source: string }[] = JSON.parse(files.get('settings.json')!)
  t.like(
    settings.find(({ name }) => name === 'SERVICE_SMTP_FROM'),
    { value: 'box@mail.example', source: 'environment' },
  )
  t.is(JSON.parse(files.get('health.json')!).service, 'test')
})

test('the log is read newest first from a level on, also when a line was cut', async t => {
  const { context } = await openCentral(t)
  const { inspection } = context
  context.log.info('one')
  context.log.warn({ device: 'meter' }, 'two')
  inspection.recent.add('{"level":30,"msg":"cut in the mid')
  context.log.error('three')
  const shown = (least: 'debug' | 'warn') =>
    readLog(inspection, { level: least, limit: 10 }).lines.map(({ level, text }) => `${level} ${text}`)
  t.deepEqual(shown('debug'), ['error three', 'warn two', 'info one'])
  t.deepEqual(shown('warn'), ['error three', 'warn two'])
  t.deepEqual(readLog(inspection, { level: 'warn', limit: 2 }).lines[1]!.fields, { device: 'meter' })
  t.deepEqual(
    readLog(inspection, { limit: 1 }).lines.map(({ text }) => text),
    ['three'],
  )
  for (let i = 0; i < 1500; i++) inspection.recent.add(`{"level":30,"msg":"line ${i}"}`)
  const { lines, total } = inspection.recent.read()
  t.deepEqual([lines.length, total], [1000, 1504])
})

test('the log is read page by page, also while lines come and where they are longer than a message', async t => {
  const { context } = await openCentral(t)
  const { inspection } = context
  for (let i = 1; i <= 50; i++) context.log.info(`line ${i}`)
  const first = readLog(inspection, { limit: 20 })
  t.is(first.level, 'info')
  for (let i = 51; i <= 60; i++) context.log.info(`line ${i}`)
  const second = readLog(inspection, { limit: 20, before_line: first.next_before_line! })
  const third = readLog(inspection, { limit: 20, before_line: second.next_before_line! })
  const texts = [first, second, third].flatMap(({ lines }) => lines.map(({ text }) => text))
  t.deepEqual(
    texts,
    Array.from({ length: 50 }, (_, i) => `line ${50 - i}`),
  )
  t.is(third.next_before_line, undefined)
  t.deepEqual(readLog(inspection, { before_line: 1 }).lines, [])

  for (let i = 0; i < 500; i++) context.log.warn({ wide: 'é'.repeat(1500) }, `wide ${i}`)
  const wide = readLog(inspection, { level: 'warn', limit: 500 })
  t.true(Buffer.byteLength(JSON.stringify(wide)) < 200 * 1024)
  t.true(wide.lines.length > 20)
  t.is(
    readLog(inspection, { level: 'warn', limit: 1, before_line: wide.next_before_line! }).lines[0]!.text,
    `wide ${499 - wide.lines.length}`,
  )
})
