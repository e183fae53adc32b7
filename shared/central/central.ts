import type { LiveReader } from '#shared/core/telemetry/live.ts'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Finding } from '#shared/core/findings/finding.ts'
import { LEGACY_TENANT } from '#shared/core/tenant.ts'
import { isClockSet } from '#shared/core/telemetry/misdated.ts'
import type { Clock, ArraySnapshots } from '#shared/core/ports.ts'
import type { MisdatedStore } from '#shared/core/stores.ts'
import { openUnitDoubts } from '#shared/central/pages/commission/unit-doubts.ts'
import { type HistoryExtent, monthStart } from '#shared/core/series/history-quota.ts'
import { HOUR, SECOND } from '#shared/core/time.ts'
import { openHistoryChanges } from '#shared/node/historian/changes.ts'
import type { MailSettings } from '#shared/node/alerts/mail.ts'
import { ofHub, type Route } from '#shared/node/http/route.ts'
import type { Service } from '#shared/node/service.ts'
import { refusedLoginStore } from '#shared/node/store/audit.ts'
import { runStore } from '#shared/node/store/runs.ts'
import { endedSessionStore, knownNetworkStore } from '#shared/node/store/people/sign-ins.ts'
import { tokenEpochStore } from '#shared/node/store/people/token-epochs.ts'
import { openRefusedLogins } from '#shared/node/auth/refused-logins.ts'
import { type Auth, openAuth } from '#shared/node/auth/token.ts'
import type { AuthSettings } from '#shared/node/auth/auth-settings.ts'
import { ruleStatesIn } from '#shared/node/rules/engine-states.ts'
import { openSearchTexts } from '#shared/node/model/search-texts.ts'
import { openWorker } from '#shared/node/worker/worker.ts'
import type { EdgeRefusals, EdgeReturn, EdgeTroubles } from './alerts/conditions.ts'
import { AlertService } from './alerts/alert-service.ts'
import { createAnalyticsService } from '#shared/central/analytics/service.ts'
import type { AnalyticsHandlers, AnalyticsInit } from './analytics/worker.ts'
import type { CentralParts, HealthCheck, HealthSources, Tenancy } from './context.ts'
import { type Backups, type BackupSchedule, openBackups } from './backup/backups.ts'
import { openRestores, type RestoreOptions } from './backup/restores.ts'
import { openBacktests } from './fdd/backtests.ts'
import { openPlatformConfig, type PlatformConfigFile } from './fdd/config.ts'
import { createRuleService } from '#shared/central/fdd/rule-service.ts'
import { openResultFiles, type ResultFiles } from './fdd/result-files.ts'
import { RunQueue } from './fdd/run-control.ts'
import { fddService } from './fdd/service.ts'
import { openTrigger, type Trigger } from './fdd/trigger.ts'
import type { FddHandlers, FddInit } from './fdd/worker.ts'
import { importSessions } from './import/sessions.ts'
import { checkSpace } from '#shared/central/import/disk-space.ts'
import type { Inspection } from './inspection.ts'
import { versionNotBefore } from '#shared/node/version-not-before.ts'
import { readStorage, type StoragePlace } from './storage.ts'
import { openPricing, type Pricing, pricedRecorder } from './pricing.ts'
import { centralRoutes } from '#shared/central/api/routes.ts'
import { inspectionRoutes } from '#shared/central/api/process-log.ts'
import { createSearch } from './search-service.ts'
import { IDLE_MS, type Workspace } from './workspace.ts'

/** The catalogue that ships with the program. */
const SHIPPED_RULES = fileURLToPath(new URL('../../rules', import.meta.url))
/** Memory of a rule run beside DuckDB's own limit: the whole catalogue over three days of an air handler takes 200 MB, over a year of minutes 440. */
const RULES_BESIDE_MB = 512
/** Memory of analytics beside DuckDB's own limit: some pieces of history, and DuckDB itself. */
const ANALYTICS_BESIDE_MB = 350
/** Checking rule files needs no history. */
const CHECK_MB = 512
const SINGLE_TENANT: Tenancy = { multi_tenant: false, tenant_id: LEGACY_TENANT, historian_prefix: '' }
const CONFIG_DEFAULTS = { rule_interval_hours: 3, lookback_days: 3 }

