import test from 'ava'
import { historianConformance } from '../conformance/historian.ts'
import { temporaryHistorian } from './place.ts'

historianConformance(test.serial as typeof test, 'hot', async t => ({
  historian: (await temporaryHistorian(t)).historian,
  settle: async () => undefined,
}))

historianConformance(test.serial as typeof test, 'sealed', async t => {
  const { historian } = await temporaryHistorian(t)
  return { historian, settle: () => historian.seal({ before: Date.UTC(2100, 0) }) }
})
