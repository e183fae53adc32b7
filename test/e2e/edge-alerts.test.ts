/**
 * What is wrong with an edge, made as at a site, and told by webhook: a device that falls silent, a full disk, a wrong clock, a certificate
 * that nobody renews, and a box that was copied with its kit.
 */
import { cpSync, rmSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DAY, MINUTE } from '#shared/core/time.ts'
import { writeKit } from '#shared/node/pki/kit-write.ts'
import { makePki, openPki, PKI_FILES } from '#shared/node/pki/pki-files.ts'
import { canMountTmpfs } from '../support/disk/mounts.ts'
import { smallDisk } from '../support/disk/small-disk.ts'
import { canFakeClock, openClock } from '../support/faked-clock.ts'
import { testWhere } from '../support/optional.ts'
import { receiver } from '../support/sites/alert-site.ts'
import { atLeast, AUTH, configure, countingDevice, loopback, program } from './field-site.ts'
import { eventually, freeBase, temporaryFolder } from './run-start.ts'

const DISK = 64 * 2 ** 20
const ADMIN = 'admin-of-the-test'
/** A round of alerts comes each minute. */
const ROUND_MS = MINUTE
/** The clock of the edge is wrong by this much. */
const AHEAD_MS = 2 * MINUTE

testWhere(canMountTmpfs() && canFakeClock())('what a site does to an edge reaches the receiver of alerts', async t => {
  t.timeout(900_000)
  const [dir, base] = [await temporaryFolder(t), await freeBase(4)]
  const { url, received } = await receiver(t)
  const device = await countingDevice(t)
  await configure(join(dir, 'box'), device.port)
  await mkdir(join(dir, 'disk'))
  const disk = smallDisk(t, join(dir, 'disk'), DISK)

  const certs = join(dir, 'pki')
  const made = () => Date.now() - 388 * DAY
  await makePki(certs, { name: 'Test', now: made() })
  const place = { site_id: 'demo', edge_id: 'edge-1', broker_host: '127.0.0.1', broker_port: base + 1 }
  await writeKit(await (await openPki(certs, made)).kit(place), join(dir, 'kit'))
  const pki = await openPki(certs, Date.now)
  await pki.broker({ hosts: ['127.0.0.1'] })
  await pki.central({ site_id: '*' })
  rmSync(join(certs, PKI_FILES.ca.key)) // It is kept elsewhere, so this hub renews nothing.

  const clocks = { hub: openClock(join(dir, 'clock-hub')), box: openClock(join(dir, 'clock-box')) }
  const bind = { ...AUTH, SERVICE_CENTRAL_BIND: '127.0.0.1' }
  const hub = program(t, 'hub', {
    main: 'hub/main.ts',
    url: loopback(base),
    logs: dir,
    env: {
      ...{ ...bind, ...clocks.hub.env, SERVICE_ADMIN_PASSWORD: ADMIN },
      ...{ SERVICE_CENTRAL_PORT: String(base), SERVICE_WORKSPACE: join(dir, 'hub') },
      ...{ SERVICE_MQTT_BIND: '127.0.0.1', SERVICE_MQTT_PORT: String(base + 1), SERVICE_MQTT_CERT_DIR: certs },
    },
  })
  const boxOf = (name: string, store: string, port: number) =>
    program(t, name, {
      main: 'appliance/main.ts',
      url: loopback(port),
      logs: dir,
      env: {
        ...{ ...bind, ...clocks.box.env, SERVICE_CENTRAL_PORT: String(port), SERVICE_WORKSPACE: join(dir, name) },
        ...{ SERVICE_EDGE_STORE_DIR: store, SERVICE_EDGE_KIT_DIR: join(dir, 'kit'), SERVICE_MQTT_ENABLED: '1' },
        ...{ SERVICE_BACNET_BIND: '127.0.0.1', SERVICE_BACNET_PORT: '0' },
      },
    })
  const box = boxOf('box', join(disk.dir, 'store'), base + 2)
  await hub.start()
  await box.start()
  await atLeast(hub.url, 3)
  const login = await fetch(`${hub.url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password: ADMIN }),
  })
  const { token } = (await login.json()) as { token: string }
  const added = await fetch(`${hub.url}/api/alerts/routes`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ name: 'Plant team', webhook_url: url }),
  })
  t.is(added.status, 200, await added.text())

  device.misbehave('silent')
  await writeFile(join(disk.dir, 'of-somebody-else'), Buffer.alloc(Math.round(disk.freeBytes() - 0.07 * DISK)))
  /** Lets time pass for both machines. Less than ten minutes at a time are not taken for a clock that was set. */
  let passed = 0
  const pass = (ms: number) => {
    passed += ms
    clocks.hub.set(passed)
    clocks.box.set(passed + AHEAD_MS)
  }
  const kinds = () => received.map(({ body }) => `${body.type} ${body.alert.kind}`)
  const raised = ['certificate', 'clock', 'disk', 'poll'].map(kind => `alert.raised ${kind}`)
  for (let round = 0; round < 8 && !raised.every(kind => kinds().includes(kind)); round++) {
    pass(8 * MINUTE)
    const seen = received.length
    const until = Date.now() + ROUND_MS
    await eventually('a round', 2 * ROUND_MS, () => (received.length > seen || Date.now() > until ? true : undefined))
  }
  t.deepEqual([...new Set(kinds())].toSorted(), raised)
  const of = (kind: string) => received.find(({ body }) => body.alert.kind === kind)!.body.alert
  t.regex(of('poll').detail, /^1 of 1 device cannot be read: ahu-1\./)
  t.regex(of('disk').detail, /^9\d % of its disk are used/)
  t.regex(of('clock').detail, /^Its clock is 2 min ahead of that of the hub/)
  t.regex(of('certificate').detail, /^It ends in \d d/)
  t.deepEqual([...new Set(received.map(({ body }) => body.alert.path))], ['/edges/edge-1?site_id=demo'])

  cpSync(join(dir, 'box', 'config'), join(dir, 'copy', 'config'), { recursive: true })
  await boxOf('copy', join(dir, 'copy-store'), base + 3).start()
  const refused = await eventually('the copy of the box', 8 * ROUND_MS, () => {
    return received.find(({ body }) => body.alert.kind === 'refused')?.body.alert
  })
  t.is(refused.title, 'Nothing of edge demo/edge-1 is stored')
  t.regex(refused.detail, /2 processes run under this edge id: give each appliance an edge_id of its own/)
})
