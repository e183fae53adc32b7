/** Central of a hub: takes in what edges send, asks edges, and shows the fleet. With tenants, one for each and one of the hub. */
import { message, words } from '#shared/node/http/language.ts'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Problem } from '#shared/core/problem.ts'
import type { RestoreOptions } from '#shared/central/backup/restores.ts'
import type { Logger } from 'pino'
import { pollStatusRoute } from '#shared/central/api/health.ts'
import type { Central } from '#shared/central/central.ts'
import type { Tenancy } from '#shared/central/context.ts'
import { createIngestService, type IngestService } from '#shared/central/ingest-service.ts'
import { metricsService } from '#shared/central/metrics.ts'
import type { PageLayout, PageLayoutOptions } from '#shared/central/pages/layout.ts'
import { SYSTEM_PAGE, systemPages } from '#shared/central/pages/system/system.route.ts'
import {
  applyRestoreOf,
  centralPages,
  type CentralSettings,
  createCentralOf,
  openWorkspaceOf,
  type ProcessParts,
  serveCentral,
} from '#shared/central/process.ts'
import type { NavItem } from '#shared/central/ui/frame.ts'
import type { Workspace } from '#shared/central/workspace.ts'
import type { AuditStore } from '#shared/core/stores.ts'
import type { LiveReader } from '#shared/core/telemetry/live.ts'
import { LEGACY_TENANT, type Tenant } from '#shared/core/tenant.ts'
import { type AuditNote, ofHub, type Route } from '#shared/node/http/route.ts'
import type { Service } from '#shared/node/service.ts'
import type { Current, WatchedFiles } from '#shared/node/watched-files.ts'
import type { CentralFiles } from '../broker/files.ts'
import { createServiceCertificates, type ServiceCertificates } from '../enrol/service-certificates.ts'
import type { HubReplica } from '../cluster/replica.ts'
import { openConnectors } from '../connectors/open.ts'
import { createAuthority } from '../enrol/authority.ts'
import { enrolRoutes } from '../enrol/enrol.route.ts'
import type { Enrolment } from '../enrol/issue-kit.ts'
import { createEstSecrets } from '../enrol/est-secrets.ts'
import { createPendingBoxes, type IsOurs } from '../enrol/pending-boxes.ts'
import { createRenewals } from '../enrol/renewals.ts'
import { edgeLimits } from '../ingest/env.ts'
import { hubHealth } from '../ingest/health.ts'
import { createMqttSubscriber, type MqttSubscriber } from '../ingest/mqtt-subscriber.ts'
import { monitorRoutes } from '../monitor/monitor.route.ts'
import { MqttMonitor } from '../monitor/mqtt-monitor.ts'
import { edgeRefusals, edgeReturn, edgeTroubles } from '../pages/edge-troubles.ts'
import { hubSummary } from '../pages/fleet-row.ts'
import { fleetRoutes } from '../pages/fleet.route.ts'
import { edgeLogPages } from '../pages/edge-log.route.ts'
import { hubOverrides } from '../pages/overrides.route.ts'
import { tenantPrefix } from '../tenants/folders.ts'
import { migrateRoute } from '../tenants/migrate.route.ts'
import { tenantPages, TENANTS_PAGE } from '../tenants/tenants.route.ts'
import { assertMovesEnded } from '../tenants/move-plan.ts'
import { type HostedTenant, TenantHost } from '../tenants/host.ts'
import { boxReport } from '../updates/box-reports.ts'
import { openRollouts } from '../updates/rollouts.ts'
import { askForUpdate } from '../updates/send-update.ts'
import { updateRoutes, UPDATES_PATH } from '../updates/updates.route.ts'

/** Each tenant's reserve for a full disk, bytes: enough for marks and deletes, and many tenants share one disk. */
const TENANT_BALLAST = 8 * 2 ** 20

type HubSettings = CentralSettings & Parameters<typeof edgeLimits>[0] & { SERVICE_MULTI_TENANT: boolean }
type Parts = Pick<ProcessParts, 'service' | 'effective' | 'recent' | 'clock' | 'log'> & {
  /** Undefined where this process does not connect to a broker. */
  files: WatchedFiles<CentralFiles> | undefined
  /** `refused`: what it has refused since the start, where it runs in this process. */
  broker: { host: string; port: number; refused?: () => number }
  /** Port of EST; undefined where this process does not speak it. */
  estPort?: number | undefined
  /** Set where this process is one of several that take turns. */
  replica?: HubReplica | undefined
}

