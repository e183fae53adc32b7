/** The ports through which flows use the outside world. Each has one to four methods. */
import type {
  ActiveFinding,
  Ending,
  Finding,
  FindingNote,
  ResultReason,
  ResultState,
  RuleResult,
} from '#shared/core/findings/finding.ts'
import type { Silence, Snooze, SnoozeTarget, ShownNote } from '#shared/core/findings/snooze.ts'
import type { PriorityReading, PriorityRecord, PriorityTarget } from '#shared/core/priority/priority-record.ts'
import type { LevelMeaning } from '#shared/core/priority/priority-levels.ts'
import type { ArraySnapshot } from '#shared/core/priority/array-snapshot.ts'
import type { Quality, Reading } from '#shared/core/telemetry/reading.ts'
import type { BudgetExcess } from '#shared/core/tenant-budget.ts'
import type { EquipmentState } from '#shared/core/rules/evaluate/equipment-state.ts'
import type { Buckets, Series } from '#shared/core/series/series.ts'

/** Time as the process sees it. A simulated site runs faster than the wall clock. */
export interface Clock {
  /** ms since 1970 UTC */
  now(): number
  /** Resolves after `ms` of this clock's time, or at once when `signal` aborts (it never rejects). */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** Reads the points of one device. It has no method that writes. */
export interface Driver<Address> {
  /**
   * One attempt at all of `points`, in as few requests as the device allows.
   *
   * A point that the device refuses or does not have is a reading with `q: 'bad'` and `v: null`; the others are not affected.
   *
   * @throws DeviceError when the device did not answer at all
   */
  read(points: { point_id: string; address: Address }[], signal: AbortSignal): Promise<Reading[]>
  close(): Promise<void>
}

/** Stores or forwards readings. */
export interface Sink {
  /** Durable when resolved. After an error the same readings are written again, so the sink accepts a reading twice. */
  write(readings: Reading[]): Promise<void>
}

export type AppendCount = { added: number; duplicate: number }
export type HistoryQuery = { building_id: string; point_ids: string[]; from: number; to: number }
/** Samples of one point, `last` included. */
export type PointSpan = { point_id: string; first: number; last: number; samples: number }
/** Samples of one point in a package, ascending in time, none twice. */
export type PointRows = { point_id: string; series: Series }

/** Reads sampled history by building and point. */
export interface HistoryReader {
  /** `[from, to)`, in the order of `point_ids`; an unknown point is an empty series. */
  read(query: HistoryQuery): Promise<Series[]>
  /** At most `maxBuckets` buckets over `[from, to)` for each point; a span of months is widened to whole hours. */
  buckets(query: HistoryQuery & { maxBuckets: number }): Promise<Buckets[]>
  /** The span of each point that has samples: of all points of the building, or of those that are named. */
  spans(building_id: string, point_ids?: string[]): Promise<PointSpan[]>
  /** By point, the instant of its first sample, ms; a point without samples is left out. */
  firsts(building_id: string): Promise<Record<string, number>>
}

/** Sampled history. A point has at most one sample at an instant; a later one replaces it. */
export interface Historian extends HistoryReader {
  /**
   * Durable when resolved. A sample that is stored already with the same value counts as duplicate. A value is stored as
   * *no data* when it is NaN or its quality is bad or stale.
   */
  append(building_id: string, readings: { id: string; t: number; v: number; q?: Quality }[]): Promise<AppendCount>
  /** The instant of the building's newest sample, ms; undefined without any. */
  lastAt(building_id: string): number | undefined
}

/** The earliest timestamp that changed since the last run, recorded in the transaction that changes samples. */
export interface HistoryChanges {
  /**
   * Takes the changes for a run, before it reads history. Later changes belong to the next run. The changes stay recorded
   * until `settle`, so that a run that fails loses nothing.
   *
   * @returns ms: history before this instant has not changed; undefined before the first run
   */
  take(building_id: string): number | undefined
  /** Removes the changes that `take` returned, after the run through `through` has stored its results. */
  settle(building_id: string, through: number): void
}

/**
 * States of the rule engine at the ends of building days. They are derived from history: a missing one is computed again.
 */
export interface EngineStates {
  /** Ends of days for which the building has saved states or samples, ms, ascending. */
  ends(building_id: string): number[]
  /** `why` says what is wrong with the saved state, or that there is none. */
  load(building_id: string, at: number, equipment_id: string): { state: EquipmentState } | { why: string }
  /** Saves a state and deletes the equipment's samples since this and earlier ends of days. */
  save(building_id: string, state: EquipmentState): Promise<void>
  /** Deletes the states and samples at these ends of days. */
  drop(building_id: string, ends: number[]): void
}

/** All samples of some points in `[from, to)`, in the points' own units. */
export type ReadSamples = { from: number; to: number; series: ReadonlyMap<string, Series> }
/** The same, with the number of pieces in which it was added. */
export type KeptSamples = ReadSamples & { pieces: number }

/** Samples that rules have read since the end of a day, so that the next run need not read them again. Derived from history. */
export interface SampleLogs {
  /**
   * Samples that an equipment's rules have read since `at`, when its state was saved.
   *
   * @param until history may have changed from this instant on, ms; samples at or after it are left out
   */
  read(building_id: string, at: number, equipment_id: string, until: number): KeptSamples | undefined
  /** @param before the result of `read` that `more` continues; without it `more` replaces what is stored */
  add(building_id: string, at: number, equipment_id: string, more: ReadSamples, before?: KeptSamples): void
  /** Deletes the samples of all other equipment: no run has compared them with history. */
  dropOthers(building_id: string, equipment_ids: string[]): void
}

/** Loads whole packages beside live data. Rows are staged and checked, then become visible in one transaction. */
export interface BulkLoader {
  /**
   * @param points the points of the package; `replace` deletes their earlier samples
   * @param rows consumed once; nothing is visible before the last row is staged
   * @param beside runs in the transaction that makes the rows visible; if it throws, nothing changes
   */
  load(
    building_id: string,
    points: string[],
    mode: 'merge' | 'replace',
    rows: AsyncIterable<PointRows>,
    beside?: () => void,
  ): Promise<AppendCount>
}

/** Stored findings. */
export interface FindingReader {
  /** Newest start first. @throws Problem bad_cursor when the finding of `after` no longer exists */
  list(query: FindingQuery): Finding[]
  get(finding_id: string): Finding | undefined
  /** What is counted and searched of the active findings of a building, or of all, at most 100,000; ordered by building and id. */
  active(building_id?: string): ActiveFinding[]
  /** @returns by rule, how many findings overlap `[from, to)`; a rule without any is left out */
  countByRule(from: number, to: number): Map<string, number>
}
export interface FindingStore extends FindingReader {
  /** Inserts or updates by `finding_id`. */
  put(findings: Finding[]): void
}

/** Stores the outcome of a run. */
export interface RunRecorder {
  /**
   * Stores the findings and results of a run over `[from, to)`. Earlier findings of these rules and equipment that overlap
   * the span and were not found again are replaced.
   *
   * @param beside runs in the transaction that stores them
   */
  replace(run: RunRecord, findings: Finding[], resumed?: Resumed, beside?: () => void): void
}

/** Findings whose removal or end has not been sent yet. */
export interface UnsentFindings {
  /** Ids of a building's findings that were removed, or that ended before the span of the run that ended them. */
  unsent(building_id: string): string[]
  markSent(finding_ids: string[]): void
}

/** Stored runs and their results. */
export interface ResultReader {
  /** Newest first, starting after the run with the id `after`. @throws Problem bad_cursor when that run no longer exists */
  runs(query: { building_id?: string; limit: number; after?: string }): RunSummary[]
  /** The newest run of a building with all its results; undefined for any other run. */
  record(run_id: string): RunRecord | undefined
  /** The latest result of each rule on an equipment, by rule. A run over a past span does not replace the result of a later span. */
  latest(building_id: string, equipment_id: string): LatestResult[]
  latestOf(building_id: string, equipment_id: string, rule_id: string): LatestResult | undefined
  /** The latest results of a building, by equipment and rule, starting after one of them: a large building has 100,000. */
  each(building_id: string, after?: Pick<LatestResult, 'equipment_id' | 'rule_id'>): Iterable<LatestResult>
  /** What the latest results of a building say together. */
  standing(building_id: string): Standing
}
export type Standing = {
  checks: number
  counts: Record<ResultState, number>
  reasons: ReasonCounts
  /** The newest end of a span that a run looked at, ms; undefined before the first run. */
  looked_to: number | undefined
  /** Those that a person should know although they make no finding: held too briefly, sampled too seldom, or not trusted. */
  remarkable: LatestResult[]
}
/** Describes a run of all rules over all equipment, from which the next run can resume. */
export type Resumed = {
  /** History may have changed from this instant on since the previous such run, ms; -Infinity when there was none. */
  since: number
  /** Equipment that resumed from a saved state. */
  equipment_ids: ReadonlySet<string>
  /** Why no run evaluates a rule any more; undefined for an active rule, and where that is not known. */
  retired?: (rule_id: string) => Ending | undefined
}
export type Looked = {
  /** End of the span of the newest run of the rule, ms. */
  looked_to: number
  /** End of the span of the newest run that could evaluate the rule, ms. */
  evaluated_to?: number
  /** Version of the rule in the newest run of all rules and equipment that could evaluate it. */
  evaluated_as?: string
}
export type LatestResult = RuleResult & Looked & { run_id: string; finished_at: number }
export type FindingQuery = {
  building_id?: string
  equipment_id?: string
  rule_id?: string
  state?: 'active' | 'cleared'
  /** Findings that overlap `[from, to)`. */
  from?: number
  to?: number
  limit: number
  /** The list starts after the finding with this id. */
  after?: string
}
export type RunRecord = {
  run_id: string
  building_id: string
  started_at: number
  finished_at: number
  from: number
  to: number
  trigger: 'schedule' | 'request' | 'file'
  rule_ids: string[]
  results: RuleResult[]
  failed: { rule_id: string; error: string }[]
}
/** A stored run, with the counts of its results. */
export type RunSummary = Omit<RunRecord, 'results'> & {
  counts: RunCounts
  /** Reasons of the results `gated` and `no_data`; absent in a run of an earlier version. */
  reasons?: ReasonCounts
}
export type RunCounts = Record<ResultState, number> | EarlierCounts
/** Counts of an earlier version, which did not distinguish `gated` from `no_data`. */
type EarlierCounts = Record<RuleResult['status'], number>
export type ReasonCounts = Partial<Record<ResultReason, number>>

/** Notes of people on findings. They are stored separately, so that no run deletes them. */
export interface Notes {
  get(finding_id: string): FindingNote
  /** The note, and the snooze in force at `now` that covers the finding: the longest of several. */
  of(finding: Pick<Finding, keyof SnoozeTarget>, now: number): ShownNote
  /** By id, what keeps an active finding of a building, or of all, quiet at `now`; others are left out. */
  silences(now: number, building_id?: string): Map<string, Silence>
  set(note: FindingNote): void
}

export interface SnoozeStore {
  /** Those in force at `now`, the soonest to end first, at most `limit`. */
  list(now: number, limit: number): Snooze[]
  /** Also one that was ended early; a snooze that is over may be forgotten. */
  get(snooze_id: string): Snooze | undefined
  /** The one in force at `now` that covers the finding: the longest of several. */
  covering(finding: Pick<Finding, keyof SnoozeTarget>, now: number): Snooze | undefined
  /** By id of the active findings of a building, or of all, that are snoozed at `now`: until when. */
  snoozedUntil(now: number, building_id?: string): Map<string, number>
  /** Inserts or replaces by `snooze_id`, and forgets what is over at `now`. */
  put(snooze: Snooze, now: number): void
}

/**
 * A segmented append-only log: the outbox and the priority journal. Sequences start at 1 and have no gap.
 *
 * @source reliability: damage inside the last group that was not fsynced is cut; any other damage is refused
 */
export interface SegmentedLog<T> {
  /** One group: all of `records` or none survive a power cut. Durable when resolved. @returns sequence of the last */
  append(records: T[]): Promise<number>
  /** Records from `seq` on, oldest first, at most `limit`. */
  read(seq: number, limit: number): { seq: number; record: T }[]
  /** Removes whole segments whose last sequence is at or below `seq`. Works on a full disk. */
  dropThrough(seq: number): void
  state(): { first: number; last: number; bytes: number }
}

/** Stores the messages of edges on a hub: rows and sequence marks in one transaction. */
export interface Inbox {
  /**
   * Stores messages in their order, all of them or none. Each is asked for once the one before it is stored.
   *
   * @returns for each message what became of it
   * @throws the error of the store or of asking for a message; then no message was stored
   */
  accept(messages: Iterable<EdgeMessage>): Accepted[]
}
/**
 * The mark of the edge and stream once the message was accepted, and the id of its message where that is known; `foreign`: ids of
 * findings that were not stored, because findings of other buildings have them; `isNextStream`: it begins a stream of an edge that had one
 * before; `over_budget`, of a tenant, and `over_bounds`, of what one edge may bring: nothing of it was stored.
 */
export type Accepted =
  | {
      status: 'stored' | 'duplicate' | 'gap'
      through_seq: number
      through_id?: string
      foreign?: string[]
      isNextStream?: boolean
    }
  | ({ status: 'over_budget' } & BudgetExcess)
  | { status: 'over_bounds'; reason: string }
export type EdgeMessage = {
  site_id: string
  edge_id: string
  building_id: string
  stream: string
  seq: number
  message_id?: string
  readings: Reading[]
  findings: Finding[]
  /** Ids of findings of this building to delete. */
  withdrawn: string[]
  /** Readings with an impossible time, and when they arrived, ms; they are stored separately from history. */
  misdated?: { arrived_at: number; readings: Reading[] }
}

/** The priority arrays of all visits within the retention. Damage disables it; see `PriorityState`. */
export interface PriorityJournal {
  /**
   * Appends the readings of one visit as one group: after a power cut all of them are there or none. Durable when resolved.
   *
   * @throws Error with the reason while the journal is disabled or cannot be written; the readings are then not stored
   */
  append(visit: PriorityReading[]): Promise<PriorityRecord[]>
  /** Reads at most `limit` full records, newest first, and nothing else. `more`: another record matches. */
  page(query: PriorityQuery): { records: PriorityRecord[]; more: boolean }
  /** The newest record of every point, by `priorityKey`. */
  latest(): ReadonlyMap<string, PriorityRecord>
  state(): PriorityState
}
export type PriorityQuery = {
  target?: PriorityTarget
  /** Only records observed at or after this, ms since 1970 UTC. */
  since?: number
  /** Only records with a lower sequence. */
  before?: number
  limit: number
}
export type PriorityState = {
  /**
   * `repaired`: when it was opened, its end was torn or acknowledged records were missing from it; `lost` counts them.
   * `disabled`: it is damaged or the disk fails; `reason` says where.
   */
  journal: 'ok' | 'repaired' | 'disabled'
  reason?: string
  /** Torn ends cut since the process started; absent when there was none. */
  cuts?: number
  /** Acknowledged records found missing from the end since the process started; absent when there was none. */
  lost?: number
  /** Sequence of the oldest and newest record within retention; `last < first` when there is none. */
  first: number
  last: number
}

/** Snapshots of priority arrays by point. Only an appliance that visits devices has them. */
export interface ArraySnapshots {
  /** Names of the levels P1 to P16 as the site has them now, and which of them are overrides. */
  levels(): LevelMeaning[]
  /**
   * Snapshots within `[from, to)`, ms, ascending, of all points or of `point_ids`. Values are in the point's own unit. A point
   * without a snapshot is left out.
   */
  snapshots(
    building_id: string,
    query: { from: number; to: number; point_ids?: string[] },
  ): Promise<Record<string, ArraySnapshot[]>>
}
