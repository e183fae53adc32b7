/** What is known about a recipe's folder: what runs in it, and which version wrote its data. */
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { errorText } from '#shared/core/error-text.ts'
import { lockFolder } from '#shared/node/folder-lock.ts'
import { UpError } from './exit.ts'

type RunningPart = { component: string; pid: number; url: string; probe: string }
export type RunningRecipe = { recipe: string; version: string; pid: number; started_at: string; parts: RunningPart[] }

/** Written by the process that watches the parts. */
export const RUNNING = 'running.json'
/** The version that ran last. */
export const VERSION = 'version'

/** The lock of the folder ends with the process that holds it, so a file that a crash left behind misleads nobody. */
export function lockData(data: string): () => void {
  mkdirSync(data, { recursive: true, mode: 0o700 })
  return lockFolder('the folder', data)
}

/** @returns undefined when nothing runs in the folder. @throws UpError where that cannot be found out, as in one of another user */
export function findRunning(data: string): RunningRecipe | undefined {
  try {
    if (!statSync(join(data, RUNNING), { throwIfNoEntry: false })) return undefined
  } catch (error) {
    throw new UpError('configuration', `The folder ${data} cannot be used: ${errorText(error)}`)
  }
  try {
    lockData(data)()
    return undefined
  } catch {
    return JSON.parse(readFileSync(join(data, RUNNING), 'utf8')) as RunningRecipe
  }
}

/** @throws UpError when the data of the folder is of a later version; migrations go one way only */
export function refuseDowngrade(data: string, version: string): void {
  const path = join(data, VERSION)
  const wrote = existsSync(path) ? readFileSync(path, 'utf8').trim() : version
  if (orderOf(wrote) <= orderOf(version)) return
  const way = `start ${wrote} or later, or restore a backup that ${version} made into another folder`
  throw new UpError(
    'refused',
    `The data in ${data} was written by ${wrote}, and this is ${version}: a downgrade is refused; ${way}`,
  )
}

/** Largest part of a version. */
const PART = 100_000

/** @param version `1.2.3+0123456789ab`; builds of one version are equal */
function orderOf(version: string): number {
  const [major = 0, minor = 0, patch = 0] = version.split('+')[0]!.split('.').map(Number)
  return (major * PART + minor) * PART + patch
}
