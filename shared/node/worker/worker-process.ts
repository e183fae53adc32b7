import { fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { FromWorker, ToWorker } from './worker-protocol.ts'

/** Interval between two checks of the resident memory of a busy process. */
const WATCH_MS = 200
const KB = 1024
const MB = 1024 * 1024

export type ProcessOptions = {
  /** The module of the process; its body calls `serveWorker`. */
  module: URL
  /** Passed to its `setUp`. */
  init: unknown
  /** Resident memory at which the process is ended (on Linux), and the bound of its JavaScript heap. */
  memoryMb: number
}

/** One process, from start to end. */
export type WorkerProcess = {
  pid: number | undefined
  send(message: ToWorker): void
  /** A busy process holds its parent open and its memory is checked; an idle one does not. */
  setBusy(isBusy: boolean): void
  /** Resident memory as a share of the allowed memory; 0 where the machine does not report it. */
  fullness(): number
  /** Kills the process. Resolves when it has ended. */
  end(): Promise<void>
}

const SMALLEST_HEAP = '--optimize-for-size'
/** The last one counts where a flag is given twice. */
const SMALL_HEAP = ['--max-semi-space-size=2', '--heap-growing-percent=20'] as const

/**
 * Flags of a worker, from those of its parent. Rules take half as long again with the smallest heap; one that grows in small steps
 * needs 20 MB more in a building of 550 pieces of equipment.
 */
export const workerFlags = (parent: readonly string[]): string[] =>
  parent.includes(SMALLEST_HEAP) ? [...parent.filter(flag => flag !== SMALLEST_HEAP), ...SMALL_HEAP] : [...parent]

/** @param on `lost` is called once with the reason, unless `end` was called first */
export function startProcess(
  { module, init, memoryMb }: ProcessOptions,
  on: { message: (message: FromWorker) => void; lost: (reason: string) => void },
): WorkerProcess {
  const execArgv = [...workerFlags(process.execArgv), `--max-old-space-size=${memoryMb}`]
  // A separate process group, so that Ctrl-C on a terminal reaches only the parent.
  const child = fork(module, { serialization: 'advanced', execArgv, detached: true })
  let watch: NodeJS.Timeout | undefined
  let overBound = ''
  let isOver = false
  const gone = new Promise<void>(resolve => {
    const lost = (reason: string) => {
      clearInterval(watch)
      if (!isOver) on.lost(overBound || reason)
      isOver = true
      resolve()
    }
    child.once('exit', (code, signal) => lost(signal ? `was ended by ${signal}` : `ended with code ${code}`))
    child.once('error', error => lost(error.message))
  })
  const fullness = () => (child.pid === undefined ? 0 : residentBytes(child.pid) / (memoryMb * MB))
  const checkMemory = () => {
    const full = fullness()
    if (full <= 1) return
    overBound = `needed ${Math.round(full * memoryMb)} MB where ${memoryMb} MB are allowed`
    child.kill('SIGKILL')
  }
  const send = (message: ToWorker) => void child.send(message, error => error && child.kill('SIGKILL'))

  child.on('message', message => isOver || on.message(message as FromWorker))
  send({ kind: 'init', init })
  return {
    pid: child.pid,
    send,
    fullness,
    setBusy(isBusy) {
      if (isBusy) {
        watch ??= setInterval(checkMemory, WATCH_MS).unref()
        child.ref()
        child.channel?.ref()
      } else {
        clearInterval(watch)
        watch = undefined
        child.unref()
        child.channel?.unref()
      }
    },
    end() {
      isOver = true
      child.ref()
      child.kill('SIGKILL')
      return gone
    },
  }
}

/** @returns 0 where the machine does not report it, or the process has ended */
function residentBytes(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * KB
  } catch {
    return 0
  }
}
