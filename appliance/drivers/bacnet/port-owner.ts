/** Finds the process that uses a UDP port, as far as permissions allow. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'

const EVERYWHERE = '0.0.0.0'

/**
 * @param address one that cannot be bound; 0.0.0.0 is in the way of every address, and every address of 0.0.0.0
 * @returns for example "process 4711 (bacserv)"; undefined when it is hidden, or not Linux
 */
export function findPortOwner(address: string, port: number): string | undefined {
  try {
    const inodes = new Set(inodesOf(readFileSync('/proc/net/udp', 'latin1'), address, port))
    const pid = readdirSync('/proc').find(name => /^\d+$/.test(name) && holdsOne(name, inodes))
    return pid && `process ${pid} (${basename(readlinkSync(`/proc/${pid}/exe`))})`
  } catch {
    return undefined
  }
}

/** Columns of proc(5) net/udp: number, local address and port in hexadecimal as 2nd, inode as 10th. */
function inodesOf(table: string, address: string, port: number): string[] {
  const isInTheWay = (local: string): boolean => {
    const [word = '', at = ''] = local.split(':')
    if (Number.parseInt(at, 16) !== port) return false
    const taken = addressOf(word)
    return taken === address || taken === EVERYWHERE || address === EVERYWHERE
  }
  const rows = table.split('\n').map(line => line.trim().split(/\s+/))
  return rows.filter(([, local = '']) => isInTheWay(local)).map(columns => columns[9] ?? '')
}

/** The four bytes as the kernel has them in memory, which is the other way round on every machine that this runs on. */
const addressOf = (word: string): string => [...Buffer.from(word, 'hex')].toReversed().join('.')

/** Files of other users' processes cannot be seen, and a process may end meanwhile: both hold nothing. */
function holdsOne(pid: string, inodes: ReadonlySet<string>): boolean {
  try {
    const folder = `/proc/${pid}/fd`
    return readdirSync(folder).some(name => inodes.has(/^socket:\[(\d+)\]$/.exec(readlinkSync(`${folder}/${name}`))?.[1] ?? ''))
  } catch {
    return false
  }
}
