/** A hub with tenants, without a broker, over real HTTP on loopback. */
import { type Dirent, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { CENTRAL_ENV } from '#hub/central/env.ts'
import { openCentralFiles } from '#hub/broker/files.ts'
import { type HubCentral, openHubCentral, serveHub } from '#hub/central/open.ts'
import { readEnv } from '#shared/core/env.ts'
import type { EdgeModel } from '#shared/core/telemetry/metadata.ts'
import { writeMetadata } from '#shared/core/telemetry/metadata.ts'
import { packBody } from '#shared/core/telemetry/body.ts'
import { writeTelemetry } from '#shared/core/telemetry/telemetry.ts'
import { topicOf } from '#shared/core/topic/topics.ts'
import { processPublish } from '#shared/flow/ingest/mqtt-ingest.ts'
import { wallClock } from '#shared/node/clock.ts'
import { RecentLog } from '#shared/node/recent-log.ts'
import { readVersion } from '#shared/node/version.ts'
import { freePort } from '#scripts/lib/free-port.ts'
import { PASSWORDS, SECRET } from './central-site.ts'
import { silent } from './transport-site.ts'
import { folder } from '../folders.ts'
import { envelope } from '../messages.ts'
import { keepParsedRules, takeParsedRules } from '../rules/parsed-rules.ts'
import { useQuickHashes } from '../suite/quick-hashes.ts'

/** Of the program, as its processes say it. */
const VERSION = readVersion()

/** @returns the workspaces of tenants, where `entry` is their folder */
const tenantsIn = ({ name, parentPath }: Dirent): string[] =>
  name === 'tenants' ? readdirSync(join(parentPath, name)).map(tenant => join(parentPath, name, tenant)) : []

export type TenantSite = Awaited<ReturnType<typeof openTenantSite>>
export const OWN_PASSWORD = 'a password of my own'

/**
 * @param t whose end closes the site: a test, or what stands for the tests of one file
 * @param certs folder of an authority; there is no broker at the port that it would connect to
 */
export async function openTenantSite(
  t: Pick<ExecutionContext, 'teardown'>,
  workspace = folder(t),
  more: Record<string, string> = {},
  certs?: string,
) {
  useQuickHashes()
  const env = {
    SERVICE_WORKSPACE: workspace,
    SERVICE_MULTI_TENANT: '1',
    SERVICE_CENTRAL_BIND: '127.0.0.1',
    SERVICE_CENTRAL_PORT: String(await freePort()),
    SERVICE_JWT_SECRET: SECRET,
    SERVICE_ADMIN_PASSWORD: PASSWORDS.admin,
    SERVICE_AGENT_PASSWORD: PASSWORDS.agent,
    SERVICE_VIEWER_PASSWORD: PASSWORDS.viewer,
    ...more,
  }
  const read = readEnv(CENTRAL_ENV, { env }, () => '')
  if (!read.ok) throw new Error(read.complaints.join('; '))
  const { settings, effective } = read
  const broker = { host: '127.0.0.1', port: 1 }
  const parts = {
    service: 'central',
    effective,
    recent: new RecentLog(),
    clock: wallClock,
    log: silent,
    files: certs === undefined ? undefined : await openCentralFiles(certs, silent),
    broker,
  }
  const workspaces = () => [workspace, ...readdirSync(workspace, { withFileTypes: true }).flatMap(tenantsIn)]
  for (const one of workspaces()) takeParsedRules(one, VERSION)
  const hub = await openHubCentral(settings, parts)
  const servers = await serveHub(settings, hub, silent)
  const services = [...hub.services, ...hub.connections, ...servers]
  for (const service of services) await service.start()
  let isOpen = true
  const close = async () => {
    if (!isOpen) return
    isOpen = false
    for (const service of services.toReversed()) await service.stop()
    for (const one of workspaces()) keepParsedRules(one, VERSION)
  }
  t.teardown(close)
  const url = `http://127.0.0.1:${settings.SERVICE_CENTRAL_PORT}`
  const call = async (
    token: string | undefined,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) => {
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json')
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined }
  }
  const login = async (username: string, password: string) => call(undefined, 'POST', '/api/auth/login', { username, password })
  const admin: string = (await login('admin', PASSWORDS.admin)).body.token
  const addTenant = async (tenant_id: string) => {
    const answer = await call(admin, 'POST', '/api/tenants', { tenant_id, name: `Customer ${tenant_id}` })
    if (answer.status < 300) takeParsedRules(join(workspace, 'tenants', tenant_id), VERSION)
    return answer
  }
  /** A user of these tenants who has chosen a password; answers with a token. */
  const addUser = async (username: string, role: string, tenants: string[]): Promise<string> => {
    const { first_password } = (await call(admin, 'POST', '/api/users', { username, role })).body
    for (const tenant_id of tenants) await call(admin, 'PUT', `/api/tenants/${tenant_id}/members/${username}`)
    const first = (await login(username, first_password)).body.token
    const change = { password: first_password, new_password: OWN_PASSWORD }
    return (await call(first, 'POST', '/api/auth/password', change)).body.token
  }
  return { workspace, url, hub, settings, call, login, admin, addTenant, addUser, close }
}

/** Metadata and one reading of an edge, as they come over the broker. */
export function sendAs({ host }: HubCentral, tenant_id: string, edge_id: string, model: EdgeModel, v: number) {
  const { site_id } = model.building
  const { ingest } = host!.of(tenant_id)!.ingestService
  const topic = { tenant_id, site_id, edge_id }
  processPublish(ingest, topicOf({ ...topic, kind: 'metadata' }), packBody(writeMetadata(site_id, edge_id, model)))
  const head = { ...envelope(1), site_id, edge_id, sent_at: Date.now() }
  const readings = [{ id: 'p1', t: Date.now() - 1000, v, q: 'good' as const }]
  const body = packBody(writeTelemetry({ ...head, protocol: 'bacnet', time_synced: true, readings }))
  return processPublish(ingest, topicOf({ ...topic, kind: 'telemetry', protocol: 'bacnet' }), body)
}
