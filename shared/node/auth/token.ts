/** Authentication of a process that listens: signs people in, checks tokens and ends them. */
import { createHmac, randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { isBuiltIn, type UserRole } from '#shared/core/auth/users.ts'
import { Problem } from '#shared/core/problem.ts'
import type { ApiTokenStore, TokenEpochs, UserStore } from '#shared/core/stores.ts'
import { LEGACY_TENANT, type TenantClaims } from '#shared/core/tenant.ts'
import { HOUR, SECOND } from '#shared/core/time.ts'
import type { Caller } from '#shared/node/http/route.ts'
import { accessTokens, type LoginSession, type TokenHolder } from './access-token.ts'
import { apiTokenCaller, isApiToken } from './api-token.ts'
import type { AuthSettings } from './auth-settings.ts'
import { formTokens } from './csrf-token.ts'
import { openGuesses } from './failed-logins.ts'
import type { KnownNetworks } from './login-throttle.ts'
import { passwordLogin, sameText } from './password-login.ts'
import type { RefusedLogin } from './refused-logins.ts'
import { assertSameSite, SESSION_COOKIE } from './session-cookie.ts'
import { type EndedSessions, openTokenEnds, rememberEnded } from './token-revocation.ts'

export { LoginThrottled } from './login-throttle.ts'

const LOGIN_SECS = (8 * HOUR) / SECOND
const AGENT_TTL = { default: 3600, min: 60, max: 86_400 }
/** The header that carries a token. */
export const BEARER = /^Bearer +(\S+)$/i

/** Authentication. There is one in each process that listens. */
export type Auth = {
  /** False only on a machine whose settings allow local access without login. */
  required: boolean
  agentLoginConfigured: boolean
  /** The wall clock by which passwords and tokens expire, ms. */
  now(): number
  /** @throws Problem unauthenticated, or login_throttled with `retryAfterSecs` */
  login(username: string, password: string, address: string): Promise<LoginSession>
  /** Checks a password without signing in; guesses count as those at the login do. @throws as `login` */
  confirmPassword(username: string, password: string, address: string): Promise<void>
  /** A token for somebody whose password was just confirmed. */
  sessionFor(holder: TokenHolder): Promise<LoginSession>
  /** A token for the agent tools, in the tenant of the admin who asks. @param ttlSecs clamped to 60..86400, default 3600 */
  agentToken(ttlSecs: number | undefined, tenant?: TenantClaims): Promise<LoginSession>
  /** Another token for a caller, which ends when the shown one does. Whether the caller may enter the tenant is checked before. */
  reissue(caller: Caller & { role: UserRole }, tenant: TenantClaims): Promise<LoginSession>
  /** Ends the token that this caller has shown, and no other. @throws Problem invalid for an API token, which an admin revokes */
  logout(caller: Caller): void
  /** Ends every token of a user. @throws Problem invalid when there is no such user */
  logoutEverywhere(username: string): void
  /** Ends the event streams of an API token that was revoked. */
  endStreams(token_id: string): void
  /** Calls `ended` once, when the caller's token is ended or has expired. @returns how to stop watching */
  watch(caller: Caller, ended: () => void): () => void
  /**
   * The caller of this request, by `Authorization: Bearer` or else by the session cookie.
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

/** The tokens that a tenant's own workspace holds. */
export type TenantTokens = { tenant_id: string; apiTokens: ApiTokenStore }

type AuthOptions = {
  settings: AuthSettings
  epochs: TokenEpochs
  /** The wall clock in ms: a login is a person's affair and never runs on a simulated clock. */
  now: () => number
  /** Named users; without it only the logins of the settings exist. */
  users?: UserStore
  /** Tokens of scripts; without it there are none. */
  apiTokens?: ApiTokenStore
  /** Tokens of the tenants, each of which acts in its tenant alone. */
  tenantTokens?: (() => TenantTokens[]) | undefined
  /** Store of the sessions that were signed out; in memory without it. */
  sessions?: EndedSessions
  /** Store of the networks from which users have signed in; in memory without it. */
  networks?: KnownNetworks
  onRefused?: (refused: RefusedLogin) => void
  /** The tenants that a user may enter; undefined in a process without tenants. */
  tenantsOf?: ((username: string) => string[]) | undefined
}

/** Names under which guesses are counted; no user has one. */
export const API_KEY_NAME = 'SERVICE_API_KEY'
const TOKEN_NAME = 'token'

type Guesses = ReturnType<typeof openGuesses>
type TokenEnds = ReturnType<typeof openTokenEnds>
type AccessTokens = ReturnType<typeof accessTokens>

export function openAuth(options: AuthOptions): Auth {
  const {
    settings,
    epochs,
    now,
    users,
    apiTokens,
    sessions = rememberEnded(),
    networks,
    onRefused,
    tenantsOf,
    tenantTokens,
  } = options
  const secret = settings.secret ?? randomBytes(32).toString('hex')
  const key = new TextEncoder().encode(secret)
  const guesses = openGuesses({ now, networks, onRefused, print: value => fingerprint(secret, value) })
  const ends = openTokenEnds(epochs, sessions, now)
  const forms = formTokens(key)
  const tokens = accessTokens(key, now)
  const whoSignsIn = passwordLogin({ passwords: settings.passwords, users, guesses, epochOf: ends.epochOf, now })
  const sign = (holder: TokenHolder, ttlSecs: number) => tokens.sign(holder, ttlSecs, ends.epochOf(holder.subject))
  const inTenant = (holder: TokenHolder): TokenHolder => (tenantsOf ? enterTenant(holder, tenantsOf(holder.subject)) : holder)
  endTokensOfChangedPasswords(settings, secret, epochs)

  return {
    required: settings.secret !== undefined,
    agentLoginConfigured: settings.passwords.agent !== undefined,
    now,
    async login(username, password, address) {
      const { holder, epoch } = await whoSignsIn(username, password, address)
      users?.signedIn(holder.subject, now())
      return tokens.sign(inTenant(holder), LOGIN_SECS, epoch)
    },
    confirmPassword: async (username, password, address) => void (await whoSignsIn(username, password, address)),
    sessionFor: holder => sign(inTenant(holder), LOGIN_SECS),
    agentToken: (ttlSecs, tenant) => sign({ subject: 'agent', role: 'operator', ...tenant }, clamp(ttlSecs ?? AGENT_TTL.default)),
    reissue: ({ subject, role, expires_at }, tenant) => {
      const leftSecs = expires_at === undefined ? LOGIN_SECS : Math.floor((expires_at - now()) / SECOND)
      return sign({ subject, role, ...tenant }, Math.max(1, leftSecs))
    },
    logout(caller) {
      if (caller.limits) throw new Problem('invalid', `${caller.subject} does not sign out: an admin revokes it`)
      ends.endSession(caller)
    },
    logoutEverywhere(username) {
      if (!isBuiltIn(username) && !users?.get(username)) throw new Problem('invalid', `There is no user ${username}`)
      ends.endAll(username)
    },
    endStreams: ends.endStreams,
    watch: ends.watch,
    callerOf: identifyBy({
      settings,
      tokens,
      apiTokens,
      tenantTokens,
      now,
      ends,
      guesses,
      printOf: token => fingerprint(secret, token),
    }),
    keyCallerOf: request => keyCaller(settings.apiKey, guesses, request),
    formToken: ({ session }) => forms.make(session),
    isFormToken: ({ session }, text) => forms.fits(session, text),
  }
}

/** @throws Problem forbidden for a user whom no tenant has as a member */
function enterTenant(holder: TokenHolder, tenants: string[]): TokenHolder {
  const own = isBuiltIn(holder.subject) ? [LEGACY_TENANT, ...tenants] : tenants
  const [tenant_id] = own
  if (tenant_id === undefined)
    throw new Problem('forbidden', `${holder.subject} is not a member of a tenant; ask an admin of the hub`)
  return { ...holder, tenant_id, tenant_ids: [...new Set(own)] }
}

type IdentifyOptions = {
  settings: AuthSettings
  tokens: AccessTokens
  apiTokens: ApiTokenStore | undefined
  tenantTokens: AuthOptions['tenantTokens']
  now: () => number
  ends: TokenEnds
  guesses: Guesses
  /** Names the session of a token that names none. */
  printOf: (token: string) => string
}

function identifyBy({
  settings,
  tokens,
  apiTokens,
  tenantTokens,
  now,
  ends,
  guesses,
  printOf,
}: IdentifyOptions): Auth['callerOf'] {
  const verify = async (token: string, via: 'bearer' | 'cookie', request: FastifyRequest, tried: string): Promise<Caller> => {
    const {
      epoch,
      session = printOf(token),
      ...verified
    } = await tokens.verify(token, () => {
      const throttled = guesses.wrongSecret(request, tried, token)
      // A browser with a cookie of long ago is led to the login page, however often it asks.
      if (via === 'bearer' && throttled) throw throttled
    })
    if (ends.isEnded({ subject: verified.subject, session, epoch })) {
      throw new Problem('unauthenticated', 'The token was ended: its user has signed out, was changed or has another password')
    }
    return { ...verified, via, session }
  }
  const verifyApiToken = (token: string, request: FastifyRequest, tried: string): Caller => {
    const caller = apiTokens && apiTokenCaller(apiTokens, token, now())
    if (caller) return caller
    for (const { tenant_id, apiTokens: own } of tenantTokens?.() ?? []) {
      const ofTenant = apiTokenCaller(own, token, now())
      if (ofTenant) return { ...ofTenant, tenant_id, tenant_ids: [tenant_id] }
    }
    throw guesses.wrongSecret(request, tried, token) ?? new Problem('unauthenticated', 'The token is not valid, or was revoked')
  }
  return async (request, tried = TOKEN_NAME) => {
    if (settings.secret === undefined) {
      assertSameSite(request, 'open')
      return { subject: 'open', role: 'admin', via: 'open', session: 'open' }
    }
    const header = request.headers.authorization
    if (header !== undefined) {
      const [, token] = BEARER.exec(header) ?? []
      if (!token) throw new Problem('unauthenticated', 'The Authorization header reads `Bearer <token>`')
      return isApiToken(token) ? verifyApiToken(token, request, tried) : verify(token, 'bearer', request, tried)
    }
    const cookie = request.cookies[SESSION_COOKIE]
    if (!cookie) return undefined
    const caller = await verify(cookie, 'cookie', request, TOKEN_NAME)
    assertSameSite(request, 'cookie')
    return caller
  }
}

function keyCaller(apiKey: string | undefined, guesses: Guesses, request: FastifyRequest): Caller | undefined {
  const [, given] = BEARER.exec(request.headers.authorization ?? '') ?? []
  if (!given || apiKey === undefined) return undefined
  // A key that a person has chosen can be guessed, so it is not even compared while the throttle holds.
  if (!guesses.maySecret(request, API_KEY_NAME) || !sameText(given, apiKey)) return undefined
  guesses.rightSecret(request, API_KEY_NAME)
  return { subject: 'api-key', role: 'admin', via: 'bearer', session: 'api-key' }
}

const clamp = (ttlSecs: number) => Math.min(AGENT_TTL.max, Math.max(AGENT_TTL.min, ttlSecs))
const fingerprint = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex').slice(0, 12)

/**
 * Passwords of the settings change by a restart. With each user's epoch a keyed 48-bit fingerprint is stored of the password that
 * was in force, under the name `<user>#password`.
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
