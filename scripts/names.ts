/** Lists names with several meanings, exports that nobody imports, and imports in a circle. `scripts/names` prints them. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { isTest, type Module, parseModule } from './lib/modules.ts'

/**
 * The accepted exceptions, each with its reason in one line. `siblings` are folders whose subfolders hold the same part for
 * different protocols or purposes: a name may occur once in each. A file name may occur once in each of `layers`.
 */
export type AcceptedNames = Record<'siblings' | 'layers' | 'names' | 'files' | 'exports', Record<string, string>>

/** @returns one line for each violation, and one for each exception that is no longer needed; empty when all is well */
export function checkNames(modules: readonly Module[], accepted: AcceptedNames): string[] {
  const product = modules.filter(({ file }) => !isTest(file))
  const exported = product.flatMap(({ file, exports }) => exports.map(name => [name, file] as const))
  const fileNames = product.map(({ file }) => [file.split('/').at(-1)!, file] as const)
  const siblings = Object.keys(accepted.siblings)
  const layers = Object.keys(accepted.layers)
  return [
    ...differences(
      'exported more than once',
      repeated(exported, siblings, () => ''),
      accepted.names,
    ),
    ...differences(
      'file name used more than once',
      repeated(fileNames, siblings, file => layerOf(file, layers)),
      accepted.files,
    ),
    ...differences('exported for nobody', unusedExports(modules), accepted.exports),
    ...importCycles(modules).map(cycle => `imports in a circle: ${cycle.join(' -> ')}`),
  ]
}

/** @returns what is found and not accepted, and what is accepted and not found */
function differences(what: string, found: Map<string, string[]>, accepted: Record<string, string>): string[] {
  const violations = [...found].filter(([name]) => !Object.hasOwn(accepted, name))
  return [
    ...violations.map(([name, places]) => `${what}: ${[name, ...places].join(' ')}`),
    ...Object.keys(accepted).flatMap(name => (found.has(name) ? [] : [`exception no longer needed: ${name}`])),
  ]
}

/**
 * @param placeOf the place of a file that is in no sibling folder
 * @returns the names that occur more than once in a place or a sibling folder, or in a place besides siblings, sorted
 */
function repeated(
  pairs: (readonly [name: string, file: string])[],
  siblings: string[],
  placeOf: (file: string) => string,
): Map<string, string[]> {
  const isRepeated = (files: string[]) => {
    const places = files.map(file => siblingOf(file, siblings) ?? placeOf(file))
    return new Set(places).size < places.length || (places.includes('') && places.length > 1)
  }
  const found = [...Map.groupBy(pairs, ([name]) => name)].map(([name, all]) => [name, all.map(([, file]) => file)] as const)
  return new Map(found.filter(([, files]) => isRepeated(files)).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** @returns the subfolder of a folder of siblings that contains the file, undefined for other files */
function siblingOf(file: string, siblings: string[]): string | undefined {
  const folder = siblings.find(each => file.startsWith(`${each}/`))
  const [name, ...below] = folder === undefined ? [] : file.slice(folder.length + 1).split('/')
  return below.length > 0 ? `${folder}/${name}` : undefined
}

/** @returns the deepest layer of a file; files outside all of them share one */
function layerOf(file: string, layers: string[]): string {
  const around = layers.filter(layer => file.startsWith(`${layer}/`))
  return around.toSorted((a, b) => b.length - a.length)[0] ?? ''
}

/**
 * Exports without an importer. A test alone is an importer only where the file itself uses the name as well: the test then
 * reaches live code.
 */
function unusedExports(modules: readonly Module[]): Map<string, string[]> {
  const [byProduct, byTests] = [new Set<string>(), new Set<string>()]
  for (const { file, imports } of modules) {
    const used = isTest(file) ? byTests : byProduct
    for (const { target, names } of imports) {
      if (names === 'all') used.add(target)
      else for (const name of names) used.add(`${target}: ${name}`)
    }
  }
  const unused = modules.flatMap(({ file, exports, usedInside }) => {
    const isUsed = (name: string) => {
      const key = `${file}: ${name}`
      if (byProduct.has(file) || byProduct.has(key)) return true
      return (isTest(file) || usedInside.has(name)) && (byTests.has(file) || byTests.has(key))
    }
    return exports.filter(name => !isUsed(name)).map(name => [`${file}: ${name}`, []] as [string, string[]])
  })
  return new Map(unused)
}

/** @returns the cycles of imports, those of types included; each begins and ends with the same file */
function importCycles(modules: readonly Module[]): string[][] {
  const targets = new Map(modules.map(({ file, imports }) => [file, imports.map(({ target }) => target)]))
  const done = new Set<string>()
  const cycles: string[][] = []
  const visit = (file: string, path: string[]): void => {
    if (path.includes(file)) return void cycles.push([...path.slice(path.indexOf(file)), file])
    if (done.has(file)) return
    done.add(file)
    for (const target of targets.get(file) ?? []) visit(target, [...path, file])
  }
  for (const file of targets.keys()) visit(file, [])
  return cycles
}

/** @returns the modules of the repository, those of the tests included */
export function readModules(): Module[] {
  const options = ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate', '--', '*.ts']
  const files = execFileSync('git', options, { encoding: 'utf8' }).split('\n').filter(Boolean)
  return files.map(file => parseModule(file, readFileSync(file, 'utf8')))
}

export const readAccepted = (): AcceptedNames => parse(readFileSync('scripts/names.yaml', 'utf8'))

if (import.meta.main) {
  const found = checkNames(readModules(), readAccepted())
  process.stdout.write(found.map(line => `${line}\n`).join(''))
  process.exitCode = found.length > 0 ? 1 : 0
}
