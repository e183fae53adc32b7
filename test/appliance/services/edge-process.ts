/** An edge that writes readings without end, with a pause of `pace` ms, and prints the number of each once it is on the disk. A hub may renew its certificate. */
import { openRenewedKits, reading, startRenewableEdge } from '../../support/sites/transport-site.ts'

const [kit, dir, from, pace = '10'] = process.argv.slice(2)
const edge = await startRenewableEdge(await openRenewedKits(kit!, dir!), dir!)
for (let n = Number(from) + 1; ; n++) {
  await edge.outbox.write([reading(n)])
  process.stdout.write(`${n}\n`)
  await new Promise(resolve => setTimeout(resolve, Number(pace)))
}
