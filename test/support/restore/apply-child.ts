/** Applies a restore in a process of its own and ends after so many moves, as a kill does: no code of it runs on. */
import fs from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import pino from 'pino'

const [workspace, parquetRoot, movesText] = process.argv.slice(2)
let left = Number(movesText)
const promises = createRequire(import.meta.url)('node:fs/promises') as typeof fs.promises
const { rename } = promises
promises.rename = async (from, to) => {
  if (left-- === 0) process.kill(process.pid, 'SIGKILL')
  await rename(from, to)
}
syncBuiltinESMExports()
const { applyRestore } = await import('#shared/node/backup/apply-restore.ts')
await applyRestore({ workspace: workspace!, parquetRoot: parquetRoot! }, pino({ level: 'silent' }))
