/**
 * `scripts/bench fdd-building`: 50 air handlers with ten boxes each, the shipped rules, with the flags of an appliance's workers.
 * Ours: three days of minutes from sealed files, a few equipment at a time, the engine state written as well; then a day, with
 * a run after each hour, each in a process of its own, as a worker that is idle ends. Beside it: the three days with the whole
 * building's history in memory, and no states.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { nodeFlags } from '#image/recipes/node-flags.ts'
import { upperMedianOf } from '#shared/core/series/statistics.ts'
import { workerFlags } from '#shared/node/worker/worker-process.ts'
import { ask } from './lib-fdd/ask.ts'
import { sizeOf } from './lib-fdd/box.ts'
import type { Order, Reply } from './lib-fdd/building-child.ts'

/** Of the hourly runs. */
const GOAL = { rss_mb: 300 }

const { values } = parseArgs({ options: { json: { type: 'boolean' } } })
const say = (line: string) => values.json || process.stdout.write(`${line}\n`)
say(`load before the start: ${loadavg()[0]!.toFixed(2)}`)

const folder = await mkdtemp(join(tmpdir(), 'plenum-bench-building-'))
try {
  process.stdout.write(`${JSON.stringify(await bench())}\n`)
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function bench() {
  const part = async (order: Omit<Order, 'folder'>, flags?: readonly string[]): Promise<Reply> => {
    const reply = await ask<Order, Reply>(new URL('lib-fdd/building-child.ts', import.meta.url), { folder, ...order }, flags)
    const { seconds, cpu, rss_mb } = reply
    say(`${Object.values(order).join(' ')}: ${seconds.toFixed(1)} s, ${cpu.toFixed(1)} s of a core, ${rss_mb} MB`)
    return reply
  }
  const { samples, equipment } = await part({ what: 'write' })
  const flags = workerFlags(nodeFlags('appliance/main.ts'))
  const first = await part({ what: 'one by one' }, flags)
  const states = sizeOf(join(folder, 'states'))
  const peer = await part({ what: 'all at once' })
  if (first.findings !== peer.findings) throw new Error(`${first.findings} findings, at once ${peer.findings}: no comparison`)
  await part({ what: 'append' })
  const hours: Reply[] = []
  for (let hour = 1; hour <= 24; hour++) hours.push(await part({ what: 'hour', hour }, flags))
  const cpu = hours.map(one => one.cpu)
  const most = Math.max(...hours.map(one => one.rss_mb))
  const ours = upperMedianOf(hours.map(one => one.seconds))!
  return {
    bench: 'fdd-building',
    ours,
    peer: peer.seconds,
    peer_name: 'the whole building in memory at once',
    ratio: Math.round((peer.seconds / ours) * 10) / 10,
    unit: 's',
    goal: GOAL,
    goal_met: most <= GOAL.rss_mb,
    samples,
    equipment,
    findings: peer.findings,
    cpu: { day: sumOf(cpu), worst_hour: Math.max(...cpu), first: first.cpu, peer: peer.cpu },
    rss_mb: { hours: most, first: first.rss_mb, peer: peer.rss_mb },
    state_bytes_by_equipment: Math.round(states.bytes / states.files),
    state_files: states.files,
  }
}

function sumOf(figures: number[]): number {
  return figures.reduce((sum, one) => sum + one, 0)
}
