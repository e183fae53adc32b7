/**
 * `scripts/bench rules-api`: the CPU of one request for each page and route that speaks of rules, over a building of 5,200
 * points and the shipped catalogue, beside a bare fastify process that answers with the same bytes; and how long the event
 * loop stands while 20 of them come at once. `ratio` is our CPU for one request of each over the peer's.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type ForkedServer, forkServer } from '#scripts/lib/forked-server.ts'
import type { Answer } from './lib-fdd/rules-api-child.ts'

const PATHS = [
  '/api/fdd-rules?limit=1000',
  '/api/fdd/coverage?building_id=campus',
  '/api/fdd/params?building_id=campus',
  '/coverage',
  '/params',
  '/analytics/operations',
]
const WARM_UP = 20
const REQUESTS = 100
const AT_ONCE = 20

const { values } = parseArgs({ options: { json: { type: 'boolean' } } })
const say = (line: string) => values.json || process.stdout.write(`${line}\n`)
const round = (n: number): number => Math.round(n * 100) / 100

const CHILD = new URL('./lib-fdd/rules-api-child.ts', import.meta.url)

const workspace = mkdtempSync(join(tmpdir(), 'plenum-bench-rules-'))
try {
  process.stdout.write(`${JSON.stringify(await bench())}\n`)
} finally {
  rmSync(workspace, { recursive: true, force: true })
}

async function bench() {
  const ours = await forkServer(CHILD, { workspace })
  const begun = performance.now()
  const answers = Object.fromEntries(await Promise.all(PATHS.map(async path => [path, await ask(ours, path)] as const)))
  const first = { first_ms: round(performance.now() - begun), first_loop_ms: round((await ours.figures()).loop_ms) }
  const peer = await forkServer(CHILD, { answers })
  const cost = { ours: await costOf(ours), peer: await costOf(peer) }
  const loop = { ours: await loopOf(ours), peer: await loopOf(peer) }
  await Promise.all([ours.close(), peer.close()])
  for (const path of PATHS)
    say(`${path}: ${cost.ours[path]} ms of CPU, ${cost.peer[path]} ms for the same ${answers[path]!.text.length} bytes`)
  say(`first answers after ${first.first_ms} ms, while the loop stood for ${first.first_loop_ms} ms at most`)
  say(`${AT_ONCE} at once: the loop stands for ${loop.ours} ms at most, the peer's for ${loop.peer} ms`)
  const [mine, theirs] = [cost.ours, cost.peer].map(side => round(Object.values(side).reduce((sum, ms) => sum + ms, 0)))
  return {
    bench: 'rules-api',
    ours: mine,
    peer: theirs,
    peer_name: 'bare fastify, the same bytes',
    ratio: round(mine! / theirs!),
    unit: `ms of CPU for one request of each of ${PATHS.length}`,
    cpu_ms: cost.ours,
    peer_cpu_ms: cost.peer,
    loop_ms: loop.ours,
    peer_loop_ms: loop.peer,
    ...first,
  }
}

async function costOf(side: ForkedServer): Promise<Record<string, number>> {
  const costs: Record<string, number> = {}
  for (const path of PATHS) {
    for (let i = 0; i < WARM_UP; i++) await ask(side, path)
    await side.figures()
    for (let i = 0; i < REQUESTS; i++) await ask(side, path)
    costs[path] = round((await side.figures()).cpu_ms / REQUESTS)
  }
  return costs
}

/** The worst of all paths. */
async function loopOf(side: ForkedServer): Promise<number> {
  let worst = 0
  for (const path of PATHS) {
    await side.figures()
    await Promise.all(Array.from({ length: AT_ONCE }, () => ask(side, path)))
    worst = Math.max(worst, (await side.figures()).loop_ms)
  }
  return round(worst)
}

async function ask({ url }: Pick<ForkedServer, 'url'>, path: string): Promise<Answer> {
  const response = await fetch(url + path)
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`)
  return { type: response.headers.get('content-type')!, text }
}
