/** Files that a person or another process replaces while this one runs: they are read again when one of them has changed. */
import { stat } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import { errorText } from '#shared/core/error-text.ts'
import { repeated } from './repeated.ts'
import type { Service } from './service.ts'

/** A value that may be replaced by a newer one. */
export type Current<T> = { current(): T; onChange(listener: (value: T) => void): void }
/** `look` reads the files when they have changed; it is called twice a second from start to stop. */
export type WatchedFiles<T> = Service & Current<T> & { look(): Promise<void> }

const LOOK_MS = 500

type WatchOptions<T> = {
  /** What the files are, in the log. */
  name: string
  paths: readonly string[]
  /** Reads and checks all of them. @param before what is in use. @throws Error that says why they cannot be used */
  read: (before: T | undefined) => Promise<T>
  log: Logger
}

/**
 * Reads the files now and, once started, whenever one of them has changed. What cannot be used leaves the value as it was, with one
 * line in the log: a key and its certificate are two files, so what is wrong for a moment only is not reported.
 *
 * @throws Error of the first `read`
 */
export async function watchFiles<T extends object>({ name, paths, read, log }: WatchOptions<T>): Promise<WatchedFiles<T>> {
  let seen = await stampOf(paths)
  let value: T = await read(undefined)
  const listeners: ((value: T) => void)[] = []
  let complaint: { text: string; isTold: boolean } | undefined

  const complain = (text: string) => {
    if (complaint?.text !== text) return void (complaint = { text, isTold: false })
    if (!complaint.isTold) log.warn(`${name}: the files were changed and are not used: ${text}`)
    complaint.isTold = true
  }
  const readAgain = async () => {
    const stamp = await stampOf(paths)
    if (stamp === seen) return
    let next: T
    try {
      next = await read(value)
    } catch (error) {
      return complain(errorText(error))
    }
    seen = stamp
    complaint = undefined
    if (isDeepStrictEqual(next, value)) return
    value = next
    log.info(`${name}: the files were changed and are in use`)
    for (const listener of listeners) listener(value)
  }
  const { run: look, start, stop } = repeated(readAgain, LOOK_MS)
  return {
    name,
    current: () => value,
    onChange: listener => void listeners.push(listener),
    look,
    start: async () => {
      await look()
      start()
    },
    stop,
  }
}

/** What differs after a file was replaced or written. A file that is missing differs from each that is there. */
async function stampOf(paths: readonly string[]): Promise<string> {
  const stamps = paths.map(async path => {
    const found = await stat(path, { bigint: true }).catch(() => undefined)
    return found && `${found.ino} ${found.size} ${found.mtimeNs}`
  })
  return (await Promise.all(stamps)).join('\n')
}
