/**
 * `scripts/bench fleet [--edges N] [--minutes N]`: N connected edges with 100 points a minute each, against broker and hub as two
 * processes. Then the broker is killed and started again, so that all edges connect at once: the time until the last has a session
 * again and everything is stored, and what the first page answers meanwhile. Each point must be stored once. Beside it, in the same
 * run, mosquitto in place of our broker with the same edges and the same hub; `ratio` is our time until all are back over that.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { toMosquittoAcl } from '#shared/core/topic/rule.ts'
import { MINUTE, SECOND } from '#shared/core/time.ts'
import type { Kit } from '#shared/node/pki/kit-read.ts'
import { openReadOnly } from '#shared/node/sqlite.ts'
import { freePort, untilListening } from '#scripts/lib/free-port.ts'
import { startMosquitto } from '#scripts/lib/servers/mosquitto.ts'
import { waitForHealth } from '../lib-start/hub-client.ts'
import { startPart } from '../lib-start/process.ts'
import type { FleetOrder, FleetReport } from './lib-fleet/edges.ts'
import { makeCertificates } from './lib-ingest/certificates.ts'

const START_MS = 2 * MINUTE
/** Longest time for the edges to connect, or to be back: beyond it the run fails. */
const BACK_MS = 10 * MINUTE
/** How often edges and page are asked while the edges come back, ms. */
const ASK_MS = 500
/** Of Linux, for the CPU time in `/proc`. */
const TICKS_PER_S = 100
const GOAL = { delay_p99_ms: 2000, back_s: 60 }

const { values } = parseArgs({
  options: { json: { type: 'boolean' }, edges: { type: 'string', default: '1000' }, minutes: { type: 'string', default: '2' } },
})
const [edges, minutes] = [Number(values.edges), Number(values.minutes)]
if (!(Number.isInteger(edges) && edges > 0 && minutes > 0)) throw new Error('--edges and --minutes are numbers above 0')
const say = (line: string) => values.json || process.stdout.write(`${line}\n`)
say(`load before the start: ${loadavg()[0]!.toFixed(2)}`)

