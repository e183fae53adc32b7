/** The site of `scripts/bench pages`, in a process of its own: an appliance or a hub with findings, results and a day of history. */
import type { Finding } from '#shared/core/findings/finding.ts'
import type { EdgeRecord } from '#shared/core/stores.ts'
import type { CentralContext } from '#shared/central/context.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import type { Workspace } from '#shared/central/workspace.ts'
import { DAY, formatInstant, HOUR, MINUTE, SECOND } from '#shared/core/time.ts'
import { homeRoutes, type HomeSources } from '#appliance/pages/home.route.ts'
import { fleetRoutes } from '#hub/pages/fleet.route.ts'
import { watchProcess } from '#scripts/lib/process-figures.ts'
import { BUILDING, EQUIPMENT, POINTS } from '../lib-fdd/rules-api-site.ts'
import { openBenchSite } from './open-site.ts'

export type Order = { workspace: string; product: 'appliance' | 'hub' }

const OPEN = 400
const CLEARED = 600
/** As the shipped rules leave them for boxes and air handlers: 27,000 of 550. */
const RESULTS_EACH = 50
const RULES_WITH_FINDINGS = 12
const EDGES = 50
const EVERY_MS = 15 * MINUTE
const { building_id, site_id } = BUILDING

process.once('message', ({ workspace, product }: Order) => {
  const fill = product === 'appliance' ? fillAppliance : fillHub
  void openBenchSite({ workspace, product, fill }).then(url => {
    const figures = watchProcess()
    process.on('message', () => process.send!(figures()))
    process.send!(url)
  })
})
process.once('disconnect', () => process.exit())

async function fillAppliance(context: CentralContext, layout: PageLayout, stores: Workspace['stores']) {
  const now = context.clock.now()
  fillResults(stores, now)
  // Round after round, as a box polls.
  for (let i = DAY / EVERY_MS - 1; i >= 0; i--) {
    const t = now - i * EVERY_MS
    const valueOf = (kind: string) => (kind === 'bool' ? Math.floor(i / 24) % 2 : 20 + 5 * Math.sin(i / 12))
    await context.historian.append(
      building_id,
      POINTS.map(({ point_id, kind }) => ({ id: point_id, t, v: valueOf(kind) })),
    )
  }
  return homeRoutes(context, layout, homeSources(now))
}

async function fillHub(context: CentralContext, layout: PageLayout, stores: Workspace['stores']) {
  const now = context.clock.now()
  fillResults(stores, now)
  for (let i = 0; i < EDGES; i++) {
    const edge: EdgeRecord = {
      ...{ edge_id: `edge-${i}`, site_id, building_id, name: `Box ${i}`, version: '0.1.0+d792499f00aa' },
      ...{
        online: i % 7 > 0,
        session_changed_at: now - DAY,
        last_seen_at: now - MINUTE,
        last_data_at: now - i * SECOND,
        fresh_since: now - DAY,
        version_since: now - DAY,
      },
      ...{
        status: 'operational',
        metadata_revision: 1,
        status_body: { backlog: { rows: i, oldest_at: null }, clock_offset_ms: 20 },
      },
    }
    stores.edges.put(edge)
  }
  return fleetRoutes(context, layout)
}

/** Findings and results as a month of runs over 500 equipment leaves them. */
function fillResults({ findings, runRecorder }: Workspace['stores'], now: number): void {
  const results = EQUIPMENT.flatMap(({ equipment_id }, e) =>
    Array.from({ length: RESULTS_EACH }, (_, i) => ({
      ...{ rule_id: `RULE-${i}`, equipment_id, coverage: 1, fault_secs: 0, episodes: 0 },
      status: (e + i) % 9 === 0 ? ('fault' as const) : ('pass' as const),
    })),
  )
  const rule_ids = Array.from({ length: RESULTS_EACH }, (_, i) => `RULE-${i}`)
  const span = { started_at: now - 13 * MINUTE, finished_at: now - 12 * MINUTE, from: now - DAY, to: now - 12 * MINUTE }
  runRecorder.replace({ run_id: 'run-1', building_id, trigger: 'schedule', ...span, rule_ids, results, failed: [] }, [])
  findings.put(Array.from({ length: OPEN + CLEARED }, (_, i) => findingOf(i, now)))
}

