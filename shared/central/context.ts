import type { Logger } from 'pino'
import type { BulkLoader, Clock, Historian, Notes, PriorityVisits, Results, RunRecord } from '#shared/core/ports.ts'
import type { AuditStore, EdgeStore, ModelStore, QuantityStore, RuleStates } from '#shared/core/stores.ts'
import type { BaselineStore, SettingStore } from '#shared/core/tuning.ts'
import type { RunReport, RunRequest } from '#shared/flow/run-fdd.ts'
import type { RuleCheck, RuleShelf, RuleText } from '#shared/flow/publish-rules.ts'
import type { Auth } from '#shared/node/token.ts'
import type { Catalogue } from './fdd/worker.ts'
import type { ImportSessions } from './import/sessions.ts'

export type { RunReport, RunRequest }

/** Everything that the routes of central work with. A main makes one, with `openCentral`. */
export type CentralContext = {
  /** The process as health names it: `appliance`, `hub`, `central`. */
  service: string
  version: string
  /** Clock time at which the process started, ms. */
  startedAt: number
  clock: Clock
  log: Logger
  /** Folder that holds import sessions (`imports`), deployed rules (`rules`) and the trigger file (`config`). */
  workspace: string
  site_id: string
  model: ModelStore
  results: Results
  notes: Notes
  edges: EdgeStore
  audit: AuditStore
  ruleStates: RuleStates
  quantities: QuantityStore
  paramSettings: SettingStore
  baselines: BaselineStore
  historian: Historian
  /** What was seen of priority arrays; only where they are visited. */
  priority?: PriorityVisits
  loader: BulkLoader
  rulesDirs: RulesDirs
  runs: RunControl
  config: PlatformConfigStore
  auth: Auth
  health: HealthSources
}

/** What only the API's own routes need besides. */
export type CentralParts = CentralContext & { sessions: ImportSessions; rules: RuleDesk }

/** Reads, checks and deploys rules; the work is done in a process of its own. */
export type RuleDesk = {
  /** Every rule that the folders hold now. */
  catalogue(): Promise<Catalogue>
  /** Runs one rule's own tests. @returns undefined when there is no such rule */
  test(rule_id: string): Promise<RuleCheck | undefined>
  check(files: RuleText[]): Promise<RuleCheck[]>
  shelf(): Promise<RuleShelf>
}

/** Rules are read from both; where ids meet, the deployed one counts. */
export type RulesDirs = { shipped: string; deployed: string }

/** Runs of rules, one building at a time, in a process of their own. */
export type RunControl = {
  /** @throws Problem unknown_building, unknown_rule, run_in_progress (of the same building) or query_failed */
  run(request: RunRequest, trigger: RunRecord['trigger']): Promise<RunReport>
  /** Resolves when every run that was asked for is over; it never rejects. */
  idle(): Promise<void>
  status(): { running: boolean; building_id?: string; last_run_at: number | null; last_error: string | null }
}

/** Settings of the FDD loop, kept in a file that a person may edit. */
export type PlatformConfig = { rules_dir: string; rule_interval_hours: number; lookback_days: number }
export type PlatformConfigStore = { read(): PlatformConfig; write(config: PlatformConfig): void }

/** `warn` is shown; `fail` turns health into 503. */
export type HealthCheck = { status: 'ok' | 'warn' | 'fail'; detail?: string; [figure: string]: unknown }
export type IngestCounters = {
  edges: number
  ingest_ok: number
  ingest_duplicate: number
  ingest_rejected: number
  last_ingest_at: number | null
}

/** What the process around central adds to health: a hub its ingest, an appliance its polling and forwarding. */
export type HealthSources = {
  checks: Record<string, () => HealthCheck | Promise<HealthCheck>>
  counters: () => IngestCounters
}
