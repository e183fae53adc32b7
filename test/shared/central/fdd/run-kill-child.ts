/** Takes one step of the story in `run-kill-site.ts`, and dies in it where that says so. `heard` has a line for each time findings were told. */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { openHistorian } from '#shared/node/historian/historian.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { IDLE_MS, MEMORY_MB } from '../../../support/sites/workspace.ts'
import { type Box, boxAt } from '../../../support/sites/run-box.ts'
import { type Death, SITE, STEPS } from './run-kill-site.ts'

const [folder = '', step = ''] = process.argv.slice(2)
const { samples, at, dies } = STEPS[Number(step)]!
const dbPath = join(folder, 'plenum.db')
const root = join(folder, 'parquet')
const db = openDatabase(dbPath)
const historian = await openHistorian({ db, root, memoryMb: MEMORY_MB, idleMs: IDLE_MS })
const box = boxAt({ db, dbPath, root, historian }, SITE)

const dieAt = (death: Death): void => {
  if (dies === death) process.kill(process.pid, 'SIGKILL')
}
const { evaluate } = box.ports
const others: Partial<Box['ports']> = {
  evaluate: async job => {
    const evaluation = await evaluate(job)
    dieAt('evaluated')
    return evaluation
  },
  runRecorder: { replace: (...found) => (dieAt('storing'), box.runRecorder.replace(...found)) },
  changes: { ...box.changes, settle: (...settled) => (dieAt('stored'), box.changes.settle(...settled)) },
  onFindings: (findings, withdrawn) => {
    dieAt('settled')
    appendFileSync(join(folder, 'heard'), `${JSON.stringify({ findings, withdrawn })}\n`)
    dieAt('told')
  },
}
await box.give(samples)
await box.run(at, {}, others)
await historian.stop()
db.close()
