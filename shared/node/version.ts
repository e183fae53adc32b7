import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

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
    const revision = execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim()
    return `${version}+${revision.slice(0, 12)}`
  }
}
