import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { get } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'

export type Running = { pid: number; readyMs: number; stop(): Promise<void> }

/** A start that takes longer has failed. */
const PATIENCE_MS = 60_000

/**
 * Starts a program and waits until `url` answers 200.
 *
 * @returns how long that took from the spawn, ms, and the process
 * @throws Error with what it wrote on standard error, when it ends before
 */
export async function startMeasured(args: string[], env: Record<string, string>, url: string): Promise<Running> {
  const startedAt = performance.now()
  const { PATH = '' } = process.env
  const child = spawn(process.execPath, args, { env: { PATH, ...env }, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', chunk => {
    said = `${said}${chunk}`.slice(-4000)
  })
  while (!(await answers(url))) {
    if (child.exitCode !== null) throw new Error(`${args.join(' ')} exited with ${child.exitCode}:\n${said}`)
    if (performance.now() - startedAt > PATIENCE_MS) {
      await end(child)
      throw new Error(`${args.join(' ')} was not ready after ${PATIENCE_MS / 1000} s:\n${said}`)
    }
    await wait(2)
  }
  return { pid: child.pid!, readyMs: performance.now() - startedAt, stop: () => end(child) }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

/** The plain client of Node: `fetch` would add a pool and its delays. */
function answers(url: string): Promise<boolean> {
  return new Promise(resolve => {
    const request = get(url, { agent: false }, response => {
      response.resume()
      response.on('end', () => resolve(response.statusCode === 200))
    })
    request.on('error', () => resolve(false))
  })
}
