import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { ExecutionContext } from 'ava'

type Run = {
  child: ChildProcess
  /** Where this run makes its temporary folder. */
  tmp: string
  out: () => string
  err: () => string
  exit: Promise<number>
}

/** A folder that is removed when the test ends. */
export async function temporaryFolder(t: ExecutionContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'plenum-e2e-'))
  t.teardown(() => rm(path, { recursive: true, force: true }))
  return path
}

/** Runs `scripts/start` as a person would, with a temporary folder of its own for what it leaves behind. */
export async function runStart(t: ExecutionContext, ...args: string[]): Promise<Run> {
  const tmp = await temporaryFolder(t)
  const child = spawn('scripts/start', args, { env: { ...process.env, TMPDIR: tmp }, stdio: ['ignore', 'pipe', 'pipe'] })
  let [out, err] = ['', '']
  child.stdout.on('data', chunk => {
    out += chunk
  })
  child.stderr.on('data', chunk => {
    err += chunk
  })
  const exit = once(child, 'close').then(([code]) => code as number)
  t.teardown(async () => {
    if (child.exitCode === null) child.kill('SIGTERM')
    await exit
  })
  return { child, tmp, out: () => out, err: () => err, exit }
}

/** @returns the first of `count` ports of which all are free now; below the range from which the system hands out */
export async function freeBase(count: number): Promise<number> {
  for (let base = 20_000 + (process.pid % 500) * 20; ; base += count) {
    const free = await Promise.all(Array.from({ length: count }, (_, i) => isFree(base + i)))
    if (free.every(Boolean)) return base
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}

/** Ids of the processes below `pid`, itself not among them. */
export async function descendants(pid: number): Promise<number[]> {
  const all = (await readdir('/proc')).filter(name => /^\d+$/.test(name)).map(Number)
  const parents = new Map(await Promise.all(all.map(async one => [one, await parentOf(one)] as const)))
  const below = (one: number): number[] =>
    all.filter(child => parents.get(child) === one).flatMap(child => [child, ...below(child)])
  return below(pid)
}

async function parentOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1] ?? -1)
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Looks every 200 ms until `look` gives something. @throws Error after `patienceMs` */
export async function eventually<T>(
  what: string,
  patienceMs: number,
  look: () => Promise<T | undefined> | T | undefined,
): Promise<T> {
  for (const end = Date.now() + patienceMs; Date.now() < end; await wait(200)) {
    const seen = await look()
    if (seen !== undefined) return seen
  }
  throw new Error(`${what} did not come within ${patienceMs / 1000} s`)
}
