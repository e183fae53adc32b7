/** Debian's packages for the target: resolved into a lock, fetched by it, unpacked. Nothing of them is run. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { emptyFolder, run } from './host-commands.ts'
import { type DebianPackage, SETS, type SetName } from './package-lock.ts'
import type { Architecture } from './target.ts'

/** Packages that were fetched. Whoever keeps it can build the same image when Debian has other versions. */
const STORE = '.cache/packages'

/** Runs a script with an apt that knows the suite for the target and believes its signatures. */
function withApt(script: string, args: readonly string[], { suite, arch }: { suite: string; arch: Architecture }): void {
  const folder = mkdtempSync(join(tmpdir(), 'plenum-apt-'))
  try {
    const file = join(folder, 'hook')
    writeFileSync(file, `#!/bin/sh\nset -eu\nexport APT_CONFIG="$MMDEBSTRAP_APT_CONFIG"\n${script}\n`, { mode: 0o755 })
    const hook = [file, ...args].map(word => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
    const to = ['--variant=extract', '--format=null', `--extract-hook=${hook}`]
    run('mmdebstrap', ['--quiet', `--architectures=${arch}`, ...to, suite, '-'])
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Prints what apt would install on an empty system: address, file name, size and hash of each package. */
const RESOLVE = `out=$1 set=$2
shift 2
apt-get install --print-uris -qq -y --no-install-recommends -o Acquire::ForceHash=SHA256 "$@" > "$out/$set"`
const URI_LINE = /^'.*' (?<name>[^_\s]+)_(?<version>[^_\s]+)_(?<arch>[^_\s]+)\.deb \d+ SHA256:(?<sha256>[\da-f]{64})$/

/** @returns the packages of each set and all that they need, as Debian has them now */
export function resolvePackages(
  asked: Record<SetName, string[]>,
  target: { suite: string; arch: Architecture },
): Record<SetName, DebianPackage[]> {
  const folder = mkdtempSync(join(tmpdir(), 'plenum-resolved-'))
  try {
    const script = SETS.map(set => `(set -- "$1" ${set} ${asked[set].join(' ')}\n${RESOLVE})`).join('\n')
    withApt(script, [folder], target)
    return Object.fromEntries(SETS.map(set => [set, readUris(readFileSync(join(folder, set), 'utf8'))])) as ReturnType<
      typeof resolvePackages
    >
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** @param text output of `apt-get --print-uris`. @throws Error with a line that is not understood */
export function readUris(text: string): DebianPackage[] {
  const lines = text.trim().split('\n')
  return lines.map(line => {
    const { name, version, arch, sha256 } = URI_LINE.exec(line)?.groups ?? {}
    if (name === undefined || version === undefined || arch === undefined || sha256 === undefined)
      throw new Error(`apt-get names no package, version and SHA-256: ${line}`)
    return { name, version: decodeURIComponent(version), arch, sha256 }
  })
}

const fileOf = ({ name, version, arch }: DebianPackage): string =>
  join(STORE, `${name}_${version.replace(':', '%3a')}_${arch}.deb`)
const isThere = (one: DebianPackage): boolean =>
  existsSync(fileOf(one)) &&
  createHash('sha256')
    .update(readFileSync(fileOf(one)))
    .digest('hex') === one.sha256

/** Fetches all at once; where that fails each alone, so that one that is gone does not hide the others. */
const FETCH = `cd "$1"
shift
get() { apt-get download -qq -o APT::Sandbox::User=root "$@"; }
get "$@" 2> /dev/null || for one in "$@"; do get "$one" 2> /dev/null || true; done`

/** @throws Error that names every package which the archive does not have in the locked version */
export function fetchPackages(packages: readonly DebianPackage[], target: { suite: string; arch: Architecture }): void {
  mkdirSync(STORE, { recursive: true })
  const missing = packages.filter(one => !isThere(one))
  if (missing.length === 0) return
  for (const one of missing) rmSync(fileOf(one), { force: true })
  const wanted = missing.map(({ name, version }) => `${name}=${version}`)
  withApt(FETCH, [resolve(STORE), ...wanted], target)
  const gone = missing.filter(one => !isThere(one)).map(({ name, version, arch }) => `${name} ${version} ${arch}`)
  if (gone.length > 0)
    throw new Error(
      `Debian ${target.suite} has ${gone.length} of ${packages.length} packages no more as they are locked: ${gone.join(', ')}. ` +
        `Put their files into ${STORE}, or take what Debian has now with scripts/image lock`,
    )
}

/** The first packages bring the folders and links that the others are unpacked into. */
const FIRST = ['base-files', 'base-passwd']

/** Unpacks packages that were fetched into an empty folder. */
export function unpackPackages(into: string, packages: readonly DebianPackage[]): void {
  emptyFolder(into)
  const order = [...packages.filter(({ name }) => FIRST.includes(name)), ...packages.filter(({ name }) => !FIRST.includes(name))]
  const unpack = 'dpkg-deb --fsys-tarfile "$2" | tar -C "$1" --keep-directory-symlink --numeric-owner -xpf -'
  for (const one of order) run('bash', ['-o', 'pipefail', '-c', unpack, 'bash', into, fileOf(one)])
}

/** Removes the paths of a folder that patterns with braces mean. */
export function removePatterns(root: string, patterns: readonly string[]): void {
  for (const pattern of patterns) run('bash', ['-c', `cd "$1" && rm -rf -- ${pattern}`, 'bash', join(root)])
}
