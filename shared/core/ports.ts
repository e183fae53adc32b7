/** The ports: what the flows ask of the outside world. One to four methods each; every one has a conformance suite. */
import type { Ending, Finding, FindingNote, ResultReason, ResultState, RuleResult } from '#shared/core/findings/finding.ts'
import type { PriorityReading, PriorityRecord, PriorityTarget } from '#shared/core/priority/priority-record.ts'
import type { ArraySnapshot } from '#shared/core/priority/array-snapshot.ts'
import type { Quality, Reading } from '#shared/core/telemetry/reading.ts'
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
   * A point that the device refuses or does not have is a reading with `q: 'bad'` and `v: null`; the others go on.
   *
   * @throws DeviceError when the device did not answer at all
   */
  read(points: { point_id: string; address: Address }[], signal: AbortSignal): Promise<Reading[]>
  close(): Promise<void>
}

/** Takes readings and returns when they are safe in its keeping. */
export interface Sink {
  /** What it throws means that the readings come again later, perhaps with others: it kept none, or takes them twice. */
  write(readings: Reading[]): Promise<void>
}

export type AppendCount = { added: number; duplicate: number }
export type HistoryQuery = { building_id: string; point_ids: string[]; from: number; to: number }
/** Samples of one point, `last` included. */
export type PointSpan = { point_id: string; first: number; last: number; samples: number }
/** Rows of a package: one point's stretch, ascending in time. */
export type PointRows = { point_id: string; series: Series }

/** Sampled history by building and point. A point has at most one sample at an instant; a later one replaces it. */
export interface Historian {
  /**
   * Durable when resolved. A sample that is there with the same value counts as duplicate. A value is kept as *no data*
   * when it is NaN or its quality is bad or stale.
   */
  append(building_id: string, readings: { id: string; t: number; v: number; q?: Quality }[]): Promise<AppendCount>
  /** `[from, to)`, in the order of `point_ids`; an unknown point is an empty series. */
  read(query: HistoryQuery): Promise<Series[]>
  /** At most `maxBuckets` buckets over `[from, to)` for each point. */
  buckets(query: HistoryQuery & { maxBuckets: number }): Promise<Buckets[]>
  /** What is held of each point that has samples. */
  spans(building_id: string): Promise<PointSpan[]>
  /** By point, the instant of its first sample, ms; a point without samples is left out. */
  firsts(building_id: string): Promise<Record<string, number>>
}

/** From when on the rules have to look at a building's history again. Noted in the transaction that changes samples. */
export interface HistoryChanges {
  /**
   * Called before history is read: what comes later is left for the next run. What was taken counts again until it is
   * settled, so a run that fails loses nothing.
   *
   * @returns ms: what is stored of the time before it stands; undefined before the first run
   */
  take(building_id: string): number | undefined
  /** Whether any sample is of `t` or later, ms. */
  hasSince(building_id: string, t: number): boolean
  /** What a run found in what it took is stored, through the instant at which it ended. */
  settle(building_id: string, through: number): void
}

/** All samples of some points in `[from, to)`, in the points' own units. */
export type ReadSamples = { from: number; to: number; series: ReadonlyMap<string, Series> }
/** The same, as it was added in so many pieces. */
export type KeptSamples = ReadSamples & { pieces: number }

/** What the rule engine remembers at the ends of building days. Derived from history: it may be lost at any time. */
export interface EngineStates {
  /** Ends of days at which something is kept of a building, ms, ascending. */
  ends(building_id: string): number[]
  /** `why` says what is wrong with what is kept, or that nothing is. */
  load(building_id: string, at: number, equipment_id: string): { state: EquipmentState } | { why: string }
  /** What was read for this day and earlier ones goes then. */
  save(building_id: string, state: EquipmentState): Promise<void>
  /**
   * Samples that an equipment's rules have read since `at`, when its state there was saved.
   *
   * @param until from when on history may not be what it was; what was read beyond is forgotten
   */
  samples(building_id: string, at: number, equipment_id: string, until: number): KeptSamples | undefined
  /** @param before what `samples` gave, which `more` goes on from; without it `more` takes the place of what is kept */
  addSamples(building_id: string, at: number, equipment_id: string, more: ReadSamples, before?: KeptSamples): void
  /** Forgets the samples of all other equipment: nobody has looked whether they still say what history says. */
  forgetOthers(building_id: string, equipment_ids: string[]): void
  /** Forgets what is kept at these ends of days. */
  drop(building_id: string, ends: number[]): void
}

