import { errorText } from '#shared/core/error-text.ts'
import type { Finding } from '#shared/core/findings/finding.ts'
import type {
  ArraySnapshots,
  Clock,
  FindingReader,
  Historian,
  HistoryChanges,
  Resumed,
  ResultReader,
  RunRecord,
  RunRecorder,
  UnsentFindings,
} from '#shared/core/ports.ts'
import { earliestChange } from '#shared/core/priority/array-snapshot.ts'
import { needBuilding, refuseUnknownEquipment } from '#shared/core/lookup.ts'
import { Problem } from '#shared/core/problem.ts'
import { WINDOW_MAX_MS } from '#shared/core/rules/language/functions.ts'
import type { EquipmentDay, CarriedFinding } from '#shared/core/rules/evaluate/run-types.ts'
import type { Building } from '#shared/core/model/model.ts'
import type { ModelStore, RuleState, RuleStates } from '#shared/core/stores.ts'
import { DAY, formatInstant } from '#shared/core/time.ts'
import type { BaselineStore, SettingStore } from '#shared/core/tuning.ts'
import { dateOf, dayStart } from '#shared/core/time-zone.ts'
import type { EvaluateJob, Evaluation } from './evaluate-rules.ts'

export type RunRequest = {
  building_id: string
  /** Default: every active rule. */
  rule_ids?: string[]
  equipment_ids?: string[]
  /**
   * `[from, to)` in ms, at most now. Default: from the beginning of the building day that is one lookback before now, or
   * before the end of history.
   */
  from?: number
  to?: number
  /** Rule id → parameter → value in the parameter's own unit. */
  params?: Record<string, Record<string, number>>
}

/** The report of one run, with the duration of each step. */
export type RunReport = RunRecord & {
  rules_run: number
  rules_succeeded: number
  rules_failed: number
  /** Rules for which the building has no equipment. */
  rules_skipped: number
  /** By equipment and building day: the active rules and their combined causes. */
  days: EquipmentDay[]
  timings: { step: string; ms: number }[]
  /** For the log: what could not resume from the last run, and why. */
  notes: string[]
  total_ms: number
}

export type RunPorts = {
  model: ModelStore
  findings: FindingReader
  results: Pick<ResultReader, 'latestOf'>
  runRecorder: RunRecorder
  unsentFindings: UnsentFindings
  ruleStates: RuleStates
  paramSettings: SettingStore
  baselines: BaselineStore
  historian: Pick<Historian, 'lastAt'>
  changes: HistoryChanges
  /** Only where priority arrays are visited. */
  priority?: ArraySnapshots
  clock: Clock
  /** Evaluates the rules, in a process of its own. @throws Problem unknown_rule or query_failed */
  evaluate: (job: EvaluateJob) => Promise<Evaluation>
  /**
   * Called after each run with the stored findings of its span, and with those that were withdrawn or that ended before it,
   * until it resolves once.
   */
  onFindings: (findings: Finding[], withdrawn: string[]) => Promise<void> | void
  /** Assigned when the run was requested. */
  run_id: string
  /** Ends the run; nothing of it is stored. */
  signal?: AbortSignal
  /** A stopwatch, ms. */
  elapsed: () => number
}

/** Longest span of one run: two years, which fits into the memory of a hub; an appliance can evaluate one year of minutes. */
const SPAN_MAX = 2 * 366 * DAY
/** How far beyond its lookback a run reaches back for late samples: the longest lookback that can be set. */
const REOPENED_MAX = 31 * DAY
/** Visits to load before the span: the longest window, and a day to fill it. */
export const VISITS_BEFORE = WINDOW_MAX_MS + DAY
/** Maximum number of findings that one run carries over or sends. */
const FINDINGS_MAX = 10_000

