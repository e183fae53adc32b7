import { join } from 'node:path'
import test from 'ava'
import { simulatedClock } from '#shared/node/clock.ts'
import { applianceEnv, hubEnv } from '../../scripts/lib-start/environment.ts'
import { type HubClient, openHubClient, waitForHealth } from '../../scripts/lib-start/hub-client.ts'
import { PORTS } from '../../scripts/lib-start/options.ts'
import { startPart } from '../../scripts/lib-start/process.ts'
import { configure, layout, provision } from '../../scripts/lib-start/provision.ts'
import { SITE_START } from '#scripts/simulator/building/building.ts'
import { BUILDING_ID } from '#scripts/simulator/building/catalogue.ts'
import { openSite } from '#scripts/simulator/building/site.ts'
import { eventually, freeBase, temporaryFolder } from './run-start.ts'

const PASSWORDS = { admin: 'admin-of-the-test', agent: 'agent-of-the-test', viewer: 'viewer-of-the-test' }
const SPEED = 60

type Series = { series: { points: { t: string; last: number | null }[] }[] }

/** A point's samples as a central holds them. */
async function samples(central: HubClient, point_id: string): Promise<string[]> {
  const query = new URLSearchParams({ building_id: BUILDING_ID, equipment_id: point_id.split('.')[0]!, point_id })
  const { series } = await central.get<Series>(`/api/fdd/series?${query}`)
  return series.flatMap(({ points }) => points.map(({ t, last }) => `${t} ${last}`))
}

test('a hub that is down from the start gets everything once, when it comes', async t => {
  t.timeout(180_000)
  const [dir, portBase] = [await temporaryFolder(t), await freeBase(17)]
  const at = layout(dir)
  const started = { speed: SPEED, epochMs: SITE_START, atMs: Date.now() }
  const site = await openSite(simulatedClock(started), portBase + PORTS.devices)
  t.teardown(site.close)
  await provision(at, portBase)
  await configure(at, portBase)
  const kept = { passwords: PASSWORDS, hubSecret: 'h'.repeat(40), applianceSecret: 'a'.repeat(40) }
  const settings = { at, portBase, kept, clock: started }

  const appliance = startPart('appliance', 'appliance/main.ts', applianceEnv(settings), join(at.logs, 'appliance.log'))
  t.teardown(appliance.stop)
  const applianceUrl = `http://127.0.0.1:${portBase + PORTS.appliance}`
  t.true(await waitForHealth(applianceUrl, 90_000, appliance.hasEnded), appliance.lastWords().join('\n'))
  const box = await openHubClient(applianceUrl, PASSWORDS.viewer)
  const before = await eventually('five polls without a hub', 60_000, async () => {
    const held = await samples(box, 'AHU-1.oa_t')
    return held.length >= 5 ? held : undefined
  })

  const hub = startPart('hub', 'hub/main.ts', hubEnv(settings), join(at.logs, 'hub.log'))
  t.teardown(hub.stop)
  const hubUrl = `http://127.0.0.1:${portBase + PORTS.hub}`
  t.true(await waitForHealth(hubUrl, 90_000, hub.hasEnded), hub.lastWords().join('\n'))
  const central = await openHubClient(hubUrl, PASSWORDS.viewer)
  const arrived = await eventually('what was read before the hub came', 90_000, async () => {
    const held = await samples(central, 'AHU-1.oa_t').catch((): string[] => [])
    return before.every(sample => held.includes(sample)) ? held : undefined
  })
  t.is(new Set(arrived.map(sample => sample.split(' ')[0])).size, arrived.length)
  const { edges, ingest_ok, ingest_rejected } = await central.health()
  t.deepEqual({ edges, ingest_rejected }, { edges: 1, ingest_rejected: 0 })
  t.true(ingest_ok > 0)
})
