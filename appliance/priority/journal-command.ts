/** `appliance/main.ts journal`: what an operator does with a priority journal while nothing else can be asked. */
import { existsSync } from 'node:fs'
import { readdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CSV_HEADER, csvRow, jsonLine, type Salvaged, salvageSegment } from '#shared/core/priority/journal-export.ts'
import { countOf } from '#shared/core/ui/words.ts'
import { syncFolder } from '#shared/node/files.ts'
import { type Look, lookAt, readSteady } from './journal-look.ts'

export const JOURNAL_USAGE = `appliance journal COMMAND: the priority history in SERVICE_EDGE_STORE_DIR/priority

  verify                      reads every byte, proves the chain of hashes, and shows the place of damage
  export [--csv]              writes every record that can be read, as lines of JSON or as CSV, with a line for each gap
  quarantine [--yes]          puts a damaged journal aside, whole, so that a new one begins; nothing is deleted

All three may be used while the appliance runs. Exit status: 0 well, 1 damaged, refused or not there, 2 not understood.`

/** Writes text, and resolves when it has been taken. */
type Out = (text: string) => Promise<void>
type Command = (dir: string, options: string[], out: Out) => Promise<number>

const COMMANDS: Record<string, { run: Command; options: string[] }> = {
  verify: { run: verify, options: [] },
  export: { run: exportJournal, options: ['--csv'] },
  quarantine: { run: quarantine, options: ['--yes'] },
}

/** @returns the exit status: 0 well, 1 damaged or refused, 2 not understood */
export async function journalCommand(dir: string, [name = '', ...options]: string[], out: Out): Promise<number> {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (!command || options.some(option => !command.options.includes(option))) {
    await out(`${JOURNAL_USAGE}\n`)
    return 2
  }
  try {
    if (existsSync(dir)) return await command.run(dir, options, out)
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
    await out(`torn end: ${file}, byte ${offset}: ${reason}; ${bytes} bytes, never reported as kept, are cut at the next start\n`)
  }
  const records = countOf(
    written.reduce((sum, segment) => sum + segment.records, 0),
    'record',
  )
  const inSegments = written.length > 0 ? ` in ${countOf(written.length, 'segment')}, and every segment names the one before` : ''
  await out(`verified: ${records}${inSegments}\n`)
  return 0
}

const damageWords = (look: Exclude<Look, { state: 'verified' }>): string =>
  look.state === 'corrupt' ? `DAMAGED: ${look.file}, byte ${look.offset}: ${look.reason}` : `UNREADABLE: ${look.reason}`

async function exportJournal(dir: string, options: string[], out: Out): Promise<number> {
  const csv = options.includes('--csv')
  const write = (salvaged: Salvaged) => (csv ? csvRow(salvaged) : jsonLine(salvaged))
  if (csv) await out(CSV_HEADER)
  let next: number | undefined
  for (const file of (await readdir(dir)).filter(name => name.endsWith('.jsonl')).toSorted()) {
    const bytes = await readSteady(join(dir, file)).catch((error: NodeJS.ErrnoException) => error)
    if (bytes instanceof Error) {
      // Dropped, as it was too old, while others were read.
      if (bytes.code !== 'ENOENT') await out(write({ gap: { file, offset: 0, bytes: 0, reason: bytes.message } }))
      continue
    }
    const text: string[] = []
    for (const salvaged of salvageSegment(file, bytes, next)) {
      if ('record' in salvaged) next = salvaged.record.seq + 1
      text.push(write(salvaged))
    }
    await out(text.join(''))
  }
  return 0
}

async function quarantine(dir: string, options: string[], out: Out): Promise<number> {
  const { look } = await lookAt(dir)
  if (look.state === 'verified') {
    await out('The journal verifies, so it stays.\n')
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
