/** The product itself: its programs, the files and packages that they read while they run, Node, and nothing else. */
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { closure } from '#scripts/closure.ts'
import { bundleCode, UNBUNDLED } from './bundle-code.ts'
import { emptyFolder, run, systemPath } from './host-commands.ts'
import type { ImageTarget } from './target.ts'

/** Files that are in every application. */
const ALWAYS = ['package.json', 'LICENSE']
/** Files that code reads and does not import, by the file that reads them. */
const READ_BY: Readonly<{ [file: string]: string }> = {
  'shared/node/sqlite.ts': 'shared/node/migrations/*',
  'shared/central/central.ts': 'rules/*.yaml',
  'shared/central/pages/assets.ts': 'shared/static/*',
}
/** It sends files of these packages to the browser. */
const ASSETS = 'shared/central/pages/assets.ts'
const SERVED = ['htmx.org', 'uplot']
/** It reads the index of documents, which is made for the image. */
const INDEX_READER = 'shared/node/documents/index-file.ts'
/** What packages bring for people and other platforms. */
const NEEDLESS_FILE = /\.(?:d\.[mc]?ts|map|md|markdown|flow|tsbuildinfo)$/i
const NEEDLESS_FOLDER = new Set([
  'test',
  'tests',
  '__tests__',
  'docs',
  'doc',
  'example',
  'examples',
  'benchmark',
  'benchmarks',
  '.github',
  'coverage',
])
/** Sources of native parts that are there built. */
const NEEDLESS_PATHS = [
  'node_modules/better-sqlite3/deps',
  'node_modules/better-sqlite3/src',
  'node_modules/@serialport/bindings-cpp/src',
]
export const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)/i

/** One entry of `packages` of the lock file. */
type Locked = {
  version: string
  license?: string
  integrity?: string
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  /** One name or several. */
  os?: string | string[]
  cpu?: string | string[]
  libc?: string | string[]
}
export type NodePackage = { name: string; version: string; license: string; integrity: string; path: string }
/** `folder`: where the whole package is. Most are in the bundles, and not there as files. */
export type BuiltPackage = NodePackage & { folder: string }

type ApplicationOptions = {
  target: ImageTarget
  version: string
  /** Where the index of documents is made, once for several components. */
  index?: string
}

/**
 * Builds the folder that becomes `/opt/plenum`.
 *
 * @param mains for example `appliance/main.ts`
 * @returns the packages in it
 */
export async function buildApplication(
  into: string,
  mains: readonly string[],
  { target, version, index = `${into}.documents.db` }: ApplicationOptions,
): Promise<BuiltPackage[]> {
  emptyFolder(into)
  const reached = mains.map(main => closure(main))
  const files = new Set(reached.flatMap(one => one.files))
  const patterns = Object.entries(READ_BY).flatMap(([file, pattern]) => (files.has(file) ? [pattern] : []))
  const data = run('git', ['ls-files', ...ALWAYS, ...patterns])
    .trim()
    .split('\n')
  await bundleCode(into, [...new Set(reached.flatMap(one => one.programs))])
  for (const file of data) copy(file, join(into, file))
  if (files.has(INDEX_READER)) copy(madeIndex(index), join(into, 'documents.db'))
  writeFileSync(join(into, 'VERSION'), `${version}\n`)
  const served = files.has(ASSETS) ? SERVED : []
  const names = new Set([...reached.flatMap(({ packages }) => packages), ...served].filter(name => !name.startsWith('node:')))
  const runtime = `node-linux-${target.node}`
  const packages = neededPackages([...names, runtime], target)
  const asFiles = neededPackages([...UNBUNDLED.filter(name => names.has(name)), ...served], target).map(({ path }) => path)
  const built = packages.map(one => ({
    ...one,
    folder: existsSync(one.path) ? one.path : foreignPackage(one, `${into}.packages`),
  }))
  for (const { folder: from, ...one } of built) {
    if (one.name === runtime) copy(join(from, 'bin/node'), join(into, 'bin/node'))
    else if (asFiles.includes(one.path)) copyPackage(from, join(into, one.path), target)
  }
  for (const path of NEEDLESS_PATHS) rmSync(join(into, path), { recursive: true, force: true })
  return built
}

