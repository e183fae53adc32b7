/** The hub's own certificates are renewed before they end, on real TLS and under sessions that stay open. */
import { X509Certificate } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { connectAsync } from 'mqtt'
import pino from 'pino'
import { createAuthority } from '#hub/enrol/authority.ts'
import { createServiceCertificates } from '#hub/enrol/service-certificates.ts'
import { runCommand } from '#provisioning/commands.ts'
import { commonName } from '#shared/core/auth/identity.ts'
import { DAY } from '#shared/core/time.ts'
import type { AuditNote } from '#shared/node/http/route.ts'
import type { Kit } from '#shared/node/pki/kit-read.ts'
import { serialOf } from '#shared/node/pki/certificate.ts'
import { issueServer, makeCa } from '#shared/node/pki/pki.ts'
import { makePki, openPki } from '#shared/node/pki/pki-files.ts'
import { folder, until } from '../../support/folders.ts'
import { serialShownBy } from '../../support/shown-certificate.ts'
import { reading, startBroker, startEdge, startHub } from '../../support/sites/transport-site.ts'

/** An authority that issued the certificates of broker and central so many days ago, for 300 days. */
async function makeAged(t: ExecutionContext, ageDays: number, passphrase?: string) {
  const dir = folder(t)
  const certs = join(dir, 'pki')
  await makePki(certs, { name: 'Test', now: Date.now() - 1000 * DAY, passphrase })
  const pki = await openPki(certs, () => Date.now() - ageDays * DAY, passphrase)
  await pki.broker({ hosts: ['127.0.0.1', 'localhost'], days: 300 })
  await pki.central({ site_id: '*', days: 300 })
  return { dir, certs, pki: await openPki(certs, Date.now, passphrase) }
}

/** @param shift of the clock, ms */
function watch(certs: string, { tlsDir, shift = 0 }: { tlsDir?: string; shift?: number } = {}) {
  const now = () => Date.now() + shift
  const lines: string[] = []
  const notes: AuditNote[] = []
  const log = pino({ base: null, timestamp: false }, { write: line => void lines.push(JSON.parse(line).msg) })
  const { renewFile: renew } = createAuthority(certs, now)
  const audit = (note: AuditNote) => void notes.push(note)
  return { certificates: createServiceCertificates({ dir: certs, tlsDir, renew, audit, log, now }), lines, notes }
}

const certificateIn = (...path: string[]) => new X509Certificate(readFileSync(join(...path)))
const serialIn = (...path: string[]) => serialOf(certificateIn(...path).serialNumber)
const daysLeft = (certificate: X509Certificate) => (certificate.validToDate.getTime() - Date.now()) / DAY

const shown = (port: number, { ca_pem: ca, cert_pem: cert, key_pem: key }: Kit) => serialShownBy(port, { ca, cert, key })

const enter = async (t: ExecutionContext, { cert_pem: cert, key_pem: key, ca_pem: ca, edge }: Kit, port: number) => {
  const options = { cert, key, ca, clientId: commonName({ kind: 'edge', ...edge }), reconnectPeriod: 0 }
  const client = await connectAsync(`mqtts://127.0.0.1:${port}`, options, false)
  client.on('error', () => undefined)
  t.teardown(() => client.endAsync(true))
  return client
}

