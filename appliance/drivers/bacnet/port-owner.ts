/** Finds the process that uses a UDP port, as far as permissions allow. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'

const EVERYWHERE = '0.0.0.0'

/**
 * @param address an address that cannot be bound; 0.0.0.0 conflicts with every address
 * @returns for example "process 4711 (bacserv)"; undefined when it is hidden, or not Linux
 */
export function findPortOwner(address: string, port: number): string | undefined {
  try {
    const inodes = new Set(inodesOf(readFileSync('/proc/net/udp', 'latin1'), address, port))
    const pid = readdirSync('/proc').find(name => /^\d+$/.test(name) && hasSocket(name, inodes))
    return pid && `process ${pid} (${basename(readlinkSync(`/proc/${pid}/exe`))})`
  } catch {
    return undefined
  }
}

/** Columns of proc(5) net/udp: number, local address and port in hexadecimal as 2nd, inode as 10th. */
function inodesOf(table: string, address: string, port: number): string[] {
  const isConflicting = (local: string): boolean => {
    const [word = '', at = ''] = local.split(':')
    if (Number.parseInt(at, 16) !== port) return false
    const taken = addressOf(word)
    return taken === address || taken === EVERYWHERE || address === EVERYWHERE
  }
  const rows = table.split('\n').map(line => line.trim().split(/\s+/))
  return rows.filter(([, local = '']) => isConflicting(local)).map(columns => columns[9] ?? '')
}

/** Decodes the four bytes in the byte order of the kernel, which is little endian on all supported machines. */
const addressOf = (word: string): string => [...Buffer.from(word, 'hex')].toReversed().join('.')

/** @returns whether the process has one of the sockets open; false when its files are hidden or it has ended */
function hasSocket(pid: string, inodes: ReadonlySet<string>): boolean {
  const folder = `/proc/${pid}/fd`
  return orElse([], () => readdirSync(folder)).some(name => {
    // A file that was closed after the folder was read has no link any more; the folder itself is such a one in this process.
    const link = orElse('', () => readlinkSync(`${folder}/${name}`))
    return inodes.has(/^socket:\[(\d+)\]$/.exec(link)?.[1] ?? '')
  })
}

function orElse<T>(other: T, read: () => T): T {
  try {
    return read()
  } catch {
    return other
  }
}