export type CentralOptions = {
  /** The process as health names it. */
  service: string
  version: string
  inspection: Omit<Inspection, 'log'>
  clock: Clock
  log: Logger
  /** Folder of a file for each run; none are written without it. */
  resultsDir?: string | undefined
  /** DuckDB's memory limit in each of its processes. */
  memoryMb: number
  /** How long one rule may take on one equipment in one run; as long as it likes without it. */
  ruleSecs?: number
  /** Whether anomalies are screened for; not unless it says so. */
  screening?: boolean
  site_id: string
  /** Backups are made on request only without it. */
  backups?: BackupSchedule | undefined
  /** Where a backup may take the place of the workspace; its process calls `applyRestore` before it opens anything. */
  restore?: RestoreOptions | undefined
  /** Ends the process, which is then started again; undefined where nobody would start it. */
  restart?: (() => void) | undefined
  /** The server that alerts are mailed by; none are mailed without it. */
  mail?: MailSettings | undefined
  /** Whether edges connect to this process, so that a silent one raises an alert. */
  watchEdges?: boolean
  /** What is wrong with an edge that sends. */
  edgeTroubles?: EdgeTroubles
  edgeReturn?: EdgeReturn
  /** Edges of which nothing is stored. */
  edgeRefusals?: EdgeRefusals
  auth: AuthSettings
  /** Files and folders outside the workspace, or of the product alone, whose size is shown. */
  storage?: StoragePlace[]
  /** Which tenant this central serves; without it the process has one tenant. */
  tenancy?: Tenancy
  /** Users, their sessions and preferences, and the list of tenants, where the hub's own central has them. */
  signIns?: Pick<CentralParts, 'auth' | 'users' | 'preferences' | 'tenants'>
  /** Whether rules run on schedule here. */
  scheduled: boolean
  /** Called after each run with what was stored. It logs its own errors; the next run calls it again with what was not delivered. */
  onFindings: (findings: Finding[], withdrawn?: string[]) => Promise<void> | void
  /** Newest readings, which history may not have yet; only where devices are polled or edges send them. */
  live?: LiveReader
  /** Snapshots of priority arrays; only where they are visited. */
  priority?: ArraySnapshots
  /** Health checks that the process adds. */
  health: HealthSources
}

export type Central = {
  context: CentralParts
  routes: Route[]
  /** The worker processes and what they serve; they start after the workspace. */
  services: Service[]
  /** Rule runs. They start after what their findings are sent to, so that they stop before it. */
  schedule: Service[]
}

/**
 * Creates central over an open workspace: rules, runs, pages and API. The same for a hub, an appliance and central alone. The
 * function is long because it names every part once.
 *
 * @throws Error that names the file that cannot be opened
 */