/** Runs rules over a building and stores the results. */
export async function runFdd(
  request: RunRequest,
  trigger: RunRecord['trigger'],
  lookbackMs: number,
  ports: RunPorts,
): Promise<RunReport> {
  const { model, clock } = ports
  const started = ports.elapsed()
  const started_at = clock.now()
  const job = await prepare(request, lookbackMs, ports)
  const { building_id } = request
  const { findings, results: said, days, failed, baselines, rule_ids, resumed, ...told } = await ports.evaluate(job)
  const { from, to, remember } = job
  const run: RunRecord = {
    run_id: ports.run_id,
    building_id,
    started_at,
    finished_at: clock.now(),
    from,
    to,
    trigger,
    rule_ids,
    results: said,
    failed: failed.map(({ rule_id, equipment_id, error }) => ({
      rule_id,
      error: equipment_id ? `${equipment_id}: ${error}` : error,
    })),
  }
  if (!model.building(building_id)) throw new Problem('unknown_building', `Building ${building_id} went away during the run`)
  ports.signal?.throwIfAborted()
  const reopened = remember && {
    since: remember.changedFrom ?? -Infinity,
    equipment_ids: new Set(resumed),
    retired: retiredBy(run, job.inactive, failed, ports.ruleStates),
  }
  ports.runRecorder.replace(run, findings, reopened, () => {
    if (remember) ports.changes.settle(building_id, to)
    // A run that resumed at the very end of its span evaluated no day, and so calculated no baseline.
    if (baselines.length === 0 && resumed.length > 0) return
    const { timezone } = job.building
    const [date, today] = [dateOf(to - 1, timezone), dateOf(run.finished_at, timezone)]
    ports.baselines.keep({ building_id, date, today, looked: said, baselines })
  })
  const notes = [...told.notes, ...(await sendFindings(run, ports))]
  return { ...run, ...countRules(run), days, ...told, notes, total_ms: Math.round(ports.elapsed() - started) }
}

/**
 * Decides why rules that did not run are retired. While a rule file does not parse, its rule is unknown, and no rule counts
 * as removed.
 */
function retiredBy(
  { rule_ids, started_at }: RunRecord,
  inactive: string[],
  failed: Evaluation['failed'],
  states: RuleStates,
): NonNullable<Resumed['retired']> {
  const ran = new Set(rule_ids)
  const off = new Set(inactive)
  const changes = new Map(states.list().map(({ rule_id, changed_at }) => [rule_id, changed_at]))
  const isSure = failed.every(({ equipment_id }) => equipment_id !== '')
  return rule_id => {
    if (off.has(rule_id)) return { why: 'rule_deactivated', at: changes.get(rule_id) ?? started_at }
    return ran.has(rule_id) || !isSure ? undefined : { why: 'rule_removed', at: started_at }
  }
}

/** Sends the findings of a run. @returns a note if this failed; the next run sends them again */
async function sendFindings(
  { building_id, from, to }: RunRecord,
  { findings, unsentFindings, onFindings }: RunPorts,
): Promise<string[]> {
  const within = findings.list({ building_id, from, to, limit: FINDINGS_MAX })
  const listed = new Set(within.map(({ finding_id }) => finding_id))
  const unsent = unsentFindings.unsent(building_id)
  const ended = unsent.filter(id => !listed.has(id)).flatMap(id => findings.get(id) ?? [])
  const withdrawn = unsent.filter(id => findings.get(id) === undefined)
  try {
    await onFindings([...within, ...ended], withdrawn)
  } catch (error) {
    return [`findings of the run not sent: ${errorText(error)}`]
  }
  unsentFindings.markSent(unsent)
  return []
}

function countRules({ rule_ids, results, failed }: RunRecord) {
  const failing = new Set(failed.map(({ rule_id }) => rule_id))
  const answered = new Set(results.map(({ rule_id }) => rule_id))
  const skipped = rule_ids.filter(id => !failing.has(id) && !answered.has(id)).length
  const succeeded = rule_ids.filter(id => !failing.has(id) && answered.has(id)).length
  return { rules_run: rule_ids.length, rules_succeeded: succeeded, rules_failed: failing.size, rules_skipped: skipped }
}

