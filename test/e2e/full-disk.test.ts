/** An appliance on a disk that somebody else has filled: it starts, reads, shows its pages, and stores once there is space. */
import { rmSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { openHubClient } from '../../scripts/lib-start/hub-client.ts'
import { canMountTmpfs } from '../support/disk/mounts.ts'
import { smallDisk } from '../support/disk/small-disk.ts'
import { testWhere } from '../support/optional.ts'
import { signedIn } from '../support/signed-in.ts'
import { assertInOrder, atLeast, AUTH, configure, countingDevice, held, loopback, PASSWORDS, program } from './field-site.ts'
import { eventually, freeBase, temporaryFolder } from './run-start.ts'

const DISK = 160 * 2 ** 20

type Health = { checks: Record<'poll' | 'workspace', { detail?: string }> }

async function healthOf(url: string) {
  const viewer = await openHubClient(url, PASSWORDS.viewer)
  return (await viewer.get<Health>('/api/health/details')).checks
}

testWhere(canMountTmpfs())(
  'an appliance on a full disk starts, reads and says what is wrong, and stores once there is space',
  async t => {
    t.timeout(400_000)
    const [dir, base] = [await temporaryFolder(t), await freeBase(1)]
    await mkdir(join(dir, 'disk'))
    const disk = smallDisk(t, join(dir, 'disk'), DISK)
    const device = await countingDevice(t)
    const workspace = join(disk.dir, 'workspace')
    await configure(workspace, device.port)
    const box = program(t, 'appliance', {
      main: 'appliance/main.ts',
      url: loopback(base),
      logs: dir,
      env: {
        ...AUTH,
        SERVICE_CENTRAL_BIND: '127.0.0.1',
        SERVICE_CENTRAL_PORT: String(base),
        SERVICE_WORKSPACE: workspace,
        SERVICE_EDGE_STORE_DIR: join(disk.dir, 'store'),
        SERVICE_BACNET_BIND: '127.0.0.1',
        SERVICE_BACNET_PORT: '0',
        SERVICE_PRIORITY_SCAN_ENABLED: '1',
      },
    })
    await box.start()
    await atLeast(box.url, 10)
    await box.kill()

    // A power cut may leave out what SQLite makes anew when it opens its database, and needs room for.
    rmSync(join(workspace, 'plenum.db-shm'))
    // The first start gives its ballast away; the next finds no byte at all.
    for (const freeAtStart of ['the ballast', 'nothing']) {
      disk.fill()
      await box.start()
      const { poll, workspace: space } = await eventually(`readings that wait, with ${freeAtStart}`, 60_000, async () => {
        const checks = await healthOf(box.url)
        return checks.poll.detail === undefined ? undefined : checks
      })
      t.regex(poll.detail!, /the disk is full/, freeAtStart)
      t.regex(space.detail!, /readings wait until there is space/, freeAtStart)
      const { get } = await signedIn(box.url, 'viewer', PASSWORDS.viewer)
      t.regex(await (await get('/')).text(), /Readings have not been stored for \d/, freeAtStart)
      t.true((await held(box.url)).length >= 10, freeAtStart)
      await box.kill()
    }

    disk.free()
    await box.start()
    const stored = await held(box.url)
    assertInOrder(t, await atLeast(box.url, stored.length + 10))
    t.is((await healthOf(box.url)).poll.detail, undefined)
    t.notRegex(await (await (await signedIn(box.url, 'viewer', PASSWORDS.viewer)).get('/')).text(), /not been stored/)
  },
)
