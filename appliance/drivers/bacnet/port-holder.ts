/** Which process has a UDP port, as far as this one may know. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** @returns for example "process 4711 (bacserv)"; undefined when it is hidden, or not Linux */
export function whoHoldsPort(port: number): string | undefined {
  try {
    const inodes = new Set(inodesOf(readFileSync('/proc/net/udp', 'latin1'), port))
    const pid = readdirSync('/proc').find(name => /^\d+$/.test(name) && holdsOne(name, inodes))
    return pid && `process ${pid} (${readFileSync(`/proc/${pid}/comm`, 'utf8').trim()})`
  } catch {
    return undefined
  }
}

/** Columns of proc(5) net/udp: number, local address and port in hexadecimal as 2nd, inode as 10th. */
function inodesOf(table: string, port: number): string[] {
  const ending = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = table.split('\n').map(line => line.trim().split(/\s+/))
  return rows.filter(([, local]) => local?.endsWith(ending)).map(columns => columns[9] ?? '')
}

/** Files of other users' processes cannot be seen, and a process may end meanwhile: both hold nothing. */
function holdsOne(pid: string, inodes: ReadonlySet<string>): boolean {
  try {
    const folder = `/proc/${pid}/fd`
    return readdirSync(folder).some(name => inodes.has(/^socket:\[(\d+)\]$/.exec(readlinkSync(`${folder}/${name}`))?.[1] ?? ''))
  } catch {
    return false
  }
}
