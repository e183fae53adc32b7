/** Central over real SQLite, real history and real HTTP, on loopback. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino, { type Logger } from 'pino'
import type { RestoreOptions } from '#shared/central/backup/restores.ts'
import type { BackupSchedule } from '#shared/central/backup/backups.ts'
import { type Central, createCentral } from '#shared/central/central.ts'
import type { Effective } from '#shared/core/env.ts'
import type { Finding } from '#shared/core/findings/finding.ts'
import type { Clock } from '#shared/core/ports.ts'
import { pageRoutes } from '#shared/central/pages/routes.ts'
import { createPageLayout } from '#shared/central/pages/create-layout.ts'
import { withoutInspection } from '#shared/central/inspection.ts'
import { openWorkspace, type Workspace } from '#shared/central/workspace.ts'
import type { MailSettings } from '#shared/node/alerts/mail.ts'
import { wallClock } from '#shared/node/clock.ts'
import { type HttpService, openHttp } from '#shared/node/http/server.ts'
import { keepParsedRules, takeParsedRules } from '../rules/parsed-rules.ts'
import { useQuickHashes } from '../suite/quick-hashes.ts'
import type { EdgeRefusals, EdgeReturn, EdgeTroubles } from '#shared/central/alerts/conditions.ts'

const VERSION = '0.0.0+000000000000'
export const SECRET = 'a-secret-for-tests-only-0123456789abcdef'
export const PASSWORDS = { admin: 'admin-password-1', agent: 'agent-password-1', viewer: 'viewer-password-1' }
export const EFFECTIVE: Effective[] = [{ name: 'SERVICE_JWT_SECRET', value: '********', source: 'file', doc: 'signs tokens' }]
const SHELL = { product: 'hub', name: 'Test', first: 'Fleet' } as const
export type Who = 'admin' | 'operator' | 'viewer' | 'nobody'

export type Answer = { status: number; headers: Headers; body: any; text: string }
export type TestCentral = {
  central: Central & Pick<Workspace, 'db' | 'stores' | 'historian' | 'ballast'>
  http: HttpService
  url: string
  workspace: string
  /** Findings that central reported to its process. */
  told: Finding[]
  call(who: Who, method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  close(): Promise<void>
}

export async function startCentral(
  given: {
    clock?: Clock
    workspace?: string
    secret?: string | undefined
    screening?: boolean
    resultsDir?: string
    backups?: BackupSchedule
    restore?: RestoreOptions
    mail?: MailSettings
    watchEdges?: boolean
    edgeTroubles?: EdgeTroubles
    edgeReturn?: EdgeReturn
    edgeRefusals?: EdgeRefusals
    scheduled?: boolean
    ballastBytes?: number
    passwords?: typeof PASSWORDS
    trustedProxies?: string[]
    log?: Logger
    /** With the pages that box and hub have in common. */
    pages?: boolean
  } = {},
): Promise<TestCentral> {
  useQuickHashes()
  const workspace = given.workspace ?? mkdtempSync(join(tmpdir(), 'plenum-central-'))
  const told: Finding[] = []
  const log = given.log ?? pino({ level: 'error' }, pino.destination(2))
  const trustedProxies = given.trustedProxies ?? []
  const clock = given.clock ?? wallClock
  if (given.workspace === undefined) takeParsedRules(workspace, VERSION)
  const opened = await openWorkspace({
    path: workspace,
    parquetRoot: undefined,
    memoryMb: 128,
    ballastBytes: given.ballastBytes ?? 64 * 1024,
    clock,
    log,
  })
  const central = createCentral(opened, {
    service: 'test',
    version: VERSION,
    inspection: withoutInspection(EFFECTIVE),
    clock,
    log,
    resultsDir: given.resultsDir,
    backups: given.backups,
    restore: given.restore,
    mail: given.mail,
    watchEdges: given.watchEdges ?? false,
    ...(given.edgeTroubles && { edgeTroubles: given.edgeTroubles }),
    ...(given.edgeReturn && { edgeReturn: given.edgeReturn }),
    ...(given.edgeRefusals && { edgeRefusals: given.edgeRefusals }),
    memoryMb: 128,
    ruleSecs: 30,
    screening: given.screening ?? false,
    site_id: 'site-1',
    auth: {
      secret: 'secret' in given ? given.secret : SECRET,
      passwords: given.passwords ?? PASSWORDS,
      apiKey: 'key-of-the-older-api',
      trustedProxies,
    },
    scheduled: given.scheduled ?? false,
    onFindings: findings => void told.push(...findings),
    health: {
      checks: {},
      counters: () => ({ edges: 0, ingest_ok: 0, ingest_duplicate: 0, ingest_rejected: 0, last_ingest_at: null }),
    },
  })
  const { context, routes } = central
  const services = [...opened.services, ...central.services]
  const http = await openHttp({
    name: 'test',
    host: '127.0.0.1',
    port: 0,
    routes: given.pages ? [...routes, ...pageRoutes(context, createPageLayout(context, SHELL))] : routes,
    auth: context.auth,
    audit: context.audit,
    log,
    version: context.version,
    trustedProxies,
  })
  for (const service of services) await service.start()
  await http.start()
  const tokens = new Map<Who, string>()
  const call: TestCentral['call'] = async (who, method, path, body, headers = {}) => {
    const token = who === 'nobody' ? undefined : await tokenOf(who, tokens, http.url())
    const isRaw = body instanceof FormData || typeof body === 'string' || body instanceof Uint8Array
    const response = await fetch(http.url() + path, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && !isRaw && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: isRaw ? (body as FormData | string | Uint8Array<ArrayBuffer>) : JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json')
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && text !== '' ? JSON.parse(text) : undefined,
    }
  }
  return {
    central: { ...opened, ...central, services },
    http,
    url: http.url(),
    workspace,
    told,
    call,
    async close() {
      await http.stop()
      for (const service of services.toReversed()) await service.stop()
      keepParsedRules(workspace, VERSION)
      if (given.workspace === undefined) rmSync(workspace, { recursive: true, force: true })
    },
  }
}

async function tokenOf(who: Exclude<Who, 'nobody'>, tokens: Map<Who, string>, url: string): Promise<string> {
  const known = tokens.get(who)
  if (known) return known
  const username = who === 'operator' ? 'agent' : who
  const response = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password: PASSWORDS[username] }),
  })
  const { token } = (await response.json()) as { token: string }
  tokens.set(who, token)
  return token
}
