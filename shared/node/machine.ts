/** Disk and clock of the machine. */
import { existsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'

export type MachineState = {
  disk: { free_bytes: number; total_bytes: number }
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
  const { bavail, blocks, bsize } = await statfs(workspace)
  const disk = { free_bytes: bavail * bsize, total_bytes: blocks * bsize }
  return { disk, clock_synced: timeSynced() === true, started_at }
}