function findingOf(i: number, now: number): Finding {
  const { equipment_id } = EQUIPMENT[(i * 7) % EQUIPMENT.length]!
  const from = now - (2 + ((i * 5) % 600)) * HOUR
  const to = i < OPEN ? null : from + 2 * HOUR
  const kind = (['fault', 'fault', 'fault', 'fault', 'override', 'sensor'] as const)[i % 6]!
  const energy = { carrier: 'electricity', low: 5, mid: 9, high: 14 } as const
  return {
    ...{ finding_id: `finding-${i}`, building_id, equipment_id, rule_id: `RULE-${i % RULES_WITH_FINDINGS}`, kind, from, to },
    ...{
      title: `Supply air too warm with the cooling valve wide open, ${i % RULES_WITH_FINDINGS}`,
      severity: ((i % 3) + 1) as 1 | 2 | 3,
    },
    ...{ confirmed_at: from + HOUR, duration_secs: ((to ?? now) - from) / SECOND, state: to === null ? 'active' : 'cleared' },
    ...{ cause: [{ component: 'cooling_valve', weight: 0.7 }] },
    evidence: {
      ...{
        expression: 'too_warm > tolerance and clg_valve >= full',
        terms: [{ text: 'sa_t - sa_t_sp > tolerance', holds: true }],
      },
      ...{ inputs: { sa_t: 16.8, sa_t_sp: 12.8, clg_valve: 1 }, worst_at: from + HOUR },
      params: { tolerance: { value: 1.1, unit: 'K', source: 'default' } },
      sentence: 'Supply air was 4.1 K above its set point of 12.8 °C with the cooling valve at 100 %, for 2 h.',
    },
    ...(i % 4 === 0 && { impact: { kind: 'cooling', low: 5, mid: 9, high: 14, unit: 'kWh', basis: [], energy: [energy] } }),
    ...(i % 10 === 9 && { suppressed_by: `finding-${i - 1}` }),
  }
}

/** Sixty devices, of which three are silent. */
function homeSources(now: number): HomeSources {
  const ids = Array.from({ length: 60 }, (_, i) => `device-${i}`)
  const since = formatInstant(now - DAY)
  const line = (device_id: string, i: number) => ({
    device_id,
    state: i < 3 ? 'down' : 'ok',
    since,
    last_ok_at: since,
    last_error: null,
  })
  const counts = { points_ok: 5000, points_stale: 0, points_down: 200, points_fault: 0, cycles: 1, late_cycles: 0 }
  return {
    identity: { name: 'Bench', edge_id: 'edge-1', site_id },
    stepsLeft: () => 0,
    unstoredSince: () => null,
    catalogue: () => ({ devices: ids.map(id => ({ device_id: id, name: id, enabled: true, points: [] })) }) as never,
    pollStatus: () => ({ ok: true, enabled: true, running: true, ...counts, devices: ids.map(line) }) as never,
    hubState: () => ({
      ...{ state: 'up', backlog: 3, oldest_at: now, drain_per_min: null, dropped: 0, thinned: 0, rejected: 0, last_ack_at: now },
      ...{ cert_not_after: now + 300 * DAY, clock_offset_ms: 20 },
    }),
    overrides: () => ({
      ...{ seen: 400, held: 12, aged: 4, outOfService: 0, oldest: { since: now - 9 * DAY, before: false } },
      ...{ last_visit_at: now - MINUTE, off: undefined, damage: undefined },
    }),
    history: {
      samples: () =>
        Array.from({ length: 288 }, (_, i) => ({
          at: now - (288 - i) * 5 * MINUTE,
          faults: 200 + i,
          silent: 3,
          overrides: 12,
          backlog: i % 9,
        })),
    },
  }
}
