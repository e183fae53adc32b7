/** Tokens that an admin makes for scripts and agents. */
import type { UserRole } from './users.ts'

/** `read` changes nothing; `role` is all that the role may. */
export const TOKEN_SCOPES = ['read', 'role'] as const
export type TokenScope = (typeof TOKEN_SCOPES)[number]

/** Limits of a token beside its role. */
export type TokenLimits = {
  scope: TokenScope
  /** The one building that it sees; null for all. */
  building_id: string | null
}

/** A token as it is stored. Times are ms since 1970 UTC. */
export type StoredApiToken = TokenLimits & {
  token_id: string
  name: string
  role: UserRole
  /** SHA-256 of its secret part, as hexadecimal digits. */
  secret_hash: string
  expires_at: number
  last_used_at: number | null
  created_by: string
  created_at: number
}

/** How the audit names what a token does. No user name holds a colon. */
export const tokenSubject = (name: string): string => `token:${name}`
