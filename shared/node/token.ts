import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { errors, jwtVerify, SignJWT } from 'jose'
import { Problem } from '#shared/core/problem.ts'
import type { TokenEpochs } from '#shared/core/stores.ts'
import { HOUR, SECOND } from '#shared/core/time.ts'
import type { Caller, Role } from './route.ts'
import { assertSameSite, SESSION_COOKIE } from './token-session.ts'
import type { AuthSettings } from './token-settings.ts'
import { openThrottle } from './token-throttle.ts'

const ISSUER = 'plenum'
const AUDIENCE = 'plenum-api'
const LOGIN_SECS = (8 * HOUR) / SECOND
const AGENT_TTL = { default: 3600, min: 60, max: 86_400 }
const LOGIN_ROLES = { admin: 'admin', agent: 'operator', viewer: 'viewer' } as const satisfies Record<string, Role>
/** The header that carries a token. */
export const BEARER = /^Bearer +(\S+)$/i
const TOKEN_ROLES = ['viewer', 'operator', 'admin', 'edge']

/** A token and what is in it. `expires_at` in ms since 1970 UTC. */
export type Session = { token: string; subject: string; role: Role; expires_at: number }

/** Who may call. There is one in each process that listens. */
export type Auth = {
  /** False only on a machine that was told to stay open to itself. */
  required: boolean
  agentLoginConfigured: boolean
  /** @throws Problem unauthenticated, or login_throttled with `retryAfterSecs` */
  login(username: string, password: string, address: string): Promise<Session>
  /** A token for the agent tools. @param ttlSecs clamped to 60..86400, default 3600 */
  agentToken(ttlSecs: number | undefined): Promise<Session>
  /**
   * Who sends this request, by `Authorization: Bearer` or else by the session cookie.
   *
   * @returns undefined when it carries neither
   * @throws Problem unauthenticated for a bad, expired or ended token; forbidden for a cookie sent from another site
   */
  callerOf(request: FastifyRequest): Promise<Caller | undefined>
  /** The caller who knows the key of the older API; undefined without it. */
  keyCallerOf(request: FastifyRequest): Caller | undefined
  /** The value of the field `csrf` in this caller's forms. */
  formToken(caller: Caller): string
}

/** @param now the wall clock in ms: a login is a person's affair and never runs on a simulated clock */
export function openAuth({ settings, epochs, now }: { settings: AuthSettings; epochs: TokenEpochs; now: () => number }): Auth {
  const secret = settings.secret ?? randomBytes(32).toString('hex')
  const key = new TextEncoder().encode(secret)
  const throttle = openThrottle(now)
  const seconds = () => Math.floor(now() / SECOND)
  endTokensOfChangedPasswords(settings, secret, epochs, seconds())

  const mint = async (subject: string, role: Role, ttlSecs: number): Promise<Session> => {
    const [iat, exp] = [seconds(), seconds() + ttlSecs]
    const jwt = new SignJWT({ role }).setProtectedHeader({ alg: 'HS256', typ: 'JWT' }).setSubject(subject).setJti(randomUUID())
    const token = await jwt.setIssuer(ISSUER).setAudience(AUDIENCE).setIssuedAt(iat).setExpirationTime(exp).sign(key)
    return { token, subject, role, expires_at: exp * SECOND }
  }

  const verify = async (token: string, via: 'bearer' | 'cookie'): Promise<Caller> => {
    const checks = { algorithms: ['HS256'], issuer: ISSUER, audience: AUDIENCE, requiredClaims: ['sub', 'iat', 'exp'] }
    const { payload } = await jwtVerify(token, key, { ...checks, currentDate: new Date(now()) }).catch(error => {
      throw new Problem(
        'unauthenticated',
        error instanceof errors.JWTExpired ? 'The token has expired' : 'The token is not valid',
      )
    })
    const { sub, iat, role, jti } = payload
    if (!TOKEN_ROLES.includes(role as string)) throw new Problem('unauthenticated', 'The token names no role')
    if (iat! < epochs.get(sub!)) throw new Problem('unauthenticated', 'The token was ended: its password has changed')
    return { subject: sub!, role: role as Caller['role'], via, session: jti ?? fingerprint(secret, token) }
  }

  return {
    required: settings.secret !== undefined,
    agentLoginConfigured: settings.passwords.agent !== undefined,
    async login(username, password, address) {
      const pair = JSON.stringify([address, username])
      const wait = throttle.waitSecs(pair)
      if (wait > 0) throw new LoginThrottled(wait)
      const role = Object.hasOwn(LOGIN_ROLES, username) ? LOGIN_ROLES[username as keyof typeof LOGIN_ROLES] : undefined
      const wanted = role && settings.passwords[username as keyof typeof LOGIN_ROLES]
      // An unknown user costs the same comparison as a wrong password.
      const same = sameText(password, wanted ?? secret)
      if (!role || wanted === undefined || !same) {
        throttle.failed(pair)
        throw new Problem('unauthenticated', 'User name or password is wrong')
      }
      throttle.succeeded(pair)
      return mint(username, role, LOGIN_SECS)
    },
    agentToken: ttlSecs => mint('agent', 'operator', clamp(ttlSecs ?? AGENT_TTL.default)),
    async callerOf(request) {
      if (settings.secret === undefined) {
        assertSameSite(request, 'open')
        return { subject: 'open', role: 'admin', via: 'open', session: 'open' }
      }
      const header = request.headers.authorization
      if (header !== undefined) {
        const [, token] = BEARER.exec(header) ?? []
        if (!token) throw new Problem('unauthenticated', 'The Authorization header reads `Bearer <token>`')
        return verify(token, 'bearer')
      }
      const cookie = request.cookies[SESSION_COOKIE]
      if (!cookie) return undefined
      const caller = await verify(cookie, 'cookie')
      assertSameSite(request, 'cookie')
      return caller
    },
    keyCallerOf(request) {
      const [, key] = BEARER.exec(request.headers.authorization ?? '') ?? []
      if (!key || settings.apiKey === undefined || !sameText(key, settings.apiKey)) return undefined
      return { subject: 'api-key', role: 'admin', via: 'bearer', session: 'api-key' }
    },
    formToken: ({ session }) => createHmac('sha256', key).update(`form ${session}`).digest('base64url'),
  }
}

/** Too many failed logins; the answer carries `Retry-After`. */
export class LoginThrottled extends Problem {
  readonly retryAfterSecs: number
  constructor(retryAfterSecs: number) {
    super('login_throttled', `Too many failed logins; try again in ${retryAfterSecs} s`)
    this.retryAfterSecs = retryAfterSecs
  }
}

/** @returns whether two texts are the same, in a time that does not tell where they differ */
export const sameText = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b))

const digest = (text: string) => createHash('sha256').update(text).digest()
const clamp = (ttlSecs: number) => Math.min(AGENT_TTL.max, Math.max(AGENT_TTL.min, ttlSecs))
const fingerprint = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex').slice(0, 12)

/**
 * Passwords change by a restart with other settings. Beside each user's epoch lies a keyed 48-bit fingerprint of the
 * password that was in force, under the name `<user>#password`.
 */
function endTokensOfChangedPasswords(settings: AuthSettings, secret: string, epochs: TokenEpochs, nowSecs: number): void {
  if (settings.secret === undefined) return
  for (const [user, password] of Object.entries(settings.passwords)) {
    const mark = `${user}#password`
    const print = Number.parseInt(fingerprint(secret, `${user} ${password ?? ''}`), 16)
    const known = epochs.get(mark)
    if (known === print) continue
    if (known !== 0) epochs.set(user, nowSecs)
    epochs.set(mark, print)
  }
}
