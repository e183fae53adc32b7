/**
 * `scripts/bench fdd-building`: 50 air handlers with ten boxes each, three days of minutes, the shipped rules, from sealed
 * files. Ours: as a run does it, a few equipment at a time, the engine state written as well. Beside it: the whole
 * building's history in memory at once.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ask } from './lib-fdd/ask.ts'
import { sizeOf } from './lib-fdd/box.ts'
import type { Order, Reply } from './lib-fdd/building-child.ts'

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
  const part = async (what: Order['what']): Promise<Reply> => {
    const reply = await ask<Order, Reply>(new URL('lib-fdd/building-child.ts', import.meta.url), { folder, what })
    say(`${what}: ${reply.seconds.toFixed(1)} s, ${reply.cpu.toFixed(1)} s of a core, ${reply.rss_mb} MB`)
    return reply
  }
  const { samples, equipment } = await part('write')
  const ours = await part('one by one')
  const states = sizeOf(join(folder, 'states'))
  const peer = await part('all at once')
  if (ours.findings !== peer.findings) throw new Error(`${ours.findings} findings, at once ${peer.findings}: no comparison`)
  return {
    bench: 'fdd-building',
    ours: ours.seconds,
    peer: peer.seconds,
    peer_name: 'the whole building in memory at once',
    ratio: Math.round((peer.seconds / ours.seconds) * 100) / 100,
    unit: 's',
    samples,
    equipment,
    findings: ours.findings,
    cpu: { ours: ours.cpu, peer: peer.cpu },
    rss_mb: { ours: ours.rss_mb, peer: peer.rss_mb },
    state_bytes_by_equipment: Math.round(states.bytes / states.files),
    state_files: states.files,
  }
}
