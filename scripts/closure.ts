/** Which files and packages a main reaches: what its image holds, and nothing else. `scripts/closure.ts MAIN` prints both. */
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** A module started as a process or worker. */
const STARTED = /new URL\('(\.[^']+\.ts)', import\.meta\.url\)/g
/** A value import or re-export; a side-effect import; a dynamic import; a module that is started. */
const IMPORTS = [
  /^(?:import|export)\s+(?!type\b)[\w$*{}\s,]+?\sfrom\s+'([^']+)'/gm,
  /^import\s+'([^']+)'/gm,
  /\bimport\(\s*'([^']+)'/g,
  STARTED,
]
const PACKAGE = /^(@[^/]+\/[^/]+|[^/]+)/

/**
 * Follows the value imports of a main, dynamic imports and the modules that it starts as processes included.
 *
 * @param main path from the root of the repository
 * @returns the lists sorted; Node's own modules keep their `node:` name; `programs` are the main and the modules that are started
 */
export function closure(main: string): { files: string[]; packages: string[]; programs: string[] } {
  const files = new Set<string>()
  const packages = new Set<string>()
  const programs = new Set([main])
  const todo = [main]
  for (let file = todo.pop(); file !== undefined; file = todo.pop()) {
    if (files.has(file)) continue
    files.add(file)
    const source = readFileSync(file, 'utf8')
    for (const [, specifier] of source.matchAll(STARTED)) programs.add(resolveImport(file, specifier!)!)
    for (const specifier of importsOf(source)) {
      const path = resolveImport(file, specifier)
      if (path !== undefined) todo.push(path)
      else packages.add(PACKAGE.exec(specifier)![1]!)
    }
  }
  return { files: [...files].toSorted(), packages: [...packages].toSorted(), programs: [...programs].toSorted() }
}

/** @returns the specifiers of a module's value imports */
export function importsOf(source: string): string[] {
  return IMPORTS.flatMap(pattern => [...source.matchAll(pattern)].map(([, specifier]) => specifier!))
}

/** @returns the path from the root that a specifier means, or undefined when it names a package */
export function resolveImport(file: string, specifier: string): string | undefined {
  if (specifier.startsWith('#')) return specifier.slice(1)
  return specifier.startsWith('.') ? normalize(join(dirname(file), specifier)) : undefined
}

if (import.meta.main) {
  const [main] = process.argv.slice(2)
  if (main === undefined) {
    process.stderr.write('usage: node scripts/closure.ts appliance/main.ts\n')
    process.exit(2)
  }
  const { files, packages } = closure(main)
  process.stdout.write(`${[...files, ...packages].join('\n')}\n`)
}
