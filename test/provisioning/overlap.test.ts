/** Two authorities overlap on the wire, and a box whose certificate has ended comes back by a USB stick. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { connectAsync } from 'mqtt'
import { openEdgeKits } from '#appliance/kit/edge-kits.ts'
import { takeStick } from '#appliance/prepare/stick.ts'
import { createAuthority } from '#hub/enrol/authority.ts'
import { runCommand } from '#provisioning/commands.ts'
import { commonName } from '#shared/core/auth/identity.ts'
import { DAY } from '#shared/core/time.ts'
import { type Kit, readKit } from '#shared/node/pki/kit-read.ts'
import { makeRequest } from '#shared/node/pki/pki.ts'
import { folder, until } from '../support/folders.ts'
import { silent, startBroker } from '../support/sites/transport-site.ts'

async function done(t: ExecutionContext, argv: string[], now = Date.now) {
  const { exit, text } = await runCommand([...argv, '--json'], now)
  t.is(exit, 0, `${argv.join(' ')}: ${text}`)
  return JSON.parse(text) as Record<string, unknown>
}

async function connect(t: ExecutionContext, { cert_pem: cert, key_pem: key, ca_pem: ca, edge }: Kit, port: number) {
  const options = { cert, key, ca, clientId: commonName({ kind: 'edge', ...edge }), reconnectPeriod: 0 }
  const client = await connectAsync(`mqtts://127.0.0.1:${port}`, options, false)
  client.on('error', () => undefined)
  t.teardown(() => client.endAsync(true))
  return client
}

test('while two authorities overlap, edges of both connect, and each revokes its own within a second', async t => {
  const dir = folder(t)
  const [before, after] = [join(dir, 'old'), join(dir, 'new')]
  const kitOf = async (pki: string, edge: string) => {
    const out = join(dir, `kit-${edge}`)
    await done(t, ['kit', '--dir', pki, '--site', 'A', '--edge', edge, '--broker-host', '127.0.0.1', '--out', out])
    return readKit(out, Date.now())
  }
  for (const pki of [before, after]) await done(t, ['ca', '--dir', pki])
  const early = await kitOf(before, 'early')
  t.is((await done(t, ['trust', '--dir', before, '--also', join(after, 'ca.cert.pem')]))['trusted'], 2)
  const old = await kitOf(before, 'old')
  await done(t, ['trust', '--dir', after, '--also', join(before, 'ca.cert.pem'), '--crl', join(before, 'crl.pem')])
  t.false((await done(t, ['trust', '--dir', after, '--also', join(before, 'ca.cert.pem')]))['changed'])
  await done(t, ['broker', '--dir', after, '--hosts', '127.0.0.1'])
  await done(t, ['central', '--dir', after])
  const fresh = await kitOf(after, 'fresh')

  const broker = await startBroker(after)
  t.teardown(broker.stop)
  const first = await connect(t, old, broker.port())
  await connect(t, fresh, broker.port())
  t.deepEqual(broker.sessions(), ['edge:A:fresh', 'edge:A:old'])
  await t.throwsAsync(connect(t, early, broker.port()), undefined, 'its kit does not name the new authority')

  // The hub renews an edge of the old authority with the new one.
  const { csr_pem, key_pem } = await makeRequest('edge:A:old')
  const renewed = await createAuthority(after, Date.now).renew({ site_id: 'A', edge_id: 'old' }, csr_pem, { isProven: true })
  await connect(t, { ...old, ...renewed, key_pem }, broker.port())

  await connect(t, old, broker.port())
  const held = (await done(t, ['list', '--dir', before]))['certificates'] as { serial: string; cn: string }[]
  await done(t, ['revoke', held.find(({ cn }) => cn === 'edge:A:old')!.serial, '--dir', before])
  await done(t, ['trust', '--dir', after, '--also', join(before, 'ca.cert.pem'), '--crl', join(before, 'crl.pem')])
  await until(() => !broker.sessions().includes('edge:A:old'), 'the session is ended', 20_000)
  const own = (await done(t, ['list', '--dir', after]))['certificates'] as { serial: string; cn: string }[]
  await done(t, ['revoke', own.find(({ cn }) => cn === 'edge:A:fresh')!.serial, '--dir', after])
  await until(() => broker.sessions().length === 0, 'the other session is ended', 20_000)
  await t.throwsAsync(connect(t, old, broker.port()), undefined, 'the list of the old authority was kept')
  t.falsy(first.connected)

  t.is((await done(t, ['trust', '--dir', after, '--only']))['trusted'], 1)
  t.is((await done(t, ['trust', '--dir', after, '--only']))['changed'], false)
  t.is(readFileSync(join(after, 'crl.pem'), 'utf8').split('BEGIN').length - 1, 1)
})

test('what is no authority, or a list of another one, is refused and changes nothing', async t => {
  const dir = folder(t)
  const [own, other] = [join(dir, 'own'), join(dir, 'other')]
  for (const pki of [own, other]) await done(t, ['ca', '--dir', pki])
  await done(t, ['broker', '--dir', other, '--hosts', 'hub.example'])
  const files = () => ['ca.cert.pem', 'crl.pem'].map(name => readFileSync(join(own, name), 'utf8'))
  const before = files()
  writeFileSync(join(dir, 'text'), 'no certificate')
  for (const [argv, exit] of [
    [['--also', join(other, 'broker.cert.pem')], 3],
    [['--also', join(own, 'ca.cert.pem'), '--crl', join(other, 'crl.pem')], 3],
    [['--also', join(dir, 'nowhere')], 78],
    [[], 2],
    [['--also', join(dir, 'text'), '--only'], 2],
  ] as const) {
    t.is((await runCommand(['trust', '--dir', own, ...argv], Date.now)).exit, exit, argv.join(' '))
    t.deepEqual(files(), before)
  }
})

test('a box whose certificate has ended is connected again by a stick that a command has packed', async t => {
  const dir = folder(t)
  const [pki, stick, workspace, store] = [join(dir, 'pki'), join(dir, 'stick'), join(dir, 'workspace'), join(dir, 'store')]
  const then = () => Date.now() - 400 * DAY
  await done(t, ['ca', '--dir', pki], then)
  await done(t, ['broker', '--dir', pki, '--hosts', '127.0.0.1'])
  const broker = await startBroker(pki)
  t.teardown(broker.stop)
  writeFileSync(join(dir, 'plenum.json'), JSON.stringify({ uplink: { interface: 'eth0', address: '10.0.0.5/24' } }))
  const place = ['--site', 'plant-7', '--edge', 'box-1', '--broker-host', '127.0.0.1', '--broker-port', String(broker.port())]
  const pack = ['pack-usb', '--dir', pki, ...place, '--out', stick, '--system', join(dir, 'plenum.json')]
  t.like(await done(t, pack, then), { changed: true, files: ['kit.zip', 'plenum.json'] })
  t.false((await done(t, pack, then))['changed'], 'repeated, it keeps the kit')

  for (const path of [join(workspace, 'config'), join(dir, 'system'), join(dir, 'updates')]) mkdirSync(path, { recursive: true })
  writeFileSync(join(workspace, 'config', 'site.json'), JSON.stringify({ site_id: 'local', edge_id: 'plenum-ab12' }))
  const places = { stick, system: join(dir, 'system'), kit: join(dir, 'kit'), workspace, updates: join(dir, 'updates') }
  const take = () =>
    takeStick({ ...places, settings: join(dir, 'settings.env') }, 'plenum-ab12', {
      now: Date.now(),
      isSynced: true,
      notBefore: 0,
    })
  t.is((await take()).wish, 'restart')
  const kits = () =>
    openEdgeKits({
      ...{ path: join(dir, 'kit'), folder: join(store, 'kit'), edge: { site_id: 'plant-7', edge_id: 'box-1' } },
      ...{ broker: undefined, log: silent, now: Date.now() },
    })
  await t.throwsAsync(connect(t, (await kits()).current(), broker.port()), undefined, 'its certificate has ended')

  writeFileSync(join(stick, 'result-plenum-ab12.txt'), 'taken')
  t.true((await done(t, pack))['changed'], 'an ended kit is made anew')
  t.deepEqual(readdirSync(stick).toSorted(), ['kit.zip', 'plenum.json'])
  t.is((await take()).wish, 'restart')
  await connect(t, (await kits()).current(), broker.port())
  t.deepEqual(broker.sessions(), ['edge:plant-7:box-1'])

  writeFileSync(join(dir, 'bad.json'), JSON.stringify({ uplink: { interface: 'eth0', address: '10.0.0.5' } }))
  const bad = await runCommand([...pack.slice(0, -1), join(dir, 'bad.json')], Date.now)
  t.is(bad.exit, 3)
  t.regex(bad.text, /bad\.json: \/uplink\/address/)
  t.true(existsSync(join(stick, 'plenum.json')))
})
