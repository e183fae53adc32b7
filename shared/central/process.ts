/** The steps that all mains with central share: from settings to an open central, and from there to its server. */
import type { Logger } from 'pino'
import { type Effective, MASKED, type Settings } from '#shared/core/env.ts'
import type { Clock } from '#shared/core/ports.ts'
import type { AuditStore } from '#shared/core/stores.ts'
import { clockOf } from '#shared/node/clock.ts'
import { needWritable, whyEphemeral } from '#shared/node/durable-folder.ts'
import { type HttpOptions, type HttpService, openHttp, withTls } from '#shared/node/http/server.ts'
import type { ProblemPage, Route } from '#shared/node/http/route.ts'
import { PUBLIC_FOLDER } from '#shared/node/rules/run-files.ts'
import { authSettings, isLoopback, proxiesOf } from '#shared/node/auth/auth-settings.ts'
import { watchServerTls } from '#shared/node/http/server-tls.ts'
import type { MailSettings } from '#shared/node/alerts/mail.ts'
import { applyRestore } from '#shared/node/backup/apply-restore.ts'
import { readVersion } from '#shared/node/version.ts'
import type { BackupSchedule } from './backup/backups.ts'
import { type Central, type CentralOptions, createCentral } from './central.ts'
import { CENTRAL_VARIABLES } from './env.ts'
import { pageLanguageOf } from '#shared/central/ui/language/page-language.ts'
import { problemPages } from '#shared/central/pages/login.route.ts'
import { pageRoutes } from './pages/routes.ts'
import { createPageLayout } from '#shared/central/pages/create-layout.ts'
import type { PageLayout, PageLayoutOptions } from '#shared/central/pages/layout.ts'
import { parquetRootIn } from '#shared/node/historian/folder.ts'
import { openWorkspace, type Workspace } from './workspace.ts'

export type CentralSettings = Settings<typeof CENTRAL_VARIABLES> & { QUERY_MEMORY_MB: number }

/** Complaints about settings of central that contradict each other. */
export function complainOfCentral(settings: Settings<typeof CENTRAL_VARIABLES>): string[] {
  const { SERVICE_CENTRAL_BIND: bind, SERVICE_SIM_CLOCK: simulated } = settings
  const auth = authSettings(settings, bind)
  const loose = simulated !== undefined && !isLoopback(bind)
  const { SERVICE_BACKUP_DIR: backupDir, SERVICE_BACKUP_PASSPHRASE: passphrase } = settings
  const { SERVICE_SMTP_URL: smtpUrl, SERVICE_SMTP_FROM: from } = settings
  return [
    ...(auth.ok ? [] : auth.complaints),
    ...(loose ? [`SERVICE_SIM_CLOCK: is taken only on loopback, not on ${bind}`] : []),
    ...(smtpUrl !== undefined && from === undefined ? ['SERVICE_SMTP_FROM: SERVICE_SMTP_URL needs it'] : []),
    ...(backupDir !== undefined && passphrase === undefined ? ['SERVICE_BACKUP_PASSPHRASE: SERVICE_BACKUP_DIR needs it'] : []),
  ]
}

/** The clock of a process whose settings have no complaints. */
export const clockFor = (settings: Settings<typeof CENTRAL_VARIABLES>): Clock => clockOf(settings.SERVICE_SIM_CLOCK)!

export type ProcessParts = Pick<
  CentralOptions,
  | 'service'
  | 'clock'
  | 'log'
  | 'scheduled'
  | 'onFindings'
  | 'live'
  | 'priority'
  | 'watchEdges'
  | 'edgeTroubles'
  | 'edgeReturn'
  | 'edgeRefusals'
  | 'health'
  | 'tenancy'
  | 'signIns'
  | 'storage'
  | 'restore'
  | 'restart'
> &
  Pick<CentralOptions['inspection'], 'effective' | 'recent'> & {
    site_id?: string
    /** What the product adds to a file of diagnostics, by file name. */
    sources?: CentralOptions['inspection']['sources']
  }

const MB = 2 ** 20
const bytesOf = (megabytes: number | undefined) => (megabytes === undefined ? undefined : megabytes * MB)

/** @throws Error that names the setting, file or folder that cannot be used, or that another process has open */
export async function openWorkspaceOf(
  settings: CentralSettings,
  {
    clock,
    log,
    ...more
  }: Pick<
    Parameters<typeof openWorkspace>[0],
    'clock' | 'log' | 'ballastBytes' | 'pageBytes' | 'limits' | 'edgeLimits' | 'replica'
  >,
): Promise<Workspace> {
  await refuseUnkeptResults(settings)
  await refuseUnusableBackups(settings)
  return openWorkspace({
    path: settings.SERVICE_WORKSPACE,
    parquetRoot: settings.SERVICE_PARQUET_ROOT,
    historyBytes: bytesOf(settings.SERVICE_HISTORY_MAX_MB),
    buildingHistoryBytes: bytesOf(settings.SERVICE_HISTORY_BUILDING_MAX_MB),
    memoryMb: settings.QUERY_MEMORY_MB,
    ...more,
    clock,
    log,
  })
}

/**
 * Puts a backup that was confirmed in the place of the workspace. Called before anything of it is read.
 *
 * @throws Error that names the file that cannot be moved, or that another process has the workspace open
 */
export const applyRestoreOf = ({ SERVICE_WORKSPACE: workspace, SERVICE_PARQUET_ROOT: root }: CentralSettings, log: Logger) =>
  applyRestore({ workspace, parquetRoot: root ?? parquetRootIn(workspace) }, log)

