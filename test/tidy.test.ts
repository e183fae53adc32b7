import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import test from 'ava'
import { importsOf, resolveImport } from '../scripts/closure.ts'

/** Storeys of the house, lowest first. A file imports from its own storey or from a lower one. */
const STOREYS = ['shared/core/', 'shared/flow/', 'shared/node/', 'shared/central/', 'house', 'main'] as const
const HOUSES = ['appliance', 'hub', 'provisioning']
/** Pure packages and modules that the core may use: no I/O, no clock. */
const CORE_MAY_IMPORT = new Set(['node:assert/strict', 'node:crypto', 'node:zlib', 'yaml', '@sinclair/typebox'])
const IO = /^node:(fs|net|tls|dgram|http|https|child_process|worker_threads|timers|os)/
const LINES_MAX = 400
const COMMENT = /\/\*[\s\S]*?\*\/|\/\/.*$/gm

const tracked = (...globs: string[]) =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...globs], { encoding: 'utf8' })
    .split('\n')
    .filter(Boolean)
const sources = tracked('shared/*.ts', 'appliance/*.ts', 'hub/*.ts', 'provisioning/*.ts')
const houseOf = (file: string) => file.split('/')[0]!
const isMain = (file: string) => file.endsWith('/main.ts')

function storey(file: string): number {
  if (isMain(file)) return STOREYS.indexOf('main')
  const shared = STOREYS.findIndex(prefix => file.startsWith(prefix))
  return shared >= 0 ? shared : STOREYS.indexOf('house')
}

/** @returns what is wrong with the imports of a file, in words */
function crookedImports(file: string, text: string): string[] {
  return importsOf(text).flatMap(specifier => {
    const target = resolveImport(file, specifier)
    if (target === undefined) {
      if (storey(file) === 0 && !CORE_MAY_IMPORT.has(specifier)) return [`the core imports ${specifier}`]
      return storey(file) === 1 && IO.test(specifier) ? [`a flow imports ${specifier}`] : []
    }
    if (storey(target) > storey(file) || isMain(target)) return [`${specifier} is upstairs`]
    const neighbour = HOUSES.includes(houseOf(target)) && houseOf(target) !== houseOf(file)
    return neighbour ? [`${specifier} is in the neighbour's house`] : []
  })
}

const FORBIDDEN: { what: string; pattern: RegExp; where: (file: string) => boolean }[] = [
  { what: 'console', pattern: /\bconsole\./, where: () => true },
  { what: 'process.env outside a main', pattern: /\bprocess\.env\b/, where: file => !isMain(file) },
  {
    what: 'the core waits, looks at a clock or rolls dice',
    pattern: /\basync\b|\bawait\b|Date\.now\(|new Date\(\)|Math\.random|performance\.now/,
    where: file => storey(file) === 0,
  },
  { what: 'code made from text', pattern: /\beval\(|new Function\(/, where: () => true },
  {
    what: 'a service that writes to equipment',
    pattern: /encodeWrite|writePropert|write(?:Single|Multiple)?(?:Coil|Register)|\b(?:pointWrite|hisWrite|invokeAction)\b/i,
    where: () => true,
  },
  { what: 'a word for unfinished work', pattern: /\b(?:TODO|FIXME|XXX)\b/, where: () => true },
]

/** @returns what is untidy in a file, in words; empty when it is tidy */
function untidy(file: string): string[] {
  const text = readFileSync(file, 'utf8')
  const code = text.replace(COMMENT, '')
  const found = crookedImports(file, text)
  const lines = text.split('\n').length - 1
  if (lines > LINES_MAX) found.push(`${lines} lines; more than ${LINES_MAX} are hard to hold in one head`)
  for (const { what, pattern, where } of FORBIDDEN) if (where(file) && pattern.test(code)) found.push(what)
  return found
}

/** @returns the files of one import cycle, or undefined when there is none */
function cycleFrom(file: string, path: string[], done: Set<string>): string[] | undefined {
  if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
  if (done.has(file)) return undefined
  done.add(file)
  for (const specifier of importsOf(readFileSync(file, 'utf8'))) {
    const target = resolveImport(file, specifier)
    const cycle = target?.endsWith('.ts') ? cycleFrom(target, [...path, file], done) : undefined
    if (cycle) return cycle
  }
  return undefined
}

for (const file of sources) test(`${file} is tidy`, t => t.deepEqual(untidy(file), []))

test('no file imports itself round a corner', t => {
  const done = new Set<string>()
  for (const file of sources) t.deepEqual(cycleFrom(file, [], done), undefined)
})

test('the lock file names no host, and every version in package.json is exact', t => {
  t.notRegex(readFileSync('package-lock.json', 'utf8'), /"resolved": "https?:/)
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  for (const version of Object.values({ ...dependencies, ...devDependencies, ...optionalDependencies })) {
    t.regex(version as string, /^\d+\.\d+\.\d+/)
  }
})
