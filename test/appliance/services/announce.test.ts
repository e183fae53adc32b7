/** A change is announced at once to hub and central: polling has started, or points were added or removed. */
import { join } from 'node:path'
import test from 'ava'
import type { PollStatus } from '#shared/core/poll/poll-status.ts'
import { wallClock } from '#shared/node/clock.ts'
import { writeKit } from '#shared/node/pki/kit-write.ts'
import { readKit } from '#shared/node/pki/kit-read.ts'
import { openReadingStorage } from '#appliance/services/reading-storage.ts'
import { createUplink } from '#appliance/services/uplink.ts'
import { catalogue, memoryCatalogue } from '../../support/sites/catalogue-site.ts'
import { folder, until } from '../../support/folders.ts'
import { startCentral, TOKEN } from '../../support/sites/local-site.ts'
import { edgeModel, edgeSelf, kitsOf, openHubSite, pollStatus, silent } from '../../support/sites/transport-site.ts'

test('hub and central learn of started polling and of a changed list before the next status is due', async t => {
  const dir = folder(t)
  const { hub, kit } = await openHubSite(t, dir)
  const central = await startCentral(join(dir, 'central'), { token: TOKEN })
  t.teardown(central.stop)
  await writeKit(kit, join(dir, 'kit'))

  const list = memoryCatalogue(catalogue)
  let status: PollStatus = { ...pollStatus, running: false }
  let model = edgeModel('A')
  const parts = { clock: wallClock, log: silent }
  const storage = await openReadingStorage({
    settings: { SERVICE_EDGE_STORE_DIR: dir, SERVICE_OUTBOX_MAX_MB: 64 },
    destinations: ['hub', 'central'],
    catalogue: list,
    ...parts,
  })
  const uplink = createUplink({
    outbox: storage.outbox,
    kits: kitsOf(await readKit(join(dir, 'kit'), Date.now()), dir),
    central: { url: central.url, token: TOKEN },
    edge: { ...edgeSelf('A', 'e1'), model: () => model, pollStatus: () => status },
    ...parts,
  })
  list.onUsed(uplink.announce)
  const services = [...storage.services, ...uplink.publishers]
  for (const service of services) await service.start()
  t.teardown(async () => {
    for (const service of services.toReversed()) await service.stop()
  })
  const sides = [hub, central]
  const running = () => sides.map(({ ingestService }) => ingestService.ingest.registry.pollReports()[0]?.report.running)
  await until(() => running().every(one => one === false), 'both know the edge')

  status = pollStatus
  uplink.announce()
  // Sooner than the next status would come: after 20 s over HTTP, after 60 s over MQTT.
  await until(() => running().every(one => one === true), 'both know that it polls', 15_000)

  model = { ...model, points: model.points.map(point => ({ ...point, name: 'Renamed' })) }
  await list.change(held => held)
  const names = () => sides.map(side => side.model.points('building-A').map(({ name }) => name))
  await until(() => names().every(([first]) => first === 'Renamed'), 'both know the new list', 15_000)
  t.pass()
})
