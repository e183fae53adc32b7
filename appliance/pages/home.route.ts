/** Home: the first page of a box, its self-refreshing part, and the button that runs the rules. */
import type { PollStatus } from '#shared/core/poll/poll-status.ts'
import { DAY, HOUR, parseInstant, SECOND } from '#shared/core/time.ts'
import type { CentralContext, Reading } from '#shared/central/context.ts'
import { combinedEnergy } from '#shared/core/impact/combined-energy.ts'
import { byCost, type FaultRow } from '#shared/central/pages/faults/fault-list.ts'
import type { Together } from '#shared/central/ui/cost-words.ts'
import type { BoardHistory } from '../services/board-history.ts'
import { equipmentNames, openRows } from '#shared/central/pages/faults/faults.route.ts'
import { openFaults } from '#shared/central/pages/faults/open-counts.ts'
import { startMissingRuns } from '#shared/central/commands/runs.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { type Call, type Route, route, strict } from '#shared/node/http/route.ts'
import type { PublisherState } from '../services/publisher.ts'
import type { DeviceCatalogue } from '../store/catalogue-schema.ts'
import { isClockSet } from '#shared/core/telemetry/misdated.ts'
import { versionNotBefore } from '#shared/node/version-not-before.ts'
import { readMachine } from '#shared/node/machine.ts'
import type { OverridesTile } from './overrides-tile.ts'
import { type HomeModel, homeBody, homeTiles, type PointCounts, type RunTile } from './home.view.ts'
import { say } from '#shared/node/http/language.ts'

/** Data of the home page that central does not have. */
export type HomeSources = {
  identity: { name: string; edge_id: string; site_id: string }
  catalogue: () => DeviceCatalogue
  pollStatus: () => PollStatus
  /** Since when readings cannot be stored; null while they are. */
  unstoredSince: () => number | null
  hubState: () => PublisherState
  overrides: (now: number) => OverridesTile
  /** What was counted over the last day; empty where nobody counts. */
  history: BoardHistory
  /** Steps of the first set-up that are left. */
  stepsLeft: () => number
}
type AnyCall = Pick<Call<unknown, unknown, unknown>, 'caller' | 'reply'>

export function homeRoutes(context: CentralContext, layout: PageLayout, sources: HomeSources): Route[] {
  return [
    route({
      method: 'GET',
      path: '/',
      auth: 'viewer',
      summary: 'Home',
      handle: async call =>
        layout.document(call, { title: say`Home`, current: '/' }, homeBody(await homeModel(context, layout, sources, call))),
    }),
    route({
      method: 'GET',
      path: '/home/tiles',
      auth: 'viewer',
      summary: 'The part of Home that refreshes itself',
      handle: async call => homeTiles(await homeModel(context, layout, sources, call)),
    }),
    route({
      method: 'POST',
      path: '/home/run',
      auth: 'operator',
      summary: 'The button that runs the rules',
      takes: 'form',
      action: 'run_fdd',
      body: strict({}),
      handle: call => {
        const building_ids = context.model.buildings().map(({ building_id }) => building_id)
        startMissingRuns(context, call, building_ids)
        return call.reply.redirect('/', 303)
      },
    }),
  ]
}

const urgentFirst = ({ urgency }: FaultRow): number => (urgency === 'urgent' ? 0 : 1)

/** Faults that Home names; the list has the others. */
const WORST_SHOWN = 5

