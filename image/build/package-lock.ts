/** The lock file of Debian's packages: which versions an image is built from, so that two builds of one commit are the same. */
import { readFileSync, writeFileSync } from 'node:fs'
import { parse, stringify } from 'yaml'
import { type PackageList, readPackageList } from './package-list.ts'
import { ARCHITECTURES, type Architecture, TARGETS } from './target.ts'

const LOCK = 'image/packages.lock.yaml'
const HEAD = `# Debian's packages of the images: version, architecture and SHA-256 of each. Written by \`scripts/image lock\` from
# packages.yaml and what Debian has at that time; a build takes exactly these.
`

/** What is unpacked together: the root of a box, what its kernel and loader are taken from, and the libraries of containers. */
export const SETS = ['root', 'kernel', 'container'] as const
export type SetName = (typeof SETS)[number]
export type DebianPackage = { name: string; version: string; arch: string; sha256: string }
/** Packages that were asked for, and all that these need. */
type LockedSet = { asked: string[]; packages: string[] }
type ArchLock = { packages: Record<string, string>; sets: Record<SetName, LockedSet> }
export type Lock = Partial<Record<Architecture, ArchLock>>

/** What Node and the native parts are linked with: all that a container has of Debian. */
const CONTAINER_LIBRARIES = ['libatomic1', 'libc6', 'libgcc-s1', 'libstdc++6']

/** @returns names of the packages that each set is made for */
export function askedPackages(arch: Architecture, { packages, files }: PackageList): Record<SetName, string[]> {
  const { kernel, loaders } = TARGETS[arch]
  return { root: packages, kernel: [kernel, ...loaders, ...Object.keys(files)], container: CONTAINER_LIBRARIES }
}

/** @returns a lock of sets that were resolved at one time. @throws Error where two sets have a package in different versions */
export function lockOf(asked: Record<SetName, string[]>, resolved: Record<SetName, DebianPackage[]>): ArchLock {
  const packages: Record<string, string> = {}
  for (const { name, version, arch, sha256 } of SETS.flatMap(set => resolved[set]).toSorted(byName)) {
    const entry = `${version} ${arch} ${sha256}`
    if ((packages[name] ??= entry) !== entry) throw new Error(`${name} is both ${packages[name]} and ${entry}`)
  }
  const sets = SETS.map(set => [
    set,
    { asked: [...asked[set]], packages: resolved[set].toSorted(byName).map(({ name }) => name) },
  ])
  return { packages, sets: Object.fromEntries(sets) as ArchLock['sets'] }
}

const byName = (a: DebianPackage, b: DebianPackage): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)

const ENTRY = /^(?<version>\S+) (?<arch>[a-z0-9]+) (?<sha256>[\da-f]{64})$/

/**
 * @param asked as `askedPackages`
 * @returns the packages of a set, sorted by name
 * @throws Error that says what is wrong with the lock
 */
export function lockedSet(lock: Lock, arch: Architecture, set: SetName, asked: readonly string[]): DebianPackage[] {
  const ofArch = lock[arch]
  if (!ofArch) throw new Error(`${LOCK} has nothing for ${arch}; write it with scripts/image lock`)
  const { asked: locked, packages: names } = ofArch.sets[set]
  const differing = [...locked.filter(name => !asked.includes(name)), ...asked.filter(name => !locked.includes(name))]
  if (differing.length > 0)
    throw new Error(`${LOCK} was written for other packages (${differing.join(', ')}); write it anew with scripts/image lock`)
  return names.map(name => {
    const { version, arch: of, sha256 } = ENTRY.exec(ofArch.packages[name] ?? '')?.groups ?? {}
    if (version === undefined || of === undefined || sha256 === undefined)
      throw new Error(`${LOCK}: ${arch}: ${name} is no version, architecture and SHA-256: ${ofArch.packages[name]}`)
    return { name, version, arch: of, sha256 }
  })
}

export const readLock = (): Lock => parse(readFileSync(LOCK, 'utf8')) as Lock

/** @returns the packages of a set as this tree has them locked */
export const lockedHere = (arch: Architecture, set: SetName): DebianPackage[] =>
  lockedSet(readLock(), arch, set, askedPackages(arch, readPackageList())[set])

export function writeLock(lock: Lock): void {
  const inOrder = Object.fromEntries(ARCHITECTURES.flatMap(arch => (lock[arch] ? [[arch, lock[arch]]] : [])))
  writeFileSync(LOCK, HEAD + stringify(inOrder, { lineWidth: 0 }))
}

/** @returns a line for each package that was added, removed or has another version */
export function lockChanges(before: ArchLock | undefined, { packages }: ArchLock): string[] {
  const old = before?.packages ?? {}
  const versionIn = (entries: Record<string, string>, name: string) => entries[name]?.split(' ')[0] ?? 'none'
  return Object.keys({ ...old, ...packages })
    .toSorted()
    .filter(name => old[name] !== packages[name])
    .map(name => `${name}: ${versionIn(old, name)} → ${versionIn(packages, name)}`)
}
