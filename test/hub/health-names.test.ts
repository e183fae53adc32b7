/** Every check of health has a name on the page System, on a hub with all that it may have. */
import test from 'ava'
import { openSpecHub, sharedEnds, startSpecAppliance, tokenOf } from '../spec/spec-site.ts'

const ends = sharedEnds()
test.after.always(ends.end)

const NAME = /<dt>([^<]*)<\/dt><dd><span class="marked state/g

for (const [product, open] of [
  ['hub', openSpecHub],
  ['hub with tenants', (all: typeof ends) => openSpecHub(all, { SERVICE_MULTI_TENANT: '1' })],
  ['appliance', startSpecAppliance],
] as const) {
  test(`the page System of a ${product} names each check of health in words`, async t => {
    const { send } = await open(ends)
    const { text } = await send('GET', '/system', { token: await tokenOf(send, 'admin'), accept: 'text/html' })
    const names = [...text.matchAll(NAME)].map(([, name]) => name!)
    t.true(names.length > 7, text.slice(0, 3000))
    t.deepEqual(
      names.filter(name => !/^[A-Z]/.test(name)),
      [],
    )
  })
}
