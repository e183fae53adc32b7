import type { AlertState } from '#shared/core/alerts/alert.ts'
import type { AlertMessage } from '#shared/core/alerts/alert-text.ts'
import type { AlertRoute } from '#shared/core/alerts/alert-route.ts'
import type { Database } from '../sqlite.ts'

/** `waiting`: for its hours or the next attempt; `dropped`: the alert had recovered before its hours began. */
export const DELIVERY_STATES = ['waiting', 'sent', 'failed', 'dropped'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]
export type Delivery = {
  delivery_id: string
  route_id: string
  /** Key of the alert; null for a digest or a test. */
  alert_key: string | null
  message: AlertMessage
  created_at: number
  due_at: number
  attempts: number
  state: DeliveryState
  error: string | null
  finished_at: number | null
}
export type StoredRoute = { route: AlertRoute; secret: string; digest_at: number }

export type AlertStore = ReturnType<typeof alertStore>

/** Routes, states and deliveries of alerts. */
export function alertStore(db: Database) {
  const routes = db.prepare('SELECT body, secret, digest_at FROM alert_routes ORDER BY route_id')
  const putRoute = db.prepare(
    `INSERT INTO alert_routes VALUES (@route_id, @body, @secret, @digest_at)
     ON CONFLICT (route_id) DO UPDATE SET body = excluded.body, secret = excluded.secret, digest_at = excluded.digest_at`,
  )
  const removeRoute = db.prepare('DELETE FROM alert_routes WHERE route_id = ?')
  const removeWaiting = db.prepare("DELETE FROM alert_deliveries WHERE route_id = ? AND state = 'waiting'")
  const states = db.prepare('SELECT key, body FROM alert_states')
  const putState = db.prepare('INSERT INTO alert_states VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET body = excluded.body')
  const removeState = db.prepare('DELETE FROM alert_states WHERE key = ?')
  const put = db.prepare(
    `INSERT INTO alert_deliveries VALUES
     (@delivery_id, @route_id, @alert_key, @message, @created_at, @due_at, @attempts, @state, @error, @finished_at)
     ON CONFLICT (delivery_id) DO UPDATE SET due_at = excluded.due_at, attempts = excluded.attempts, state = excluded.state,
     error = excluded.error, finished_at = excluded.finished_at`,
  )
  const get = db.prepare('SELECT * FROM alert_deliveries WHERE delivery_id = ?')
  const due = db.prepare("SELECT * FROM alert_deliveries WHERE state = 'waiting' AND due_at <= ? ORDER BY due_at, rowid LIMIT ?")
  const list = db.prepare(
    `SELECT * FROM alert_deliveries WHERE @before IS NULL OR rowid < (SELECT rowid FROM alert_deliveries WHERE delivery_id = @before)
     ORDER BY rowid DESC LIMIT @limit`,
  )
  const earlier = db.prepare('SELECT * FROM alert_deliveries WHERE alert_key = ? AND route_id = ? ORDER BY rowid DESC LIMIT 1')
  const failed = db.prepare("SELECT count(*) AS n FROM alert_deliveries WHERE state = 'failed' AND finished_at >= ?")
  const trim = db.prepare("DELETE FROM alert_deliveries WHERE state <> 'waiting' AND created_at < ?")
  return {
    routes: (): StoredRoute[] =>
      (routes.all() as { body: string; secret: string; digest_at: number }[]).map(({ body, ...rest }) => ({
        route: JSON.parse(body) as AlertRoute,
        ...rest,
      })),
    putRoute: ({ route, secret, digest_at }: StoredRoute) =>
      void putRoute.run({ route_id: route.route_id, body: JSON.stringify(route), secret, digest_at }),
    /** Removes a route and what waits for it. @returns whether there was one */
    removeRoute: db.transaction((route_id: string): boolean => {
      removeWaiting.run(route_id)
      return removeRoute.run(route_id).changes > 0
    }),
    states: (): Map<string, AlertState> =>
      new Map((states.all() as { key: string; body: string }[]).map(({ key, body }) => [key, JSON.parse(body) as AlertState])),
    putState: (key: string, state: AlertState | undefined) =>
      void (state ? putState.run(key, JSON.stringify(state)) : removeState.run(key)),
    put: (delivery: Delivery) => void put.run({ ...delivery, message: JSON.stringify(delivery.message) }),
    get: (delivery_id: string): Delivery | undefined => toDelivery(get.get(delivery_id)),
    /** Deliveries whose time has come, the oldest first. */
    due: (now: number, limit: number): Delivery[] => due.all(now, limit).map(row => toDelivery(row)!),
    /** Newest first. @param before id of the last delivery on the previous page */
    list: (limit: number, before: string | undefined): Delivery[] =>
      list.all({ limit, before: before ?? null }).map(row => toDelivery(row)!),
    /** The newest delivery of an alert by a route. */
    newest: (alert_key: string, route_id: string): Delivery | undefined => toDelivery(earlier.get(alert_key, route_id)),
    /** How many deliveries failed since. */
    failedSince: (since: number): number => (failed.get(since) as { n: number }).n,
    /** Deletes finished deliveries that are older. */
    trim: (before: number) => void trim.run(before),
    /** Runs work as one transaction. */
    atomically: <T>(work: () => T): T => db.transaction(work).immediate(),
  }
}

function toDelivery(row: unknown): Delivery | undefined {
  if (row === undefined) return undefined
  const { message, ...rest } = row as Omit<Delivery, 'message'> & { message: string }
  return { ...rest, message: JSON.parse(message) as AlertMessage }
}
