/** Whether this machine's clock follows a time server. */
import { existsSync } from 'node:fs'

/** What systemd-timesyncd leaves behind: the folder while it runs, the file once it has set the clock. */
const FOLDER = '/run/systemd/timesync'
const SET = `${FOLDER}/synchronized`

/** @returns null where nothing on the machine says; other time services leave no such mark */
export const timeSynced = (): boolean | null => (existsSync(SET) ? true : existsSync(FOLDER) ? false : null)
