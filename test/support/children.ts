/** The processes that this one has started, on Linux. */
import { readdirSync, readFileSync } from 'node:fs'

/** @returns ids of the running children whose command line has `part` */
export function childrenWith(part: string): number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)
    .filter(pid => {
      const status = read(`/proc/${pid}/status`)
      return /^PPid:\s+(\d+)$/m.exec(status)?.[1] === String(process.pid) && read(`/proc/${pid}/cmdline`).includes(part)
    })
}

/** A process that has ended meanwhile has no text. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
