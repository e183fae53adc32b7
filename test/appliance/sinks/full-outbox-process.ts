/** Writes readings to a small outbox without end, so that it is always full, and prints the number of each page on the disk. */
import { page, testOutbox } from '../../support/sites/transport-site.ts'

const [dir = '', from = '0', maxBytes = ''] = process.argv.slice(2)
const outbox = await testOutbox(dir, ['hub'], Number(maxBytes))
for (let n = Number(from); ; n++) {
  await outbox.write(page(n))
  process.stdout.write(`${n}\n`)
}
