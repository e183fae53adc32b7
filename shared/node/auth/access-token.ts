/** Signed tokens that a sign-in gives: HS256, with the algorithm, issuer and audience fixed. */
import { randomUUID } from 'node:crypto'
import { errors, jwtVerify, SignJWT } from 'jose'
import type { UserRole } from '#shared/core/auth/users.ts'
import { Problem } from '#shared/core/problem.ts'
import { isTenantId, type TenantClaims } from '#shared/core/tenant.ts'
import { SECOND } from '#shared/core/time.ts'

const ISSUER = 'plenum'
const AUDIENCE = 'plenum-api'
const TOKEN_ROLES = ['viewer', 'operator', 'admin', 'edge']

/** The holder of a token. */
export type TokenHolder = TenantClaims & {
  subject: string
  role: UserRole
  /** The token opens nothing but the choice of another password. */
  must_change_password?: true
}
/** A token and what is in it. `session` is what its form tokens are of; `expires_at` in ms since 1970 UTC. */
export type LoginSession = TokenHolder & { token: string; session: string; expires_at: number }
/** The claims of a token whose signature was checked. `session` is undefined where it names none. */
type VerifiedToken = Omit<TokenHolder, 'role'> & {
  role: UserRole | 'edge'
  epoch: number
  session: string | undefined
  expires_at: number
}

type AccessTokens = {
  /** @param epoch the count of the holder's tokens that it belongs to */
  sign(holder: TokenHolder, ttlSecs: number, epoch: number): Promise<LoginSession>
  /**
   * @param onForged called for a token that was not signed here; may throw a problem of its own
   * @throws Problem unauthenticated
   */
  verify(token: string, onForged: () => void): Promise<VerifiedToken>
}

/** @param now the wall clock, ms */
export function accessTokens(key: Uint8Array, now: () => number): AccessTokens {
  return {
    async sign(holder, ttlSecs, epoch) {
      const { subject, role, must_change_password, tenant_id, tenant_ids } = holder
      const iat = Math.floor(now() / SECOND)
      const exp = iat + ttlSecs
      const session = randomUUID()
      const tenant = tenant_id !== undefined && { tenant_id, tenant_ids }
      const claims = { role, epoch, ...tenant, ...(must_change_password && { must_change_password }) }
      const jwt = new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'JWT' }).setSubject(subject).setJti(session)
      const token = await jwt.setIssuer(ISSUER).setAudience(AUDIENCE).setIssuedAt(iat).setExpirationTime(exp).sign(key)
      return { ...holder, token, session, expires_at: exp * SECOND }
    },
    async verify(token, onForged) {
      const checks = { algorithms: ['HS256'], issuer: ISSUER, audience: AUDIENCE, requiredClaims: ['sub', 'iat', 'exp'] }
      const { payload } = await jwtVerify(token, key, { ...checks, currentDate: new Date(now()) }).catch(error => {
        if (error instanceof errors.JWTExpired) throw new Problem('unauthenticated', 'The token has expired')
        onForged()
        throw new Problem('unauthenticated', 'The token is not valid')
      })
      const { sub: subject = '', exp = 0, role, jti: session, epoch = 0, must_change_password } = payload
      if (!TOKEN_ROLES.includes(role as string)) throw new Problem('unauthenticated', 'The token names no role')
      return {
        subject,
        role: role as VerifiedToken['role'],
        epoch: Number(epoch),
        session,
        expires_at: exp * SECOND,
        ...tenantClaims(payload),
        ...(must_change_password === true && { must_change_password }),
      }
    },
  }
}

/** @throws Problem unauthenticated */
function tenantClaims({ tenant_id, tenant_ids }: Record<string, unknown>): TenantClaims {
  if (tenant_id === undefined) return {}
  if (isTenantId(tenant_id) && Array.isArray(tenant_ids) && tenant_ids.every(isTenantId)) return { tenant_id, tenant_ids }
  throw new Problem('unauthenticated', 'The token names no tenant')
}