/** Central over one workspace: that of the hub, or that of a tenant. */
type CentralOfHub = {
  central: Central
  ingestService: IngestService
  routes: (layout: PageLayout) => Route[]
  /** Stores, rules and runs. They start before any message is ingested. */
  services: Service[]
  /** The connections to edges; started after a broker in the same process. */
  connections: Service[]
}
export type HubCentral = CentralOfHub & {
  /** Undefined where the hub serves no tenants. */
  host: TenantHost | undefined
  enrol: OverParts['enrol']
  /** Set where this process is one of several that take turns: resolves when everything that was stored is kept. */
  settled: (() => Promise<void>) | undefined
}

/** @throws Error that names the setting, file or folder that cannot be used */
export async function openHubCentral(
  settings: HubSettings,
  { files, broker, estPort, replica, ...parts }: Parts,
): Promise<HubCentral> {
  // Whoever takes turns has its database elsewhere.
  if (!replica) await applyRestoreOf(settings, parts.log)
  const workspace = await openWorkspaceOf(settings, { ...parts, replica, edgeLimits: edgeLimits(settings) })
  const { settled } = workspace
  const ingestService = ingestInto(workspace, parts)
  const monitor = new MqttMonitor(parts.clock.now)
  const openTenant = (tenant: Tenant): Promise<HostedTenant> => {
    assertMovesEnded(workspace.db, tenant.tenant_id)
    return openHosted(settings, tenant, { files, subscriber, hub: own.central, useOf: host!.useOf, enrol, parts })
  }
  const host: TenantHost | undefined = settings.SERVICE_MULTI_TENANT
    ? new TenantHost({ openTenant, budgetOf: workspace.stores.tenants.get, now: Date.now, log: parts.log })
    : undefined
  const tenancy: Tenancy | undefined = host && {
    multi_tenant: true,
    tenant_id: LEGACY_TENANT,
    historian_prefix: '',
    open: host.open,
    useOf: host.useOf,
    tenantTokens: host.tokens,
  }
  const subscriber: MqttSubscriber | undefined =
    files && createMqttSubscriber({ broker, files, ingestService, monitor, tenants: host, settled, log: parts.log })
  const dir = files?.current().dir
  const authority = createAuthority(dir, Date.now)
  const certificates = createServiceCertificates({
    ...{ dir, tlsDir: settings.SERVICE_TLS_DIR, renew: authority.renewFile, log: parts.log, now: Date.now },
    audit: note => auditOfHub(own.central.context.audit, Date.now)(note),
  })
  const enrol = {
    authority,
    pending: createPendingBoxes(dir, Date.now),
    secrets: createEstSecrets(dir, Date.now),
    brokerPort: broker.port,
    estPort,
  }
  const own = createOver(workspace, settings, {
    ...parts,
    ingestService,
    monitor,
    files,
    subscriber,
    refused: broker.refused,
    tenancy,
    enrol,
    certificates,
    replica,
  })
  const tenants: Service[] = host
    ? [{ name: 'tenants', start: () => host.openAll(workspace.stores.tenants.list()), stop: () => host.stop() }]
    : []
  return {
    ...own,
    host,
    enrol,
    settled: replica && settled,
    routes: layout => [
      ...own.routes(layout),
      migrateRoute(own.central.context),
      ...tenantPages(own.central.context, layout),
      ...systemOfHub(own.central.context, layout),
    ],
    services: [...own.services, certificates.service, ...(files ? [files] : []), ...tenants],
    connections: [...(subscriber ? [subscriber] : []), ...own.connections],
  }
}

/** The pages of the process are for those who look after the hub, whichever tenant they have chosen. */
/** A backup of a hub of this name; that of a box has a site. */
const hubRestore = ({ SERVICE_SITE_ID: site_id }: HubSettings): RestoreOptions => ({
  site_id,
  isNew: false,
  refuse(_about, folder) {
    if (existsSync(join(folder, 'config', 'site.json'))) throw new Problem('invalid', 'The backup is of a box, and this is a hub')
  },
})

const systemOfHub = (context: Central['context'], layout: PageLayout): Route[] =>
  ofHub(systemPages({ context, layout, auth: 'admin', more: async () => false }))