test('a running hub renews the certificates of broker and central, while edges stay connected and every client can connect', async t => {
  const { dir, certs, pki } = await makeAged(t, 205)
  const events: { cn: string; msg: string }[] = []
  const log = pino({}, { write: line => void events.push(JSON.parse(line)) })
  const namesOf = (event: string) => events.filter(({ msg }) => msg.startsWith(event)).map(({ cn }) => cn)
  const broker = await startBroker(certs, 0, log)
  t.teardown(broker.stop)
  const kit = (edge_id: string) => pki.kit({ site_id: 'A', edge_id, broker_host: '127.0.0.1', broker_port: broker.port() })
  const hub = await startHub(certs, join(dir, 'hub'), broker.port())
  t.teardown(hub.stop)
  const edge = await startEdge(await kit('e1'), join(dir, 'outbox'))
  t.teardown(edge.stop)
  const [second, passer] = [await kit('e2'), await kit('e3')]
  const client = await enter(t, second, broker.port())
  await edge.outbox.write([reading(1)])
  await until(() => hub.samples().length === 1, 'the first reading')

  const serials = () => [serialIn(certs, 'broker.cert.pem'), serialIn(certs, 'central.cert.pem')]
  const [before, keys] = [serials(), ['broker.key.pem', 'central.key.pem'].map(name => readFileSync(join(certs, name), 'utf8'))]
  t.is(await shown(broker.port(), passer), before[0]!)
  const seen = new Set<string>()
  let isLooking = true
  const passing = (async () => {
    while (isLooking) seen.add(await shown(broker.port(), passer))
  })()
  const { certificates, notes } = watch(certs)
  await certificates.look()
  const after = serials()
  await until(() => seen.has(after[0]!), 'the broker shows the new certificate')
  isLooking = false
  await t.notThrowsAsync(passing, 'no handshake failed')

  t.true(before.every(serial => !after.includes(serial)))
  t.deepEqual([...seen], [before[0]!, after[0]!])
  t.true(client.connected, 'the session of an edge goes on')
  t.true(broker.sessions().includes('edge:A:e1'))
  await until(() => namesOf('connected').filter(cn => cn === 'central:*').length === 2, 'central connects once more')
  await edge.outbox.write([reading(2)])
  await until(() => hub.samples().length === 2, 'central has come back')
  t.is(edge.state().state, 'up')
  for (const name of ['broker', 'central'] as const) {
    const renewed = certificateIn(certs, `${name}.cert.pem`)
    t.true(Math.abs(daysLeft(renewed) - 300) < 1, 'for as long as before')
    t.is(renewed.subjectAltName, name === 'broker' ? 'IP Address:127.0.0.1, DNS:localhost' : undefined)
    t.is(statSync(join(certs, `${name}.key.pem`)).mode & 0o777, 0o600)
  }
  t.deepEqual(
    keys,
    ['broker.key.pem', 'central.key.pem'].map(name => readFileSync(join(certs, name), 'utf8')),
  )
  t.deepEqual(
    notes.map(({ subject }) => subject),
    ['broker', 'central'],
  )
  t.deepEqual(
    (await pki.list()).slice(-2).map(({ kind, serial }) => [kind, serial]),
    [
      ['broker', after[0]],
      ['central', after[1]],
    ],
  )
  await certificates.look()
  t.deepEqual(serials(), after, 'what is new is left alone')
  t.like(certificates.check(), { status: 'ok', broker_days_left: 299, central_days_left: 299 })

  await pki.revoke(before[1]!)
  await pki.revoke(serialOf(new X509Certificate(second.cert_pem).serialNumber))
  await until(() => !client.connected, 'the lists are read')
  t.deepEqual(namesOf('session ended'), ['edge:A:e2'], 'central does not use its old certificate any more')
})

test('certificates that ended while the hub was off, or begin later because its clock was ahead, are replaced', async t => {
  for (const age of [400, -30]) {
    const { certs } = await makeAged(t, age)
    const { certificates } = watch(certs)
    await certificates.look()
    for (const name of ['broker', 'central']) {
      const renewed = certificateIn(certs, `${name}.cert.pem`)
      t.true(renewed.validFromDate.getTime() < Date.now() && daysLeft(renewed) > 298, `${name}, ${age} days old`)
    }
    t.is(certificates.check().status, 'ok')
  }
})

test('a certificate with more than a third of its life left is left alone, and one that was revoked is not renewed', async t => {
  const fresh = await makeAged(t, 190)
  const before = serialIn(fresh.certs, 'broker.cert.pem')
  const { certificates, lines } = watch(fresh.certs)
  await certificates.look()
  t.is(serialIn(fresh.certs, 'broker.cert.pem'), before)
  t.deepEqual(lines, [])
  const { certs, pki } = await makeAged(t, 205)
  const revoked = serialIn(certs, 'broker.cert.pem')
  await pki.revoke(revoked)
  const other = watch(certs)
  await other.certificates.look()
  t.is(serialIn(certs, 'broker.cert.pem'), revoked)
  t.like(other.certificates.check(), { status: 'warn', broker_days_left: 94, central_days_left: 299 })
})

