/** Writes readings to outbox and history, prints the number of the last one, and kills itself while it is written. */
import { join } from 'node:path'
import type { Sink } from '#shared/core/ports.ts'
import { wallClock } from '#shared/node/clock.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { misdatedStore } from '#shared/node/store/misdated.ts'
import { openHistorian } from '#shared/node/historian/historian.ts'
import { historianSink } from '#appliance/sinks/historian-sink.ts'
import { replayIntoHistory } from '#appliance/sinks/outbox-to-history.ts'
import { reading, silent, testOutbox } from '../../support/sites/transport-site.ts'

const [dir = '', from, count, when] = process.argv.slice(2)
const last = Number(from) + Number(count)
const db = openDatabase(join(dir, 'plenum.db'), 1024)
const historian = await openHistorian({ db, root: join(dir, 'parquet'), memoryMb: 64, idleMs: 1000 })
const misdated = misdatedStore(db)
const kept = historianSink({
  historian,
  misdated,
  building_id: 'building-A',
  statesOf: () => undefined,
  clock: wallClock,
  notBefore: () => undefined,
  needRoom: () => undefined,
})

const end = (): Promise<never> => {
  process.stdout.write(`${last}\n`)
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => undefined)
}
const history: Sink = {
  async write(readings) {
    const isLast = readings.some(({ v }) => v === last)
    if (when === 'after the outbox' && isLast) await end()
    await kept.write(readings)
    if (when === 'after history' && isLast) await end()
  },
}
const outbox = await testOutbox(join(dir, 'outbox'), ['hub', 'history'])
const { sinks, service } = replayIntoHistory(outbox, outbox.reader('history'), history, silent, wallClock)
await service.start()
for (let n = Number(from) + 1; n <= last; n++) await sinks[0].write([reading(n)])
await outbox.close()
await historian.stop()
db.close()
