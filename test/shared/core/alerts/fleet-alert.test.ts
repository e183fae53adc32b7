import test from 'ava'
import type { AlertCondition } from '#shared/core/alerts/alert.ts'
import { fleetConditions, fleetKey } from '#shared/core/alerts/fleet-alert.ts'

const silent = (n: number): AlertCondition => ({
  ...{ key: `edge/A/e${n}`, kind: 'edge', building_id: `b${n}`, building_name: `B${n}`, timezone: 'UTC', priority: 1 },
  ...{ title: 'silent', detail: '', since: 1000 - n, path: '/' },
})

for (const [found, holding, edges, isOpen, shown, covered] of [
  [9, 0, 9, false, false, 0],
  [10, 0, 20, false, false, 0],
  [11, 0, 20, false, true, 11],
  [11, 10, 20, false, true, 11],
  [11, 11, 20, false, false, 11],
  [6, 0, 20, true, true, 6],
  [5, 0, 20, true, false, 0],
  [6, 6, 20, true, true, 6],
] as const) {
  const before = isOpen ? 'more before' : 'fewer before'
  test(`${found} of ${edges} edges, ${holding} of them not for long, ${before}: ${shown ? 'one alert' : 'no alert'} of the fleet`, t => {
    const conditions = Array.from({ length: found }, (_, n) => silent(n))
    const keys = conditions.map(({ key }) => key)
    const answer = fleetConditions({
      ...{ conditions, holding: new Set(keys.slice(0, holding)), edges, site: 'North' },
      isOpen: key => isOpen && key === fleetKey('edge'),
    })
    t.is(answer.covered.size, covered)
    t.deepEqual(
      answer.fleet.map(({ key, building_id, building_name, since, detail }) => [
        key,
        building_id,
        building_name,
        since,
        detail.slice(0, 8),
      ]),
      shown ? [['edge/*', '', 'North', 1000 - found + 1, `${found} of ${edges}`.padEnd(8).slice(0, 8)]] : [],
    )
  })
}

test('troubles of different kinds are not counted together', t => {
  const conditions = Array.from({ length: 20 }, (_, n) => ({
    ...silent(n),
    kind: n % 2 === 0 ? ('disk' as const) : ('clock' as const),
  }))
  const { fleet, covered } = fleetConditions({ conditions, holding: new Set(), edges: 20, site: 'North', isOpen: () => false })
  t.deepEqual([fleet, covered.size], [[], 0])
})
