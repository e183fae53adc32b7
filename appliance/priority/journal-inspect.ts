/** Inspects a journal that an appliance may be writing at the same time. Changes that it makes meanwhile are not damage. */
import { open, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { LogSegment } from '../store/log/log-verify.ts'
import { HEAD_FILE } from './journal-head.ts'
import { inspectJournal, type JournalInspection } from './journal-log.ts'

type InspectedSegment = Pick<LogSegment, 'first' | 'bytes'> & { records: number; sha256: string }
/** `unreadable`: the disk refuses a file. */
export type JournalVerdict = JournalInspection | { state: 'unreadable'; reason: string }
type RunningInspection = { verdict: JournalVerdict; segments: InspectedSegment[] }

/** Most attempts. An appliance visits a device every few minutes, so a journal that changes faster is none of an appliance. */
const ATTEMPTS_MAX = 50
const PAUSE_MS = 40

/**
 * Verifies every byte. Damage is reported only when two inspections agree and the files did not change between them.
 *
 * @throws Error with the reason when the folder cannot be read, or changes during every attempt
 */
export async function inspectRunning(dir: string): Promise<RunningInspection> {
  let last: string | undefined
  for (let i = 0; i < ATTEMPTS_MAX; i++) {
    const before = await fingerprintOf(dir)
    const found = await inspectOnce(dir)
    if (found.verdict.state === 'verified' && found.verdict.lost === 0) return found
    const current = JSON.stringify([found.verdict, before])
    if (current === last && before === (await fingerprintOf(dir))) return found
    last = current
    await setTimeout(PAUSE_MS)
  }
  throw new Error('it is being written all the time; stop the appliance first')
}

async function inspectOnce(dir: string): Promise<RunningInspection> {
  const segments: InspectedSegment[] = []
  try {
    const verdict = await inspectJournal(dir, {
      record: () => undefined,
      segment: ({ first, offsets, bytes }, sha256) => segments.push({ first, records: offsets.length, bytes, sha256 }),
    })
    return { verdict, segments }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    return { verdict: { state: 'unreadable', reason: message }, segments }
  }
}

/** Names and sizes of the segments, and the content of `head.json`. @throws Error when the folder cannot be read */
async function fingerprintOf(dir: string): Promise<string> {
  const names = (await readdir(dir)).filter(name => name.endsWith('.jsonl') || name === HEAD_FILE).toSorted()
  const sizes = names.map(async name => `${name} ${(await stat(join(dir, name)).catch(() => undefined))?.size}`)
  const head = await readFile(join(dir, HEAD_FILE), 'latin1').catch(() => '')
  return [...(await Promise.all(sizes)), head].join('\n')
}

/** Reads a file that may be growing, once it ends with a whole line or has stopped growing. @throws Error of the system */
export async function readSteady(path: string): Promise<Buffer> {
  const file = await open(path, 'r')
  try {
    for (let i = 0; ; i++) {
      const { size } = await file.stat()
      const bytes = Buffer.alloc(size)
      for (let done = 0; done < size; ) {
        const { bytesRead } = await file.read(bytes, done, size - done, done)
        if (bytesRead === 0) return bytes.subarray(0, done)
        done += bytesRead
      }
      // A line that is being written is complete a moment later.
      if (bytes.at(-1) === 0x0a || i === ATTEMPTS_MAX) return bytes
      await setTimeout(PAUSE_MS)
      if ((await file.stat()).size === size) return bytes
    }
  } finally {
    await file.close()
  }
}
