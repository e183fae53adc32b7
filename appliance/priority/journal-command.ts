/** `appliance/main.ts journal`: what an operator does with a priority journal while nothing else can be asked. */
import { existsSync } from 'node:fs'
import { readdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CSV_HEADER, csvRow, type Gap, jsonLine, type Salvaged, salvageSegment } from '../core/priority/journal-export.ts'
import type { Environment } from '#shared/core/env.ts'
import { countOf } from '#shared/core/number-text.ts'
import { syncFolder } from '#shared/node/files.ts'
import { refuseSecretArguments, settingsOrExit } from '#shared/node/settings.ts'
import { UPLINK_VARIABLES } from '../env.ts'
import { type Look, lookAt, readSteady } from './journal-inspect.ts'

export const JOURNAL_USAGE = `appliance journal COMMAND: the priority history in SERVICE_EDGE_STORE_DIR/priority

  verify                      reads every byte, proves the chain of hashes, and shows the place of damage
  export [--csv] [--verify]   writes every record that can be read, as lines of JSON or as CSV, with a line for each gap;
                              with --verify it fails unless that is the whole journal, proven as by verify
  quarantine [--yes]          puts a damaged journal aside, whole, so that a new one begins; nothing is deleted

All three may be used while the appliance runs. Exit status: 0 well, 1 damaged, refused or not there, 2 not understood.`

/** Writes text, and resolves when it has been taken. */
type Out = (text: string) => Promise<void>
type Command = (dir: string, options: string[], out: Out, err: Out) => Promise<number>

const COMMANDS: Record<string, { run: Command; options: string[] }> = {
  verify: { run: verify, options: [] },
  export: { run: exportJournal, options: ['--csv', '--verify'] },
  quarantine: { run: quarantine, options: ['--yes'] },
}

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
 * @param err what is said beside an export, whose records alone go to `out`
 * @returns the exit status: 0 well, 1 damaged or refused, 2 not understood
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
  const { look, segments } = await lookAt(dir)
  const written = segments.filter(({ bytes }) => bytes > 0)
  const lines = written.map(
    ({ first, records, bytes, sha256 }) => `sha256 ${sha256}  records ${first} to ${first + records - 1}, ${bytes} bytes\n`,
  )
  await out(`${dir}\n${lines.join('')}`)
  if (look.state !== 'verified') {
    await out(`${damageWords(look)}\n`)
    return 1
  }
  if (look.cut) {
    const { file, offset, bytes, reason } = look.cut
    const what = look.lost > 0 ? '' : ', never reported as kept,'
    await out(`torn end: ${file}, byte ${offset}: ${reason}; ${bytes} bytes${what} are cut at the next start\n`)
  }
  if (look.lost > 0) {
    await out(`${lossWords(look)}\n`)
    return 1
  }
  const records = countOf(
    written.reduce((sum, segment) => sum + segment.records, 0),
    'record',
  )
  const inSegments = written.length > 0 ? ` in ${countOf(written.length, 'segment')}, and every segment names the one before` : ''
  await out(`verified: ${records}${inSegments}\n`)
  return 0
}

const lossWords = ({ end, lost }: Extract<Look, { state: 'verified' }>): string =>
  `MISSING: ${countOf(lost, 'record')} after record ${end.seq} had been reported as kept; the next start goes on without, and says so`

const damageWords = (look: Exclude<Look, { state: 'verified' }>): string =>
  look.state === 'corrupt' ? `DAMAGED: ${look.file}, byte ${look.offset}: ${look.reason}` : `UNREADABLE: ${look.reason}`

/** What was read is written either way; whoever keeps it as evidence asks whether it is everything. */
async function exportJournal(dir: string, options: string[], out: Out, err: Out): Promise<number> {
  const looked = options.includes('--verify') ? (await lookAt(dir)).look : undefined
  const gaps = await writeRecords(dir, options.includes('--csv'), out)
  if (gaps.length > 0) await err(`${countOf(gaps.length, 'gap')}: not everything that was written can be read\n`)
  if (!looked) return 0
  if (looked.state !== 'verified') {
    await err(`${damageWords(looked)}\n`)
    return 1
  }
  if (looked.lost > 0) {
    await err(`${lossWords(looked)}\n`)
    return 1
  }
  const { cut } = looked
  const isTornEnd = ({ file, offset }: Gap) => file === cut?.file && offset === cut.offset
  return gaps.every(isTornEnd) ? 0 : 1
}

/** @returns the gaps, each of which has its line as well */
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
      // Dropped, as it was too old, while others were read; what follows is then the first that there is.
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
  const { look } = await lookAt(dir)
  if (look.state === 'verified') {
    await out(
      look.lost > 0 ? `${lossWords(look)}\nWhat is left verifies, so it stays.\n` : 'The journal verifies, so it stays.\n',
    )
    return 1
  }
  const aside = `${dir}.damaged-${new Date().toISOString().replaceAll(':', '')}`
  if (!options.includes('--yes')) {
    await out(
      `${damageWords(look)}\nWith --yes it is put aside as ${aside} and a new journal begins. Export what can be read first.\n`,
    )
    return 1
  }
  await rename(dir, aside)
  syncFolder(dirname(dir))
  await out(`Put aside as ${aside}. A new journal begins by itself, within a minute or at the next start.\n`)
  return 0
}
