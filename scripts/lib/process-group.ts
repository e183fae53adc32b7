/** Runs a command in a process group of its own, so that what it leaves running can be ended with it. */
import { spawn } from 'node:child_process'

/** How long output is read after the command has ended: a process that it left behind may hold the pipe open for ever. */
const DRAIN_MS = 2000

type GroupOptions = {
  cwd?: string
  env?: NodeJS.ProcessEnv
  timeoutMs: number
  onText: (text: string) => void
}
/** `code` is 1 when the command was killed; `isLate`: it was killed after `timeoutMs`. */
type GroupEnd = { code: number; isLate: boolean }

/**
 * @returns `end` kills the whole group; `ended` resolves when the command has ended and its output was read
 * @throws Error from `ended` when the command cannot be started
 */
export function runInGroup(
  [file, ...args]: readonly string[],
  { timeoutMs, onText, ...options }: GroupOptions,
): { end: () => void; ended: Promise<GroupEnd> } {
  const child = spawn(file!, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', onText)
  const end = () => {
    try {
      process.kill(-child.pid!, 'SIGKILL')
    } catch {
      // It has ended.
    }
  }
  const ended = new Promise<GroupEnd>((resolve, reject) => {
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      end()
    }, timeoutMs)
    child.on('error', error => {
      clearTimeout(timer)
      reject(error)
    })
    child.on('exit', code => {
      clearTimeout(timer)
      end()
      const done = () => {
        clearTimeout(drain)
        for (const stream of [child.stdout, child.stderr]) stream.destroy()
        resolve({ code: code ?? 1, isLate })
      }
      const drain = setTimeout(done, DRAIN_MS)
      child.on('close', done)
    })
  })
  return { end, ended }
}
