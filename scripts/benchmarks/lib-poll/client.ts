/** One client in a process of its own: reads as ordered, and reports what that cost. */
import { type ClientOrder, type ClientReport, valueAt } from './order.ts'

const order = JSON.parse(process.argv[2] ?? '') as ClientOrder
const { open } = await (order.client === 'ours' ? import('./our-client.ts') : import('./peer-client.ts'))
const read = await open(order.port)

const batches = Array.from({ length: Math.floor(order.points / order.batch) }, (_, i) => i * order.batch)
let [turn, points, wrong] = [0, 0, 0]
let isOver = false

async function worker(): Promise<void> {
  while (!isOver) {
    const first = batches[turn++ % batches.length]!
    const values = await read(first, order.batch)
    for (let i = 0; i < order.batch; i++) if (values[i] !== valueAt(first + i)) wrong++
    points += order.batch
  }
}

const workers = Array.from({ length: order.inFlight }, worker)
await pause(order.warmUpMs)
const [before, startedAt, cpu] = [points, performance.now(), process.cpuUsage()]
await pause(order.measureMs)
const { user, system } = process.cpuUsage(cpu)
const report: ClientReport = {
  points: points - before,
  wrong: 0,
  seconds: (performance.now() - startedAt) / 1000,
  cpuSeconds: (user + system) / 1e6,
  rssMb: process.memoryUsage.rss() / 1e6,
}
isOver = true
await Promise.all(workers)
process.send?.({ ...report, wrong })
process.disconnect?.()
setTimeout(() => process.exit(), 1000).unref()

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