const folder = mkdtempSync(join(tmpdir(), 'plenum-bench-fleet-'))
try {
  process.stdout.write(`${JSON.stringify(await bench())}\n`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

type Broker = { pid: number; kill(): Promise<void>; stop(): Promise<void> }
type Fleet = Awaited<ReturnType<typeof startFleet>>

async function bench() {
  const certs = join(folder, 'certs')
  const kits = await makeCertificates(certs, edges)
  say(`${edges} kits are made`)
  const acl = [...kits.map(kit => kit.acl), toMosquittoAcl({ kind: 'central', site_id: '*' })].join('\n')
  const ours = await measure('ours', certs, kits, port => startOurs(certs, port))
  const mosquitto = await measure('mosquitto', certs, kits, port => startPeer(certs, acl, port))
  return {
    bench: 'fleet',
    ours: ours.back_s,
    peer: mosquitto.back_s,
    peer_name: 'mosquitto in place of our broker',
    ratio: Number((ours.back_s / mosquitto.back_s).toFixed(2)),
    unit: 's until all edges are back after a restart of the broker',
    goal: GOAL,
    edges,
    with_our_broker: ours,
    with_mosquitto: mosquitto,
  }
}

async function measure(name: string, certs: string, kits: Kit[], startBroker: (port: number) => Promise<Broker>) {
  const [workspace, port, web] = [join(folder, name), await freePort(), await freePort()]
  mkdirSync(workspace)
  let broker = await startBroker(port)
  const hub = startPart('central', 'hub/central/main.ts', hubEnv(workspace, certs, port, web), join(workspace, 'log'))
  const fleet = startFleet()
  try {
    const base = `http://127.0.0.1:${web}`
    if (!(await waitForHealth(base, START_MS, hub.hasEnded))) throw new Error(hub.lastWords().join('\n'))
    const connected = await untilKnown(fleet, { kits, port }, base)
    say(`${name}: ${JSON.stringify(connected)}`)
    const steady = await measureSteady(fleet, { broker: broker.pid, hub: hub.pid })
    say(`${name}: ${JSON.stringify(steady)}`)
    await broker.kill()
    broker = await startBroker(port)
    const back = await untilBack(fleet, base)
    say(`${name}: ${JSON.stringify(back)}`)
    const peak = { broker_peak_mb: memoryOf(broker.pid, 'VmHWM'), hub_peak_mb: memoryOf(hub.pid, 'VmHWM') }
    const { points } = await fleet.stop()
    checkStored(workspace, points)
    return { ...connected, ...steady, ...back, ...peak, points }
  } finally {
    fleet.kill()
    await hub.stop()
    await broker.stop()
  }
}

function hubEnv(workspace: string, certs: string, port: number, web: number): Record<string, string> {
  return {
    SERVICE_WORKSPACE: workspace,
    SERVICE_DEV_OPEN: '1',
    SERVICE_MQTT_HOST: '127.0.0.1',
    SERVICE_MQTT_PORT: String(port),
    SERVICE_MQTT_CERT_DIR: certs,
    SERVICE_CENTRAL_BIND: '127.0.0.1',
    SERVICE_CENTRAL_PORT: String(web),
    SERVICE_LOG_LEVEL: 'error',
  }
}

async function startOurs(certs: string, port: number): Promise<Broker> {
  const env = {
    SERVICE_MQTT_BIND: '127.0.0.1',
    SERVICE_MQTT_PORT: String(port),
    SERVICE_MQTT_CERT_DIR: certs,
    SERVICE_LOG_LEVEL: 'error',
  }
  const broker = startPart('mqtt', 'hub/mqtt/main.ts', env, join(folder, 'broker.log'))
  if (!(await untilListening(port, START_MS))) throw new Error(broker.lastWords().join('\n'))
  const kill = async () => {
    process.kill(broker.pid, 'SIGKILL')
    await broker.ended
  }
  return { pid: broker.pid, kill, stop: broker.stop }
}

async function startPeer(certs: string, acl: string, port: number): Promise<Broker> {
  const child = await startMosquitto(certs, acl, port)
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }
  return { pid: child.pid!, kill: () => end('SIGKILL'), stop: () => end('SIGTERM') }
}

function startFleet() {
  const child: ChildProcess = fork(new URL('lib-fleet/edges.ts', import.meta.url))
  const ended = once(child, 'exit')
  const order = (text: FleetOrder) => void child.send(text)
  const report = async (): Promise<FleetReport> => {
    order('report')
    const answer = once(child, 'message').then(([value]) => value as FleetReport)
    return Promise.race([answer, ended.then(([code]) => Promise.reject(new Error(`the edges ended with ${code}`)))])
  }
  return {
    order,
    report,
    /** Ends the edges once everything that they wrote is stored. */
    stop: async () => {
      order('finish')
      const begun = performance.now()
      let last = await report()
      for (; last.waiting > 0; last = await report()) await waitFor(begun, `${last.waiting} messages wait`)
      order('stop')
      await ended
      return last
    },
    kill: () => void child.kill('SIGKILL'),
  }
}

/** @returns the seconds until every edge has a session, and until the hub has stored the metadata of all */
async function untilKnown(fleet: Fleet, order: FleetOrder, base: string): Promise<{ connected_s: number; known_s: number }> {
  const begun = performance.now()
  fleet.order(order)
  for (let up = 0; up < edges; up = (await fleet.report()).up) await waitFor(begun, `${up} of ${edges} edges are connected`)
  const connected_s = secondsSince(begun)
  for (let known = 0; known < edges; ) {
    await waitFor(begun, `${known} of ${edges} edges are known to the hub`)
    known = ((await (await fetch(`${base}/api/health`)).json()) as { edges: number }).edges
  }
  return { connected_s, known_s: secondsSince(begun) }
}

/** The figures of some minutes in which nothing happens but readings. CPU is a share of one core. */
async function measureSteady(fleet: Fleet, { broker, hub }: { broker: number; hub: number }) {
  fleet.order('write')
  await wait(10 * SECOND)
  await fleet.report()
  const [begun, brokerBefore, hubBefore] = [performance.now(), cpuOf(broker), cpuOf(hub)]
  await wait(minutes * MINUTE)
  const { delayP50, delayP99, stored } = await fleet.report()
  const share = (after: number, before: number) => Number((((after - before) * SECOND) / (performance.now() - begun)).toFixed(3))
  return {
    points_per_s: Math.round((stored * 100 * SECOND) / (performance.now() - begun)),
    ...{ delay_p50_ms: delayP50, delay_p99_ms: delayP99 },
    ...{ broker_mb: memoryOf(broker, 'VmRSS'), hub_mb: memoryOf(hub, 'VmRSS') },
    ...{ broker_cpu: share(cpuOf(broker), brokerBefore), hub_cpu: share(cpuOf(hub), hubBefore) },
  }
}

/** @returns seconds until every edge has a session again, and until nothing waits that is older than a moment; and the page meanwhile */
async function untilBack(fleet: Fleet, base: string) {
  const begun = performance.now()
  let back_s: number | undefined
  let page_max_ms = 0
  for (;;) {
    const asked = performance.now()
    const page = await fetch(`${base}/`)
    await page.text()
    if (page.status !== 200) throw new Error(`the first page answers ${page.status}`)
    page_max_ms = Math.max(page_max_ms, Math.round(performance.now() - asked))
    const { up, waiting } = await fleet.report()
    if (up === edges) back_s ??= secondsSince(begun)
    // While edges write, a few messages are always under way.
    if (back_s !== undefined && waiting <= edges / 100) return { back_s, caught_up_s: secondsSince(begun), page_max_ms }
    await waitFor(begun, `${up} of ${edges} edges are back, and ${waiting} messages wait`)
  }
}

/** @throws Error unless each point that was written is stored once */
function checkStored(workspace: string, points: number): void {
  const db = openReadOnly(join(workspace, 'plenum.db'))
  const stored = db.prepare(
    'SELECT (SELECT coalesce(sum(samples), 0) FROM hot_chunks) + (SELECT coalesce(sum(samples), 0) FROM part_points)',
  )
  const count = stored.pluck().get() as number
  db.close()
  if (count !== points) throw new Error(`${count} of ${points} points are stored`)
}

async function waitFor(begun: number, state: string): Promise<void> {
  if (performance.now() - begun > BACK_MS) throw new Error(`after ${BACK_MS / SECOND} s ${state}`)
  await wait(ASK_MS)
}

function secondsSince(begun: number): number {
  return Number(((performance.now() - begun) / SECOND).toFixed(1))
}

function memoryOf(pid: number, figure: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(new RegExp(`${figure}:\\s+(\\d+) kB`).exec(status)![1]) / 1024)
}

/** CPU seconds that a process has used. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S
}
