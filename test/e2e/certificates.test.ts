/** The hub as a process: certificates that should be renewed are, before it listens, and new files count without a restart. */
import { join } from 'node:path'
import test from 'ava'
import { runCommand } from '#provisioning/commands.ts'
import { DAY } from '#shared/core/time.ts'
import { makePki, openPki } from '#shared/node/pki/pki-files.ts'
import { openHubClient } from '../../scripts/lib-start/hub-client.ts'
import { serialShownBy } from '../support/shown-certificate.ts'
import { AUTH, loopback, PASSWORDS, program } from './field-site.ts'
import { eventually, freeBase, temporaryFolder } from './run-start.ts'

test.serial(
  'a hub that was off until its certificates ended starts with new ones, and takes those that a person makes',
  async t => {
    t.timeout(400_000)
    const [dir, base] = [await temporaryFolder(t), await freeBase(3)]
    const certs = join(dir, 'pki')
    await makePki(certs, { name: 'Test', now: Date.now() - 500 * DAY })
    const then = await openPki(certs, () => Date.now() - 450 * DAY)
    const ended = [await then.broker({ hosts: ['127.0.0.1'] }), await then.central({ site_id: '*' })].map(({ serial }) => serial)
    const pki = await openPki(certs, Date.now)
    const kit = await pki.kit({ site_id: 'A', edge_id: 'e1', broker_host: '127.0.0.1', broker_port: base + 1 })
    const { ca_pem: ca, cert_pem: cert, key_pem: key } = kit
    const shown = () => serialShownBy(base + 1, { ca, cert, key })
    const hub = program(t, 'hub', {
      main: 'hub/main.ts',
      url: loopback(base),
      logs: dir,
      env: {
        ...AUTH,
        SERVICE_CENTRAL_BIND: '127.0.0.1',
        SERVICE_CENTRAL_PORT: String(base),
        SERVICE_WORKSPACE: join(dir, 'hub'),
        SERVICE_MQTT_BIND: '127.0.0.1',
        SERVICE_MQTT_PORT: String(base + 1),
        SERVICE_MQTT_CERT_DIR: certs,
        SERVICE_METRICS_BIND: `127.0.0.1:${base + 2}`,
      },
    })
    await hub.start()
    const [first, listed] = [await shown(), (await pki.list()).slice(-2)]
    t.deepEqual(
      listed.map(({ kind }) => kind),
      ['broker', 'central'],
    )
    t.is(first, listed[0]!.serial)
    t.false(ended.includes(first))
    type Health = { checks: Record<string, { status: string; broker_days_left?: number }> }
    const { checks } = await (await openHubClient(hub.url, PASSWORDS.viewer)).get<Health>('/api/health/details')
    t.like(checks['certificates'], { status: 'ok', broker_days_left: 396, central_days_left: 396 })
    await eventually('central is connected', 60_000, async () => {
      const { checks } = await (await openHubClient(hub.url, PASSWORDS.viewer)).get<Health>('/api/health/details')
      return checks['broker']?.status === 'ok' ? true : undefined
    })
    const figures = await (await fetch(`${loopback(base + 2)}/metrics`)).text()
    t.regex(figures, /^plenum_certificates_broker_days_left 396$/m)
    t.regex(figures, /^plenum_check\{check="certificates"\} 1$/m)

    const made = await runCommand(['broker', '--dir', certs, '--hosts', '127.0.0.1', '--replace', '--json'], Date.now)
    const { serial } = JSON.parse(made.text) as { serial: string }
    await eventually('the broker shows the new certificate', 60_000, async () => ((await shown()) === serial ? true : undefined))
  },
)
