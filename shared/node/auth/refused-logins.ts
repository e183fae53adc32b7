/** Every refused login is a line of the log, and counted in the audit: one row for each user, network and quarter of an hour. */
import type { Logger } from 'pino'
import { randomUUID } from 'node:crypto'
import type { RefusedLoginStore } from '#shared/core/stores.ts'
import { formatInstant, MINUTE, SECOND } from '#shared/core/time.ts'

const WINDOW_MS = 15 * MINUTE
/** Rows of one window; what comes from further networks is counted together in one more. */
const ROWS_MAX = 100
/** Rows that are stored of all windows, so that years of attempts do not fill the disk. */
const KEPT_MAX = 10_000
/** How long figures may be older than the log says: a row is written when it begins, and then at most this often. */
const WRITE_MS = 5 * SECOND
const OTHERS = 'further networks'

/** `user` is a known login name or secret; an unknown name may be a password typed in the wrong field, and is not stored. */
export type RefusedLogin = { user: string; address: string; network: string; throttled: boolean }
type RefusedLogins = {
  add(refused: RefusedLogin): void
  /** Writes the figures that are not written yet. */
  flush(): void
}
type Row = { id: number; wrong: number; throttled: number; first: number; last: number; dirty: boolean }

/** @param store undefined in a process without a database. @param now the wall clock, ms */
export function openRefusedLogins(store: RefusedLoginStore | undefined, log: Logger, now: () => number): RefusedLogins {
  let window = Number.NaN
  let timer: NodeJS.Timeout | undefined
  const rows = new Map<string, Row>()

  const afterOf = ({ wrong, throttled, first, last }: Row) => {
    return { wrong, throttled, first_at: formatInstant(first), last_at: formatInstant(last) }
  }
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    const changed = [...rows.values()].filter(({ dirty }) => dirty)
    if (changed.length === 0) return
    store?.update(changed.map(row => ({ id: row.id, after: afterOf(row) })))
    for (const row of changed) row.dirty = false
  }
  /** A database that cannot be written does not block answers; the figures wait in memory. */
  const attempt = (write: () => void) => {
    try {
      write()
    } catch (error) {
      log.error({ err: error }, 'audit of refused logins not written')
    }
  }
  const flushLater = () => {
    timer ??= setTimeout(() => attempt(flush), WRITE_MS).unref()
  }
  const begin = (subject: string, at: number): Row => {
    const row = { id: 0, wrong: 0, throttled: 0, first: at, last: at, dirty: true }
    const nobody = { actor: 'nobody', role: 'public', building_id: null, before: null }
    row.id = store?.begin({ at, ...nobody, subject, after: afterOf(row), request_id: randomUUID() }, KEPT_MAX) ?? 0
    rows.set(subject, row)
    return row
  }
  const count = (subject: string, throttled: boolean) => {
    const at = now()
    if (Math.floor(at / WINDOW_MS) !== window) {
      flush()
      rows.clear()
      window = Math.floor(at / WINDOW_MS)
    }
    const named = rows.has(subject) || rows.size < ROWS_MAX ? subject : OTHERS
    const known = rows.get(named)
    const row = known ?? begin(named, at)
    row[throttled ? 'throttled' : 'wrong']++
    row.last = at
    row.dirty = true
    if (known) flushLater()
    else flush()
  }
  return {
    add({ user, address, network, throttled }) {
      log.warn({ user, address, throttled }, throttled ? 'login refused: too many failures' : 'login refused: wrong')
      if (store) attempt(() => count(`${user} from ${network}`, throttled))
    },
    flush: () => attempt(flush),
  }
}