type OverParts = Pick<ProcessParts, 'service' | 'effective' | 'recent' | 'clock' | 'log' | 'signIns'> & {
  ingestService: IngestService
  monitor: MqttMonitor
  files: Current<CentralFiles> | undefined
  subscriber: MqttSubscriber | undefined
  /** What the broker has refused; undefined in a central of a tenant, and where the broker is another process. */
  refused?: (() => number) | undefined
  tenancy: Tenancy | undefined
  enrol: Omit<Enrolment, 'tenant_id' | 'renewals' | 'own' | 'isOurs'>
  /** Those of the hub itself; undefined for a tenant. */
  certificates?: ServiceCertificates
  replica?: HubReplica | undefined
}

const ingestInto = ({ inbox, stores, budget, bounds }: Workspace, { clock, log }: Pick<Parts, 'clock' | 'log'>): IngestService =>
  createIngestService({ inbox, model: stores.model, edges: stores.edges, claims: stores.edgeClaims, clock, budget, bounds, log })

function createOver(workspace: Workspace, settings: HubSettings, options: OverParts): CentralOfHub {
  const { ingestService, monitor, files, subscriber, refused, tenancy, enrol, certificates, replica, ...parts } = options
  const { edges, edgeClaims: claims } = workspace.stores
  const updatesFolder = join(settings.SERVICE_WORKSPACE, 'updates')
  const tenant_id = !tenancy || tenancy.tenant_id === LEGACY_TENANT ? undefined : tenancy.tenant_id
  const connectors = openConnectors({ tenant_id, edges, files, publish: subscriber?.publish })
  const health = hubHealth(
    {
      ...{ edges, claims, budget: workspace.budget, ingestService, replica },
      certificates: certificates?.check,
      broker: subscriber && { isConnected: subscriber.isConnected, ...(refused && { refused }) },
    },
    parts.clock.now,
  )
  const { ingest } = ingestService
  const live: LiveReader = (building_id, point_id) => ingest.live.of(building_id, point_id, parts.clock.now())
  const given = {
    ...parts,
    ...(tenancy && { tenancy }),
    ...(!tenancy && !replica && { restore: hubRestore(settings) }),
    storage: [{ name: 'updates' as const, paths: [updatesFolder], max_bytes: null }],
    scheduled: true,
    watchEdges: true,
    edgeTroubles,
    edgeReturn,
    edgeRefusals: (now: number) => edgeRefusals(claims, ingest.registry.notices, now),
    onFindings: () => undefined,
    health,
    live,
  }
  const central = createCentralOf(settings, workspace, given)

  subscriber?.onEdge(connectors, tenant_id)
  const { context } = central
  const renewals = createRenewals({
    ...{ authority: enrol.authority, tenant_id, edges, log: parts.log, now: parts.clock.now },
    ask: connectors.askBroker,
    audit: auditOfHub(context.audit, parts.clock.now),
  })
  // A box that asks a tenant of which this hub knows nothing is shown to the people of the hub.
  const isOurs: IsOurs = asked =>
    asked === tenant_id || (tenant_id === undefined && workspace.stores.tenants.get(asked!) === undefined)
  const otherHubs = replica?.tellOthers(() => hubSummary(context), parts.clock.now)
  const rollouts = openRollouts({
    folder: updatesFolder,
    reports: () => edges.list().map(edge => boxReport(edge, parts.clock.now())),
    ask: askForUpdate(edges, connectors.askBroker),
    clock: parts.clock,
    log: parts.log,
  })
  return {
    central,
    ingestService,
    routes: layout => [
      ...fleetRoutes({ ...context, registry: ingestService.ingest.registry, otherHubs: otherHubs?.others }, layout),
      pollStatusRoute(ingestService),
      ...monitorRoutes(monitor, layout),
      ...enrolRoutes({ ...enrol, tenant_id, renewals, own: certificates?.states ?? (() => []), isOurs }, context, layout),
      ...connectors.routes,
      ...updateRoutes(rollouts, context, layout),
      ...hubOverrides({ context, layout, connectors: connectors.client }),
      ...edgeLogPages({ context, layout, connectors: connectors.client }),
    ],
    services: [...workspace.services, ...central.services, ingestService, ...central.schedule],
    connections: [connectors.service, renewals.service, rollouts.service, ...(otherHubs ? [otherHubs.service] : [])],
  }
}

