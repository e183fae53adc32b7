import test from 'ava'
import { pino } from 'pino'
import { CENTRAL_ENV } from '#hub/central/env.ts'
import { openWorkspaceOf } from '#shared/central/process.ts'
import { readEnv } from '#shared/core/env.ts'
import { wallClock } from '#shared/node/clock.ts'
import { statfsSync } from 'node:fs'
import { temporaryFolder } from '../../support/sites/workspace.ts'

test('history has the space of the setting, and half of its disk without one', async t => {
  const extentOf = async (SERVICE_HISTORY_MAX_MB: string | undefined) => {
    const folder = temporaryFolder(t)
    const env = { SERVICE_DEV_OPEN: '1', SERVICE_CENTRAL_BIND: '127.0.0.1', SERVICE_WORKSPACE: folder, SERVICE_HISTORY_MAX_MB }
    const read = readEnv(CENTRAL_ENV, { env }, () => '')
    if (!read.ok) return { complaints: read.complaints, folder }
    const { historian, services } = await openWorkspaceOf(read.settings, { clock: wallClock, log: pino({ level: 'silent' }) })
    const max = historian.extent().max_bytes
    for (const service of services.toReversed()) await service.stop()
    return { max, folder }
  }
  t.is((await extentOf('40')).max, 40 * 2 ** 20)
  const { max, folder } = await extentOf(undefined)
  const { blocks, bsize } = statfsSync(folder)
  t.is(max, (blocks * bsize) / 2)
  t.regex((await extentOf('1')).complaints!.join(), /SERVICE_HISTORY_MAX_MB/)
})