test('where the authority is elsewhere, health and log name the command, and the file that it makes is used at once', async t => {
  const { dir, certs, pki } = await makeAged(t, 205)
  const hub = join(dir, 'mqtt')
  mkdirSync(hub)
  for (const name of ['ca.cert.pem', 'crl.pem', 'broker.cert.pem', 'broker.key.pem', 'central.cert.pem', 'central.key.pem']) {
    copyFileSync(join(certs, name), join(hub, name))
  }
  const broker = await startBroker(hub)
  t.teardown(broker.stop)
  const kit = await pki.kit({ site_id: 'A', edge_id: 'e1', broker_host: '127.0.0.1', broker_port: broker.port() })
  const client = await enter(t, kit, broker.port())
  const { certificates, lines } = watch(hub)
  await certificates.look()
  await certificates.look()
  const command = 'node provisioning/main.ts renew --dir AUTHORITY --cert broker.cert.pem'
  t.is(lines.length, 2, 'once for each')
  t.true(lines[0]!.includes(`\`${command}\``), lines[0])
  t.true(certificates.check().detail!.includes(command))
  t.like(certificates.check(), { status: 'warn', broker_days_left: 94, central_days_left: 94 })

  for (const name of ['broker.cert.pem', 'central.cert.pem']) {
    const carried = join(dir, name)
    copyFileSync(join(hub, name), carried)
    const { exit, text } = await runCommand(['renew', '--dir', certs, '--cert', carried], Date.now)
    t.is(exit, 0, text)
    copyFileSync(carried, join(hub, name))
  }
  const next = serialIn(hub, 'broker.cert.pem')
  for (const end = Date.now() + 20_000; (await shown(broker.port(), kit)) !== next && Date.now() < end; );
  t.is(await shown(broker.port(), kit), next)
  t.true(client.connected)
  await certificates.look()
  t.is(certificates.check().status, 'ok')
})

test('the command for an authority under a passphrase is complete, and renews', async t => {
  const { dir, certs } = await makeAged(t, 205, 'a passphrase of twelve')
  const { certificates, lines } = watch(certs)
  await certificates.look()
  const command = /`node provisioning\/main\.ts (renew .*?)`/.exec(lines[0]!)![1]!
  const secret = join(dir, 'secret')
  writeFileSync(secret, 'a passphrase of twelve\n')
  const argv = command.replace('FILE', secret).split(' ')
  const { exit, text } = await runCommand(argv, Date.now)
  t.is(exit, 0, text)
  t.true(daysLeft(certificateIn(certs, 'broker.cert.pem')) > 299)
})

test('the certificate of the pages is renewed when it is of this authority; of another one, a warning comes when it is late', async t => {
  const { dir, certs } = await makeAged(t, 205)
  const tlsDir = join(dir, 'tls')
  mkdirSync(tlsDir)
  const authority = readFileSync(join(certs, 'ca.cert.pem'), 'utf8')
  writeFileSync(join(tlsDir, 'cert.pem'), readFileSync(join(certs, 'broker.cert.pem'), 'utf8') + authority, { mode: 0o640 })
  copyFileSync(join(certs, 'broker.key.pem'), join(tlsDir, 'key.pem'))
  const own = watch(certs, { tlsDir })
  await own.certificates.look()
  t.true(daysLeft(certificateIn(tlsDir, 'cert.pem')) > 299)
  t.true(readFileSync(join(tlsDir, 'cert.pem'), 'utf8').endsWith(authority), 'those that followed stay')
  t.is(statSync(join(tlsDir, 'cert.pem')).mode & 0o777, 0o640)

  const foreign = await issueServer(await makeCa({ name: 'Other', now: Date.now() }), {
    hosts: ['hub'],
    now: Date.now(),
    days: 90,
  })
  writeFileSync(join(tlsDir, 'cert.pem'), foreign.cert_pem)
  const late = (days: number) => watch(certs, { tlsDir, shift: days * DAY })
  for (const [days, status] of [
    [70, 'ok'],
    [80, 'warn'],
    [95, 'warn'],
  ] as const) {
    const { certificates } = late(days)
    await certificates.look()
    t.is(certificates.check().status, status, `${days} days`)
    t.is(serialIn(tlsDir, 'cert.pem'), foreign.serial)
  }
})

