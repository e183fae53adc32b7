import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import test from 'ava'
import { importsOf, resolveImport } from '#scripts/closure.ts'

/** Storeys, lowest first, by the folders that begin so. A file imports from its own storey or from a lower one. */
const STOREYS: RegExp[] = [
  /^(shared\/core|appliance\/core|appliance\/drivers\/\w+\/core)\//,
  /^(shared\/flow|appliance\/flow|appliance\/drivers\/\w+\/flow)\//,
  /^shared\/node\//,
  /^shared\/central\//,
  /^(appliance|hub|provisioning)\//,
]
const CORE = 0
const FLOW = 1
/** A main stands above its product. */
const MAIN = STOREYS.length
const PRODUCTS = ['appliance', 'hub', 'provisioning']
/** Pure packages and modules that the core may use: no I/O, no clock. */
const CORE_MAY_IMPORT = new Set([
  'node:assert/strict',
  'node:crypto',
  'node:zlib',
  'yaml',
  '@sinclair/typebox',
  '@sinclair/typebox/value',
])
const IO = /^node:(fs|net|tls|dgram|http|https|child_process|worker_threads|timers|os)/
const LINES_MAX = 400
/** More files than this in one folder are a list, not a place. */
const FOLDER_MAX = 25
const COMMENT = /\/\*[\s\S]*?\*\/|\/\/.*$/gm

const tracked = (...globs: string[]) =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...globs], { encoding: 'utf8' })
    .split('\n')
    .filter(Boolean)
const sources = tracked('shared/*.ts', 'appliance/*.ts', 'hub/*.ts', 'provisioning/*.ts')
const topFolder = (file: string) => file.split('/')[0]!
const isMain = (file: string) => file.endsWith('/main.ts')

function storey(file: string): number {
  return isMain(file) ? MAIN : STOREYS.findIndex(folder => folder.test(file))
}

/** @returns what is wrong with the imports of a file, in words */
function wrongImports(file: string, text: string): string[] {
  return importsOf(text).flatMap(specifier => {
    const target = resolveImport(file, specifier)
    if (target === undefined) {
      if (storey(file) === CORE && !CORE_MAY_IMPORT.has(specifier)) return [`the core imports ${specifier}`]
      return storey(file) === FLOW && IO.test(specifier) ? [`a flow imports ${specifier}`] : []
    }
    if (storey(target) > storey(file) || isMain(target)) return [`${specifier} is in a higher storey`]
    const other = PRODUCTS.includes(topFolder(target)) && topFolder(target) !== topFolder(file)
    return other ? [`${specifier} belongs to another product`] : []
  })
}

const FORBIDDEN: { what: string; pattern: RegExp; where: (file: string) => boolean }[] = [
  { what: 'console', pattern: /\bconsole\./, where: () => true },
  { what: 'process.env outside a main', pattern: /\bprocess\.env\b/, where: file => !isMain(file) },
  {
    what: 'the core waits, looks at a clock or rolls dice',
    pattern: /\basync\b|\bawait\b|Date\.now\(|new Date\(\)|Math\.random|performance\.now/,
    where: file => storey(file) === CORE,
  },
  { what: 'HTML in the core', pattern: /\bhtml`/, where: file => storey(file) <= FLOW },
  { what: 'code made from text', pattern: /\beval\(|new Function\(/, where: () => true },
  {
    what: 'a service that writes to equipment',
    pattern: /encodeWrite|writePropert|write(?:Single|Multiple)?(?:Coil|Register)|\b(?:pointWrite|hisWrite|invokeAction)\b/i,
    where: () => true,
  },
  {
    what: 'a table of names that finds `constructor`: nameTable makes one that does not',
    pattern: /^(?:export )?const \w+: (?:Readonly<)?Record<string,.*= \{/m,
    where: () => true,
  },
  { what: 'a word for unfinished work', pattern: /\b(?:TODO|FIXME|XXX)\b/, where: () => true },
]

/** @returns what is untidy in a file, in words; empty when it is tidy */
function untidy(file: string): string[] {
  const text = readFileSync(file, 'utf8')
  const code = text.replace(COMMENT, '')
  const found = wrongImports(file, text)
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

test('no file imports itself through others', t => {
  const done = new Set<string>()
  for (const file of sources) t.deepEqual(cycleFrom(file, [], done), undefined)
})

test('no folder of code or rules is wider than 25 files, and no script or product imports a test', t => {
  const code = tracked('*.ts')
  const widths = new Map<string, number>()
  for (const file of [...code, ...tracked('rules/*.yaml')]) widths.set(dirname(file), (widths.get(dirname(file)) ?? 0) + 1)
  t.deepEqual(
    [...widths].filter(([, width]) => width > FOLDER_MAX),
    [],
  )
  const outside = code.filter(file => !file.startsWith('test/'))
  t.deepEqual(
    outside.filter(file =>
      importsOf(readFileSync(file, 'utf8')).some(specifier => resolveImport(file, specifier)?.startsWith('test/')),
    ),
    [],
  )
})

test('the lock file names no host, and every version in package.json is exact', t => {
  t.notRegex(readFileSync('package-lock.json', 'utf8'), /"resolved": "https?:/)
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  for (const version of Object.values({ ...dependencies, ...devDependencies, ...optionalDependencies })) {
    t.regex(version as string, /^\d+\.\d+\.\d+/)
  }
})
