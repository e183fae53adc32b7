/** CPU and event loop of a process that a benchmark measures from inside. */
import { existsSync, readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'

/** CPU of this process and of those that it has started since it was asked last, and the longest time for which its loop stood, ms. */
export type Figures = { cpu_ms: number; loop_ms: number }

/** In which Linux counts CPU, ms. */
const TICK_MS = 10

/** @returns reads the figures since the last reading */
export function watchProcess(): () => Figures {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  let before = 0
  return () => {
    const { user, system } = process.cpuUsage()
    const total = (user + system) / 1e3 + childrenMs()
    const figures = { cpu_ms: total - before, loop_ms: delay.max / 1e6 }
    before = total
    delay.reset()
    return figures
  }
}

/** Of children that run and of those that have ended; 0 where the machine does not report it. */
function childrenMs(): number {
  const list = `/proc/self/task/${process.pid}/children`
  const pids = existsSync(list) ? readFileSync(list, 'utf8').trim().split(' ').filter(Boolean) : []
  const ticksOf = (pid: string, from: number) => {
    const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .split(') ')[1]!
      .split(' ')
      .slice(from, from + 2)
    return Number(user) + Number(system)
  }
  const [OWN, ENDED] = [11, 13]
  const ended = existsSync(list) ? ticksOf('self', ENDED) : 0
  return (ended + pids.reduce((sum, pid) => sum + ticksOf(pid, OWN), 0)) * TICK_MS
}
