import test from 'ava'
import { historianConformance } from '../../../conformance/historian.ts'
import { type Place, temporaryHistorian } from '../../../support/sites/workspace.ts'

/** One for all tests, each in a building of its own: starting processes takes longer than what the tests ask of them. */
let place: Place
const teardowns: (() => unknown)[] = []
test.before(async () => {
  place = await temporaryHistorian({ teardown: end => void teardowns.push(end) })
})
test.after.always(async () => {
  for (const end of teardowns.toReversed()) await end()
})

let buildings = 0
const building = () => `b${buildings++}`

historianConformance(test.serial as typeof test, 'hot', async () => ({
  historian: place.historian,
  settle: async () => undefined,
  b: building(),
}))

historianConformance(test.serial as typeof test, 'sealed', async () => ({
  historian: place.historian,
  settle: () => place.historian.seal({ before: Date.UTC(2100, 0) }),
  b: building(),
}))
