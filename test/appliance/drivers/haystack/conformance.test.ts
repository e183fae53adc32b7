/** The Haystack driver passes the suite of every field driver, with watches and without. */
import test from 'ava'
import { PROFILES, simPoint } from '#scripts/simulator/haystack/server.ts'
import { driverConformance } from '../../../conformance/driver.ts'
import { accessOf, openDriver, openServer, point } from './harness.ts'

const NOW = 1_000

for (const [name, profile] of Object.entries(PROFILES)) {
  driverConformance(test, `Haystack, a server like ${name}`, async t => {
    const points = [0, 1, 2].map(i => simPoint(`p${i}`, { num: 10 + i, unit: 'kW' }))
    const server = await openServer(t, profile, { points })
    return {
      driver: openDriver(t, accessOf(server, profile.auth), { timeoutMs: 1500, now: () => NOW }),
      address: point_id => point(`@${point_id}`, 'kW'),
      silence: () => server.misbehave('silent'),
      now: NOW,
    }
  })
}