export function createCentral(workspace: Workspace, options: CentralOptions): Central {
  const { clock, log, service, version, site_id } = options
  const { path, db, stores, historian } = workspace
  const config = openPlatformConfig(join(path, 'config', 'platform.json'), {
    rules_dir: join(path, 'rules'),
    ...CONFIG_DEFAULTS,
  })
  const { worker, checker, analyst } = openWorkers(workspace, options)
  const ruleDirs = () => [SHIPPED_RULES, config.read().rules_dir]
  const { onFindings, priority } = options
  const visited = priority && { priority }
  const pricing = openPricing(stores, findings => void Promise.resolve(onFindings(findings)).catch(() => undefined))
  const files = options.resultsDir === undefined ? undefined : openResultFiles(options.resultsDir, stores)
  const runs = openRuns(workspace, options, { worker, config, ruleDirs, pricing, files })
  const trigger = openTrigger(path)
  const tenancy = options.tenancy ?? SINGLE_TENANT
  const refused = openRefusedLogins(refusedLoginStore(db), log, Date.now)
  const backups = openBackups({ source: workspace, site_id, version, schedule: options.backups, clock, log })
  const restores =
    options.restore &&
    openRestores({ workspace: path, parquetRoot: workspace.parquetRoot, options: options.restore, audit: stores.audit, clock })
  const alertService = openAlerts(stores, options)
  const { needRoom } = workspace.ballast
  const places = [...ownPlaces(workspace, options), ...(options.storage ?? [])]
  const texts = openSearchTexts(join(path, '.cache', 'search.db'))
  const rules = createRuleService({ checker, config, shipped: SHIPPED_RULES, needRoom, ...stores })
  const context: CentralParts = {
    service,
    version,
    startedAt: clock.now(),
    clock,
    log,
    workspace: path,
    site_id,
    ...stores,
    pricing,
    historian,
    historyExtent: historian.extent,
    historyExtents: historian.extents,
    unitDoubts: openUnitDoubts({ ...stores, historian, clock }),
    storage: () => readStorage(historian.extent(), places),
    ...(options.live && { live: options.live }),
    ...visited,
    loader: historian,
    runs,
    analytics: createAnalyticsService({ worker: analyst, model: stores.model, clock, screening: options.screening ?? false }),
    config,
    inspection: { ...options.inspection, log },
    tenancy,
    budget: workspace.budget,
    auth: openAuthOver(workspace, options.auth, { tenancy, onRefused: refused.add }),
    ...options.signIns,
    health: withOwnChecks(options.health, workspace, { config, runs, trigger, files, backups, alertService, clock }),
    sessions: importSessions(join(path, 'imports'), Date.now, workspace.uploadBytesMax),
    backups,
    restores,
    restart: options.restart,
    alertService,
    rules,
    search: createSearch({ ...stores, texts, catalogue: rules.catalogue }),
    backtests: openBacktests({ worker, ruleDirs, running: () => runs.status().run_id, ...stores, historian, ...visited, clock }),
  }
  const workers: Service = {
    name: 'central',
    start: async () => undefined,
    async stop() {
      await Promise.all([worker.stop(), checker.stop(), analyst.stop()])
      refused.flush()
      texts.close()
    },
  }
  const running: Service = { name: 'runs', start: async () => void (await files?.catchUp()), stop: () => runs.stop() }
  // Runs stop first: the schedule waits for its own, which may take longer than a process has to stop.
  const schedule = options.scheduled ? [fddService(context, trigger), running] : [running]
  return {
    context,
    routes: [...centralRoutes(context, trigger), ...ofHub(inspectionRoutes(context))],
    services: [workers, backups.service, alertService, ...(restores ? [restores.service] : [])],
    schedule,
  }
}

type RunParts = {
  worker: ConstructorParameters<typeof RunQueue>[0]['worker']
  config: PlatformConfigFile
  ruleDirs: () => string[]
  pricing: Pricing
  files: ResultFiles | undefined
}

/** Rule runs over a workspace, with their results priced. */
function openRuns(
  { db, stores, historian }: Workspace,
  options: CentralOptions,
  { pricing, files, ...parts }: RunParts,
): RunQueue {
  const { clock, onFindings, priority } = options
  return new RunQueue({
    ...parts,
    store: runStore(db),
    ...stores,
    runRecorder: pricedRecorder(stores.runRecorder, pricing),
    historian,
    changes: openHistoryChanges(db),
    notBefore: () => versionNotBefore(clock),
    ...(priority && { priority }),
    clock,
    onFindings,
    ...(files && { onStored: files.keep }),
  })
}

const openAlerts = (
  stores: Workspace['stores'],
  { mail, site_id, watchEdges = false, edgeTroubles, edgeReturn, edgeRefusals, clock, log }: CentralOptions,
): AlertService =>
  new AlertService({
    ...stores,
    store: stores.alerts,
    mail,
    site: site_id,
    watchEdges,
    edgeTroubles,
    edgeReturn,
    edgeRefusals,
    clock,
    log,
  })

/** The logins of settings and named users, and the tokens of scripts. */
function openAuthOver(
  { db, stores }: Workspace,
  settings: AuthSettings,
  { tenancy, onRefused }: { tenancy: Tenancy; onRefused: ReturnType<typeof openRefusedLogins>['add'] },
): Auth {
  const { users, apiTokens, tenants } = stores
  return openAuth({
    settings,
    epochs: tokenEpochStore(db),
    sessions: endedSessionStore(db),
    networks: knownNetworkStore(db, Date.now),
    users,
    apiTokens,
    onRefused,
    ...(tenancy.multi_tenant && { tenantsOf: tenants.tenantsOf, tenantTokens: tenancy.tenantTokens }),
    now: Date.now,
  })
}

