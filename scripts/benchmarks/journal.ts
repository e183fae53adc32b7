/**
 * `scripts/bench journal`: what the priority journal costs at its cap of 100,000 records, against an empty one, and against
 * the same records in SQLite with synchronous=FULL, on one disk; the sides take turns. `ratio` is our appends a second at
 * the cap over those into an empty journal. One append is one visit of 20 points, with its fsync.
 */
import { upperMedianOf } from '#shared/core/series/statistics.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openOurs, openPeer, type Side } from './lib-journal/sides.ts'
import { DEVICES, POINTS_PER_DEVICE, visit } from './lib-journal/visits.ts'

const CAP = 100_000
const PAGE_DEPTH = 99_000
const TURNS = 21
const VISITS_PER_TURN = 100
const PAGES = 101
const RESTARTS = 5

const { values } = parseArgs({ options: { json: { type: 'boolean' } } })
const say = (line: string) => values.json || process.stdout.write(`${line}\n`)
const round = (n: number): number => Math.round(n * 100) / 100

const root = mkdtempSync(join(tmpdir(), 'plenum-bench-journal-'))
try {
  process.stdout.write(`${JSON.stringify(await bench())}\n`)
} finally {
  rmSync(root, { recursive: true, force: true })
}

async function bench() {
  const capped = { dir: join(root, 'capped'), n: 0 }
  let ours = await openOurs(capped.dir, CAP)
  const peer = openPeer(root, CAP)
  for (; capped.n < CAP / POINTS_PER_DEVICE; capped.n += DEVICES) {
    const round = Array.from({ length: DEVICES }, (_, i) => visit(capped.n + i)).flat()
    for (const side of [ours, peer]) await side.append(round)
  }
  const appends = await compareAppends(ours, peer, capped.n)
  const pages = { ours: comparePages(ours), peer: comparePages(peer) }
  await ours.close()
  const restarts: number[] = []
  for (let i = 0; i < RESTARTS; i++) {
    const begun = performance.now()
    ours = await openOurs(capped.dir, CAP)
    restarts.push(performance.now() - begun)
    await ours.close()
  }
  await peer.close()
  const restart_ms = round(upperMedianOf(restarts)!)
  say(`restart with ${CAP} records: ${restart_ms} ms`)
  for (const [side, { newest_ms, oldest_ms, ratio }] of Object.entries(pages))
    say(`${side}: page of 100 in ${newest_ms} ms at depth 0, ${oldest_ms} ms at depth ${PAGE_DEPTH}: ${ratio}`)
  const { at_cap, empty, sqlite, ratio } = appends
  say(`visits a second: ${at_cap} at the cap, ${empty} into an empty journal (${ratio}), SQLite ${sqlite}`)
  return {
    bench: 'journal',
    ours: at_cap,
    peer: sqlite,
    peer_name: 'SQLite, WAL, synchronous=FULL, at the cap',
    ratio,
    unit: `visits of ${POINTS_PER_DEVICE} points a second, each with its fsync`,
    empty,
    restart_ms,
    page: pages.ours,
    peer_page: pages.peer,
  }
}

/** Turns of the three beside each other: what else the disk does changes more slowly than that. */
async function compareAppends(ours: Side, peer: Side, from: number) {
  const rates: [number[], number[], number[]] = [[], [], []]
  for (let turn = 0; turn < TURNS; turn++) {
    const n = from + turn * VISITS_PER_TURN
    const dir = join(root, `empty-${turn}`)
    const empty = await openOurs(dir, CAP)
    await takeTurn(empty, n - DEVICES, DEVICES)
    for (const [i, side] of [ours, empty, peer].entries()) rates[i]!.push(await takeTurn(side, n, VISITS_PER_TURN))
    await empty.close()
    rmSync(dir, { recursive: true })
  }
  const [at_cap, empty, sqlite] = rates.map(list => Math.round(upperMedianOf(list)!)) as [number, number, number]
  return { at_cap, empty, sqlite, ratio: round(upperMedianOf(rates[0].map((rate, i) => rate / rates[1][i]!))!) }
}

async function takeTurn(side: Side, from: number, visits: number): Promise<number> {
  const list = Array.from({ length: visits }, (_, i) => visit(from + i))
  const begun = performance.now()
  for (const one of list) await side.append(one)
  return visits / ((performance.now() - begun) / 1000)
}

function comparePages(side: Side) {
  const took = (before: number): number => {
    const begun = performance.now()
    if (side.page(before) !== 100) throw new Error('a page is not full')
    return performance.now() - begun
  }
  const last = side.last()
  const [newest, oldest]: [number[], number[]] = [[], []]
  for (let i = 0; i < PAGES; i++) {
    newest.push(took(last + 1))
    oldest.push(took(last + 1 - PAGE_DEPTH))
  }
  const [newest_ms, oldest_ms] = [round(upperMedianOf(newest)!), round(upperMedianOf(oldest)!)]
  return { newest_ms, oldest_ms, ratio: round(oldest_ms / newest_ms) }
}
