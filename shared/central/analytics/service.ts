import type { FastifyReply } from 'fastify'
import { LRUCache } from 'lru-cache'
import { WEEKS } from '#shared/core/analytics/week-hours.ts'
import type { EconomizerParams } from '#shared/core/analytics/economizer.ts'
import { operationPoints } from '#shared/core/analytics/operations-plan.ts'
import type { Building } from '#shared/core/model/model.ts'
import type { Clock } from '#shared/core/ports.ts'
import { needBuilding, refuseUnknownEquipment } from '#shared/core/lookup.ts'
import { Problem } from '#shared/core/problem.ts'
import type { ModelStore } from '#shared/core/stores.ts'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import type { EconomizerAnswer } from '#shared/flow/analytics/analyse-economizer.ts'
import { joinOperations, type OperationHistory, type Operations } from '#shared/flow/analytics/analyse-operations.ts'
import type { AnalyticsSpan } from '#shared/flow/analytics/analytics-span.ts'
import type { Screening } from '#shared/flow/analytics/screen-anomalies.ts'
import type { Worker } from '#shared/node/worker/worker.ts'
import type { AnalyticsHandlers } from './worker.ts'

/** Longest span of one request, as of a run of the rules. */
const SPAN_MAX = 2 * 366 * DAY
/** Longest span that is screened at once: its own hours are not part of the past that they are compared with. */
const SCREEN_MAX = 31 * DAY
/** Answers of each kind in the cache, so that a page that is opened again costs nothing. */
const KEPT_MAX = 8
const KEPT_MS = { screening: HOUR, operations: 10 * MINUTE }

type EconomizerRequest = AnalyticsSpan & EconomizerParams & { equipment_ids: string[] | undefined }
type ScreenRequest = AnalyticsSpan & { equipment_id: string | undefined; point_id: string | undefined; least: number }
type ScreeningStatus = {
  enabled: boolean
  weeks: number
  /** The newest screening of each building, by this process. */
  screened: ({ building_id: string; at: number } & Pick<Screening, 'points_scored' | 'scored_hours' | 'anomalies_total'>)[]
}

/** `at`: when it was begun. */
export type Screened = Screening & { at: number }
/** `at`: when reading history for it was begun. */
type Operated = Operations & { at: number }

/** Analytics over stored history; the work is done in a process of its own. */
export type AnalyticsService = {
  /**
   * @param gone ends the work when nobody waits for it any more
   * @throws Problem unknown_building, unknown_equipment, invalid, query_failed or history_damaged
   */
  economizer(request: EconomizerRequest, gone: AbortSignal): Promise<EconomizerAnswer[]>
  /** What history says is cached for ten minutes, until the model changes; what findings say is that of now. */
  operations(request: AnalyticsSpan, gone: AbortSignal): Promise<Operated>
  screening: {
    status(): ScreeningStatus
    /**
     * Cached for an hour, and therefore finished also when nobody waits; a screening without scores is not cached, since history
     * may be on its way.
     *
     * @throws also Problem unknown_point, or screening_disabled
     */
    scores(request: ScreenRequest): Promise<Screened>
  }
}
type AnalyticsOptions = {
  worker: Worker<AnalyticsHandlers>
  model: Pick<ModelStore, 'building' | 'equipment' | 'points' | 'revision'>
  clock: Clock
  /** Whether anomalies are screened for. */
  screening: boolean
}

/** The function is long because all answers share what is cached. */
export function createAnalyticsService({ worker, model, clock, screening }: AnalyticsOptions): AnalyticsService {
  const keptFor = (ttl: number) => ({ max: KEPT_MAX, ttl, perf: clock })
  const kept = new LRUCache<string, Promise<Screened>>(keptFor(KEPT_MS.screening))
  const operated = new LRUCache<string, OperationHistory & { at: number }>(keptFor(KEPT_MS.operations))
  const newest = new Map<string, ScreeningStatus['screened'][number]>()

  const screen = async (request: ScreenRequest, { timezone }: Building): Promise<Screened> => {
    const at = clock.now()
    const { building_id, equipment_id, point_id } = request
    const points = model
      .points(building_id)
      .filter(point => equipment_id === undefined || point.equipment_id === equipment_id)
      .filter(point => point_id === undefined || point.point_id === point_id)
    if (points.length === 0 && point_id !== undefined) {
      throw new Problem('unknown_point', `Building ${building_id} has no point ${point_id}`)
    }
    const found = await worker.request('screen', { ...request, timezone, points, withHours: point_id !== undefined })
    const { points_scored, scored_hours, anomalies_total } = found
    if (equipment_id === undefined && point_id === undefined) {
      newest.set(building_id, { building_id, at: clock.now(), points_scored, scored_hours, anomalies_total })
    }
    return { ...found, at }
  }
  /** Spans are cut to whole hours by the caller, so that the same question within an hour has the same key. */
  const once = (request: ScreenRequest, building: Building): Promise<Screened> => {
    const key = JSON.stringify(request)
    const known = kept.get(key)
    if (known) return known
    const made = screen(request, building)
    const forget = () => kept.peek(key) === made && kept.delete(key)
    made.then(found => found.points_scored === 0 && forget(), forget)
    kept.set(key, made)
    return made
  }

  return {
    async economizer({ equipment_ids, dt_min, high_limit, ...span }, signal) {
      checkSpan(model, span, SPAN_MAX)
      const equipment = model.equipment(span.building_id)
      refuseUnknownEquipment(span.building_id, equipment, equipment_ids ?? [])
      const points = model.points(span.building_id)
      const job = { ...span, equipment, points, equipment_ids, params: { dt_min, high_limit } }
      return worker.request('economizer', job, { signal })
    },
    async operations(span, signal) {
      const { timezone } = checkSpan(model, span, SPAN_MAX)
      const { building_id, from, to } = span
      const equipment = model.equipment(building_id)
      const now = clock.now()
      const key = JSON.stringify([building_id, model.revision(building_id), from, to])
      const read = async () => {
        const points = operationPoints(model.points(building_id))
        const found = await worker.request('operations', { ...span, timezone, equipment, points }, { signal })
        const history = { ...found, at: now }
        operated.set(key, history)
        return history
      }
      const [history, faults] = await Promise.all([
        operated.get(key) ?? read(),
        worker.request('faults', { ...span, now }, { signal }),
      ])
      return { ...joinOperations(equipment, history, faults), at: history.at }
    },
    screening: {
      status: () => ({ enabled: screening, weeks: WEEKS, screened: [...newest.values()] }),
      async scores(request) {
        if (!screening) {
          throw new Problem('screening_disabled', 'Anomaly screening is off; SERVICE_SQL_ANOMALY_SCREENING=1 switches it on')
        }
        return once(request, checkSpan(model, request, SCREEN_MAX))
      },
    },
  }
}

/** @throws Problem unknown_building, or invalid for a span that is empty or too long */
function checkSpan(model: AnalyticsOptions['model'], { building_id, from, to }: AnalyticsSpan, longest: number): Building {
  const building = needBuilding(model, building_id)
  if (!(from < to)) throw new Problem('invalid', 'The span ends before it begins')
  if (to - from > longest) throw new Problem('invalid', `The span is longer than ${longest / DAY} days; ask for it in parts`)
  return building
}

/** Aborts when the connection closes before the answer is sent: nobody waits for the work any more. */
export function abortOnClose({ raw }: Pick<FastifyReply, 'raw'>): AbortSignal {
  const controller = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) controller.abort(new Problem('not_ready', 'The client has disconnected'))
  })
  return controller.signal
}
