import test from 'ava'
import { pino } from 'pino'
import { APPLIANCE_ENV } from '#appliance/env.ts'
import { openBoxWorkspace } from '#appliance/store/box-workspace.ts'
import { readEnv } from '#shared/core/env.ts'
import { wallClock } from '#shared/node/clock.ts'
import { temporaryFolder } from '../../support/sites/workspace.ts'

test('a box makes its database with pages of 1 KB, which wear a disk less', async t => {
  const env = { SERVICE_DEV_OPEN: '1', SERVICE_CENTRAL_BIND: '127.0.0.1', SERVICE_WORKSPACE: temporaryFolder(t) }
  const read = readEnv(APPLIANCE_ENV, { env }, () => '')
  if (!read.ok) throw new Error(read.complaints.join())
  const { db, services } = await openBoxWorkspace(read.settings, { clock: wallClock, log: pino({ level: 'silent' }) })
  t.is(db.pragma('page_size', { simple: true }), 1024)
  for (const service of services.toReversed()) await service.stop()
})
