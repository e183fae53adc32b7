/** `scripts/import-points DIR`: a building system's export, one CSV for each point, and what the rules say of it. */
import { parseArgs } from 'node:util'
import { errorText } from '#shared/core/error-text.ts'
import { isZone } from '#shared/core/time-zone.ts'
import { importInto, type ImportReport, importPoints } from './lib/import-points.ts'
import { COMMON_NAMES, readPointMap } from './lib/point-names.ts'
import { openSession } from './lib/session.ts'

const USAGE = `scripts/import-points DIR [options]      DIR holds CSV files, in folders or .tar.gz archives too: time, value
  --map FILE         JSON: which names mean which equipment and role; common names are known
  --timezone ZONE    IANA zone of the times that state none; by default the one that the other times state
  --days 31          how many days before the last sample the rules look at
  --json             ends with one line of JSON
  --pages            keeps the pages open on this machine until Ctrl-C, to look at what was found
`

type Wanted = Extract<ReturnType<typeof readOptions>, { help: false }>

function readOptions(args: string[]) {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean', default: false } as const
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { map: text, timezone: text, days: text, json: flag, pages: flag, help: flag },
  })
  const [dir] = positionals
  if (values.help || dir === undefined) return { help: true } as const
  const { timezone, map } = values
  if (timezone !== undefined && !isZone(timezone)) throw new Error(`--timezone takes an IANA zone, not ${timezone}`)
  const days = Number(values.days ?? 31)
  if (!(days >= 1 && days <= 366)) throw new Error(`--days takes a number from 1 to 366, not ${values.days}`)
  return {
    help: false,
    dir,
    json: values.json,
    pages: values.pages,
    options: { map: map ? readPointMap(map) : COMMON_NAMES, timezone, days },
  } as const
}

function* linesOf(report: ImportReport): Generator<string> {
  const { building_id, timezone, files, points, mapped, rows, rejected, empty, homeless } = report
  yield `${building_id}: ${files} files, ${points} points, ${mapped} of them with a role, ${rows} samples (${timezone})`
  if (rejected > 0) yield `${rejected} rows were left out: their times cannot be read or mean two instants`
  if (empty.length > 0) yield `without a row: ${empty.join(', ')}`
  if (homeless.length > 0) yield `of no known equipment: ${homeless.join(', ')}`
  for (const { rule_id, error } of report.failed) yield `${rule_id} failed: ${error}`
  for (const { equipment_id, findings, silenced } of report.equipment) {
    yield `${equipment_id}: ${findings.length === 0 ? 'nothing found' : `${findings.length} found`}${silenced ? `, ${silenced} more explained by them` : ''}`
    for (const { rule_id, from, to, evidence } of findings)
      yield `  ${from.slice(0, 16)} – ${to?.slice(0, 16) ?? 'now'}  ${rule_id}  ${evidence.sentence}`
  }
}

async function main(args: string[]): Promise<number> {
  const options = readOptions(args)
  if (options.help) {
    process.stdout.write(USAGE)
    return args.includes('--help') ? 0 : 64
  }
  if (options.pages) return show(options)
  return tell(await importPoints(options.dir, options.options), options.json)
}

function tell(report: ImportReport, asJson: boolean): number {
  for (const line of linesOf(report)) process.stdout.write(`${line}\n`)
  if (asJson) process.stdout.write(`${JSON.stringify(report)}\n`)
  return report.failed.length > 0 ? 1 : 0
}

/** Serves the pages until the process is asked to end. */
async function show({ dir, options, json }: Wanted): Promise<number> {
  const session = await openSession()
  const { url, username, password } = session.pages
  try {
    const code = tell(await importInto(session, dir, options), json)
    process.stdout.write(`${url}/faults shows this; sign in as ${username} with ${password}. Ctrl-C ends it.\n`)
    await new Promise(resolve => process.once('SIGINT', resolve).once('SIGTERM', resolve))
    return code
  } finally {
    await session.close()
  }
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`import-points: ${errorText(error)}\n`)
  process.exitCode = 1
}
