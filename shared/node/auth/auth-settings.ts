import { isIP } from 'node:net'
import type { Settings, VariableTable } from '#shared/core/env.ts'

/** The variables that decide who may call; every main with an HTTP port spreads them into its table. */
export const AUTH_VARIABLES = {
  SERVICE_JWT_SECRET: { kind: 'text', secret: true, minLength: 32, doc: 'signs the tokens, at least 32 characters' },
  SERVICE_ADMIN_PASSWORD: { kind: 'text', secret: true, doc: 'password of the login admin' },
  SERVICE_AGENT_PASSWORD: { kind: 'text', secret: true, doc: 'password of the login agent (operator)' },
  SERVICE_VIEWER_PASSWORD: { kind: 'text', secret: true, doc: 'password of the login viewer' },
  SERVICE_API_KEY: {
    kind: 'text',
    secret: true,
    minLength: 16,
    doc: 'opens the older API (/config, /rules, /run-fdd) to scripts',
  },
  SERVICE_DEV_OPEN: { kind: 'flag', default: false, doc: 'no login at all; only on loopback and without a secret' },
  SERVICE_TRUSTED_PROXIES: {
    kind: 'text',
    default: '',
    doc: 'addresses or networks, by comma, whose X-Forwarded-* headers count',
  },
} as const satisfies VariableTable

export type AuthSettings = {
  /** Undefined: everything is open to everyone on this machine. */
  secret: string | undefined
  passwords: { admin: string | undefined; agent: string | undefined; viewer: string | undefined }
  /** Opens the older API to scripts that know it. */
  apiKey?: string | undefined
  trustedProxies: string[]
}
type AuthSettingsResult = { ok: true; settings: AuthSettings } | { ok: false; complaints: string[] }

const LOOPBACK = /^(127(\.\d{1,3}){3}|::1|localhost)$/

/** @returns whether an address to bind to, or a host in a URL, stays on this machine */
export const isLoopback = (host: string): boolean => LOOPBACK.test(host)

/**
 * Fails closed: without a secret a process may only listen on loopback, and only when the settings allow it.
 *
 * @param bind the address that the process will listen on
 * @returns the settings, or all complaints at once
 */
export function authSettings(env: Settings<typeof AUTH_VARIABLES>, bind: string): AuthSettingsResult {
  const complaints: string[] = []
  const secret = env.SERVICE_JWT_SECRET
  const passwords = {
    admin: env.SERVICE_ADMIN_PASSWORD,
    agent: env.SERVICE_AGENT_PASSWORD,
    viewer: env.SERVICE_VIEWER_PASSWORD,
  }
  if (secret === undefined && !(env.SERVICE_DEV_OPEN && isLoopback(bind))) {
    const way = 'set at least 32 characters, or bind to loopback with SERVICE_DEV_OPEN=1'
    complaints.push(`SERVICE_JWT_SECRET: without it everyone on ${bind} would be let in; ${way}`)
  }
  if (secret !== undefined && secret.length < AUTH_VARIABLES.SERVICE_JWT_SECRET.minLength) {
    complaints.push('SERVICE_JWT_SECRET: takes at least 32 characters')
  }
  for (const user of ['agent', 'viewer'] as const) {
    if (passwords[user] !== undefined && passwords[user] === passwords.admin) {
      complaints.push(`SERVICE_${user.toUpperCase()}_PASSWORD: must differ from SERVICE_ADMIN_PASSWORD`)
    }
  }
  complaints.push(...complainOfProxies(env.SERVICE_TRUSTED_PROXIES))
  if (complaints.length) return { ok: false, complaints }
  const trustedProxies = proxiesOf(env.SERVICE_TRUSTED_PROXIES)
  return { ok: true, settings: { secret, passwords, apiKey: env.SERVICE_API_KEY, trustedProxies } }
}

/** The list that SERVICE_TRUSTED_PROXIES holds. */
export const proxiesOf = (text: string): string[] =>
  text
    .split(',')
    .map(one => one.trim())
    .filter(Boolean)

/** @returns a complaint for each entry that is no address and no network, or is everybody */
export function complainOfProxies(text: string): string[] {
  return proxiesOf(text).flatMap(one => {
    const [address = '', bits, ...more] = one.split('/')
    const version = isIP(address)
    const fits = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
    if (version === 0 || !fits || more.length > 0) {
      return [`SERVICE_TRUSTED_PROXIES: "${one}" is no address and no network such as 10.0.0.0/8`]
    }
    return Number(bits ?? 1) > 0 ? [] : [`SERVICE_TRUSTED_PROXIES: with ${one} every client could choose its address`]
  })
}
