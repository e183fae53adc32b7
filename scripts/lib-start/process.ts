import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { nodeFlags } from '#image/recipes/node-flags.ts'

export type SiteProcess = {
  name: string
  pid: number
  /** Settles when the process has ended, with how. */
  ended: Promise<string>
  hasEnded(): boolean
  /** By a signal, which it did not wait for. */
  wasKilled(): boolean
  stop(): Promise<void>
  /** Last lines of this start's log with warnings or errors. */
  lastWords(): string[]
}

/** How long a part may take to stop in order before it is killed. */
const STOP_MS = 12_000
const ROOT = new URL('../../', import.meta.url)
/** Compile cache of Node: without it every start strips and compiles some four hundred files again. */
export const COMPILED = { NODE_COMPILE_CACHE: fileURLToPath(new URL('.cache/compiled', ROOT)) }

/**
 * Starts a main as a process of its own, which stops when this one is gone, however it went. It sees the given environment
 * and nothing else of ours but the path.
 *
 * @param logFile file for its standard error
 */
export function startPart(name: string, main: string, env: Record<string, string>, logFile: string): SiteProcess {
  const log = openSync(logFile, 'a', 0o600)
  const earlier = fstatSync(log).size
  const { PATH = '', HOME = '', TMPDIR = '/tmp' } = process.env
  const child = spawn(process.execPath, [...nodeFlags(main), main], {
    cwd: ROOT,
    env: { PATH, HOME, TMPDIR, ...COMPILED, ...env },
    stdio: ['ignore', log, log, 'ipc'],
  })
  closeSync(log)
  const ended = endOf(child)
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  return {
    name,
    pid: child.pid ?? 0,
    ended,
    hasEnded,
    wasKilled: () => child.signalCode !== null,
    async stop() {
      if (hasEnded()) return
      child.kill('SIGTERM')
      const patience = new AbortController()
      const kill = wait(STOP_MS, undefined, { signal: patience.signal }).then(
        () => child.kill('SIGKILL'),
        () => undefined,
      )
      await ended
      patience.abort()
      await kill
    },
    lastWords: () => troubleIn(readFileSync(logFile).subarray(earlier).toString()),
  }
}

function endOf(child: ChildProcess): Promise<string> {
  return new Promise(resolve => {
    child.once('error', error => resolve(`could not be started: ${error.message}`))
    child.once('exit', (code, signal) => resolve(signal ? `was ended by ${signal}` : `exited with ${code}`))
  })
}

const LINES = 5
/** pino's level of an error. */
const ERROR_LEVEL = 50

/** @returns the messages of the last errors, or else the last lines as they are */
function troubleIn(text: string): string[] {
  const lines = text.trim().split('\n').filter(Boolean)
  const errors = lines.flatMap(line => {
    const [, level, msg] = /^\{"level":(\d+),.*"msg":"((?:[^"\\]|\\.)*)"\}$/.exec(line) ?? []
    if (level === undefined) return [line]
    return Number(level) >= ERROR_LEVEL ? [msg ?? ''] : []
  })
  return (errors.length ? errors : lines).slice(-LINES)
}
