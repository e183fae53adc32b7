/** Disk and clock of the machine. */
import { existsSync } from 'node:fs'
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
