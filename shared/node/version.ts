import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = new URL('../../', import.meta.url)

/**
 * `<major>.<minor>.<patch>+<12 hex characters of the revision>`.
 *
 * An image carries the whole string in the file `VERSION`; a checkout asks git.
 *
 * @throws Error when there is neither
 */
export function readVersion(): string {
  try {
    return readFileSync(new URL('VERSION', ROOT), 'utf8').trim()
  } catch {
    const { version } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as { version: string }
    return `${version}+${readRevision()}`
  }
}

/** The checkout may belong to another user, such as root: git else refuses it, and this question runs nothing of it. */
function readRevision(): string {
  const argv = ['-c', 'safe.directory=*', 'rev-parse', '--short=12', 'HEAD']
  try {
    return execFileSync('git', argv, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
      .trim()
      .slice(0, 12)
  } catch (error) {
    const folder = fileURLToPath(ROOT)
    const way = 'write it there, as scripts/version.ts prints it in a checkout'
    throw new Error(`the version is not known: ${folder} has no file VERSION and is no checkout of git: ${way}`, { cause: error })
  }
}

/**
 * When the running version was made, ms since 1970 UTC: a build gives the time of its source to all files, and a checkout has that of
 * its last change. Undefined where there is no such file.
 */
export function versionMadeAt(): number | undefined {
  const file = statSync(new URL('package.json', ROOT), { throwIfNoEntry: false })
  return file && Math.floor(file.mtimeMs)
}

/**
 * The time at which the newest shared source file was written. Caches are valid only for the code that wrote them, and in a
 * checkout with local changes the revision does not identify the code.
 */
export function newestSource(): string {
  const shared = fileURLToPath(new URL('shared/', ROOT))
  const times = readdirSync(shared, { recursive: true, encoding: 'utf8' }).map(
    name => statSync(join(shared, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
  )
  return new Date(Math.max(...times)).toISOString()
}