/** The processes of rule runs, rule checks and analytics. Each starts with its first request. */
function openWorkers({ path, parquetRoot: root, db }: Workspace, { memoryMb, version, ruleSecs = Infinity }: CentralOptions) {
  const module = new URL('./fdd/worker.ts', import.meta.url)
  const derived = {
    states: ruleStatesIn(path),
    ruleCache: join(path, '.cache', 'rules.parsed'),
    version,
  }
  const ruleMs = ruleSecs * SECOND
  const init: FddInit = { dbPath: db.name, root, ...derived, memoryMb, ruleMs }
  const worker = openWorker<FddHandlers>({ name: 'FDD', module, init, memoryMb: memoryMb + RULES_BESIDE_MB, idleMs: IDLE_MS })
  const checker = openWorker<FddHandlers>({ name: 'rule check', module, init, memoryMb: CHECK_MB, idleMs: IDLE_MS })

  const analyst = openWorker<AnalyticsHandlers>({
    name: 'analytics',
    module: new URL('./analytics/worker.ts', import.meta.url),
    init: { dbPath: db.name, root, memoryMb } satisfies AnalyticsInit,
    memoryMb: memoryMb + ANALYTICS_BESIDE_MB,
    idleMs: IDLE_MS,
  })
  return { worker, checker, analyst }
}

/** Files and folders of central itself, with what bounds them. Results are bounded by building, backups by number. */
function ownPlaces({ path, db, uploadBytesMax }: Workspace, { resultsDir, backups }: CentralOptions): StoragePlace[] {
  const database = ['', '-wal', '-shm'].map(suffix => `${db.name}${suffix}`)
  return [
    { name: 'database', paths: database, max_bytes: null },
    { name: 'uploads', paths: [join(path, 'imports')], max_bytes: uploadBytesMax },
    {
      name: 'cache',
      paths: ['rule-states', 'rules.parsed', 'search.db'].map(name => join(path, '.cache', name)),
      max_bytes: null,
    },
    ...(resultsDir === undefined ? [] : [{ name: 'results' as const, paths: [resultsDir], max_bytes: null }]),
    ...(backups ? [{ name: 'backups' as const, paths: [backups.folder], max_bytes: null }] : []),
  ]
}

/** Months are numbers as well, because metrics have nothing else. */
function historyCheck(extent: HistoryExtent): HealthCheck {
  const [whole_from_secs, thinned_from_secs] = [extent.whole_from, extent.thinned_from].map(
    month => month && monthStart(month) / SECOND,
  )
  return { status: 'ok', ...extent, whole_from_secs, thinned_from_secs }
}

const warnOf = (fault: string | null | undefined): HealthCheck => (fault ? { status: 'warn', detail: fault } : { status: 'ok' })

/** Readings that came with an impossible time are news for so long. */
const MISDATED_NEWS_MS = HOUR

function clockCheck(now: number, notBefore: number | undefined, misdated: MisdatedStore): HealthCheck {
  const { count, newest_at, dropped } = misdated.summary()
  const age = newest_at === null ? null : Math.max(0, Math.round((now - newest_at) / SECOND))
  const figures = { misdated: count, misdated_dropped: dropped, newest_misdated_age_secs: age }
  if (!isClockSet(now, notBefore)) {
    return {
      status: 'warn',
      detail: 'the clock of this machine is not set: nothing can be stored under its right time, and no rules run',
      ...figures,
    }
  }
  if (newest_at === null || now - newest_at > MISDATED_NEWS_MS) return { status: 'ok', ...figures }
  const detail = 'readings with an impossible time came within the last hour; they are kept apart, see GET /api/history/misdated'
  return { status: 'warn', detail, ...figures }
}

type Checked = {
  config: PlatformConfigFile
  runs: CentralParts['runs']
  trigger: Trigger
  files: ResultFiles | undefined
  backups: Backups
  alertService: AlertService
  clock: Clock
}

function withOwnChecks(
  { checks, counters }: HealthSources,
  { path, db, stores, historian, ballast }: Workspace,
  { config, runs, trigger, files, backups, alertService, clock }: Checked,
): HealthSources {
  const own: HealthSources['checks'] = {
    database: () => {
      db.prepare('SELECT 1').get()
      return { status: 'ok' }
    },
    workspace: () => checkSpace(path, ballast.isGivenUp()),
    history: () => historyCheck(historian.extent()),
    clock: () => clockCheck(clock.now(), versionNotBefore(clock), stores.misdated),
    config: () => warnOf(config.fault()),
    fdd: () => warnOf(runs.status().last_error ?? trigger.fault()),
    ...(files && { result_files: () => warnOf(files.fault()) }),
    ...(backups.check && { backup: backups.check }),
    alerts: () => alertService.health(),
  }
  return { checks: { ...own, ...checks }, counters }
}
