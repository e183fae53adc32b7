/** How long a lease lasts, who waits for it, and the clock by which its holder measures that. */
import { SECOND } from '#shared/core/time.ts'

/** Another process may take over when the lease was not renewed for this long. */
export const LEASE_MS = 8 * SECOND

/** SQL: until when a lease lasts that is taken or renewed now. */
export const UNTIL = `clock_timestamp() + ${LEASE_MS} * interval '1 millisecond'`

/** SQL: a row when the process of the home machine waits for the lease now. */
export const HOME_WAITS = `SELECT FROM plenum_home WHERE asked_at > clock_timestamp() - interval '3 seconds'`

/** The same in all threads, whatever happens to the time of day. */
export const monotonicMs = (): number => Number(process.hrtime.bigint() / 1_000_000n)
