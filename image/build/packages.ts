/** Debian's packages of an image: fetched for the target, unpacked, nothing of them run. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { emptyFolder, run } from './host-commands.ts'
import type { ImageTarget } from './target.ts'

export type PackageList = {
  suite: string
  packages: string[]
  /** Files of packages that are otherwise not there. */
  files: Readonly<{ [name: string]: string[] }>
  /** Glob patterns of the root, braces allowed. */
  remove: string[]
  /** The same, below the kernel's modules. */
  removeModules: string[]
}
/** A package as its file name has it. */
export type DebianPackage = { name: string; version: string; arch: string }

export const readPackageList = (): PackageList => parse(readFileSync('image/packages.yaml', 'utf8')) as PackageList

/**
 * Unpacks packages and what they depend on, from the mirror that mmdebstrap chooses.
 *
 * @param into folder that becomes their root
 * @returns the packages, sorted by name
 */
export function unpackDebian(
  into: string,
  names: readonly string[],
  { suite, target }: { suite: string; target: ImageTarget },
): DebianPackage[] {
  emptyFolder(into)
  const list = `${into}.packages`
  run('mmdebstrap', [
    '--quiet',
    `--architectures=${target.arch}`,
    '--variant=extract',
    '--format=directory',
    `--include=${names.join(',')}`,
    `--extract-hook=ls "$1"/var/cache/apt/archives/*.deb > ${list}`,
    suite,
    into,
  ])
  return readFileSync(list, 'utf8')
    .trim()
    .split('\n')
    .map(path => {
      const [name = '', version = '', arch = ''] = path.slice(path.lastIndexOf('/') + 1, -'.deb'.length).split('_')
      return { name, version: decodeURIComponent(version), arch }
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** @returns the paths of a folder that a pattern with braces means */
export function removePatterns(root: string, patterns: readonly string[]): void {
  for (const pattern of patterns) run('bash', ['-c', `cd "$1" && rm -rf -- ${pattern}`, 'bash', join(root)])
}
