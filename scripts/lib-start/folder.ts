import { randomInt } from 'node:crypto'
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { errorText } from '#shared/core/error-text.ts'
import { replaceFile } from '#shared/node/files.ts'
import { Refusal } from './refusal.ts'

/** Files of a site that stay from one start to the next. */
export type Kept = {
  passwords: { admin: string; agent: string; viewer: string }
  hubSecret: string
  applianceSecret: string
}

export type Folder = {
  path: string
  /** False when an earlier start made it. */
  fresh: boolean
  kept: Kept
  /** Time of the simulated clock when the site last stopped; undefined at first. */
  clockMs: number | undefined
  saveClock(ms: number): Promise<void>
  /** Gives the folder free again; a temporary one is removed. */
  close(): Promise<void>
}

const SECRETS = 'secrets.json'
const CLOCK = 'clock.json'
const LOCK = 'running.pid'

/**
 * Opens the folder of a site, for this process alone.
 *
 * @param path undefined: a new temporary folder
 * @throws Refusal when it cannot be written or another start runs in it
 */
export async function openFolder(path: string | undefined): Promise<Folder> {
  const temporary = path === undefined
  const dir = temporary ? await mkdtemp(join(tmpdir(), 'plenum-')) : resolve(path)
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 })
    await lock(dir)
    const known = await readJson<Kept>(join(dir, SECRETS))
    const kept = known ?? newSecrets()
    if (!known) await writeFile(join(dir, SECRETS), `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 })
    return {
      path: dir,
      fresh: known === undefined,
      kept,
      clockMs: (await readJson<{ ms: number }>(join(dir, CLOCK)))?.ms,
      saveClock: ms => replaceFile(join(dir, CLOCK), JSON.stringify({ ms })),
      close: () => (temporary ? rm(dir, { recursive: true, force: true }) : rm(join(dir, LOCK), { force: true })),
    }
  } catch (error) {
    if (temporary) await rm(dir, { recursive: true, force: true })
    if (error instanceof Refusal) throw error
    throw new Refusal(`The data folder ${dir} cannot be written: ${errorText(error)}`)
  }
}

/** @throws Refusal while the process that the lock names is running */
async function lock(dir: string): Promise<void> {
  const path = join(dir, LOCK)
  const holder = Number(await readFile(path, 'utf8').catch(() => ''))
  if (holder && holder !== process.pid && isAlive(holder)) {
    throw new Refusal(`Another start (process ${holder}) runs in ${dir}; choose another folder with --data`)
  }
  await rm(path, { force: true })
  const file = await open(path, 'wx', 0o600)
  await file.writeFile(String(process.pid))
  await file.close()
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function readJson<T>(path: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Letters and digits that are not mistaken for one another. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789'
const word = (length: number): string => Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
/** 80 bits, easy to copy by hand. */
const password = (): string => Array.from({ length: 4 }, () => word(4)).join('-')

const newSecrets = (): Kept => ({
  passwords: { admin: password(), agent: password(), viewer: password() },
  hubSecret: word(48),
  applianceSecret: word(48),
})
