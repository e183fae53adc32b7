import test from 'ava'
import { pino } from 'pino'
import { CENTRAL_ENV } from '#hub/central/env.ts'
import { openWorkspaceOf } from '#shared/central/process.ts'
import { readEnv } from '#shared/core/env.ts'
import { wallClock } from '#shared/node/clock.ts'
import { statfsSync } from 'node:fs'
import { temporaryFolder } from '../../support/sites/workspace.ts'

async function* one() {
  yield { point_id: 'p', series: { ts: Float64Array.of(Date.UTC(2026, 1, 1)), values: Float64Array.of(1) } }
}

test('history has the space of the setting, and half of its disk without one; a building has a bound of its own where one is set', async t => {
  const extentOf = async (SERVICE_HISTORY_MAX_MB: string | undefined, SERVICE_HISTORY_BUILDING_MAX_MB?: string) => {
    const folder = temporaryFolder(t)
    const env = { SERVICE_DEV_OPEN: '1', SERVICE_CENTRAL_BIND: '127.0.0.1', SERVICE_WORKSPACE: folder }
    const bounds = { SERVICE_HISTORY_MAX_MB, SERVICE_HISTORY_BUILDING_MAX_MB }
    const read = readEnv(CENTRAL_ENV, { env: { ...env, ...bounds } }, () => '')
    if (!read.ok) return { complaints: read.complaints, folder }
    const { historian, services } = await openWorkspaceOf(read.settings, { clock: wallClock, log: pino({ level: 'silent' }) })
    const max = historian.extent().max_bytes
    await historian.load('b', ['p'], 'replace', one())
    const ofBuilding = historian.extents('b')[0]?.max_bytes
    for (const service of services.toReversed()) await service.stop()
    return { max, ofBuilding, folder }
  }
  t.like(await extentOf('40', '20'), { max: 40 * 2 ** 20, ofBuilding: 20 * 2 ** 20 })
  const { max, ofBuilding, folder } = await extentOf(undefined)
  const { blocks, bsize } = statfsSync(folder)
  t.is(max, (blocks * bsize) / 2)
  t.is(ofBuilding, Infinity)
  t.regex((await extentOf('1')).complaints!.join(), /SERVICE_HISTORY_MAX_MB/)
})