/** Audit rows of what the hub does by itself. */
export const auditOfHub =
  (audit: Pick<AuditStore, 'add'>, now: () => number) =>
  ({ subject, after }: AuditNote): void =>
    audit.add({
      ...{ at: now(), actor: 'hub', role: 'hub', action: 'renew_certificate', subject, building_id: null },
      ...{ before: null, after, request_id: randomUUID() },
    })

type HostedParts = {
  files: Current<CentralFiles> | undefined
  subscriber: MqttSubscriber | undefined
  hub: Central
  useOf: NonNullable<Tenancy['useOf']>
  enrol: OverParts['enrol']
  parts: Pick<Parts, 'service' | 'effective' | 'recent' | 'clock' | 'log'>
}

/** Opens a tenant's workspace below the hub's and creates its central, with the users of the hub. */
async function openHosted(
  given: HubSettings,
  tenant: Tenant,
  { files, subscriber, hub, useOf, enrol, parts }: HostedParts,
): Promise<HostedTenant> {
  const { tenant_id } = tenant
  const prefix = tenantPrefix(tenant_id)
  const settings = settingsOf(given, prefix)
  const log = parts.log.child({ tenant_id })
  const { auth, users, preferences, tenants } = hub.context
  const limits = () => tenants.get(tenant_id)
  const options = { clock: parts.clock, log, ballastBytes: TENANT_BALLAST, limits, edgeLimits: edgeLimits(settings) }
  const workspace = await openWorkspaceOf(settings, options)
  const ingestService = ingestInto(workspace, { clock: parts.clock, log })
  const monitor = new MqttMonitor(parts.clock.now)
  monitor.setConnected(subscriber?.isConnected() ?? false)
  const own = createOver(workspace, settings, {
    ...parts,
    log,
    signIns: { auth, users, preferences, tenants },
    ingestService,
    monitor,
    files,
    subscriber,
    enrol,
    tenancy: { multi_tenant: true, tenant_id, historian_prefix: prefix, useOf },
  })
  const pages = centralPages({ central: own.central, layout: layoutOf(tenant.name, []), routes: own.routes })
  const { use } = workspace.budget!
  return {
    ingestService,
    monitor,
    pages,
    use,
    apiTokens: workspace.stores.apiTokens,
    services: [...own.services, ...own.connections],
  }
}

/** The settings of a tenant: each folder of the hub has one of the tenant in it. */
function settingsOf(settings: HubSettings, prefix: string): HubSettings {
  const { SERVICE_WORKSPACE: workspace, SERVICE_PARQUET_ROOT: root } = settings
  const { SERVICE_RULE_RESULTS_DIR: results, SERVICE_BACKUP_DIR: backups } = settings
  const below = (folder: string | undefined) => folder && join(folder, prefix)
  return {
    ...settings,
    SERVICE_WORKSPACE: join(workspace, prefix),
    SERVICE_PARQUET_ROOT: below(root),
    SERVICE_RULE_RESULTS_DIR: below(results),
    SERVICE_BACKUP_DIR: below(backups),
  }
}

/** @param more pages that only those of the hub open */
const layoutOf = (name: string, more: NavItem[]): PageLayoutOptions => ({
  product: 'hub',
  name,
  first: message`Fleet`,
  more: words(
    [
      { href: '/mqtt', text: 'Messages', about: 'MQTT messages of the edges as they come' },
      { href: '/enrol', text: 'Enrol', about: 'Kits that let a new box send to this hub', for: 'operator' },
      { href: UPDATES_PATH, text: 'Updates', about: 'Versions of the boxes, and updates that this hub rolls out' },
      ...more,
    ],
    'about',
    'text',
  ),
})

/** The servers of API, pages and metrics. */
export async function serveHub(
  settings: CentralSettings,
  { central, routes, host, settled }: Pick<HubCentral, 'central' | 'routes' | 'host' | 'settled'>,
  log: Logger,
): Promise<Service[]> {
  const http = await serveCentral(settings, {
    central,
    layout: layoutOf(settings.SERVICE_SITE_ID, [
      ...(host ? [{ ...TENANTS_PAGE, for: 'admin' as const }] : []),
      { ...SYSTEM_PAGE, for: 'admin' },
    ]),
    routes,
    scopeOf: host?.scopeOf,
    settled,
    log,
  })
  return [metricsService(central.context, http.requests, settings.SERVICE_METRICS_BIND, log), http]
}
