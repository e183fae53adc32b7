/** Which test files execute a line of a product file, the likeliest to notice a mistake in it first. */
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { importsOf, resolveImport } from '../closure.ts'
import type { ExecutedLines } from './executed-lines.ts'

/** A main that a test starts by its path rather than importing it. */
const STARTED = /'((?:appliance|hub|provisioning|scripts)\/[\w/.-]+)'/g

type Reach = { test: string; distance: number; breadth: number }
export type TestOrder = (file: string, line: number) => string[]

/**
 * @param root folder of the tree
 * @param tests paths of test files from `root`
 * @param executed a test that is not in it, such as one of the slow suites, is taken to execute every file that it reaches
 * @returns for a line: the tests that execute it. Tests of the same name come first, then the nearest by imports, then those
 *   that reach the least else.
 */
export function orderTests(root: string, tests: readonly string[], executed: ExecutedLines): TestOrder {
  const edges = new Map<string, string[]>()
  const nextOf = (file: string): string[] => {
    let next = edges.get(file)
    if (!next) edges.set(file, (next = readEdges(root, file)))
    return next
  }
  const reached = new Map<string, Reach[]>()
  for (const test of tests) {
    const distances = distancesFrom(test, nextOf)
    for (const [file, distance] of distances) {
      const reach = { test, distance, breadth: distances.size }
      reached.set(file, [...(reached.get(file) ?? []), reach])
    }
  }
  const measured = new Set(Object.values(executed).flatMap(lines => Object.values(lines).flat()))
  return (file, line) => {
    const executing = new Set(executed[file]?.[line])
    const isNamesake = (test: string) => Number(basename(test, '.test.ts') === basename(file, '.ts'))
    const order = (a: Reach, b: Reach) =>
      isNamesake(b.test) - isNamesake(a.test) || a.distance - b.distance || a.breadth - b.breadth
    const near = (reached.get(file) ?? []).filter(({ test }) => executing.has(test) || !measured.has(test)).toSorted(order)
    const far = [...executing].filter(test => !near.some(reach => reach.test === test))
    return [...near.map(({ test }) => test), ...far]
  }
}

function distancesFrom(test: string, nextOf: (file: string) => string[]): Map<string, number> {
  const distances = new Map([[test, 0]])
  // A map is walked in order of insertion and takes in what is added meanwhile: breadth first.
  for (const [file, distance] of distances)
    for (const next of nextOf(file)) if (!distances.has(next)) distances.set(next, distance + 1)
  return distances
}

function readEdges(root: string, file: string): string[] {
  const path = join(root, file)
  if (!existsSync(path)) return []
  const text = readFileSync(path, 'utf8')
  const imported = importsOf(text).flatMap(specifier => resolveImport(file, specifier) ?? [])
  const started = [...text.matchAll(STARTED)].map(([, name]) => withEnding(root, name!))
  return [...imported, ...started].filter(name => name.endsWith('.ts'))
}

/** A script is started by the file of the same name without an ending. */
const withEnding = (root: string, name: string): string =>
  !name.endsWith('.ts') && existsSync(join(root, `${name}.ts`)) ? `${name}.ts` : name
