import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { errors, jwtVerify, SignJWT } from 'jose'
import { Problem } from '#shared/core/problem.ts'
import type { TokenEpochs } from '#shared/core/stores.ts'
import { HOUR, SECOND } from '#shared/core/time.ts'
import type { RefusedLogin } from './refused-logins.ts'
import type { Caller, UserRole } from '#shared/node/http/route.ts'
import { type EndedSessions, openTokenEnds, rememberEnded } from './token-revocation.ts'
import { formTokens } from './csrf-token.ts'
import { assertSameSite, SESSION_COOKIE } from './session-cookie.ts'
import type { AuthSettings } from './auth-settings.ts'
import { openGuesses } from './failed-logins.ts'
import type { KnownNetworks } from './login-throttle.ts'

export { LoginThrottled } from './login-throttle.ts'

const ISSUER = 'plenum'
const AUDIENCE = 'plenum-api'
const LOGIN_SECS = (8 * HOUR) / SECOND
const AGENT_TTL = { default: 3600, min: 60, max: 86_400 }
const LOGIN_ROLES = { admin: 'admin', agent: 'operator', viewer: 'viewer' } as const satisfies Record<string, UserRole>
/** The header that carries a token. */
export const BEARER = /^Bearer +(\S+)$/i
const TOKEN_ROLES = ['viewer', 'operator', 'admin', 'edge']

/** A token and what is in it. `session` is what its form tokens are of; `expires_at` in ms since 1970 UTC. */
export type LoginSession = { token: string; subject: string; role: UserRole; session: string; expires_at: number }

/** Who may call. There is one in each process that listens. */
export type Auth = {
  /** False only on a machine that was told to stay open to itself. */
  required: boolean
  agentLoginConfigured: boolean
  /** @throws Problem unauthenticated, or login_throttled with `retryAfterSecs` */
  login(username: string, password: string, address: string): Promise<LoginSession>
  /** A token for the agent tools. @param ttlSecs clamped to 60..86400, default 3600 */
  agentToken(ttlSecs: number | undefined): Promise<LoginSession>
  /** Ends the token that this caller has shown, and no other. */
  logout(caller: Caller): void
  /** Ends every token of a user. @throws Problem invalid when there is no such user */
  logoutEverywhere(username: string): void
  /** Calls `ended` once, when the caller's token is ended or has expired. @returns how to stop watching */
  watch(caller: Caller, ended: () => void): () => void
  /**
   * Who sends this request, by `Authorization: Bearer` or else by the session cookie.
   *
   * @param tried the secret that a wrong token counts as a guess at
   * @returns undefined when it carries neither
   * @throws Problem unauthenticated for a bad, expired or ended token; login_throttled for one wrong token too many;
   *   forbidden for a cookie sent from another site
   */
  callerOf(request: FastifyRequest, tried?: string): Promise<Caller | undefined>
  /** The caller who knows the key of the older API; undefined without it, or while the caller's network has guessed too often. */
  keyCallerOf(request: FastifyRequest): Caller | undefined
  /** The value of the field `csrf` in this caller's forms; another one each time. */
  formToken(caller: Pick<Caller, 'session'>): string
  /** @returns whether a form's field `csrf` is of this caller's session */
  isFormToken(caller: Caller, text: string): boolean
}

type AuthOptions = {
  settings: AuthSettings
  epochs: TokenEpochs
  /** The wall clock in ms: a login is a person's affair and never runs on a simulated clock. */
  now: () => number
  /** Where it is kept which sessions were signed out; in memory without it. */
  sessions?: EndedSessions
  /** Where it is kept from where users have signed in; in memory without it. */
  networks?: KnownNetworks
  onRefused?: (refused: RefusedLogin) => void
}

/** Names under which guesses are counted; no user has one. */
export const API_KEY_NAME = 'SERVICE_API_KEY'
const TOKEN_NAME = 'token'
const UNKNOWN_NAME = 'unknown user'