test('an authority that ends within the life of what it issues is told of', async t => {
  const dir = join(folder(t), 'pki')
  await makePki(dir, { name: 'Old', now: Date.now(), days: 390 })
  const { certificates } = watch(dir)
  await certificates.look()
  t.regex(certificates.check().detail!, /the authority ends at .*Replacing the authority/)
})

test('an authority that has ended issues no kits, and says so', async t => {
  const dir = join(folder(t), 'pki')
  await makePki(dir, { name: 'Old', now: Date.now() - 20 * DAY, days: 10 })
  const authority = createAuthority(dir, Date.now)
  const order = { site_id: 'A', edge_id: 'e1', broker_host: 'hub.example', broker_port: 8883, replace: false }
  await t.throwsAsync(authority.issue(order), { code: 'no_authority', message: /ended at .*: make a new one/ })
  t.deepEqual(await authority.list(), [])
})

test('a pair that does not belong together leaves the old one in use, and revocations are still taken', async t => {
  const { certs, pki } = await makeAged(t, 0)
  const broker = await startBroker(certs)
  t.teardown(broker.stop)
  const kit = (edge_id: string) => pki.kit({ site_id: 'A', edge_id, broker_host: '127.0.0.1', broker_port: broker.port() })
  const [gone, stays] = [await kit('gone'), await kit('stays')]
  const [first, second] = [await enter(t, gone, broker.port()), await enter(t, stays, broker.port())]
  const before = serialIn(certs, 'broker.cert.pem')
  copyFileSync(join(certs, 'central.key.pem'), join(certs, 'broker.key.pem'))
  await pki.revoke(serialOf(new X509Certificate(gone.cert_pem).serialNumber))
  await until(() => !first.connected, 'the session of a revoked certificate ends')
  t.true(second.connected)
  t.is(await shown(broker.port(), stays), before)
  t.falsy(await pki.current('broker'), 'provisioning makes a new pair')
})

test('a second authority is taken without a restart, and one that is trusted no more loses its sessions', async t => {
  const { dir, certs, pki } = await makeAged(t, 0)
  const other = join(dir, 'other')
  await makePki(other, { name: 'Other', now: Date.now() })
  const broker = await startBroker(certs)
  t.teardown(broker.stop)
  const place = { site_id: 'A', broker_host: '127.0.0.1', broker_port: broker.port() }
  const own = await pki.kit({ ...place, edge_id: 'own' })
  const foreign = { ...(await (await openPki(other, Date.now)).kit({ ...place, edge_id: 'foreign' })), ca_pem: own.ca_pem }
  await t.throwsAsync(enter(t, foreign, broker.port()))
  const first = await enter(t, own, broker.port())
  const trust = async (...argv: string[]) => t.is((await runCommand(['trust', '--dir', certs, ...argv], Date.now)).exit, 0)
  await trust('--also', join(other, 'ca.cert.pem'), '--crl', join(other, 'crl.pem'))
  let second: Awaited<ReturnType<typeof enter>> | undefined
  for (const end = Date.now() + 20_000; !second && Date.now() < end; ) {
    second = await enter(t, foreign, broker.port()).catch(() => undefined)
  }
  t.true(second?.connected)
  await trust('--only')
  await until(() => !second!.connected, 'the session ends')
  await t.throwsAsync(enter(t, foreign, broker.port()))
  t.true(first.connected)
  rmSync(other, { recursive: true })
})
