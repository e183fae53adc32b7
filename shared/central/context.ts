import type { Doubtful } from '#shared/core/model/unit-doubt.ts'
import type { BuildingExtent, HistoryExtent } from '#shared/core/series/history-quota.ts'
import type { Logger } from 'pino'
import type { Equipment, Point } from '#shared/core/model/model.ts'
import type {
  ArraySnapshots,
  BulkLoader,
  Clock,
  FindingReader,
  Historian,
  Notes,
  ResultReader,
  RunRecord,
  SnoozeStore,
} from '#shared/core/ports.ts'
import type {
  ApiTokenStore,
  AuditStore,
  DefinitionStore,
  EdgeClaims,
  EdgeStore,
  MisdatedStore,
  ModelReader,
  ModelStore,
  PriceStore,
  QuantityStore,
  RuleStates,
  RuleVersionStore,
  RunStore,
  RunEntry,
  TenantStore,
  UserStore,
} from '#shared/core/stores.ts'
import type { PreferenceStore } from '#shared/core/preferences.ts'
import type { SavedTrendStore } from '#shared/core/series/saved-trend.ts'
import type { LiveReader } from '#shared/core/telemetry/live.ts'
import type { ClassUse } from '#shared/core/disk-use.ts'
import type { StorageBudget, TenantUse } from '#shared/core/tenant-budget.ts'
import type { Tenant } from '#shared/core/tenant.ts'
import type { RuleCoverage } from '#shared/core/rules/report/rule-coverage.ts'
import type { BaselineStore, SettingStore } from '#shared/core/tuning.ts'
import type { RunReport, RunRequest } from '#shared/flow/fdd/run-fdd.ts'
import type { RuleCheck, DeployedRules, RuleText } from '#shared/flow/fdd/publish-rules.ts'
import type { Auth, TenantTokens } from '#shared/node/auth/token.ts'
import type { AlertStore } from '#shared/node/store/alerts.ts'
import type { AnalyticsService } from '#shared/central/analytics/service.ts'
import type { LiveRun } from '#shared/central/fdd/live-runs.ts'
import type { AlertService } from './alerts/alert-service.ts'
import type { Backups } from './backup/backups.ts'
import type { Restores } from './backup/restores.ts'
import type { Inspection } from './inspection.ts'
import type { Backtests } from './fdd/backtests.ts'
import type { Catalogue, RuleFileView, RuleReading } from './fdd/rule-views.ts'
import type { ImportSessions } from './import/sessions.ts'
import type { Pricing } from './pricing.ts'
import type { SearchService } from './search-service.ts'

export type { RunReport, RunRequest }

/** Stores and services that the routes of central use. Each main creates one with `createCentral`. */
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
  findings: FindingReader
  results: ResultReader
  notes: Notes
  snoozes: SnoozeStore
  edges: EdgeStore
  edgeClaims: EdgeClaims
  audit: AuditStore
  ruleStates: RuleStates
  ruleVersions: RuleVersionStore
  definitions: DefinitionStore
  quantities: QuantityStore
  prices: PriceStore
  pricing: Pricing
  paramSettings: SettingStore
  baselines: BaselineStore
  historian: Historian
  /** How much history takes, and since when it is kept. */
  historyExtent: () => HistoryExtent
  /** Of one building, or of each that has sealed history. */
  historyExtents: (building_id?: string) => BuildingExtent[]
  /** Points of a building whose values of the last day, or of the last day of its data, do not fit their unit. */
  unitDoubts: (building_id: string) => Promise<Doubtful[]>
  /** How much each class of data takes on the disk. Files are counted at each call. */
  storage: () => Promise<ClassUse[]>
  misdated: MisdatedStore
  /** Newest readings, which history may not have yet; only where devices are polled or edges send them. */
  live?: LiveReader
  /** Snapshots of priority arrays; only where they are visited. */
  priority?: ArraySnapshots
  loader: BulkLoader
  rules: RuleService
  runs: RunControl
  analytics: AnalyticsService
  search: SearchService
  config: PlatformConfigStore
  inspection: Inspection
  auth: Auth
  users: UserStore
  preferences: PreferenceStore
  apiTokens: ApiTokenStore
  savedTrends: SavedTrendStore
  alerts: AlertStore
  tenants: TenantStore
  tenancy: Tenancy
  /** Limits of what may be stored here; undefined where there are none. */
  budget: StorageBudget | undefined
  health: HealthSources
}

