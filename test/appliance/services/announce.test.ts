/** What changes is said at once to both sides: that polling has begun, and that points came or went. */
import { join } from 'node:path'
import test from 'ava'
import type { PollStatus } from '#shared/core/poll/poll-status.ts'
import { wallClock } from '#shared/node/clock.ts'
import { writeKit } from '#shared/node/pki/kit-files.ts'
import { openUplink } from '#appliance/services/uplink.ts'
import { catalogue, memoryCatalogue } from '../../support/sites/catalogue-site.ts'
import { folder, until } from '../../support/folders.ts'
import { startCentral, TOKEN } from '../../support/sites/local-site.ts'
import { edgeModel, openHubSite, pollStatus, silent } from '../../support/sites/transport-site.ts'

test('hub and central hear that polling has begun, and of a changed list, without waiting for the next status', async t => {
  const dir = folder(t)
  const { hub, kit } = await openHubSite(t, dir)
  const central = await startCentral(join(dir, 'central'), { token: TOKEN })
  t.teardown(central.stop)
  await writeKit(kit, join(dir, 'kit'))

  const list = memoryCatalogue(catalogue)
  let status: PollStatus = { ...pollStatus, running: false }
  let model = edgeModel('A')
  const uplink = await openUplink({
    settings: {
      ...{ SERVICE_MQTT_ENABLED: true, SERVICE_EDGE_KIT_DIR: join(dir, 'kit') },
      ...{ SERVICE_MQTT_HOST: undefined, SERVICE_MQTT_PORT: 8883 },
      ...{ SERVICE_EDGE_STORE_DIR: dir, SERVICE_OUTBOX_MAX_MB: 64 },
    },
    central: { url: central.url, token: TOKEN },
    self: { site_id: 'A', edge_id: 'e1', runs_rules: false, model: () => model, pollStatus: () => status },
    catalogue: list,
    clock: wallClock,
    log: silent,
  })
  for (const service of uplink.services) await service.start()
  t.teardown(async () => {
    for (const service of uplink.services.toReversed()) await service.stop()
  })
  const sides = [hub, central]
  const running = () => sides.map(({ desk }) => desk.flow.book.reported()[0]?.report.running)
  await until(() => running().every(one => one === false), 'both know the edge')

  status = pollStatus
  await uplink.announcing.start()
  // Sooner than the next status would come: after 20 s over HTTP, after 60 s over MQTT.
  await until(() => running().every(one => one === true), 'both know that it polls', 15_000)

  model = { ...model, points: model.points.map(point => ({ ...point, name: 'Renamed' })) }
  await list.change(held => held)
  const names = () => sides.map(side => side.model.points('building-A').map(({ name }) => name))
  await until(() => names().every(([first]) => first === 'Renamed'), 'both know the new list', 15_000)
  t.pass()
})
