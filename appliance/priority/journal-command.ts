/** `appliance/main.ts journal`: verify, export or quarantine the priority journal, also while the appliance is stopped. */
import { nameTable } from '#shared/core/name-table.ts'
import { existsSync } from 'node:fs'
import { readdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CSV_HEADER, csvRow, type Gap, jsonLine, type Salvaged, salvageSegment } from '../core/priority/journal-export.ts'
import type { Environment } from '#shared/core/env.ts'
import { countOf } from '#shared/core/number-text.ts'
import { syncFolder } from '#shared/node/files.ts'
import { refuseSecretArguments, settingsOrExit } from '#shared/node/settings.ts'
import { UPLINK_VARIABLES } from '../env.ts'
import { inspectRunning, type JournalVerdict, readSteady } from './journal-inspect.ts'

const JOURNAL_USAGE = `appliance journal COMMAND: the priority history in SERVICE_EDGE_STORE_DIR/priority

  verify                      reads every byte, verifies the chain of hashes, and shows the place of damage
  export [--csv] [--verify]   writes every readable record as lines of JSON or as CSV, with a line for each gap;
                              with --verify it fails unless that is the whole journal, verified as by verify
  quarantine [--yes]          sets a damaged journal aside, whole, so that a new one begins; nothing is deleted

All three may be used while the appliance runs. Exit status: 0 success, 1 damaged, refused or missing, 2 usage error.`

/** Writes text. Resolves when it has been written. */
type Out = (text: string) => Promise<void>
type Command = (dir: string, options: string[], out: Out, err: Out) => Promise<number>

const COMMANDS = nameTable<{ run: Command; options: string[] }>({
  verify: { run: verify, options: [] },
  export: { run: exportJournal, options: ['--csv', '--verify'] },
  quarantine: { run: quarantine, options: ['--yes'] },
})

/**
 * Runs the command as its own process and exits with its status.
 *
 * @param words the command line after `journal`
 */
export async function runJournalCommand(words: string[], env: Environment): Promise<never> {
  refuseSecretArguments(words)
  const { SERVICE_EDGE_STORE_DIR } = UPLINK_VARIABLES
  const help = words.filter(word => word === '--help')
  const { settings } = settingsOrExit(JOURNAL_USAGE, { SERVICE_EDGE_STORE_DIR }, env, help)
  process.stdout.on('error', () => process.exit(1))
  const to = (stream: NodeJS.WriteStream) => (text: string) => new Promise<void>(resolve => stream.write(text, () => resolve()))
  const dir = join(settings.SERVICE_EDGE_STORE_DIR, 'priority')
  process.exit(await journalCommand(dir, words, to(process.stdout), to(process.stderr)))
}

/**
 * @param err takes the messages of an export, whose `out` holds records alone
 * @returns the exit status: 0 success, 1 damaged or refused, 2 usage error
 */
export async function journalCommand(dir: string, [name = '', ...options]: string[], out: Out, err: Out): Promise<number> {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (!command || options.some(option => !command.options.includes(option))) {
    await out(`${JOURNAL_USAGE}\n`)
    return 2
  }
  try {
    if (existsSync(dir)) return await command.run(dir, options, out, err)
    await out(`${dir}: there is no journal\n`)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const isGone = code === 'ENOENT' && !existsSync(dir)
    await out(isGone ? `${dir}: there is no journal any more\n` : `${dir}: it cannot be read: ${message}\n`)
  }
  return 1
}

async function verify(dir: string, _: string[], out: Out): Promise<number> {
  const { verdict, segments } = await inspectRunning(dir)
  const written = segments.filter(({ bytes }) => bytes > 0)
  const lines = written.map(
    ({ first, records, bytes, sha256 }) => `sha256 ${sha256}  records ${first} to ${first + records - 1}, ${bytes} bytes\n`,
  )
  await out(`${dir}\n${lines.join('')}`)
  if (verdict.state === 'verified' && verdict.cut) {
    const { file, offset, bytes, reason } = verdict.cut
    const isAcknowledged = verdict.lost > 0 ? '' : ', never acknowledged,'
    await out(`torn end: ${file}, byte ${offset}: ${reason}; ${bytes} bytes${isAcknowledged} will be cut at the next start\n`)
  }
  const fault = faultText(verdict)
  if (fault !== undefined) {
    await out(`${fault}\n`)
    return 1
  }
  const records = countOf(
    written.reduce((sum, segment) => sum + segment.records, 0),
    'record',
  )
  const inSegments = written.length > 0 ? ` in ${countOf(written.length, 'segment')}, each with the hash of the one before` : ''
  await out(`verified: ${records}${inSegments}\n`)
  return 0
}