/** A part of the context that changes nothing in the model, so that it may have the model as one reader sees it. */
export type Reading<C extends { model: ModelReader }> = Omit<C, 'model'> & { model: ModelReader }

/** Which tenant a central serves. */
export type Tenancy = {
  multi_tenant: boolean
  tenant_id: string
  /** Folder of the tenant's history below that of the hub; empty for the hub's own. */
  historian_prefix: string
  /** Opens the workspace of a new tenant; undefined where there are no tenants, and in the central of a tenant. */
  open?: (tenant: Tenant) => Promise<void>
  /** The tokens that the workspaces of tenants hold; only in the hub's own central. */
  tenantTokens?: () => TenantTokens[]
  /** @returns what a tenant uses; undefined for one whose workspace is not open */
  useOf?: (tenant_id: string) => TenantUse | undefined
}

/** The context with the parts that only API routes and settings pages use. */
export type CentralParts = CentralContext & {
  sessions: ImportSessions
  backtests: Backtests
  backups: Backups
  /** Undefined where a workspace is restored by the command alone. */
  restores?: Restores | undefined
  /** Ends the process, which is then started again; undefined where nobody would start it. */
  restart?: (() => void) | undefined
  alertService: AlertService
}

/** Reads, checks and deploys rules in a separate process. */
export type RuleService = {
  /** All rules in the folders; a deployed rule replaces a shipped one with the same id. Cached until a file changes. */
  catalogue(): Promise<Catalogue>
  /** How often the rule files were read. */
  reads(): number
  /** The rule of each deployed file that is in force. */
  deployed(): Promise<{ filename: string; rule_id: string }[]>
  /** Files of the rules in force, and all deployed files, by name. */
  files(): Promise<RuleFileView[]>
  /** Runs one rule's own tests. @returns undefined when there is no such rule */
  test(rule_id: string): Promise<RuleCheck | undefined>
  /** The text of a rule's file with its explanation. @throws Problem conflict while the file is being changed */
  read(rule_id: string): Promise<RuleReading | undefined>
  check(files: RuleText[]): Promise<RuleCheck[]>
  /** Active rules that can run on the equipment of a building with the present mapping of its points. */
  coverage(building_id: string): Promise<RuleCoverage>
  /** The same for a model that is not stored, such as that of a package before its import. */
  coverageOfModel(model: { equipment: Equipment[]; points: Point[] }): Promise<RuleCoverage>
  /** Runs `work` on the folder of deployed rules; calls are serialised. */
  withDeployed<T>(work: (rules: DeployedRules) => Promise<T>): Promise<T>
}

/** Runs of rules, one building at a time, in a separate process. */
export type RunControl = {
  /**
   * Adds a run to the queue and returns its id; the caller may ignore `report`.
   *
   * @throws Problem unknown_building, ran_by_appliance, run_in_progress (of the same building), or not_ready while the process stops; from
   *   `report` also unknown_equipment, unknown_rule, invalid, query_failed or run_cancelled
   */
  start(request: RunRequest, trigger: RunRecord['trigger']): { run_id: string; report: Promise<RunReport> }
  /** The report of one that was started. @throws as `start` */
  run(request: RunRequest, trigger: RunRecord['trigger']): Promise<RunReport>
  /** Runs that are not over, in the order of the queue. */
  live(): LiveRun[]
  get(run_id: string): (RunEntry & Partial<LiveRun>) | undefined
  list: RunStore['list']
  /** @returns the function that stops watching; undefined when the run is over or unknown */
  watch(run_id: string, onChange: (live: LiveRun) => void): (() => void) | undefined
  /** Cancels a run at once; none of its results are stored. @throws Problem unknown_run, or conflict when it is over */
  cancel(run_id: string, by: string): void
  /** Refuses new runs, cancels those that wait, and gives the active one this long to finish. Later calls change nothing. */
  stop(graceMs?: number): Promise<void>
  status(): {
    running: boolean
    building_id?: string
    run_id?: string
    last_run_at: number | null
    last_error: string | null
  }
}

/** Settings of the run schedule, in a file that a person may edit. */
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

/** Health checks of the process around central: ingest on a hub, polling and forwarding on an appliance. */
export type HealthSources = {
  checks: Record<string, () => HealthCheck | Promise<HealthCheck>>
  counters: () => IngestCounters
}