/** Loads whole packages beside live data: proven in a staging place, then swapped in at one moment. */
export interface BulkLoader {
  /**
   * @param points the points that the package speaks of; `replace` drops what was held of them
   * @param rows consumed once; nothing is visible before the last row is in
   * @param beside runs in the transaction that makes the rows visible; what it throws leaves everything as it was
   */
  load(
    building_id: string,
    points: string[],
    mode: 'merge' | 'replace',
    rows: AsyncIterable<PointRows>,
    beside?: () => void,
  ): Promise<AppendCount>
}

/** Findings and results of runs, durable. The run loop (or, on a hub, ingest) is the only writer. */
export interface Results {
  /** Inserts or updates by `finding_id`. */
  put(findings: Finding[]): void
  /**
   * What a run over `[from, to)` found: replaces earlier findings of these rules and equipment that overlap the span
   * and are not found any more, and stores the run's results.
   *
   * @param beside runs in the transaction that stores them
   */
  replace(run: RunRecord, findings: Finding[], resumed?: Resumed, beside?: () => void): void
  /** Ids of a building's findings that are gone, or that have ended before the span of the run that saw it, until `markTold`. */
  unsent(building_id: string): string[]
  markSent(finding_ids: string[]): void
  list(query: FindingQuery): Finding[]
  get(finding_id: string): Finding | undefined
  /** Newest first; `after` is the `run_id` after which to go on. */
  runs(query: { building_id?: string; limit: number; after?: string }): RunSummary[]
  /** A building's newest run with all that it said; undefined for any other. */
  record(run_id: string): RunRecord | undefined
  /**
   * What was said of each rule and equipment last, ordered by equipment and rule: a run over a span that is past says nothing
   * of how things stand.
   */
  latest(building_id: string): LatestResult[]
}
/**
 * Of a run that looks at everything as it stands: the equipment that went on from what the engine remembered, and the instant
 * from which on history may have changed since the one before, -Infinity when there was none.
 */
export type Resumed = {
  since: number
  equipment_ids: ReadonlySet<string>
  /** Why no run evaluates a rule any more; undefined of one that is active, and where that is not known. */
  retired?: (rule_id: string) => Ending | undefined
}
/**
 * End of the span of the newest run that looked, and of the newest that could evaluate, ms. `evaluated_as`: the version of the
 * rule in the newest run that looked at everything as it stands and could evaluate.
 */
export type Looked = { looked_to: number; evaluated_to?: number; evaluated_as?: string }
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
  /** `finding_id` after which to go on, in the order newest start first. */
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
/** A run as it is kept: what it said of each rule and equipment is kept by those, and here only counted. */
export type RunSummary = Omit<RunRecord, 'results'> & {
  counts: RunCounts
  /** Why `gated` and `no_data` were not evaluated; absent in a run of an earlier version. */
  reasons?: ReasonCounts
}
export type RunCounts = Record<ResultState, number> | EarlierCounts
/** What an earlier version counted: it did not tell `gated` from `no_data`. */
type EarlierCounts = Record<RuleResult['status'], number>
export type ReasonCounts = Partial<Record<ResultReason, number>>

/** What people add to findings; kept apart so that no run loses it. */
export interface Notes {
  get(finding_id: string): FindingNote
  set(note: FindingNote): void
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
  /** Forgets whole segments whose last sequence is at or below `seq`. Works on a full disk. */
  dropThrough(seq: number): void
  state(): { first: number; last: number; bytes: number }
}

/** Where a hub puts what an edge sent: the rows and the sequence mark in one transaction. */
export interface Inbox {
  /**
   * @returns where the mark of this edge and stream stands now, and which message it stands at where that is known; `foreign`:
   *   ids of findings that were not stored, because findings of other buildings have them
   */
  accept(message: EdgeMessage): {
    status: 'stored' | 'duplicate' | 'gap'
    through_seq: number
    through_id?: string
    foreign?: string[]
  }
}
export type EdgeMessage = {
  site_id: string
  edge_id: string
  building_id: string
  stream: string
  seq: number
  message_id?: string
  readings: Reading[]
  findings: Finding[]
  /** Ids of findings of this building that are to go. */
  withdrawn: string[]
  /** Readings whose own time cannot be right, and when they came, ms; they are kept apart from history. */
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
  /**
   * Snapshots within `[from, to)`, ms, ascending, of all points or of `point_ids`. Values are in the point's own unit. A point
   * without a snapshot is left out.
   */
  snapshots(
    building_id: string,
    query: { from: number; to: number; point_ids?: string[] },
  ): Promise<Record<string, ArraySnapshot[]>>
}
