/** Disk, clock, memory and temperature of the machine. */
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import type { DiskSpace } from '#shared/core/disk-use.ts'
import { diskSpace } from './disk-watch.ts'

export type MachineState = {
  disk: DiskSpace
  /** Whether the time service of the system has set the clock from the network. */
  clock_synced: boolean
  started_at: number
}

/** systemd-timesyncd creates the folder while it runs, and the file at its first synchronisation after a start. */
const TIME_SYNC_FOLDER = '/run/systemd/timesync'
const TIME_SYNCED = `${TIME_SYNC_FOLDER}/synchronized`

/** @returns whether the clock follows a time server; null when this is unknown, as with other time services */
export const timeSynced = (): boolean | null => (existsSync(TIME_SYNCED) ? true : existsSync(TIME_SYNC_FOLDER) ? false : null)

/** @param workspace a folder on the disk to report */
export async function readMachine(workspace: string, started_at: number): Promise<MachineState> {
  return { disk: await diskSpace(workspace), clock_synced: timeSynced() === true, started_at }
}

/** What this process has in memory, and what the machine has, bytes. What is free cannot be told where /proc is hidden. */
export const memoryUse = (): { used: number; total: number } => ({ used: process.memoryUsage.rss(), total: totalmem() })

const THERMAL_FOLDER = '/sys/class/thermal'
/** A sensor that says less or more is broken, °C. */
const PLAUSIBLE = { min: -40, max: 150 }

/** @returns the hottest of the machine's own sensors, °C; undefined where it has none, as in a virtual machine */
export async function machineTemperature(folder = THERMAL_FOLDER): Promise<number | undefined> {
  const zones = (await readdir(folder).catch(() => [])).filter(name => name.startsWith('thermal_zone'))
  const texts = await Promise.all(zones.map(zone => readFile(join(folder, zone, 'temp'), 'utf8').catch(() => '')))
  const read = texts.filter(text => text.trim() !== '').map(text => Number(text) / 1000)
  const plausible = read.filter(degrees => degrees >= PLAUSIBLE.min && degrees <= PLAUSIBLE.max)
  return plausible.length === 0 ? undefined : Math.max(...plausible)
}
