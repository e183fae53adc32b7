/**
 * `scripts/bench poll`: what reading costs. Our BACnet client against node-bacnet's own, each in a process of its own, in
 * turns, against the same simulated device; then the case that matters: the appliance's poll service over 1,000 devices
 * with 10 points each, of which 100 are dead and 50 slow.
 */
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import type { BuildingReport, ClientOrder, ClientReport, PolledAt } from './lib-poll/order.ts'
import { openSimulator, runBuilding, runClient } from './lib-poll/run.ts'

/** `batch` points to a request, `inFlight` requests at a time. */
const SHAPES = [
  { batch: 1, inFlight: 32 },
  { batch: 50, inFlight: 8 },
  { batch: 90, inFlight: 8 },
]
/** The one that counts. */
const MAIN = 1
const REPEATS = 5
const [WARM_UP_MS, MEASURE_MS] = [3000, 2500]
/** A multiple of 50 and of 90. */
const POINTS = 900
const GOAL = { ratio: 0.5 }

const BUILDING = { devices: 1000, points: 10, dead: 100, slow: 50 }
/** Within the 3 s that a first attempt waits. */
const SLOW_MS = 2000
/** Any port: the address has no listener. */
const DEAD_PORT = 47_808

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '4' }, json: { type: 'boolean' } } })
const minutes = Number(values.minutes)
if (!(minutes >= 0 && minutes <= 1440)) {
  process.stderr.write(
    'usage: scripts/bench poll [--minutes N] [--json], where N is how long the building is polled; 0 leaves it out\n',
  )
  process.exit(2)
}
const say = (line: string) => values.json || process.stdout.write(`${line}\n`)
const load = loadavg()[0]!
say(`load before the start: ${load.toFixed(2)}`)

type Cost = { points_per_s: number; cpu_s: number; rss_mb: number }
type Shape = { batch: number; in_flight: number; ours: Cost; peer: Cost; ratio: number }

const shapes = await compareClients()
const building = minutes > 0 ? await pollBuilding() : undefined
const { ours, peer, ratio } = shapes[MAIN]!
process.stdout.write(
  `${JSON.stringify({
    bench: 'poll',
    ours: ours.cpu_s,
    peer: peer.cpu_s,
    peer_name: "node-bacnet's own client",
    ratio,
    unit: 'CPU s per 100,000 points at 50 points x 8 requests',
    repeats: REPEATS,
    shapes,
    ...(building && { building: { ...BUILDING, minutes, ...building } }),
    load,
    goal: GOAL,
    goal_met: ratio <= GOAL.ratio && ours.rss_mb <= peer.rss_mb && (building?.healthy_late ?? 0) === 0,
  })}\n`,
)

async function compareClients(): Promise<Shape[]> {
  const simulator = await openSimulator({ points: POINTS, devices: [{ host: '127.0.0.1', afterMs: 0 }] })
  const [port = 0] = simulator.ports
  try {
    const shapes: Shape[] = []
    for (const { batch, inFlight } of SHAPES) {
      const reports: Record<ClientOrder['client'], ClientReport[]> = { ours: [], 'node-bacnet': [] }
      for (let i = 0; i < REPEATS; i++) {
        for (const client of ['ours', 'node-bacnet'] as const) {
          const order = { client, port, points: POINTS, batch, inFlight, warmUpMs: WARM_UP_MS, measureMs: MEASURE_MS }
          const report = await runClient(order)
          if (report.wrong > 0) throw new Error(`${client} read ${report.wrong} wrong values`)
          reports[client].push(report)
        }
      }
      const [ours, peer] = [costOf(reports.ours), costOf(reports['node-bacnet'])]
      const ratio = round(ours.cpu_s / peer.cpu_s, 3)
      shapes.push({ batch, in_flight: inFlight, ours, peer, ratio })
      say(`${batch} x ${inFlight}: ours ${format(ours)}; node-bacnet ${format(peer)}; ratio ${ratio}`)
    }
    return shapes
  } finally {
    await simulator.close()
  }
}

/** The best rate and the lowest cost of all runs, as other load can only make them worse; the highest memory. */
function costOf(reports: ClientReport[]): Cost {
  return {
    points_per_s: Math.round(Math.max(...reports.map(({ points, seconds }) => points / seconds))),
    cpu_s: round(Math.min(...reports.map(({ points, cpuSeconds }) => (cpuSeconds / points) * 1e5)), 4),
    rss_mb: round(Math.max(...reports.map(({ rssMb }) => rssMb)), 1),
  }
}

function format({ points_per_s, cpu_s, rss_mb }: Cost): string {
  return `${points_per_s} points/s, ${cpu_s} CPU s per 100,000, ${rss_mb} MB`
}

/** Every device has a loopback address of its own; those of the dead devices have no listener. */
async function pollBuilding(): Promise<BuildingReport> {
  const all = Array.from({ length: BUILDING.devices }, (_, i) => ({ host: hostOf(i), kind: kindOf(i) }))
  const alive = all.filter(({ kind }) => kind !== 'dead')
  const devices = alive.map(({ host, kind }) => ({ host, afterMs: kind === 'slow' ? SLOW_MS : 0 }))
  const simulator = await openSimulator({ points: BUILDING.points, devices })
  const ports = new Map(alive.map(({ host }, i) => [host, simulator.ports[i]!]))
  try {
    const polled: PolledAt[] = all.map(({ host, kind }) => ({ host, kind, port: ports.get(host) ?? DEAD_PORT }))
    const report = await runBuilding({ minutes, points: BUILDING.points, devices: polled })
    const share = (100 * report.cpu_share).toFixed(2)
    say(
      `${BUILDING.devices} devices for ${minutes} min: ${report.healthy_reads} reads of healthy devices, ${report.healthy_late} late, ` +
        `${report.healthy_bad} bad values, at most ${Math.round(report.worst_ms)} ms off; ${share} % of a core, ${round(report.rss_mb, 1)} MB`,
    )
    if (report.healthy_bad > 0) throw new Error(`${report.healthy_bad} values of healthy devices were wrong`)
    return {
      ...report,
      cpu_share: round(report.cpu_share, 4),
      rss_mb: round(report.rss_mb, 1),
      worst_ms: Math.round(report.worst_ms),
    }
  } finally {
    await simulator.close()
  }
}

function hostOf(i: number): string {
  return `127.1.${Math.floor(i / 250)}.${1 + (i % 250)}`
}

/** Dead and slow devices are spread evenly among the others. */
function kindOf(i: number): PolledAt['kind'] {
  if (i % (BUILDING.devices / BUILDING.dead) === 3) return 'dead'
  return i % (BUILDING.devices / BUILDING.slow) === 7 ? 'slow' : 'healthy'
}

function round(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits
}
