/** The running products that the rows of the specification are tried on. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { SignJWT } from 'jose'
import { centralPages } from '#shared/central/process.ts'
import type { Route } from '#shared/node/http/route.ts'
import { freePort } from '#scripts/lib/free-port.ts'
import { waitForHealth } from '../../scripts/lib-start/hub-client.ts'
import { startPart } from '../../scripts/lib-start/process.ts'
import { folder } from '../support/folders.ts'
import { PASSWORDS, SECRET } from '../support/sites/central-site.ts'
import { openTenantSite } from '../support/sites/tenant-site.ts'

type Ends = Pick<ExecutionContext, 'teardown'>

/** Ends of what the tests of one file share, for its `test.after.always`: hooks have no teardown of their own. */
export function sharedEnds(): Ends & { end(): Promise<void> } {
  const ends: (() => unknown)[] = []
  return {
    teardown: fn => void ends.push(fn),
    async end() {
      for (const fn of ends.toReversed()) await fn()
    },
  }
}

export const API_KEY = 'key-of-the-older-api'

type Sent = { token?: string | undefined; body?: unknown; type?: string; accept?: string; signal?: AbortSignal }
type Reply = { status: number; headers: Headers; text: string; body: any }
/** Asks as one caller. A wrong token that comes again from one network is no new guess, so none is throttled here. */
export type Send = (method: string, path: string, sent?: Sent) => Promise<Reply>

/** An event stream is left once its head is there. */
const senderTo =
  (url: string): Send =>
  async (method, path, { token, body, type, accept, signal } = {}) => {
    const isRaw = body instanceof FormData || typeof body === 'string'
    const contentType = type ?? (body === undefined || isRaw ? undefined : 'application/json')
    const left = new AbortController()
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, left.signal]) : left.signal,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(contentType !== undefined && { 'content-type': contentType }),
        ...(accept !== undefined && { accept }),
      },
      ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
    })
    const contents = response.headers.get('content-type') ?? ''
    if (contents.startsWith('text/event-stream')) left.abort()
    const text = left.signal.aborted ? '' : await response.text()
    const read = contents.includes('json') && text !== '' ? JSON.parse(text) : undefined
    return { status: response.status, headers: response.headers, text, body: read }
  }

/** A hub with central, pages and a monitor, as one customer has it or as several do. */
export async function openSpecHub(ends: Ends, more: Record<string, string> = {}) {
  const site = await openTenantSite(ends, folder(ends), { SERVICE_MULTI_TENANT: '0', SERVICE_API_KEY: API_KEY, ...more })
  const layout = { product: 'hub', name: 'Hub', first: 'Fleet' } as const
  const { routes } = centralPages({ central: site.hub.central, layout, routes: site.hub.routes })
  return { ...site, send: senderTo(site.url), routes }
}

/** An appliance without devices, as a process. */
export async function startSpecAppliance(ends: Ends, more: Record<string, string> = {}): Promise<{ send: Send; url: string }> {
  const [workspace, port] = [folder(ends), await freePort()]
  await mkdir(join(workspace, 'config'))
  const building = { building_id: 'b1', name: 'Building', timezone: 'UTC', unit_system: 'si' }
  const site = { site_id: 'local', edge_id: 'e1', building, equipment: [] }
  await writeFile(join(workspace, 'config', 'site.json'), JSON.stringify(site))
  await writeFile(join(workspace, 'config', 'field-devices.json'), JSON.stringify({ devices: [] }))
  const env = {
    SERVICE_WORKSPACE: workspace,
    SERVICE_EDGE_STORE_DIR: join(workspace, 'edge'),
    SERVICE_CENTRAL_BIND: '127.0.0.1',
    SERVICE_CENTRAL_PORT: String(port),
    SERVICE_BACNET_BIND: '127.0.0.1',
    SERVICE_BACNET_PORT: '0',
    SERVICE_JWT_SECRET: SECRET,
    SERVICE_ADMIN_PASSWORD: PASSWORDS.admin,
    SERVICE_AGENT_PASSWORD: PASSWORDS.agent,
    SERVICE_VIEWER_PASSWORD: PASSWORDS.viewer,
    SERVICE_API_KEY: API_KEY,
    ...more,
  }
  const part = startPart('appliance', 'appliance/main.ts', env, join(workspace, 'log'))
  ends.teardown(part.stop)
  const url = `http://127.0.0.1:${port}`
  if (!(await waitForHealth(url, 90_000, part.hasEnded))) throw new Error(part.lastWords().join('\n'))
  return { send: senderTo(url), url }
}

type Claims = { role?: string; sub?: string; aud?: string; lastsSecs?: number; secret?: string }
/** A token as the product signs it, or with one thing wrong. */
export function signToken({ role = 'admin', sub = 'admin', aud = 'plenum-api', lastsSecs = 600, secret = SECRET }: Claims = {}) {
  const now = Math.floor(Date.now() / 1000)
  const jwt = new SignJWT({ role }).setProtectedHeader({ alg: 'HS256', typ: 'JWT' }).setSubject(sub)
  const dated = jwt
    .setIssuer('plenum')
    .setAudience(aud)
    .setIssuedAt(now - 60)
    .setExpirationTime(now + lastsSecs)
  return dated.sign(new TextEncoder().encode(secret))
}

/** An admin's token that names no algorithm and has no signature. */
export function unsignedToken(): string {
  const now = Math.floor(Date.now() / 1000)
  const claims = { role: 'admin', sub: 'admin', iss: 'plenum', aud: 'plenum-api', iat: now, exp: now + 600 }
  const [head, body] = [{ alg: 'none', typ: 'JWT' }, claims].map(part => Buffer.from(JSON.stringify(part)).toString('base64url'))
  return `${head}.${body}.`
}

export const tokenOf = async (send: Send, username: 'admin' | 'agent' | 'viewer'): Promise<string> =>
  (await send('POST', '/api/auth/login', { body: { username, password: PASSWORDS[username] } })).body.token

/** The route with a value for each parameter of its path. */
export const pathOf = ({ path }: Pick<Route, 'path'>, value: string): string => path.replaceAll(/:\w+/g, value)
