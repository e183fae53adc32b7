/**
 * `scripts/bench footprint`: how soon the appliance of an image is ready, and its memory after minutes of polling 1,000
 * points of simulated devices. The peer in the same run is the floor under any such program: a bare fastify server on
 * the same Node.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { buildApplication } from '#image/build/application.ts'
import { MAINS } from '#image/build/build.ts'
import { targetHere } from '#image/build/target.ts'
import { readVersion } from '#shared/node/version.ts'
import { nodeFlags } from '#image/recipes/node-flags.ts'
import { freePort } from '../lib/free-port.ts'
import { openHubClient } from '../lib-start/hub-client.ts'
import { type Memory, memoryOf } from './lib-footprint/memory.ts'
import { COMPILED } from '../lib-start/process.ts'
import { type Running, startMeasured } from './lib-footprint/measured-process.ts'
import { prepareAppliance } from './lib-footprint/prepare-appliance.ts'
import { openPoints, POINT_COUNT } from './lib-footprint/points.ts'

/** Starts of each program; the median counts. */
const STARTS = 5
const GOAL = { memory_mb: 150, start_ms: 2000 }
const MINUTE_MS = 60_000
const MAIN = 'appliance/main.ts'
const LOOK_MS = 1000

type PollStatus = { points_ok: number; cycles: number; late_cycles: number }

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' }, json: { type: 'boolean' } } })
const minutes = Number(values.minutes)
if (!(minutes > 0 && minutes <= 1440)) {
  process.stderr.write('usage: scripts/bench footprint [--minutes N] [--json]\n')
  process.exit(2)
}
const say = (line: string) => values.json || process.stdout.write(`${line}\n`)

const dir = await mkdtemp(join(tmpdir(), 'plenum-footprint-'))
const points = await openPoints()
const started: Running[] = []
try {
  process.stdout.write(`${JSON.stringify(await bench())}\n`)
} finally {
  await Promise.all(started.map(running => running.stop()))
  await points.close()
  await rm(dir, { recursive: true, force: true })
}

async function bench() {
  const [appliancePort, barePort] = [await freePort(), await freePort()]
  const password = 'viewer-of-the-bench'
  const env = await prepareAppliance(join(dir, 'workspace'), points, { port: appliancePort, password })
  const floor = await startSeveral(['scripts/benchmarks/lib-footprint/bare-server.ts', String(barePort)], COMPILED, barePort)
  const program = join(dir, 'program')
  await buildApplication(program, MAINS, { target: targetHere(), version: readVersion() })
  const ours = await startSeveral([...nodeFlags(MAIN), join(program, MAIN)], { ...COMPILED, ...env }, appliancePort)
  say(`ready after ${ours.readyMs} ms (median of ${STARTS}); bare fastify ${floor.readyMs} ms`)

  const peak = await pollFor(minutes * MINUTE_MS, ours.last)
  const memory = memoryOf(ours.last.pid)
  const floorMemory = memoryOf(floor.last.pid)
  const viewer = await openHubClient(`http://127.0.0.1:${appliancePort}`, password)
  const status = await viewer.get<PollStatus>('/api/bacnet/poll/status')
  if (status.points_ok !== POINT_COUNT) throw new Error(`${status.points_ok} of ${POINT_COUNT} points were read`)
  say(
    `after ${minutes} min: ${memory.rss_mb} MB resident in ${memory.processes} processes; bare fastify ${floorMemory.rss_mb} MB`,
  )

  return {
    bench: 'footprint',
    ours: memory.rss_mb,
    peer: floorMemory.rss_mb,
    peer_name: 'bare fastify on the same Node',
    ratio: round(memory.rss_mb / floorMemory.rss_mb),
    unit: 'MB',
    rows: POINT_COUNT,
    minutes,
    pss_mb: memory.pss_mb,
    peer_pss_mb: floorMemory.pss_mb,
    peak_rss_mb: peak.rss_mb,
    peak_pss_mb: peak.pss_mb,
    processes: memory.processes,
    start_ms: ours.readyMs,
    peer_start_ms: floor.readyMs,
    poll_cycles: status.cycles,
    late_cycles: status.late_cycles,
    goal: GOAL,
    goal_met: memory.rss_mb <= GOAL.memory_mb && ours.readyMs <= GOAL.start_ms,
  }
}

/** Starts a program several times, one after the other, and leaves the last one running. */
async function startSeveral(
  args: string[],
  env: Record<string, string>,
  port: number,
): Promise<{ readyMs: number; last: Running }> {
  const times: number[] = []
  for (;;) {
    const running = await startMeasured(args, env, `http://127.0.0.1:${port}/api/health`)
    started.push(running)
    times.push(running.readyMs)
    if (times.length === STARTS) return { readyMs: Math.round(times.toSorted((a, b) => a - b)[STARTS >> 1]!), last: running }
    await running.stop()
  }
}

/** @returns the most that was in memory at one look */
async function pollFor(ms: number, running: Running): Promise<Memory> {
  let peak = memoryOf(running.pid)
  for (const end = performance.now() + ms; performance.now() < end; await wait(LOOK_MS)) {
    const seen = memoryOf(running.pid)
    if (seen.pss_mb > peak.pss_mb) peak = seen
  }
  return peak
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
