/** `appliance/main.ts journal`: what an operator does with a priority journal while nothing else can be asked. */
import { existsSync } from 'node:fs'
import { readdir, readFile, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CSV_HEADER, csvRow, jsonLine, salvageSegment } from '#shared/core/priority/journal-export.ts'
import { syncFolder } from '#shared/node/files.ts'
import { inspectJournal } from './journal-log.ts'

export const JOURNAL_USAGE = `appliance journal COMMAND: the priority history in SERVICE_EDGE_STORE_DIR/priority

  verify                      reads every byte, proves the chain of hashes, and shows the place of damage
  export [--csv]              writes every record that can be read, as lines of JSON or as CSV, with a line for each gap
  quarantine [--yes]          puts a damaged journal aside, whole, so that a new one begins; nothing is deleted`

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
  if (existsSync(dir)) return command.run(dir, options, out)
  await out(`${dir}: there is no journal\n`)
  return 1
}

async function verify(dir: string, _: string[], out: Out): Promise<number> {
  const lines: string[] = []
  let records = 0
  const found = await inspectJournal(dir, {
    record: () => void records++,
    segment: ({ first, offsets, bytes }, sha256) => {
      const range = offsets.length === 0 ? 'empty' : `records ${first} to ${first + offsets.length - 1}`
      lines.push(`sha256 ${sha256}  ${range}, ${bytes} bytes\n`)
    },
  })
  await out(`${dir}\n${lines.join('')}`)
  if (found.state === 'corrupt') {
    await out(`DAMAGED: ${found.file}, byte ${found.offset}: ${found.reason}\n`)
    return 1
  }
  if (found.cut) {
    const { file, offset, bytes, reason } = found.cut
    await out(`torn end: ${file}, byte ${offset}: ${reason}; ${bytes} bytes, never reported as kept, are cut at the next start\n`)
  }
  await out(`verified: ${records} records in ${found.segments.length} segments, and every segment names the one before\n`)
  return 0
}

async function exportJournal(dir: string, options: string[], out: Out): Promise<number> {
  const csv = options.includes('--csv')
  if (csv) await out(CSV_HEADER)
  let next: number | undefined
  for (const file of (await readdir(dir)).filter(name => name.endsWith('.jsonl')).toSorted()) {
    const text: string[] = []
    for (const salvaged of salvageSegment(file, await readFile(join(dir, file)), next)) {
      if ('record' in salvaged) next = salvaged.record.seq + 1
      text.push(csv ? csvRow(salvaged) : jsonLine(salvaged))
    }
    await out(text.join(''))
  }
  return 0
}

async function quarantine(dir: string, options: string[], out: Out): Promise<number> {
  const found = await inspectJournal(dir, { record: () => undefined })
  if (found.state !== 'corrupt') {
    await out('The journal verifies, so it stays.\n')
    return 1
  }
  const aside = `${dir}.damaged-${new Date().toISOString().replaceAll(':', '')}`
  const place = `${found.file}, byte ${found.offset}: ${found.reason}`
  if (!options.includes('--yes')) {
    await out(
      `DAMAGED: ${place}\nWith --yes it is put aside as ${aside} and a new journal begins. Export what can be read first.\n`,
    )
    return 1
  }
  await rename(dir, aside)
  syncFolder(dirname(dir))
  await out(`Put aside as ${aside}. A new journal begins by itself, within a minute or at the next start.\n`)
  return 0
}