async function prepare(request: RunRequest, lookbackMs: number, ports: RunPorts): Promise<EvaluateJob> {
  const { model, ruleStates } = ports
  const { building_id, rule_ids, equipment_ids, params } = request
  const building = needBuilding(model, building_id)
  const equipment = model.equipment(building_id)
  refuseUnknownEquipment(building_id, equipment, equipment_ids ?? [])
  const whole = isWhole(request)
  // This is taken before anything is read, so that changes during the run belong to the next one.
  const changed = whole ? ports.changes.take(building_id) : undefined
  const { from, to } = spanOf(request, building, lookbackMs, changed, ports)
  const points = model.points(building_id)
  const point_ids = points.filter(({ role }) => role !== undefined).map(({ point_id }) => point_id)
  const visits = await ports.priority?.snapshots(building_id, { from: from - VISITS_BEFORE, to, point_ids })
  const states = ruleStates.list()
  refuseInactive(rule_ids ?? [], states)
  const inactive = states.filter(({ active }) => !active)
  return {
    building,
    equipment,
    points,
    from,
    to,
    rule_ids,
    inactive: inactive.map(({ rule_id }) => rule_id),
    equipment_ids,
    params,
    settings: ports.paramSettings.list({ site_id: building.site_id, building_id }),
    resets: ports.baselines.resets(building_id),
    carried: carriedInto(building_id, from, ports),
    ...(visits && { visits, overrideLevels: ports.priority!.levels().map(({ override }) => override) }),
    ...(whole && {
      remember: { changedFrom: changed === undefined ? undefined : Math.min(changed, earliestChange(visits ?? {}, changed)) },
    }),
  }
}

/** @throws Problem rule_inactive that names those that are deactivated */
export function refuseInactive(rule_ids: string[], states: Pick<RuleState, 'rule_id' | 'active'>[]): void {
  const off = states.filter(({ rule_id, active }) => !active && rule_ids.includes(rule_id)).map(({ rule_id }) => rule_id)
  if (off.length === 0) return
  const [verb, them] = off.length === 1 ? ['is', 'it'] : ['are', 'them']
  throw new Problem('rule_inactive', `${off.join(', ')} ${verb} deactivated; activate ${them} to run ${them}`)
}

/** Whether a run covers all rules and equipment as they are; only from such a run the next one can resume. */
const isWhole = ({ rule_ids, equipment_ids, params, from, to }: RunRequest): boolean =>
  [rule_ids, equipment_ids, params, from, to].every(given => given === undefined)

function spanOf(
  { building_id, from, to }: RunRequest,
  { timezone }: Building,
  lookbackMs: number,
  changed: number | undefined,
  { historian, clock }: RunPorts,
) {
  const now = clock.now()
  // The span ends now at the latest: results for the future would be in the way of real ones.
  const end = to === undefined ? endOf(building_id, lookbackMs, historian, now) : Math.min(to, now)
  const late = Math.max(changed ?? Infinity, end - REOPENED_MAX)
  const start = from ?? dayStart(Math.min(end - lookbackMs, late), timezone)
  if (!(start < end)) {
    throw refusedSpan('/from', `The span begins at ${formatInstant(start)}, which is not before its end, ${formatInstant(end)}`)
  }
  if (end - start > SPAN_MAX) {
    const days = Math.round((end - start) / DAY)
    throw refusedSpan('/from', `The span from ${formatInstant(start)} is ${days} days long, more than two years; run it in parts`)
  }
  return { from: start, to: end }
}

const refusedSpan = (pointer: string, message: string) => new Problem('invalid', message, [{ pointer, message }])

/** Now, so that missing data shows; but where history ended long ago, as in an imported package, the end of history. */
export function endOf(building_id: string, lookbackMs: number, historian: RunPorts['historian'], now: number): number {
  const last = historian.lastAt(building_id)
  return last !== undefined && last < now - lookbackMs ? last + 1 : now
}

/** Active findings that began before the span, with the instant up to which their duration is known. */
function carriedInto(
  building_id: string,
  from: number,
  { findings, results }: Pick<RunPorts, 'findings' | 'results'>,
): CarriedFinding[] {
  const active = findings.list({ building_id, state: 'active', to: from, limit: FINDINGS_MAX })
  return active.flatMap(
    ({ rule_id, equipment_id, role, from: began, confirmed_at, duration_secs, stretches, waste }): CarriedFinding[] => {
      const last = results.latestOf(building_id, equipment_id, rule_id)
      if (last === undefined) return []
      const { looked_to: up_to, evaluated_as: version } = last
      const known = { rule_id, equipment_id, from: began, confirmed_at, duration_secs, up_to }
      const more = { ...(version !== undefined && { version }), ...(stretches && { stretches }) }
      return [{ ...known, ...more, ...(role !== undefined && { role }), ...(waste && { waste }) }]
    },
  )
}
