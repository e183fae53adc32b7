/** An outbox that goes back in time must never have its new messages taken for old ones. */
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { folder, until } from '../../support/folders.ts'
import { startCentral, startLocalEdge, TOKEN } from '../../support/sites/local-site.ts'
import { type Edge, openHubSite, reading, startEdge, testOutbox } from '../../support/sites/transport-site.ts'

type Place = { open: (outbox: string) => Promise<Edge>; stored: () => unknown[] }

const PLACES: Record<string, (t: ExecutionContext, dir: string) => Promise<Place>> = {
  async 'the hub'(t, dir) {
    const { hub, kit } = await openHubSite(t, dir)
    return { open: outbox => startEdge(kit, outbox), stored: () => hub.samples().map(({ v }) => v) }
  },
  async 'the central on the box'(t, dir) {
    const central = await startCentral(join(dir, 'central'), { token: TOKEN })
    t.teardown(central.stop)
    return { open: outbox => startLocalEdge(central.url, outbox), stored: () => central.samples().map(({ v }) => v) }
  },
}
/** Messages after which the copy is taken, messages after it that are lost, and messages written before the edge connects. */
const CASES = [
  { name: 'that ends before the mark', copied: 3, lost: 5, again: 0 },
  { name: 'that has grown past the mark again', copied: 3, lost: 2, again: 6 },
  { name: 'that has grown to the mark exactly', copied: 3, lost: 4, again: 4 },
  { name: 'in which nothing is missing', copied: 3, lost: 0, again: 4 },
]

for (const [name, openPlace] of Object.entries(PLACES)) {
  for (const { name: which, copied, lost, again } of CASES) {
    test(`an older copy ${which} loses nothing of what it writes, at ${name}`, async t => {
      const dir = folder(t)
      const { open, stored } = await openPlace(t, dir)
      const [outbox, copy] = [join(dir, 'outbox'), join(dir, 'copy')]
      let n = 0
      const write = async (edge: Edge, count: number) => {
        for (let i = 0; i < count; i++) await edge.outbox.write([reading(++n)])
        await until(() => edge.state().backlog === 0, 'everything acknowledged')
      }
      const first = await open(outbox)
      await write(first, copied)
      await first.stop()
      cpSync(outbox, copy, { recursive: true })
      const second = await open(outbox)
      await write(second, lost)
      await second.stop()

      rmSync(outbox, { recursive: true })
      cpSync(copy, outbox, { recursive: true })
      const offline = await testOutbox(outbox, [name === 'the hub' ? 'hub' : 'central'])
      for (let i = 0; i < again; i++) await offline.write([reading(++n)])
      await offline.close()
      const restored = await open(outbox)
      t.teardown(restored.stop)
      await write(restored, 3)
      await until(() => stored().length === n, `all of ${n} are stored`)
      t.deepEqual(
        stored(),
        Array.from({ length: n }, (_, i) => i + 1),
      )
    })
  }
}