/** Ends this process in the order of its services. */
export const endProcess = (): void => void process.kill(process.pid, 'SIGTERM')

/** @throws Error that names the settings of the login, or the file, that cannot be used */
export function createCentralOf(settings: CentralSettings, workspace: Workspace, parts: ProcessParts): Central {
  const auth = authSettings(settings, settings.SERVICE_CENTRAL_BIND)
  if (!auth.ok) throw new Error(auth.complaints.join('; '))
  const { effective, recent, sources = {}, ...options } = parts
  return createCentral(workspace, {
    site_id: settings.SERVICE_SITE_ID,
    restart: settings.SERVICE_SUPERVISED ? endProcess : undefined,
    ...options,
    inspection: { effective, recent, sources, secrets: secretsOf(settings, effective), tlsDir: settings.SERVICE_TLS_DIR },
    version: readVersion(),
    resultsDir: settings.SERVICE_RULE_RESULTS_DIR,
    memoryMb: settings.QUERY_MEMORY_MB,
    ruleSecs: settings.SERVICE_RULE_MAX_SECS,
    screening: settings.SERVICE_SQL_ANOMALY_SCREENING,
    backups: backupSchedule(settings),
    mail: mailSettings(settings),
    auth: auth.settings,
  })
}

/** The secrets among the settings, so that nothing that leaves the process shows them. */
function secretsOf(settings: Record<string, unknown>, effective: Effective[]): string[] {
  const values = effective.filter(({ value }) => value === MASKED).map(({ name }) => settings[name])
  return values.filter(value => typeof value === 'string')
}

/** @returns undefined where no folder for backups is set */
function backupSchedule(settings: CentralSettings): BackupSchedule | undefined {
  const { SERVICE_BACKUP_DIR: folder, SERVICE_BACKUP_PASSPHRASE: passphrase } = settings
  if (folder === undefined || passphrase === undefined) return undefined
  return { folder, passphrase, everyHours: settings.SERVICE_BACKUP_HOURS, keep: settings.SERVICE_BACKUP_KEEP }
}

/** @returns undefined where no mail server is set */
function mailSettings({ SERVICE_SMTP_URL: url, SERVICE_SMTP_FROM: from }: CentralSettings): MailSettings | undefined {
  return url === undefined || from === undefined ? undefined : { url, from }
}

/** Results that somebody relies on must be written, and not where they can vanish; a bench may. @throws Error that says where they would lie */
async function refuseUnkeptResults(settings: CentralSettings): Promise<void> {
  const {
    SERVICE_RULE_RESULTS_DIR: dir,
    SERVICE_PARQUET_ROOT: root,
    SERVICE_WORKSPACE: workspace,
    SERVICE_DEV_OPEN: open,
  } = settings
  if (dir === undefined) return
  const why = open ? undefined : await whyEphemeral(dir, [root ?? parquetRootIn(workspace)])
  if (why) throw new Error(`SERVICE_RULE_RESULTS_DIR: ${why}`)
  await needWritable(dir, PUBLIC_FOLDER).catch(error => {
    throw new Error(`SERVICE_RULE_RESULTS_DIR: ${error.message}`, { cause: error })
  })
}

/** @throws Error that names the folder when backups cannot be written there */
async function refuseUnusableBackups({ SERVICE_BACKUP_DIR: dir }: CentralSettings): Promise<void> {
  if (dir === undefined) return
  await needWritable(dir, PRIVATE_FOLDER).catch(error => {
    throw new Error(`SERVICE_BACKUP_DIR: ${error.message}`, { cause: error })
  })
}
/** Only the process reads its backups. */
const PRIVATE_FOLDER = 0o700

type PagesOptions = {
  central: Central
  layout: PageLayoutOptions
  /** Routes that the product adds: its first page and its own. */
  routes: (layout: PageLayout) => Route[]
}
type ServeOptions = PagesOptions & {
  log: Logger
  /** Set where the process serves several tenants. */
  scopeOf?: HttpOptions['scopeOf']
  settled?: HttpOptions['settled']
}

/** Everything that a central answers, and how a failed page request looks there. */
export type CentralPages = { routes: Route[]; problemPage: ProblemPage; audit: AuditStore }

export function centralPages({ central, layout: options, routes }: PagesOptions): CentralPages {
  const { context } = central
  const layout = createPageLayout(context, options)
  return {
    routes: [...central.routes, ...pageRoutes(context, layout), ...routes(layout)],
    problemPage: problemPages(layout),
    audit: context.audit,
  }
}

/** The server of central's API and pages; it listens when started. */
export async function serveCentral(
  settings: CentralSettings,
  { log, scopeOf, settled, ...pages }: ServeOptions,
): Promise<HttpService> {
  const { context } = pages.central
  const { SERVICE_TLS_DIR: tlsDir } = settings
  const tls = tlsDir === undefined ? undefined : await watchServerTls(tlsDir, log)
  const http = await openHttp({
    name: pages.layout.product,
    host: settings.SERVICE_CENTRAL_BIND,
    port: settings.SERVICE_CENTRAL_PORT,
    ...centralPages(pages),
    auth: context.auth,
    log,
    version: context.version,
    trustedProxies: proxiesOf(settings.SERVICE_TRUSTED_PROXIES),
    tls,
    scopeOf,
    pageLanguageOf: pageLanguageOf(context),
    settled,
  })
  return tls ? withTls(http, tls) : http
}
