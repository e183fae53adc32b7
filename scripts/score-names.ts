/** `node scripts/score-names.ts DIR`: how many roles of labelled packages are suggested from names, units and values alone. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { preflightPackage } from '#shared/central/import/preflight.ts'
import { type NameScore, scoreNames } from './lib/score-names.ts'

const USAGE = `node scripts/score-names.ts DIR [options]      every folder of DIR is a package whose column maps name the right roles
  --sure 0.85        confidence from which on a suggestion counts as sure
  --list             prints every suggestion that is wrong, and every point without one
`
/** Rows of a table that are read: two days of five-minute samples. */
const ROWS_MAX = 600

/** A new install: no building is known. */
const model = { building: () => undefined, equipment: () => [], points: () => [] }

/** Names are scored without rules. */
const rules = { coverageOfModel: async () => ({ lines: [], gains: [], waits: [] }) }

/** Copies a package without its roles, imports nothing, and compares what preflight suggests. */
async function scorePackage(dir: string): Promise<NameScore[]> {
  const copy = mkdtempSync(join(tmpdir(), 'plenum-names-'))
  try {
    const truth = new Map<string, Map<string, string>>()
    const files = readdirSync(dir, { recursive: true, encoding: 'utf8' })
      .filter(path => /\.(json|csv)$/.test(path) && statSync(join(dir, path)).isFile())
      .map((path, i) => {
        const file = join(copy, String(i))
        const text = readFileSync(join(dir, path), 'utf8')
        writeFileSync(
          file,
          path.endsWith('.csv') ? text.split('\n').slice(0, ROWS_MAX).join('\n') : withoutRoles(path, text, truth),
        )
        return { path, file, bytes: 0 }
      })
    const { report, plan } = await preflightPackage(files, { model, rules, site_id: 'site', clock: { now: () => Date.now() } })
    return scoreNames(report, plan, truth)
  } finally {
    rmSync(copy, { recursive: true })
  }
}

/** Takes the roles out of a column map and notes them by equipment and header. */
function withoutRoles(path: string, text: string, truth: Map<string, Map<string, string>>): string {
  if (!path.endsWith('column_map.json')) return text
  const map = JSON.parse(text) as { equip?: string; points: Record<string, string> }
  const equipment_id = map.equip ?? path.split('/').at(-2) ?? ''
  truth.set(equipment_id, new Map(Object.entries(map.points).map(([role, header]) => [header, role])))
  return JSON.stringify({ ...map, points: {} })
}

/** Names that differ in a number only are listed once. */
const kindOf = (name: string): string => name.replaceAll(/\d+(?=[._ ])/g, '#')

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { sure: { type: 'string', default: '0.85' }, list: { type: 'boolean', default: false }, help: { type: 'boolean' } },
  })
  const [dir] = positionals
  const sure = Number(values.sure)
  if (values.help || dir === undefined || !(sure > 0 && sure <= 1)) {
    process.stdout.write(USAGE)
    return values.help ? 0 : 64
  }
  const scores: NameScore[] = []
  for (const one of readdirSync(dir).toSorted()) {
    if (statSync(join(dir, one)).isDirectory()) scores.push(...(await scorePackage(join(dir, one))))
  }
  for (const when of ['before import', 'after import'] as const) {
    const own = scores.filter(score => score.when === when)
    const count = (test: (score: NameScore) => boolean) => own.filter(test).length
    const [suggested, likely] = [count(one => one.role !== undefined), own.filter(one => one.confidence >= sure)]
    const right = likely.filter(one => one.role === one.wanted).length
    const share = (part: number, all: number) => `${((part / Math.max(1, all)) * 100).toFixed(1)} %`
    process.stdout.write(
      `${when}: ${own.length} points, ${suggested} suggested (${share(suggested, own.length)}), ${count(one => one.role === one.wanted)} right; ` +
        `${likely.length} sure, ${right} right (${share(right, likely.length)})\n`,
    )
    if (!values.list) continue
    const lines = own
      .filter(one => one.role !== one.wanted)
      .map(one => `  ${one.type} ${kindOf(one.name)}: ${one.role ?? 'nothing'} ${one.confidence}, is ${one.wanted}`)
    for (const [line, all] of Map.groupBy(lines, text => text)) process.stdout.write(`${line} × ${all.length}\n`)
  }
  return 0
}

process.exitCode = await main(process.argv.slice(2))