export function openAuth(options: AuthOptions): Auth {
  const { settings, epochs, now, sessions = rememberEnded(), networks, onRefused } = options
  const secret = settings.secret ?? randomBytes(32).toString('hex')
  const key = new TextEncoder().encode(secret)
  const guesses = openGuesses({ now, networks, onRefused, print: value => fingerprint(secret, value) })
  const ends = openTokenEnds(epochs, sessions, now)
  const forms = formTokens(key)
  const seconds = () => Math.floor(now() / SECOND)
  endTokensOfChangedPasswords(settings, secret, epochs)

  const mint = async (subject: string, role: UserRole, ttlSecs: number): Promise<LoginSession> => {
    const [iat, exp] = [seconds(), seconds() + ttlSecs]
    const claims = { role, epoch: ends.epochOf(subject) }
    const session = randomUUID()
    const jwt = new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'JWT' }).setSubject(subject).setJti(session)
    const token = await jwt.setIssuer(ISSUER).setAudience(AUDIENCE).setIssuedAt(iat).setExpirationTime(exp).sign(key)
    return { token, subject, role, session, expires_at: exp * SECOND }
  }

  const verify = async (token: string, via: 'bearer' | 'cookie', request: FastifyRequest, tried: string): Promise<Caller> => {
    const checks = { algorithms: ['HS256'], issuer: ISSUER, audience: AUDIENCE, requiredClaims: ['sub', 'iat', 'exp'] }
    const { payload } = await jwtVerify(token, key, { ...checks, currentDate: new Date(now()) }).catch(error => {
      if (error instanceof errors.JWTExpired) throw new Problem('unauthenticated', 'The token has expired')
      const throttled = guesses.wrongSecret(request, tried, token)
      // A browser with a cookie of long ago is led to the login page, however often it asks.
      throw (via === 'bearer' && throttled) || new Problem('unauthenticated', 'The token is not valid')
    })
    const { sub: subject = '', exp = 0, role, jti, epoch = 0 } = payload
    if (!TOKEN_ROLES.includes(role as string)) throw new Problem('unauthenticated', 'The token names no role')
    const session = jti ?? fingerprint(secret, token)
    if (ends.isEnded({ subject, session, epoch: Number(epoch) })) {
      throw new Problem('unauthenticated', 'The token was ended: its user has signed out or has another password')
    }
    return { subject, role: role as Caller['role'], via, session, expires_at: exp * SECOND }
  }

  return {
    required: settings.secret !== undefined,
    agentLoginConfigured: settings.passwords.agent !== undefined,
    async login(username, password, address) {
      const role = Object.hasOwn(LOGIN_ROLES, username) ? LOGIN_ROLES[username as keyof typeof LOGIN_ROLES] : undefined
      const name = role ? username : UNKNOWN_NAME
      guesses.assertLogin(name, address)
      const wanted = role && settings.passwords[username as keyof typeof LOGIN_ROLES]
      // An unknown user costs the same comparison as a wrong password.
      const same = sameText(password, wanted ?? secret)
      if (!role || wanted === undefined || !same) {
        guesses.wrongPassword(name, address)
        throw new Problem('unauthenticated', 'User name or password is wrong')
      }
      guesses.rightPassword(name, address)
      return mint(username, role, LOGIN_SECS)
    },
    agentToken: ttlSecs => mint('agent', 'operator', clamp(ttlSecs ?? AGENT_TTL.default)),
    logout: ends.endSession,
    logoutEverywhere(username) {
      if (!Object.hasOwn(LOGIN_ROLES, username)) throw new Problem('invalid', `There is no user ${username}`)
      ends.endAll(username)
    },
    watch: ends.watch,
    async callerOf(request, tried = TOKEN_NAME) {
      if (settings.secret === undefined) {
        assertSameSite(request, 'open')
        return { subject: 'open', role: 'admin', via: 'open', session: 'open' }
      }
      const header = request.headers.authorization
      if (header !== undefined) {
        const [, token] = BEARER.exec(header) ?? []
        if (!token) throw new Problem('unauthenticated', 'The Authorization header reads `Bearer <token>`')
        return verify(token, 'bearer', request, tried)
      }
      const cookie = request.cookies[SESSION_COOKIE]
      if (!cookie) return undefined
      const caller = await verify(cookie, 'cookie', request, TOKEN_NAME)
      assertSameSite(request, 'cookie')
      return caller
    },
    keyCallerOf(request) {
      const [, given] = BEARER.exec(request.headers.authorization ?? '') ?? []
      if (!given || settings.apiKey === undefined) return undefined
      // A key that a person has chosen can be guessed, so it is not even compared while the throttle holds.
      if (!guesses.maySecret(request, API_KEY_NAME) || !sameText(given, settings.apiKey)) return undefined
      guesses.rightSecret(request, API_KEY_NAME)
      return { subject: 'api-key', role: 'admin', via: 'bearer', session: 'api-key' }
    },
    formToken: ({ session }) => forms.make(session),
    isFormToken: ({ session }, text) => forms.fits(session, text),
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
function endTokensOfChangedPasswords(settings: AuthSettings, secret: string, epochs: TokenEpochs): void {
  if (settings.secret === undefined) return
  for (const [user, password] of Object.entries(settings.passwords)) {
    const mark = `${user}#password`
    const print = Number.parseInt(fingerprint(secret, `${user} ${password ?? ''}`), 16)
    const known = epochs.get(mark)
    if (known === print) continue
    if (known !== 0) epochs.set(user, epochs.get(user) + 1)
    epochs.set(mark, print)
  }
}
