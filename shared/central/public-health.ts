/** Health for everybody: counts, codes and ages. Texts name points, hosts, paths and users, so they are for those who are signed in. */
import type { HealthCheck } from './context.ts'

/** All words that a check may say to everybody, beside its own name. */
const CODES = new Set(['ok', 'warn', 'fail', 'off', 'connecting', 'up', 'repaired', 'disabled'])

const isPublic = (value: unknown): boolean =>
  value === null || typeof value === 'number' || typeof value === 'boolean' || (typeof value === 'string' && CODES.has(value))

/** @returns the check without its texts; a figure of which nobody has said that it is one is left out as well */
export const publicCheck = ({ status, ...figures }: HealthCheck): HealthCheck => ({
  status,
  ...Object.fromEntries(Object.entries(figures).filter(([, value]) => isPublic(value))),
})

export const publicChecks = (checks: Record<string, HealthCheck>): Record<string, HealthCheck> =>
  Object.fromEntries(Object.entries(checks).map(([name, check]) => [name, publicCheck(check)]))
