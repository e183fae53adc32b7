/** The network of a box by its page: settings that are kept, and settings with which nobody reaches it. `scripts/test --image`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { Box, UPLINK_HOST } from '#scripts/lib-emulator/box.ts'
import { IMAGE } from '#scripts/lib-emulator/built-image.ts'
import { UPLINK_ADDRESS } from './address.ts'
import { NETWORK_LOG } from './versions.ts'

const folder = mkdtempSync(join(tmpdir(), 'plenum-network-'))
const box = new Box(folder, IMAGE, NETWORK_LOG)
test.after.always(async () => {
  await box.cut()
  rmSync(folder, { recursive: true, force: true })
})

/** The box itself counts ten minutes. */
const PATIENCE_MS = 3_600_000
/** Nothing in front of the box leads here. */
const ELSEWHERE = '10.0.8.77/24'

type Answer = { current: { uplink: object; ot?: object }; trial: { state: string; reason: string } | null }
const network = () => box.get<Answer>('/api/system/network')
const fixed = (address: string) => ({ uplink: { address, gateway: UPLINK_HOST }, ot: {}, time_servers: [] })

test.serial('a fixed address that somebody keeps stays', async t => {
  await box.start()
  await box.signIn()
  t.deepEqual((await network()).current, { uplink: {}, ot: {}, time_servers: [] } as never)
  box.forgetConsole()
  await box.put('/api/system/network', fixed(`${UPLINK_ADDRESS}/24`))
  await box.says(/Plenum network: trying/)
  await box.healthy()
  const tried = await network()
  t.is(tried.trial?.state, 'trying')
  t.deepEqual(tried.current.uplink, fixed(`${UPLINK_ADDRESS}/24`).uplink)
  await box.post('/api/system/network/keep')
  await box.says(/Plenum network: kept/)
  t.is((await network()).trial?.state, 'kept')
})

test.serial('an address at which nobody reaches the box is set back by itself', async t => {
  box.forgetConsole()
  await box.put('/api/system/network', fixed(ELSEWHERE))
  await box.says(/Plenum network: trying/)
  await box.says(/"msg":"running"/)
  t.false(await box.answersOn('uplink'))
  await box.says(/Plenum network: set_back nobody kept them within 10 minutes/, PATIENCE_MS)
  await box.healthy()
  const { current, trial } = await network()
  t.like(trial, { state: 'set_back' })
  t.deepEqual(current.uplink, fixed(`${UPLINK_ADDRESS}/24`).uplink, 'those that were kept')
})
