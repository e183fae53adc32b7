/**
 * `scripts/bench modbus`: what our driver costs for each register, from a list of points to readings, against modbus-serial
 * called by hand, which gives a buffer that is then read. One server for both, in a process of its own; one request in
 * flight; the sides take turns. `ratio` is our CPU time for a register over modbus-serial's, the worse of the two sizes.
 */
import { upperMedianOf } from '#shared/core/series/statistics.ts'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { floatAt } from './lib-modbus/registers.ts'
import { openOurs, openPeer, type Side } from './lib-modbus/sides.ts'

/** Points of two registers in one request, and requests in one turn. */
const SIZES = [
  { floats: 5, requests: 1000 },
  { floats: 62, requests: 500 },
]
const TURNS = 41

type Turn = { cpu_s_per_100k: number; registers_per_s: number }
type Size = (typeof SIZES)[number]

const { values } = parseArgs({ options: { json: { type: 'boolean' } } })
const say = (line: string) => values.json || process.stdout.write(`${line}\n`)

const simulator = fork(new URL('lib-modbus/simulator.ts', import.meta.url))
try {
  const [port] = (await once(simulator, 'message')) as [number]
  process.stdout.write(`${JSON.stringify(await bench(port))}\n`)
} finally {
  simulator.disconnect()
}

async function bench(port: number) {
  const sizes = []
  for (const size of SIZES) sizes.push(await compare(port, size))
  const worst = sizes.reduce((a, b) => (b.ratio > a.ratio ? b : a))
  return {
    bench: 'modbus',
    ours: worst.ours.cpu_s_per_100k,
    peer: worst.peer.cpu_s_per_100k,
    peer_name: 'modbus-serial called by hand',
    ratio: worst.ratio,
    unit: 'CPU s per 100,000 registers',
    sizes,
  }
}

async function compare(port: number, size: Size) {
  const sides = [openOurs(port, size.floats), await openPeer(port, size.floats)] as const
  const turns: [Turn[], Turn[]] = [[], []]
  for (const side of sides) await takeTurn(side, size)
  for (let i = 0; i < TURNS; i++) {
    turns[0].push(await takeTurn(sides[0], size))
    turns[1].push(await takeTurn(sides[1], size))
  }
  for (const side of sides) await side.close()
  const [ours, peer] = [summary(turns[0]), summary(turns[1])]
  // Each turn against the one beside it: what else the machine does changes more slowly than that.
  const ratios = turns[0].map((turn, i) => turn.cpu_s_per_100k / turns[1][i]!.cpu_s_per_100k)
  const ratio = Math.round(upperMedianOf(ratios)! * 100) / 100
  const registers = 2 * size.floats
  say(`${registers} registers in a request: ours ${words(ours)}; modbus-serial ${words(peer)}; ratio ${ratio}`)
  return { registers, ours, peer, ratio }
}

/** @throws Error when a side reads anything else than what the server holds */
async function takeTurn(side: Side, { floats, requests }: Size): Promise<Turn> {
  const wanted = Array.from({ length: floats }, (_, i) => floatAt(i)).reduce((a, b) => a + b)
  const cpu = process.cpuUsage()
  const start = performance.now()
  for (let i = 0; i < requests; i++) {
    const sum = await side.poll()
    if (sum !== wanted) throw new Error(`read ${sum} in all where the server holds ${wanted}: no comparison`)
  }
  const { user, system } = process.cpuUsage(cpu)
  const registers = 2 * floats * requests
  return {
    cpu_s_per_100k: ((user + system) / 1e6 / registers) * 100_000,
    registers_per_s: (registers / (performance.now() - start)) * 1000,
  }
}

function summary(turns: Turn[]): Turn {
  return {
    cpu_s_per_100k: Number(upperMedianOf(turns.map(turn => turn.cpu_s_per_100k))!.toPrecision(3)),
    registers_per_s: Math.round(upperMedianOf(turns.map(turn => turn.registers_per_s))!),
  }
}
function words({ cpu_s_per_100k, registers_per_s }: Turn): string {
  return `${cpu_s_per_100k} CPU s per 100,000, ${registers_per_s} in a second`
}
