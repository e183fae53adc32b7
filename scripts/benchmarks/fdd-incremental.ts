/**
 * `scripts/bench fdd-incremental`: what an hour of new data costs. One air handler with a year of minutes behind it, the
 * whole catalogue; a scheduled run after each hour of some days. Ours: storing the hour's samples, reading them and the engine
 * state, evaluation, and storing what it says, durably. Beside it: the same rules over the whole year.
 */
import { upperMedianOf } from '#shared/core/series/statistics.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import type { Finding } from '#shared/core/findings/finding.ts'
import { ask } from './lib-fdd/ask.ts'
import type { Order, Reply } from './lib-fdd/incremental-child.ts'

/** The first days warm the process up. */
const WARM_FROM = 1
const HOURS = 24
const GOAL = { ratio: 200, worst_ratio: 100 }

const { values } = parseArgs({ options: { json: { type: 'boolean' } } })
const say = (line: string) => values.json || process.stdout.write(`${line}\n`)
say(`load before the start: ${loadavg()[0]!.toFixed(2)}`)

const folder = await mkdtemp(join(tmpdir(), 'plenum-bench-incremental-'))
try {
  process.stdout.write(`${JSON.stringify(await bench())}\n`)
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function bench() {
  const part = (what: Order['what']) =>
    ask<Order, Reply>(new URL('lib-fdd/incremental-child.ts', import.meta.url), { folder, what })
  await part('begin')
  const first = await part('catch-up')
  const { files, bytes } = first.states
  say(`a day in a process that has just begun: ${ms(first.seconds[0]!)} ms, ${first.rss_mb} MB`)
  say(`the engine remembers ${bytes} bytes at ${files} ends of days`)
  // Before and after: a machine that others use is not as fast at one time as at another.
  const before = await part('batch')
  const hours = await part('hours')
  const after = await part('batch')
  for (const note of hours.notes) throw new Error(note)
  for (const [hour, seconds] of hours.seconds.entries()) {
    say(`day ${Math.floor(hour / HOURS)}, ${(hour % HOURS) + 1} h: ${ms(seconds)} ms, ${ms(hours.cpu[hour]!)} ms of a core`)
  }
  const batch = { seconds: [...before.seconds, ...after.seconds], cpu: [...before.cpu, ...after.cpu] }
  say(`the year at once: ${batch.seconds.map(each => each.toFixed(2)).join(', ')} s`)
  const again = await part('again')
  if (!isDeepStrictEqual(sorted(hours), sorted(again))) {
    throw new Error('hour by hour not the same was found as at once: no comparison')
  }
  const [own, other] = [byHour(hours.seconds), upperMedianOf(batch.seconds)!]
  const [median, worst] = [upperMedianOf(own)!, Math.max(...own)]
  const [ratio, worstRatio] = [Math.round(other / median), Math.round(other / worst)]
  const cpu = byHour(hours.cpu)
  return {
    bench: 'fdd-incremental',
    ours: median,
    peer: other,
    peer_name: 'the same rules over the whole year',
    ratio,
    unit: 's',
    goal: GOAL,
    goal_met: ratio >= GOAL.ratio && worstRatio >= GOAL.worst_ratio,
    worst,
    worst_ratio: worstRatio,
    cpu: { ours: upperMedianOf(cpu)!, worst: Math.max(...cpu), peer: upperMedianOf(batch.cpu)! },
    first_run: first.seconds[0]!,
    state_bytes: Math.round(bytes / files),
    rss_mb: hours.rss_mb,
    first_rss_mb: first.rss_mb,
    batch_rss_mb: after.rss_mb,
    findings: hours.findings.length,
  }
}

/**
 * @param hours figures of runs, hour by hour
 * @returns for each of the 24 hours of a day the median of the days on which the process was warm
 */
function byHour(hours: number[]): number[] {
  const warm = hours.slice(WARM_FROM * HOURS)
  return Array.from({ length: HOURS }, (_, hour) => upperMedianOf(warm.filter((_, i) => i % HOURS === hour))!)
}

function ms(seconds: number): string {
  return (seconds * 1000).toFixed(1)
}

function sorted({ findings }: Reply): Finding[] {
  return findings.toSorted((a, b) => (a.finding_id < b.finding_id ? -1 : 1))
}
