/** An appliance whose clock is ten years behind: hub and box keep what it reads apart, run no rules and say so, and go on once the clock is right. */
import { join } from 'node:path'
import { DAY, MINUTE } from '#shared/core/time.ts'
import { writeKit } from '#shared/node/pki/kit-write.ts'
import { openHubClient } from '../../scripts/lib-start/hub-client.ts'
import { canFakeClock, openClock } from '../support/faked-clock.ts'
import { signedIn } from '../support/signed-in.ts'
import { testWhere } from '../support/optional.ts'
import { makeAuthority } from '../support/sites/transport-site.ts'
import { assertInOrder, atLeast, AUTH, configure, countingDevice, held, loopback, PASSWORDS, program } from './field-site.ts'
import { eventually, freeBase, temporaryFolder } from './run-start.ts'

type Edge = { clock_offset_ms: number | null; misdated: { count: number; reason: string } | null }
type Misdated = { readings: { observed_at: string; quality: string }[] }

testWhere(canFakeClock())(
  'readings of a clock ten years behind are kept apart at the hub and on the box, no rules run, and the history begins once it is right',
  async t => {
    t.timeout(400_000)
    const [dir, base] = [await temporaryFolder(t), await freeBase(3)]
    const device = await countingDevice(t)
    await configure(join(dir, 'box'), device.port)
    const certs = join(dir, 'pki')
    const pki = await makeAuthority(certs)
    const place = { broker_host: '127.0.0.1', broker_port: base + 1 }
    await writeKit(await pki.kit({ site_id: 'demo', edge_id: 'edge-1', ...place }), join(dir, 'kit'))
    const bind = { ...AUTH, SERVICE_CENTRAL_BIND: '127.0.0.1' }
    const hub = program(t, 'hub', {
      main: 'hub/main.ts',
      url: loopback(base),
      logs: dir,
      env: {
        ...{ ...bind, SERVICE_CENTRAL_PORT: String(base), SERVICE_WORKSPACE: join(dir, 'hub') },
        ...{ SERVICE_MQTT_BIND: '127.0.0.1', SERVICE_MQTT_PORT: String(base + 1), SERVICE_MQTT_CERT_DIR: certs },
      },
    })
    const clock = openClock(join(dir, 'clock'))
    clock.set(-3652 * DAY)
    const box = program(t, 'box', {
      main: 'appliance/main.ts',
      url: loopback(base + 2),
      logs: dir,
      env: {
        ...{ ...bind, ...clock.env, SERVICE_CENTRAL_PORT: String(base + 2), SERVICE_WORKSPACE: join(dir, 'box') },
        ...{ SERVICE_EDGE_STORE_DIR: join(dir, 'store'), SERVICE_EDGE_KIT_DIR: join(dir, 'kit'), SERVICE_MQTT_ENABLED: '1' },
        ...{ SERVICE_BACNET_BIND: '127.0.0.1', SERVICE_BACNET_PORT: '0' },
      },
    })
    await hub.start()
    await box.start()

    const client = await openHubClient(hub.url, PASSWORDS.viewer)
    const told = await eventually('the hub says what it keeps apart', 120_000, async () => {
      const { edges } = await client.get<{ edges: Edge[] }>('/api/edges')
      return edges[0]?.misdated ?? undefined
    })
    t.regex(told.reason, /^20\d\d-.* is before 20\d\d-.*, when the version that read it was made$/)
    const { readings } = await client.get<Misdated>('/api/history/misdated?building_id=school')
    t.true(readings.length > 0)
    for (const { observed_at, quality } of readings) {
      t.is(quality, 'clock')
      t.true(Math.abs(Date.parse(observed_at) + 3652 * DAY - Date.now()) < 10 * MINUTE)
    }
    t.deepEqual([await held(hub.url), await held(box.url)], [[], []], 'nothing is in a history')

    const reader = await signedIn(hub.url, 'viewer', PASSWORDS.viewer)
    t.regex(await (await reader.get('/')).text(), /<strong>\d+ readings? kept apart<\/strong>/)
    const page = await (await reader.get('/edges/edge-1')).text()
    t.regex(page, /when the version that read it was made\. .*href="\/api\/history\/misdated\?building_id=school"/)
    await eventually('the box shows what the hub says', 120_000, async () => {
      const home = await (await (await signedIn(box.url, 'viewer', PASSWORDS.viewer)).get('/')).text()
      return home.includes('because its clock was wrong') || undefined
    })

    const operator = await signedIn(box.url, 'agent', PASSWORDS.agent)
    const refused = await operator.post('/home/run', '/')
    t.is(refused.status, 503)
    t.regex(await refused.text(), /Runs cannot start yet: the clock of this machine is not set, it shows 20/)
    t.regex(
      await (await operator.get('/')).text(),
      /<strong>before this version was made: no rules run, and readings are kept apart/,
    )

    const { runs } = await (await openHubClient(box.url, PASSWORDS.viewer)).get<{ runs: unknown[] }>('/api/fdd/runs')
    t.deepEqual(runs, [])

    clock.set(0)
    const [atHub, onBox] = [await atLeast(hub.url, 3), await atLeast(box.url, 3)]
    for (const all of [atHub, onBox]) {
      assertInOrder(t, all)
      t.true(all.every(sample => Date.now() - Date.parse(sample.split(' ')[0]!) < 10 * MINUTE))
    }
  },
)