/** @returns why the journal is not whole; undefined when it is */
function faultText(verdict: JournalVerdict): string | undefined {
  if (verdict.state !== 'verified') return damageText(verdict)
  if (verdict.lost === 0) return undefined
  return `MISSING: ${countOf(verdict.lost, 'acknowledged record')} after record ${verdict.end.seq}; the next start reports this and goes on without them`
}

const damageText = (verdict: Exclude<JournalVerdict, { state: 'verified' }>): string =>
  verdict.state === 'corrupt'
    ? `DAMAGED: ${verdict.file}, byte ${verdict.offset}: ${verdict.reason}`
    : `UNREADABLE: ${verdict.reason}`

/** Writes all readable records in any case; `--verify` decides only about the exit status. */
async function exportJournal(dir: string, options: string[], out: Out, err: Out): Promise<number> {
  const verdict = options.includes('--verify') ? (await inspectRunning(dir)).verdict : undefined
  const gaps = await writeRecords(dir, options.includes('--csv'), out)
  if (gaps.length > 0) await err(`${countOf(gaps.length, 'gap')}: not everything that was written can be read\n`)
  if (!verdict) return 0
  const fault = faultText(verdict)
  if (fault !== undefined) {
    await err(`${fault}\n`)
    return 1
  }
  const cut = verdict.state === 'verified' ? verdict.cut : undefined
  const isTornEnd = ({ file, offset }: Gap) => file === cut?.file && offset === cut.offset
  return gaps.every(isTornEnd) ? 0 : 1
}

/** @returns the gaps, each of which is written as a line as well */
async function writeRecords(dir: string, csv: boolean, out: Out): Promise<Gap[]> {
  const gaps: Gap[] = []
  const write = (salvaged: Salvaged) => {
    if ('gap' in salvaged) gaps.push(salvaged.gap)
    return csv ? csvRow(salvaged) : jsonLine(salvaged)
  }
  if (csv) await out(CSV_HEADER)
  let next: number | undefined
  for (const file of (await readdir(dir)).filter(name => name.endsWith('.jsonl')).toSorted()) {
    const bytes = await readSteady(join(dir, file)).catch((error: NodeJS.ErrnoException) => error)
    if (bytes instanceof Error) {
      // ENOENT: the retention dropped the segment while others were read, so the next one may begin with any record.
      if (bytes.code === 'ENOENT') next = undefined
      else await out(write({ gap: { file, offset: 0, bytes: 0, reason: bytes.message } }))
      continue
    }
    const text: string[] = []
    for (const salvaged of salvageSegment(file, bytes, next)) {
      if ('record' in salvaged) next = salvaged.record.seq + 1
      text.push(write(salvaged))
    }
    await out(text.join(''))
  }
  return gaps
}

async function quarantine(dir: string, options: string[], out: Out): Promise<number> {
  const { verdict } = await inspectRunning(dir)
  if (verdict.state === 'verified') {
    const fault = faultText(verdict)
    await out(`${fault === undefined ? 'The journal' : `${fault}\nThe rest`} verifies and stays in place.\n`)
    return 1
  }
  const aside = `${dir}.damaged-${new Date().toISOString().replaceAll(':', '')}`
  if (!options.includes('--yes')) {
    await out(
      `${damageText(verdict)}\nWith --yes it is set aside as ${aside} and a new journal begins. Export the readable records first.\n`,
    )
    return 1
  }
  await rename(dir, aside)
  syncFolder(dirname(dir))
  await out(`Set aside as ${aside}. A new journal begins within a minute, or at the next start.\n`)
  return 0
}
