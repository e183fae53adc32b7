import { fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { FromWorker, ToWorker } from './worker-protocol.ts'

/** How often the resident memory of a busy process is looked at. */
const WATCH_MS = 200
const KB = 1024
const MB = 1024 * 1024

export type ProcessOptions = {
  /** A module whose body calls `serveWorker`. */
  module: URL
  /** Passed to its `setUp`. */
  init: unknown
  /** Resident memory at which the process is ended (on Linux), and the bound of its JavaScript heap. */
  memoryMb: number
}

/** One process, from its start to its end. */
export type WorkerProcess = {
  pid: number | undefined
  send(message: ToWorker): void
  /** While it is busy it is watched and keeps its parent alive; idle it does neither. */
  busy(is: boolean): void
  /** Share of the memory it may have that it has, 0 where the machine does not tell. */
  fullness(): number
  /** Resolves once it is gone. */
  end(): Promise<void>
}

/** @param on `lost` is told once, with the reason, unless the process was ended on purpose */
export function startProcess(
  { module, init, memoryMb }: ProcessOptions,
  on: { message: (message: FromWorker) => void; lost: (reason: string) => void },
): WorkerProcess {
  const execArgv = [...process.execArgv, `--max-old-space-size=${memoryMb}`]
  // A process group of its own: Ctrl-C on a terminal is the parent's business.
  const child = fork(module, { serialization: 'advanced', execArgv, detached: true })
  let watch: NodeJS.Timeout | undefined
  let overBound = ''
  let over = false
  const gone = new Promise<void>(resolve => {
    const lost = (reason: string) => {
      clearInterval(watch)
      if (!over) on.lost(overBound || reason)
      over = true
      resolve()
    }
    child.once('exit', (code, signal) => lost(signal ? `was ended by ${signal}` : `ended with code ${code}`))
    child.once('error', error => lost(error.message))
  })
  const fullness = () => (child.pid === undefined ? 0 : residentBytes(child.pid) / (memoryMb * MB))
  const look = () => {
    const full = fullness()
    if (full <= 1) return
    overBound = `needed ${Math.round(full * memoryMb)} MB where ${memoryMb} MB are allowed`
    child.kill('SIGKILL')
  }
  const send = (message: ToWorker) => void child.send(message, error => error && child.kill('SIGKILL'))

  child.on('message', message => over || on.message(message as FromWorker))
  send({ kind: 'init', init })
  return {
    pid: child.pid,
    send,
    fullness,
    busy: is => {
      if (is) {
        watch ??= setInterval(look, WATCH_MS).unref()
        child.ref()
        child.channel?.ref()
      } else {
        clearInterval(watch)
        watch = undefined
        child.unref()
        child.channel?.unref()
      }
    },
    end: () => {
      over = true
      child.ref()
      child.kill('SIGKILL')
      return gone
    },
  }
}

/** @returns 0 where the machine does not tell, or the process is gone */
function residentBytes(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * KB
  } catch {
    return 0
  }
}