/** @returns the path of the index of documents, which is made where it is missing */
function madeIndex(path: string): string {
  if (!existsSync(path)) run(process.execPath, ['scripts/index-documents.ts', resolve(path)])
  return path
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  copyFileSync(from, to)
}

/**
 * Packages for another processor are not installed here: they are fetched, and their hash is the lock file's.
 *
 * @param store folder in which they are kept for the next build
 * @returns the folder of the package
 */
function foreignPackage({ name, version, integrity }: NodePackage, store: string): string {
  const folder = join(store, `${name.replace('/', '-')}-${version}`)
  if (existsSync(folder)) return join(folder, 'package')
  mkdirSync(store, { recursive: true })
  const [archive] = run('npm', ['pack', `${name}@${version}`, '--silent', `--pack-destination=${store}`], {
    env: { PATH: systemPath() },
  })
    .trim()
    .split('\n')
  const bytes = readFileSync(join(store, archive!))
  const found = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
  if (found !== integrity) throw new Error(`${name}@${version} is ${found}, package-lock.json says ${integrity}`)
  const unpacked = emptyFolder(`${folder}.part`)
  run('tar', ['-xzf', join(store, archive!), '-C', unpacked])
  renameSync(unpacked, folder)
  return join(folder, 'package')
}

/** @returns those packages and everything that they depend on, as the lock file places them */
function neededPackages(names: readonly string[], { node }: ImageTarget): NodePackage[] {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Locked> }
  const needed = new Map<string, NodePackage>()
  const todo = names.map(name => placeOf(packages, '', name))
  // The list grows while it is walked.
  for (const path of todo) {
    if (path === undefined || needed.has(path)) continue
    const { version, license = 'unknown', integrity = '', dependencies, optionalDependencies, os, cpu, libc } = packages[path]!
    if (!isFor(os, 'linux') || !isFor(cpu, node) || !isFor(libc, 'glibc')) continue
    needed.set(path, {
      name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version,
      license,
      integrity,
      path,
    })
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) todo.push(placeOf(packages, path, name))
  }
  return [...needed.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

const isFor = (wanted: string | string[] | undefined, own: string): boolean =>
  wanted === undefined || [wanted].flat().includes(own)

/** @returns the place that Node finds a package at, from the folder of another; undefined where an optional one is not locked */
function placeOf(packages: Record<string, Locked>, from: string, name: string): string | undefined {
  for (let base = from; ; base = base.slice(0, Math.max(0, base.lastIndexOf('/node_modules/')))) {
    const path = base === '' ? `node_modules/${name}` : `${base}/node_modules/${name}`
    if (packages[path] !== undefined) return path
    if (base === '') return undefined
  }
}

function copyPackage(from: string, to: string, target: ImageTarget): void {
  cpSync(from, to, {
    recursive: true,
    filter: path => {
      const name = path.slice(path.lastIndexOf('/') + 1)
      if (path === from || LICENCE_FILE.test(name)) return true
      return name !== 'node_modules' && !NEEDLESS_FILE.test(name)
    },
  })
  for (const name of readdirSync(to)) if (NEEDLESS_FOLDER.has(name)) rmSync(join(to, name), { recursive: true, force: true })
  keepPrebuilt(join(to, 'prebuilds'), target)
}

/** Native parts come for every platform; the target needs its own, for glibc. */
function keepPrebuilt(folder: string, { node }: ImageTarget): void {
  if (!existsSync(folder)) return
  const own = new RegExp(`^linux-${node}(?:\\.node)?$`)
  for (const name of readdirSync(folder)) if (!own.test(name)) rmSync(join(folder, name), { recursive: true, force: true })
  for (const name of readdirSync(folder)) {
    const inner = join(folder, name)
    if (!name.endsWith('.node')) for (const file of readdirSync(inner)) if (file.includes('musl')) rmSync(join(inner, file))
  }
}