async function homeModel(
  given: CentralContext,
  layout: PageLayout,
  sources: HomeSources,
  { caller }: AnyCall,
): Promise<HomeModel> {
  const context = { ...given, model: layout.modelFor(caller) }
  const here = layout.here()
  const buildings = context.model.buildings()
  const rows = openRows(context, here.now)
  const equipmentName = equipmentNames(context)
  const open = rows.filter(({ lane }) => lane === 'faults').map(({ row }) => row)
  const worst = open
    .toSorted((a, b) => urgentFirst(a) - urgentFirst(b) || a.priority - b.priority || byCost(a, b))
    .slice(0, WORST_SHOWN)
  return {
    identity: { ...sources.identity, building: buildings.map(({ name }) => name).join(', ') || say`no building yet` },
    version: context.version,
    stepsLeft: sources.stepsLeft(),
    here,
    poll: pollTiles(sources),
    unstored_since: sources.unstoredSince(),
    open: openFaults(context, here.now),
    worst: worst.map(row => ({ ...row, equipment: equipmentName(row.finding) })),
    waste: wasteOf(context, open, here.now),
    unit_system: buildings[0]?.unit_system ?? 'si',
    overrides: sources.overrides(here.now),
    history: sources.history.samples(),
    run: runTile(context),
    hub: sources.hubState(),
    box: await readMachine(context.workspace, context.startedAt),
    isClockSet: isClockSet(here.now, versionNotBefore(context.clock)),
    user: layout.userOf(caller),
    csrf: layout.csrfOf(caller),
  }
}

/** What the open faults wasted in the last day, of each building; nothing is counted twice. */
function wasteOf({ model, prices }: Reading<CentralContext>, open: FaultRow[], now: number): Together[] {
  const energy = combinedEnergy(
    open.map(({ finding }) => finding),
    { from: now - DAY, to: now },
  )
  return model.buildings().flatMap(building => {
    const own = energy.get(building.building_id) ?? []
    return own.length > 0 ? [{ building, energy: own, prices: prices.get(building.building_id) }] : []
  })
}

function pollTiles({ catalogue, pollStatus }: HomeSources): HomeModel['poll'] {
  const { devices } = catalogue()
  if (devices.length === 0) return null
  const status = pollStatus()
  const names = new Map(devices.map(({ device_id, name }) => [device_id, name]))
  const pointsOf = (enabled: boolean) =>
    devices.filter(device => device.enabled === enabled).reduce((sum, { points }) => sum + points.length, 0)
  const { points_ok: ok, points_stale: stale, points_down: down, points_fault: fault } = status
  const unknown = Math.max(0, pointsOf(true) - ok - stale - down - fault)
  const points: PointCounts = { ok, stale, down, fault, unknown, disabled: pointsOf(false) }
  const lines = status.devices.map(({ device_id, state, since, last_ok_at, last_error }) => ({
    device_id,
    name: names.get(device_id) ?? device_id,
    state,
    since: instant(since),
    last_ok_at: instant(last_ok_at),
    last_error,
  }))
  const answered = lines.flatMap(({ last_ok_at }) => last_ok_at ?? [])
  return { running: status.running, points, devices: lines, last_read_at: answered.length ? Math.max(...answered) : null }
}

function runTile(context: Reading<CentralContext>): RunTile {
  const { model, results, runs } = context
  const [last] = results.runs({ limit: 1 })
  const { running, last_error } = runs.status()
  const names = new Map(model.buildings().map(({ building_id, name }) => [building_id, name]))
  return {
    running,
    live: runs.live(),
    nameOf: building_id => names.get(building_id) || building_id,
    last_error,
    last: last
      ? {
          finished_at: last.finished_at,
          seconds: (last.finished_at - last.started_at) / SECOND,
          counts: last.counts,
          failed: last.failed.length,
        }
      : null,
    next_at: nextRunAt(context),
  }
}

/** Number of recent runs that are searched for the last scheduled one. */
const RUNS_LOOKED_AT = 50

/** @returns the start of the schedule: its last run, any run before the last restart, or the start of the process */
function nextRunAt({ results, config, startedAt }: Reading<CentralContext>): number {
  const counts = results.runs({ limit: RUNS_LOOKED_AT }).find(run => run.trigger !== 'request' || run.finished_at < startedAt)
  return (counts?.finished_at ?? startedAt) + config.read().rule_interval_hours * HOUR
}

const instant = (text: string | null): number | null => (text === null ? null : (parseInstant(text) ?? null))
