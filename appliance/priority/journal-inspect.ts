/** Reads a journal that an appliance may be writing at the same time: what it does meanwhile is no damage. */
import { open, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Segment } from '../store/log/verify.ts'
import { HEAD_FILE } from './journal-head.ts'
import { inspectJournal } from './journal-log.ts'

export type SeenSegment = Pick<Segment, 'first' | 'bytes'> & { records: number; sha256: string }
/** `unreadable`: the disk refuses a file. */
export type Look = Awaited<ReturnType<typeof inspectJournal>> | { state: 'unreadable'; reason: string }
export type Looked = { look: Look; segments: SeenSegment[] }

/** An appliance visits a device in minutes; whoever writes faster than this is no appliance. */
const LOOKS_MAX = 50
const PAUSE_MS = 40

/**
 * Reads every byte. Damage counts when two looks at files that did not change between them find the same.
 *
 * @throws Error in words when the folder cannot be read, or changes without end
 */
export async function lookAt(dir: string): Promise<Looked> {
  let last: string | undefined
  for (let i = 0; i < LOOKS_MAX; i++) {
    const before = await outlineOf(dir)
    const looked = await lookOnce(dir)
    if (looked.look.state === 'verified' && looked.look.lost === 0) return looked
    const found = JSON.stringify([looked.look, before])
    if (found === last && before === (await outlineOf(dir))) return looked
    last = found
    await setTimeout(PAUSE_MS)
  }
  throw new Error('it is being written all the time; stop the appliance first')
}

async function lookOnce(dir: string): Promise<Looked> {
  const segments: SeenSegment[] = []
  try {
    const look = await inspectJournal(dir, {
      record: () => undefined,
      segment: ({ first, offsets, bytes }, sha256) => segments.push({ first, records: offsets.length, bytes, sha256 }),
    })
    return { look, segments }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    return { look: { state: 'unreadable', reason: message }, segments }
  }
}

/** Names and lengths of the log's files, and what must be there. @throws Error when the folder cannot be read */
async function outlineOf(dir: string): Promise<string> {
  const names = (await readdir(dir)).filter(name => name.endsWith('.jsonl') || name === HEAD_FILE).toSorted()
  const sizes = names.map(async name => `${name} ${(await stat(join(dir, name)).catch(() => undefined))?.size}`)
  const head = await readFile(join(dir, HEAD_FILE), 'latin1').catch(() => '')
  return [...(await Promise.all(sizes)), head].join('\n')
}

/** A file that may be growing, read to an end that holds still. @throws Error of the system */
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
      // A line that is being written is whole a moment later.
      if (bytes.at(-1) === 0x0a || i === LOOKS_MAX) return bytes
      await setTimeout(PAUSE_MS)
      if ((await file.stat()).size === size) return bytes
    }
  } finally {
    await file.close()
  }
}
