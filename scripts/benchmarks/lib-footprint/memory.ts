import { readdirSync, readFileSync } from 'node:fs'

/** Memory of a process and everything it started, MB. */
export type Memory = {
  processes: number
  /** Resident pages, those that processes share counted in each of them. */
  rss_mb: number
  /** Resident pages, those that processes share counted once. */
  pss_mb: number
}

/** @source proc(5), smaps_rollup; Linux only */
export function memoryOf(pid: number): Memory {
  let [rss, pss, processes] = [0, 0, 0]
  for (const one of treeOf(pid)) {
    const text = read(`/proc/${one}/smaps_rollup`)
    if (text === '') continue
    processes++
    rss += kilobytes(text, 'Rss')
    pss += kilobytes(text, 'Pss')
  }
  return { processes, rss_mb: toMb(rss), pss_mb: toMb(pss) }
}

const toMb = (kb: number): number => Math.round(kb / 102.4) / 10

const kilobytes = (text: string, field: string): number => Number(new RegExp(`^${field}: +(\\d+) kB`, 'm').exec(text)?.[1] ?? 0)

/** A process may end while it is looked at. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function treeOf(root: number): number[] {
  const children = Map.groupBy(
    readdirSync('/proc')
      .filter(name => /^\d+$/.test(name))
      .map(name => ({ pid: Number(name), parent: parentOf(Number(name)) })),
    ({ parent }) => parent,
  )
  const below = (pid: number): number[] => [pid, ...(children.get(pid) ?? []).flatMap(child => below(child.pid))]
  return below(root)
}

/** The fourth field of `stat`; the second, the name, may hold blanks and brackets. */
function parentOf(pid: number): number {
  const text = read(`/proc/${pid}/stat`)
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1] ?? -1)
}
