import { fork } from 'node:child_process'
import { once } from 'node:events'

/**
 * Runs one part of a benchmark in a process of its own.
 *
 * @param module takes one message and answers with one
 * @param flags of Node
 * @throws Error when the process ends without an answer
 */
export async function ask<Order extends { what: string }, Reply>(
  module: URL,
  order: Order,
  flags: readonly string[] = [],
): Promise<Reply> {
  const child = fork(module, { serialization: 'advanced', execArgv: [...process.execArgv, ...flags] })
  child.send(order)
  const answered = once(child, 'message') as Promise<[Reply]>
  const exit = once(child, 'exit')
  const [reply] = (await Promise.race([answered, exit.then(() => undefined)])) ?? []
  if (reply === undefined) throw new Error(`${order.what}: the process ended before it answered`)
  await exit
  return reply
}

/** Measures pieces of work. `seconds` and `cpu`, seconds of a core by this process: one for each piece. */
export function createStopwatch() {
  const seconds: number[] = []
  const cpu: number[] = []
  return {
    seconds,
    cpu,
    async timed<T>(work: () => Promise<T>): Promise<T> {
      const start = performance.now()
      const before = process.cpuUsage()
      const done = await work()
      const { user, system } = process.cpuUsage(before)
      seconds.push((performance.now() - start) / 1000)
      cpu.push((user + system) / 1e6)
      return done
    },
  }
}
