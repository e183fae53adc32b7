/** A process that serves pages over the real stores and the real HTTP server, on loopback. */
import { EdgeRegistry } from '#shared/flow/ingest/edge-registry.ts'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { type CentralOptions, createCentral } from '#shared/central/central.ts'
import { withoutInspection } from '#shared/central/inspection.ts'
import { openWorkspace, type Workspace } from '#shared/central/workspace.ts'
import type { CentralContext, CentralParts } from '#shared/central/context.ts'
import { problemPages } from '#shared/central/pages/login.route.ts'
import { pageRoutes } from '#shared/central/pages/routes.ts'
import { createPageLayout } from '#shared/central/pages/create-layout.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import type { Finding } from '#shared/core/findings/finding.ts'
import type { Building, Equipment, Point } from '#shared/core/model/model.ts'
import type { ArraySnapshots } from '#shared/core/ports.ts'
import { DAY, formatInstant, MINUTE, SECOND } from '#shared/core/time.ts'
import { wallClock } from '#shared/node/clock.ts'
import { type HttpService, openHttp } from '#shared/node/http/server.ts'
import { pageLanguageOf } from '#shared/central/ui/language/page-language.ts'
import type { PageLanguageOf } from '#shared/node/http/language.ts'
import type { Route } from '#shared/node/http/route.ts'
import { homeRoutes, type HomeSources } from '#appliance/pages/home.route.ts'
import { CommandStates } from '#appliance/pages/command-states.ts'
import { overridesSummary } from '#appliance/pages/overrides-tile.ts'
import { HISTORY, journalOf, scheduleOf, LEVEL_NAMES } from '../overrides-fixture.ts'
import { fleetRoutes } from '#hub/pages/fleet.route.ts'
import { BUILDING, EDGES, EQUIPMENT, FINDINGS, NOW, POINTS, RULE_FILE, RUN, samplesOf } from '../page-fixture.ts'
import { takeHistory } from './kept-history.ts'
import { keepParsedRules, takeParsedRules } from '../rules/parsed-rules.ts'
import { useQuickHashes } from '../suite/quick-hashes.ts'

export const PASSWORDS = { admin: 'admin-password-1', agent: 'agent-password-1', viewer: 'viewer-password-1' }

export type TestSite = {
  http: HttpService
  url: string
  context: CentralParts
  stores: Workspace['stores']
  close(): Promise<void>
}
export type SiteOptions = {
  product: 'appliance' | 'hub'
  open?: boolean
  building?: Building
  equipment?: Equipment[]
  points?: Point[]
  findings?: Finding[]
  sources?: Partial<HomeSources>
  /** Neither a building nor a box of one. */
  noBuilding?: true
  /** Nothing has run yet. */
  empty?: boolean
  /** Anomalies are screened for. */
  screening?: boolean
  /** What was seen of priority arrays. */
  priority?: ArraySnapshots
  /** A backup may be restored; it is that of this site. */
  restore?: true
  /** Ends the program, which is started again by itself. */
  restart?: () => void
  /** With the API of central. */
  api?: true
  /** The language of pages; that of the reader without it. */
  pageLanguageOf?: PageLanguageOf
  /** Pages and routes besides. */
  more?: (layout: PageLayout, context: CentralContext) => Route[]
}

/** The registry of a hub without a broker. */
const edgeRegistryOf = ({ edges, model, edgeClaims: claims, clock }: CentralContext): EdgeRegistry =>
  new EdgeRegistry({ edges, model, claims, clock })

export async function openSite(options: SiteOptions): Promise<TestSite> {
  useQuickHashes()
  const workspace = mkdtempSync(join(tmpdir(), 'plenum-pages-'))
  mkdirSync(join(workspace, 'rules'))
  writeFileSync(join(workspace, 'rules', 'supply-warm.yaml'), RULE_FILE)
  const own = centralOptions(options)
  takeParsedRules(workspace, own.version)
  const { building = BUILDING, points = POINTS } = options
  if (!options.noBuilding && points.length > 0)
    await takeHistory(workspace, { building_id: building.building_id, points, samplesOf, sealedBefore: NOW - DAY })
  const opened = await openWorkspace({ ...own, path: workspace, parquetRoot: undefined, ballastBytes: 64 * 1024 })
  const { context, services, routes } = createCentral(opened, own)
  fill(opened.stores, options)
  const { product, sources } = options
  const isHub = product === 'hub'
  const layout = createPageLayout(context, {
    product,
    name: isHub ? 'Campus hub' : 'Riverside box',
    first: isHub ? 'Fleet' : 'Home',
    // The tasks are all there, so that their bar is as full as on a box.
    ...(!isHub && { more: [{ href: '/overrides', text: 'Overrides' }] }),
  })
  const first = isHub
    ? fleetRoutes({ ...context, registry: edgeRegistryOf(context) }, layout)
    : homeRoutes(context, layout, { ...SOURCES, ...sources })
  const http = await openHttp({
    name: 'pages',
    host: '127.0.0.1',
    port: 0,
    routes: [
      ...(options.api ? routes : []),
      ...pageRoutes(context, layout),
      ...first,
      ...(options.more?.(layout, context) ?? []),
    ],
    auth: context.auth,
    audit: context.audit,
    log: context.log,
    version: context.version,
    trustedProxies: [],
    problemPage: problemPages(layout),
    pageLanguageOf: options.pageLanguageOf ?? pageLanguageOf(context),
  })
  const running = [...opened.services, ...services, http]
  for (const service of running) await service.start()
  const close = async () => {
    for (const service of running.toReversed()) await service.stop()
    keepParsedRules(workspace, own.version)
    rmSync(workspace, { recursive: true, force: true })
  }
  return { http, url: http.url(), context, stores: opened.stores, close }
}

