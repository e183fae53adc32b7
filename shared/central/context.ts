import type { Logger } from 'pino'
import type { Equipment, Point } from '#shared/core/model/model.ts'
import type { BulkLoader, Clock, Historian, Notes, ArraySnapshots, Results, RunRecord } from '#shared/core/ports.ts'
import type {
  AuditStore,
  DefinitionStore,
  EdgeClaims,
  EdgeStore,
  MisdatedStore,
  ModelStore,
  PriceStore,
  QuantityStore,
  RuleStates,
  RunStore,
  RunEntry,
} from '#shared/core/stores.ts'
import type { RuleCoverage } from '#shared/core/rules/report/rule-coverage.ts'
import type { BaselineStore, SettingStore } from '#shared/core/tuning.ts'
import type { RunReport, RunRequest } from '#shared/flow/fdd/run-fdd.ts'
import type { RuleCheck, DeployedRules, RuleText } from '#shared/flow/fdd/publish-rules.ts'
import type { Auth } from '#shared/node/auth/token.ts'
import type { AnalyticsService } from '#shared/central/analytics/service.ts'
import type { LiveRun } from '#shared/central/fdd/live-runs.ts'
import type { Backtests } from './fdd/backtests.ts'
import type { Catalogue, RuleFileView } from './fdd/rule-views.ts'
import type { ImportSessions } from './import/sessions.ts'
import type { Pricing } from './pricing.ts'

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
  edgeClaims: EdgeClaims
  audit: AuditStore
  ruleStates: RuleStates
  definitions: DefinitionStore
  quantities: QuantityStore
  prices: PriceStore
  pricing: Pricing
  paramSettings: SettingStore
  baselines: BaselineStore
  historian: Historian
  misdated: MisdatedStore
  /** What was seen of priority arrays; only where they are visited. */
  priority?: ArraySnapshots
  loader: BulkLoader
  rules: RuleService
  runs: RunControl
  analytics: AnalyticsService
  config: PlatformConfigStore
  auth: Auth
  health: HealthSources
}

/** What only the API's own routes need besides. */
export type CentralParts = CentralContext & { sessions: ImportSessions; backtests: Backtests }

/** Reads, checks and deploys rules; the work is done in a process of its own. */
export type RuleService = {
  /** Every rule that the folders hold now; where ids meet, the deployed one counts. Cheap while no file has changed. */
  catalogue(): Promise<Catalogue>
  /** How often the rule files were read. */
  reads(): number
  /** Which rule each file of the folder of deployed rules holds, as far as it counts. */
  deployed(): Promise<{ filename: string; rule_id: string }[]>
  /** Every file that holds a rule which runs, and every deployed one, by name. */
  files(): Promise<RuleFileView[]>
  /** Runs one rule's own tests. @returns undefined when there is no such rule */
  test(rule_id: string): Promise<RuleCheck | undefined>
  check(files: RuleText[]): Promise<RuleCheck[]>
  /** Which active rules can run on the equipment of a building as its points are mapped now. */
  coverage(building_id: string): Promise<RuleCoverage>
  /** The same for a model that is not stored, such as the one that a package would make. */
  coverageOfModel(model: { equipment: Equipment[]; points: Point[] }): Promise<RuleCoverage>
  /** Runs `work` on the folder of deployed rules; calls are serialised. */
  withDeployed<T>(work: (rules: DeployedRules) => Promise<T>): Promise<T>
}

/** Runs of rules, one building at a time, in a process of their own. */
export type RunControl = {
  /**
   * Gives a run its id and its turn; `report` need not be waited for.
   *
   * @throws Problem unknown_building, ran_by_appliance, run_in_progress (of the same building), or not_ready while the process stops; from
   *   `report` also unknown_equipment, unknown_rule, invalid, query_failed or run_cancelled
   */
  start(request: RunRequest, trigger: RunRecord['trigger']): { run_id: string; report: Promise<RunReport> }
  /** The report of one that was started. @throws as `start` */
  run(request: RunRequest, trigger: RunRecord['trigger']): Promise<RunReport>
  /** Runs that are not over, in the order of their turns. */
  live(): LiveRun[]
  get(run_id: string): (RunEntry & Partial<LiveRun>) | undefined
  list: RunStore['list']
  /** @returns how to stop watching; undefined when the run is over or was never there */
  watch(run_id: string, onChange: (live: LiveRun) => void): (() => void) | undefined
  /** Ends a run at once; nothing is stored of it. @throws Problem unknown_run, or conflict when it is over */
  cancel(run_id: string, by: string): void
  /** Takes no more runs and ends those that wait; the one under way may finish for so long. The first call counts. */
  stop(graceMs?: number): Promise<void>
  status(): {
    running: boolean
    building_id?: string
    run_id?: string
    last_run_at: number | null
    last_error: string | null
  }
}

/** Settings of the FDD loop, kept in a file that a person may edit. */
export type PlatformConfig = { rules_dir: string; rule_interval_hours: number; lookback_days: number }
export type PlatformConfigStore = { read(): PlatformConfig; write(config: PlatformConfig): Promise<void> }

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
