/** Raises and recovers alerts once a minute, delivers them with retries, and logs each delivery. */
import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { type AlertEvent, isEdgeKind, stepAlert } from '#shared/core/alerts/alert.ts'
import { type AlertMessage, type BuildingWeek, type Digest, mailText, webhookBody } from '#shared/core/alerts/alert-text.ts'
import { type AlertRoute, deliverableAt, digestDueAt, routeTakes } from '#shared/core/alerts/alert-route.ts'
import { errorText } from '#shared/core/error-text.ts'
import { priorityOf } from '#shared/core/findings/finding.ts'
import { countOf } from '#shared/core/number-text.ts'
import type { Clock } from '#shared/core/ports.ts'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import type { MailSettings } from '#shared/node/alerts/mail.ts'
import { sendWebhook } from '#shared/node/alerts/webhook.ts'
import { failureLog } from '#shared/node/failure-log.ts'
import type { Service } from '#shared/node/service.ts'
import type { AlertStore, Delivery, StoredRoute } from '#shared/node/store/alerts.ts'
import { alertConditions, type AlertSources, edgeConditions, edgeKey, SILENT_MS } from './conditions.ts'

const EVERY_MS = MINUTE
/** A round whose receivers all answer at the last moment takes five minutes. One that is later, or before the last, shows that the clock was set. */
const ROUND_LATE_MS = 10 * MINUTE
/** Pauses before the next attempts; after the last one a delivery has failed, and a person may send it again. */
const RETRIES_MS = [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR, 12 * HOUR]
/** Deliveries that are under way at a time: each may wait 10 s for its receiver. */
const AT_ONCE = 8
/** Deliveries of one round, so that a round ends. */
const ROUND_MAX = 200
/** Finished deliveries are stored for this long. */
const LOGGED_MS = 90 * DAY
const WEEK_MS = 7 * DAY
/** Findings of a digest. */
const DIGEST_MAX = 1000
/** Open faults of one building that a digest names. */
const DIGEST_NAMED = 20

type AlertServiceOptions = AlertSources & {
  store: AlertStore
  /** Undefined: no mail can be sent. */
  mail: MailSettings | undefined
  /** Whether edges report to this process. */
  watchEdges: boolean
  clock: Clock
  log: Logger
}

export class AlertService implements Service {
  readonly name = 'alerts'
  readonly #options: AlertServiceOptions
  /** When the edges had to begin to connect. */
  #watchedFrom: number
  #lastRoundAt: number
  readonly #ending = new AbortController()
  #loop: Promise<void> = Promise.resolve()

  constructor(options: AlertServiceOptions) {
    this.#options = options
    this.#watchedFrom = options.clock.now()
    this.#lastRoundAt = this.#watchedFrom
  }

  async start(): Promise<void> {
    this.#loop = this.#run()
  }

  /** Does not wait for receivers: what is being sent is sent again after the next start, with the same id. */
  async stop(): Promise<void> {
    this.#ending.abort()
    await this.#loop
  }

  health(): { status: 'ok' | 'warn'; detail?: string } {
    const { store, clock } = this.#options
    const failed = store.failedSince(clock.now() - DAY)
    return failed > 0 ? { status: 'warn', detail: `${countOf(failed, 'alert')} not delivered in the last day` } : { status: 'ok' }
  }

  get canMail(): boolean {
    return this.#options.mail !== undefined
  }

  /** Sends a test by one route. @returns its delivery after the only attempt */
  async sendTest({ route, secret }: Pick<StoredRoute, 'route' | 'secret'>): Promise<Delivery> {
    const now = this.#options.clock.now()
    // The next round sends it only when this attempt never ends.
    const delivery = this.#enqueue(route, { test: { at: now } }, null, now, now + EVERY_MS)
    await this.#deliver(delivery, { route, secret })
    return this.#options.store.get(delivery.delivery_id)!
  }