const counters = () => ({
  edges: 4,
  ingest_ok: 18_204,
  ingest_duplicate: 12,
  ingest_rejected: 0,
  last_ingest_at: NOW - 20 * SECOND,
})

function centralOptions({ open, priority, screening, restore, restart }: SiteOptions): CentralOptions {
  const nobody = { admin: undefined, agent: undefined, viewer: undefined }
  const secret = 'a secret of at least thirty-two characters'
  return {
    service: 'test',
    version: '0.1.0+d792499f00aa',
    inspection: withoutInspection(),
    clock: { now: () => NOW, sleep: wallClock.sleep },
    log: pino({ level: 'silent' }),
    memoryMb: 128,
    screening: screening ?? false,
    site_id: 'riverside',
    ...(restore && { restore: { site_id: 'riverside', isNew: false, refuse: () => undefined } }),
    restart,
    auth: { secret: open ? undefined : secret, passwords: open ? nobody : PASSWORDS, trustedProxies: [] },
    scheduled: false,
    ...(priority && { priority }),
    onFindings: () => undefined,
    health: { checks: {}, counters },
  }
}

function fill({ model, edges, findings: findingStore, runRecorder }: Workspace['stores'], given: SiteOptions): void {
  if (given.noBuilding) return
  const { building = BUILDING, equipment = EQUIPMENT, points = POINTS, findings = FINDINGS } = given
  model.put({ building, equipment, points })
  if (!given.empty) runRecorder.replace({ ...RUN, building_id: building.building_id }, [])
  findingStore.put(findings)
  if (given.product === 'hub') for (const edge of EDGES) edges.put(edge)
}

const device = (device_id: string, name: string, points: number, enabled = true) => ({
  device_id,
  name,
  enabled,
  protocol: 'bacnet' as const,
  points: Array.from({ length: points }, () => ({})),
})
const SOURCES: HomeSources = {
  stepsLeft: () => 0,
  unstoredSince: () => null,
  history: {
    samples: () =>
      Array.from({ length: 48 }, (_, i) => ({
        at: NOW - (48 - i) * 30 * MINUTE,
        faults: i < 20 ? 1 : 2,
        silent: i < 47 ? 0 : 1,
        overrides: 2,
        backlog: i % 7,
      })),
  },
  overrides: overridesSummary({
    journal: journalOf(HISTORY),
    schedule: scheduleOf(),
    commandStates: new CommandStates(journalOf(HISTORY)),
    levels: LEVEL_NAMES,
  }),
  identity: { name: 'Riverside plant room', edge_id: 'edge-1', site_id: 'riverside' },
  catalogue: () =>
    ({
      devices: [
        device('ahu-1', 'Air handler controller', 22),
        device('vav-3', 'Library box', 9),
        device('meter', 'Main meter', 4),
      ],
    }) as never,
  pollStatus: () => ({
    ok: true,
    enabled: true,
    running: true,
    cycles: 4210,
    late_cycles: 0,
    points_ok: 31,
    points_stale: 0,
    points_down: 4,
    points_fault: 0,
    devices: [
      { device_id: 'ahu-1', state: 'ok', since: ago(2 * DAY), rtt_ms_p50: 12.4, last_ok_at: ago(38 * SECOND), last_error: null },
      { device_id: 'vav-3', state: 'ok', since: ago(2 * DAY), rtt_ms_p50: 33, last_ok_at: ago(20 * SECOND), last_error: null },
      {
        device_id: 'meter',
        state: 'down',
        since: ago(7 * MINUTE),
        rtt_ms_p50: null,
        last_ok_at: ago(8 * MINUTE),
        last_error: 'no answer from 10.0.0.9:502 within 3 s (3 tries)',
      },
    ].map(line => ({ rtt_ms_p95: null, reads: 10, errors: 1, next_due_at: null, batch_size: null, ...line }) as never),
  }),
  hubState: () => ({
    state: 'up',
    backlog: 3,
    oldest_at: NOW - 4 * SECOND,
    drain_per_min: null,
    dropped: 0,
    thinned: 0,
    rejected: 0,
    last_ack_at: NOW - 9 * SECOND,
    cert_not_after: NOW + 300 * DAY,
    clock_offset_ms: null,
  }),
}
const ago = (ms: number) => formatInstant(NOW - ms)
