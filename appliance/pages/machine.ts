/** What the machine itself says: disk and clock. */
import { existsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'

export type BoxState = {
  disk: { free_bytes: number; total_bytes: number }
  /** Whether the system's time service says that it has set the clock from the network. */
  clock_synced: boolean
  started_at: number
}

/** systemd-timesyncd makes this file at its first synchronisation after a start. */
const TIME_SYNCED = '/run/systemd/timesync/synchronized'

/** @param workspace a folder on the disk that fills */
export async function readBox(workspace: string, started_at: number): Promise<BoxState> {
  const { bavail, blocks, bsize } = await statfs(workspace)
  const disk = { free_bytes: bavail * bsize, total_bytes: blocks * bsize }
  return { disk, clock_synced: existsSync(TIME_SYNCED), started_at }
}
