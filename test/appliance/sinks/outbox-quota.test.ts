/** The quota of the outbox: its default, and the setting in MB. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { readEnv } from '#shared/core/env.ts'
import { DAY, MINUTE } from '#shared/core/time.ts'
import { wallClock } from '#shared/node/clock.ts'
import { UPLINK_VARIABLES } from '#appliance/env.ts'
import { openReadingStorage } from '#appliance/services/reading-storage.ts'
import { openOutbox } from '#appliance/sinks/outbox.ts'
import { catalogue, memoryCatalogue } from '../../support/sites/catalogue-site.ts'
import { folder } from '../../support/folders.ts'
import { reading, silent } from '../../support/sites/transport-site.ts'

const MB = 2 ** 20
const { SERVICE_OUTBOX_MAX_MB } = UPLINK_VARIABLES
const point_id = catalogue.devices[0]!.points[0]!.point_id

test('the default quota holds a day of four thousand points a minute, as the document says', async t => {
  const read = readEnv({ SERVICE_OUTBOX_MAX_MB }, { env: {} }, () => '')
  const quota = read.ok ? read.settings.SERVICE_OUTBOX_MAX_MB : 0
  const said = readFileSync(new URL('../../../shared/core/topic/TOPICS.md', import.meta.url), 'utf8')
  t.is(Number(/outbox is full \((\d+) MB unless `SERVICE_OUTBOX_MAX_MB`/.exec(said)?.[1]), quota)

  const dir = folder(t)
  const bounds = { dir, maxBytes: 64 * MB, clock: wallClock, log: silent }
  const outbox = await openOutbox({ ...bounds, to: ['hub'], protocolOf: () => 'bacnet' })
  await outbox.write(Array.from({ length: 4000 }, (_, n) => ({ ...reading(n), id: `AHU-${n % 50}.point-${n}`, v: n / 7 })))
  await outbox.close()
  const files = readdirSync(join(dir, 'log')).filter(name => name.endsWith('.log') || name.endsWith('.jsonl'))
  const minute = files.reduce((sum, name) => sum + statSync(join(dir, 'log', name)).size, 0)
  t.true(minute > 4000)
  t.true((minute * DAY) / MINUTE <= quota * MB, `${Math.round((minute * DAY) / MINUTE / MB)} MB in a day`)
})

test('the outbox stays within the MB of the setting, and drops nothing below that', async t => {
  const dir = folder(t)
  const storage = await openReadingStorage({
    settings: { SERVICE_EDGE_STORE_DIR: dir, SERVICE_OUTBOX_MAX_MB: 8 },
    destinations: ['central'],
    catalogue: memoryCatalogue(catalogue),
    clock: wallClock,
    log: silent,
  })
  t.teardown(async () => {
    for (const service of storage.services.toReversed()) await service.stop()
  })
  const reader = storage.outbox!.reader('central')
  // A value a second, of 30 bytes or so each.
  const given = Array.from({ length: 500 }, (_, n) => ({ ...reading(n), id: point_id }))
  const bytesOf = () => JSON.stringify(given).length
  const lost = () => reader.dropped() + reader.thinned()
  let written = 0
  for (; written + bytesOf() < 7.5 * MB; written += bytesOf()) await storage.sinks[0]!.write(given)
  t.is(lost(), 0)
  for (; written < 12 * MB; written += bytesOf()) await storage.sinks[0]!.write(given)
  t.true(lost() > 0)
})
