/** A central of its own in this process, on loopback and in a temporary workspace, used over its public API. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { problemPages } from '#shared/central/pages/login.route.ts'
import { pageRoutes } from '#shared/central/pages/routes.ts'
import { createPageLayout } from '#shared/central/pages/create-layout.ts'
import { createCentral } from '#shared/central/central.ts'
import { withoutInspection } from '#shared/central/inspection.ts'
import { openWorkspace } from '#shared/central/workspace.ts'
import type { EquipmentDay } from '#shared/core/rules/evaluate/run-types.ts'
import type { Finding, RuleResult } from '#shared/core/findings/finding.ts'
import { wallClock } from '#shared/node/clock.ts'
import { openHttp } from '#shared/node/http/server.ts'
import { readVersion } from '#shared/node/version.ts'
import { fleetRoutes } from '#hub/pages/fleet.route.ts'
import { type Package, zipPackage } from './package.ts'

/** A finding as the API gives it: instants as texts. */
export type FindingView = Omit<Finding, 'from' | 'to'> & { from: string; to: string | null }
export type RunReply = { results: RuleResult[]; days: EquipmentDay[]; failed: { rule_id: string; error: string }[] }
export type RuleView = { id: string; title: string; kind: Finding['kind'] }
type Imported = { rows_in: number; rows_written: number; rows_rejected: number }

export type Session = {
  /** @throws Error with what the preflight or the import says */
  importPackage(contents: Package): Promise<Imported>
  get<T>(path: string): Promise<T>
  post<T>(path: string, body: unknown): Promise<T>
  /** Follows the pages of a list to its end. @param key where the items stand in an answer */
  list<T>(path: string, key: string): Promise<T[]>
  /** The hub's pages, for a person to look at. */
  pages: { url: string; username: string; password: string }
  close(): Promise<void>
}

/** DuckDB's limit; the sets that are scored here are small. */
const MEMORY_MB = 256
const PAGE = 1000

export async function openSession(): Promise<Session> {
  const workspace = mkdtempSync(join(tmpdir(), 'plenum-session-'))
  const secret = () => randomBytes(24).toString('hex')
  const [agent, admin] = [secret(), secret()]
  const log = pino({ level: 'error' }, pino.destination({ dest: 2, sync: true }))
  const own = { memoryMb: MEMORY_MB, clock: wallClock, log }
  const opened = await openWorkspace({ ...own, path: workspace, parquetRoot: undefined })
  const central = createCentral(opened, {
    ...own,
    service: 'session',
    version: readVersion(),
    inspection: withoutInspection(),
    site_id: 'local',
    auth: { secret: secret(), passwords: { agent, admin, viewer: undefined }, apiKey: undefined, trustedProxies: [] },
    scheduled: false,
    screening: true,
    onFindings: () => undefined,
    health: {
      checks: {},
      counters: () => ({ edges: 0, ingest_ok: 0, ingest_duplicate: 0, ingest_rejected: 0, last_ingest_at: null }),
    },
  })
  const { context, routes } = central
  const services = [...opened.services, ...central.services]
  const { auth, audit, version } = context
  const layout = createPageLayout(context, { product: 'hub', name: 'import', first: 'Fleet' })
  const http = await openHttp({
    name: 'session',
    host: '127.0.0.1',
    port: 0,
    routes: [...routes, ...pageRoutes(context, layout), ...fleetRoutes(context, layout)],
    auth,
    audit,
    log,
    version,
    trustedProxies: [],
    problemPage: problemPages(layout),
  })
  for (const service of services) await service.start()
  await http.start()
  const { token } = await send<{ token: string }>(`${http.url()}/api/auth/login`, undefined, {
    username: 'agent',
    password: agent,
  })
  const post = <T>(path: string, body: unknown) => send<T>(http.url() + path, token, body)
  return {
    pages: { url: http.url(), username: 'agent', password: agent },
    importPackage: contents => importPackage(contents, post),
    get: path => send(http.url() + path, token),
    post,
    async list<T>(path: string, key: string): Promise<T[]> {
      const items: T[] = []
      for (let cursor: string | undefined; ; ) {
        const page = new URLSearchParams({ limit: String(PAGE), ...(cursor && { cursor }) })
        const answer = await send<Record<string, unknown>>(`${http.url()}${path}${path.includes('?') ? '&' : '?'}${page}`, token)
        items.push(...(answer[key] as T[]))
        cursor = answer['next_cursor'] as string | undefined
        if (!cursor) return items
      }
    },
    async close() {
      await http.stop()
      for (const service of services.toReversed()) await service.stop()
      rmSync(workspace, { recursive: true, force: true })
    },
  }
}

async function importPackage(contents: Package, post: Session['post']): Promise<Imported> {
  const form = new FormData()
  form.append('package', new Blob([new Uint8Array(await zipPackage(contents))]), 'package.zip')
  const preflight = await post<Preflight>('/api/csv/import/preflight', form)
  if (!preflight.can_execute) {
    const errors = preflight.checks
      .filter(({ severity }) => severity === 'error')
      .map(({ code, message }) => `${code}: ${message}`)
    throw new Error(`the package is refused: ${errors.join('; ')}`)
  }
  return post<Imported>('/api/csv/import/execute', { session_id: preflight.session_id, confirm: true })
}
type Preflight = { session_id: string; can_execute: boolean; checks: { code: string; severity: string; message: string }[] }

/** @throws Error with the problem's code and detail */
async function send<T>(url: string, token: string | undefined, body?: unknown): Promise<T> {
  const isForm = body instanceof FormData
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
  })
  const answer = (await response.json()) as T & { code?: string; detail?: string }
  if (!response.ok) throw new Error(`${new URL(url).pathname}: ${answer.code ?? response.status} ${answer.detail ?? ''}`)
  return answer
}
