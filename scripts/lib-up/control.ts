/** Starts and stops the process that watches the parts of a recipe; that one goes on when this one ends. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { errorText } from '#shared/core/error-text.ts'
import { makeFolder } from '#shared/node/files.ts'
import { EXIT, UpError } from './exit.ts'
import type { Plan } from './plan.ts'
import { refuseTakenPorts } from './ports.ts'
import { findRunning, type RunningRecipe } from './state.ts'

const WATCHER = fileURLToPath(new URL('watcher.ts', import.meta.url))
/** Each part stops within 10 s, or is killed 2 s later; a recipe has four at most. */
const STOP_MS = 60_000

/** What the watcher answers once. */
export type WatcherAnswer = { running: RunningRecipe } | { kind: keyof typeof EXIT; message: string }

/**
 * Returns when every part is healthy.
 *
 * @throws UpError with the part and the reason; nothing is left running then
 */
export async function startRecipe(plan: Plan): Promise<RunningRecipe> {
  await prepareFolder(plan.data)
  await refuseTakenPorts(plan.parts)
  const log = openSync(join(plan.data, 'logs', 'watcher.log'), 'a', 0o600)
  const child = spawn(process.execPath, [WATCHER], { detached: true, stdio: ['ignore', log, log, 'ipc'] })
  closeSync(log)
  // Settings hold secrets: they are sent, and appear in no command line and in no file.
  child.send(plan)
  const cancel = () => child.kill('SIGTERM')
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, cancel)
  try {
    const answer = await answerOf(child)
    if (!('running' in answer)) throw new UpError(answer.kind, answer.message)
    return answer.running
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, cancel)
    if (child.connected) child.disconnect()
    child.unref()
  }
}

/** @throws UpError when nothing can be written there */
async function prepareFolder(data: string): Promise<void> {
  try {
    await makeFolder(join(data, 'logs'), 0o700)
    await access(data, constants.W_OK)
  } catch (error) {
    throw new UpError('configuration', `The folder ${data} cannot be used: ${errorText(error)}`)
  }
}

function answerOf(child: ChildProcess): Promise<WatcherAnswer> {
  return new Promise(resolve => {
    child.once('message', answer => resolve(answer as WatcherAnswer))
    child.once('error', error => resolve({ kind: 'failed', message: `The watcher cannot be started: ${error.message}` }))
    child.once('exit', code => resolve({ kind: 'failed', message: `The start was ended (${code ?? 'by a signal'})` }))
  })
}

/** @returns false when nothing ran. @throws UpError when it does not stop */
export async function stopRecipe(data: string): Promise<boolean> {
  const running = findRunning(data)
  if (!running) return false
  process.kill(running.pid, 'SIGTERM')
  for (const end = Date.now() + STOP_MS; Date.now() < end; await wait(100)) if (!findRunning(data)) return true
  throw new UpError('timeout', `Process ${running.pid} did not stop within ${STOP_MS / 1000} s`)
}