  /** Raises and recovers alerts, and sends what is due. */
  async round(): Promise<void> {
    const { store, clock } = this.#options
    const now = clock.now()
    // Nobody can tell how long an edge has been silent by a clock that was set, so it is as after a start.
    if (now < this.#lastRoundAt || now - this.#lastRoundAt > ROUND_LATE_MS) this.#watchedFrom = now
    this.#lastRoundAt = now
    const routes = store.routes()
    store.atomically(() => this.#decide(routes, now))
    for (const stored of routes) this.#queueDigest(stored, now)
    const due = store.due(now, ROUND_MAX)
    const byId = new Map(routes.map(stored => [stored.route.route_id, stored]))
    for (let i = 0; i < due.length; i += AT_ONCE) {
      await Promise.all(due.slice(i, i + AT_ONCE).map(delivery => this.#deliver(delivery, byId.get(delivery.route_id))))
    }
    store.trim(now - LOGGED_MS)
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#options
    const failures = failureLog(log, 'alerts: round failed', 'alerts: rounds succeed again')
    while (!this.#ending.signal.aborted) {
      await this.round().then(failures.worked, failures.failed)
      await clock.sleep(EVERY_MS, this.#ending.signal)
    }
  }

  #decide(routes: StoredRoute[], now: number): void {
    const { store, watchEdges } = this.#options
    // After a start the edges need time to connect again.
    const knowsEdges = watchEdges && now - this.#watchedFrom > SILENT_MS
    const states = store.states()
    const found = alertConditions(this.#options, now, knowsEdges, key => states.get(key))
    const conditions = new Map(found.conditions.map(condition => [condition.key, condition]))
    for (const key of new Set([...states.keys(), ...conditions.keys()])) {
      const before = states.get(key)
      if (before && isEdgeKind(before.condition.kind) && !knowsEdges) continue
      if (found.unknown.has(key) || (!before && (found.holding.has(key) || found.covered.has(key)))) continue
      const { state, event } = stepAlert(before, conditions.get(key), now, found.quiet.has(key))
      const told = event && this.#withReturn(event, before?.clearing_since ?? now)
      if (told) for (const { route } of routes) this.#queueEvent(route, told)
      if (state?.quiet && !before?.quiet) for (const { route } of routes) this.#dropWaiting(route, key, now)
      if (event || state?.clearing_since !== before?.clearing_since || state?.quiet !== before?.quiet) store.putState(key, state)
    }
  }

  /** The end of a silence says what has come of it. @param until when the edge was heard again */
  #withReturn(event: AlertEvent, until: number): AlertEvent {
    const { edges, edgeReturn } = this.#options
    const { type, at, condition } = event
    if (type !== 'recovered' || condition.kind !== 'edge' || !edgeReturn) return event
    const edge = edges.list().find(one => edgeKey('edge', one) === condition.key)
    if (!edge) return event
    return { type, at, condition: { ...condition, detail: edgeReturn(edge, { from: condition.since, to: until }, at) } }
  }

  #queueEvent(route: AlertRoute, event: AlertEvent): void {
    const { type, at, condition } = event
    if (!routeTakes(route, condition)) return
    const { store } = this.#options
    if (type === 'recovered') {
      const raised = store.newest(condition.key, route.route_id)
      if (!raised || raised.state === 'dropped' || this.#dropWaiting(route, condition.key, at)) return
    } else {
      // It has become more urgent while it waited for the hours.
      this.#dropWaiting(route, condition.key, at)
    }
    this.#enqueue(route, { alert: event }, condition.key, at, deliverableAt(route, condition, at))
  }

  /** Drops what waits for the hours of a route and was not tried yet. @returns whether there was such a delivery */
  #dropWaiting({ route_id }: AlertRoute, key: string, at: number): boolean {
    const { store } = this.#options
    const raised = store.newest(key, route_id)
    if (!raised || raised.state !== 'waiting' || raised.attempts > 0) return false
    store.put({ ...raised, state: 'dropped', finished_at: at })
    return true
  }

  #enqueue(route: AlertRoute, message: AlertMessage, alert_key: string | null, now: number, due_at: number): Delivery {
    const { route_id } = route
    const rest = { created_at: now, due_at, attempts: 0, state: 'waiting', error: null, finished_at: null } as const
    const delivery: Delivery = { delivery_id: randomUUID(), route_id, alert_key, message, ...rest }
    this.#options.store.put(delivery)
    return delivery
  }

  #queueDigest({ route, secret, digest_at }: StoredRoute, now: number): void {
    const { store, model } = this.#options
    const building = model.buildings().find(({ building_id }) => route.building_ids?.includes(building_id) ?? true)
    const timezone = building?.timezone ?? 'UTC'
    const due = route.enabled ? digestDueAt(route, timezone, now) : undefined
    if (due === undefined || due <= digest_at) return
    const digest = this.#digestOf(route, timezone, now)
    store.atomically(() => {
      this.#enqueue(route, { digest }, null, now, now)
      store.putRoute({ route, secret, digest_at: now })
    })
  }

  #digestOf(route: AlertRoute, timezone: string, now: number): Digest {
    const { findings, model, watchEdges } = this.#options
    const isIn = (building_id: string) => route.building_ids?.includes(building_id) ?? true
    const from = now - WEEK_MS
    const buildings = model
      .buildings()
      .filter(({ building_id }) => isIn(building_id))
      .map(({ building_id, name }): BuildingWeek => {
        const seen = findings.list({ building_id, from, limit: DIGEST_MAX }).filter(one => one.suppressed_by === undefined)
        const open = seen.filter(({ to }) => to === null).toSorted((a, b) => a.severity - b.severity)
        return {
          building_id,
          name,
          started: seen.filter(one => one.from >= from).length,
          ended: seen.filter(({ to }) => to !== null).length,
          open: open
            .slice(0, DIGEST_NAMED)
            .map(one => ({ title: `${one.title} (${one.equipment_id})`, priority: priorityOf(one.severity) })),
        }
      })
    const { conditions, holding } = edgeConditions(this.#options, now, () => false)
    const silent = conditions.filter(one => one.kind === 'edge' && !holding.has(one.key) && isIn(one.building_id))
    return { at: now, timezone, buildings, silent_edges: watchEdges ? silent.map(({ title }) => title) : [] }
  }

  async #deliver(delivery: Delivery, stored: Pick<StoredRoute, 'route' | 'secret'> | undefined): Promise<void> {
    const { store, clock, log } = this.#options
    const attempts = delivery.attempts + 1
    try {
      if (!stored) throw new Error('the route was removed')
      await this.#send(delivery, stored)
      store.put({ ...delivery, attempts, state: 'sent', error: null, finished_at: clock.now() })
    } catch (error) {
      if (this.#ending.signal.aborted) return
      const { delivery_id, route_id, message } = delivery
      const pause = stored && !('test' in message) ? RETRIES_MS[attempts - 1] : undefined
      log.warn({ delivery_id, route_id, attempts }, `alerts: delivery failed: ${errorText(error)}`)
      const next = pause === undefined ? { state: 'failed' as const, finished_at: clock.now() } : { due_at: clock.now() + pause }
      store.put({ ...delivery, attempts, error: errorText(error), ...next })
    }
  }

  async #send({ delivery_id, message }: Delivery, { route, secret }: Pick<StoredRoute, 'route' | 'secret'>): Promise<void> {
    const { mail, site, clock } = this.#options
    const { signal } = this.#ending
    const { webhook_url: url, mail_to: to = [] } = route
    if (url !== undefined) {
      const body = webhookBody(message, delivery_id)
      return sendWebhook({ url, secret, delivery_id, body }, { now: clock.now(), signal })
    }
    if (!mail) throw new Error('no mail server is set (SERVICE_SMTP_URL)')
    const { sendMail } = await import('#shared/node/alerts/mail.ts')
    return sendMail(mail, { delivery_id, to, ...mailText(message, site) }, signal)
  }
}
