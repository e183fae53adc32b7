/** The certificate of an edge's HTTPS port is renewed over the session, for the same key, and shown at once. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { X509Certificate } from 'node:crypto'
import test from 'ava'
import { renewedKitsFolder } from '#appliance/kit/edge-kits.ts'
import { PortCertificate } from '#appliance/kit/port-certificate.ts'
import { connectorService } from '#appliance/priority/connector.ts'
import { runCommand } from '#provisioning/commands.ts'
import { DAY } from '#shared/core/time.ts'
import { serialOf } from '#shared/node/pki/certificate.ts'
import { readKit } from '#shared/node/pki/kit-read.ts'
import { writeKit } from '#shared/node/pki/kit-write.ts'
import { openPki } from '#shared/node/pki/pki-files.ts'
import { folder, until } from '../../support/folders.ts'
import { silent } from '../../support/sites/transport-site.ts'
import { EDGE, openRenewing } from './renewing-edge.ts'
import { serialShownBy } from '../../support/shown-certificate.ts'

const serial = (pem: string): string => serialOf(new X509Certificate(pem).serialNumber)

test('a port certificate with a third of its life left is renewed, shown at once and after the next start, and the kit of the person stays', async t => {
  const { certs, own, store, notes, renewals, authority, openKits, connect, online } = await openRenewing(t, 0)
  const then = await openPki(certs, () => Date.now() - 205 * DAY)
  const { serial: before, ...pair } = await then.connector({ ...EDGE, hosts: ['127.0.0.1'], days: 300 })
  await writeKit({ ...(await readKit(own, Date.now())), ...pair }, own)
  const kits = await openKits()
  const http = await connectorService({
    ...{ routes: () => [], kit: kits.current(), kitPath: own, renewed: renewedKitsFolder(store) },
    ...{ host: '127.0.0.1', port: 0, version: '0', log: silent },
  })
  await http.start()
  t.teardown(() => http.stop())
  const shown = () => serialShownBy(Number(new URL(http.url()).port), { ca: kits.current().ca_pem })
  const { stop } = await connect(kits)
  await until(() => online()?.status_body['port_cert_renewal_due'] === true, 'the edge asks', 20_000)
  t.is(online()?.status_body['cert_renewal_due'], undefined)
  t.is(await shown(), before)

  await renewals.look()
  const [note] = notes as { subject: string; after: { serial: string; not_after: number; what: string } }[]
  t.like(note, { subject: 'A/e1', after: { what: 'certificate of the HTTPS port' } })
  t.is(Math.round((note!.after.not_after - Date.now()) / DAY), 300, 'as long as the one before')
  for (const end = Date.now() + 20_000; (await shown()) !== note!.after.serial && Date.now() < end; );
  t.is(await shown(), note!.after.serial)
  t.is(readFileSync(join(own, 'connector.cert.pem'), 'utf8').trim(), pair.connector_cert_pem.trim())
  await renewals.look()
  t.is(notes.length, 1, 'nothing is due any more, and it is not tried again soon')
  t.is((await authority.list()).length, 1, 'it is no certificate of an edge')

  await stop()
  const again = await openKits()
  t.is(serial(again.current().connector_cert_pem!), note!.after.serial)
  t.false(again.isPortRenewalDue(Date.now()))
})

test('a certificate that a person puts into the kit later is used, and so is one for another key', async t => {
  const { certs, own, openKits } = await openRenewing(t, 0)
  const at = async (ageDays: number) => {
    const { serial: _, ...pair } = await (await openPki(certs, () => Date.now() - ageDays * DAY)).connector({
      ...EDGE,
      hosts: ['127.0.0.1'],
    })
    await writeKit({ ...(await readKit(own, Date.now())), ...pair }, own)
    return pair.connector_cert_pem
  }
  await at(300)
  const { port } = await openKits()
  const pki = await openPki(certs, () => Date.now() - 100 * DAY)
  const renewed = await pki.renewConnector(EDGE, port!.request().cert_pem)
  t.is(await port!.install(renewed.cert_pem), renewed.serial)
  t.is(serial((await openKits()).current().connector_cert_pem!), renewed.serial)
  await t.throwsAsync(port!.install(renewed.cert_pem), { message: /ends no later/ })

  const { serial: byHand } = await (await openPki(certs, Date.now)).renewFile(join(own, 'connector.cert.pem'))
  t.is(serial((await openKits()).current().connector_cert_pem!), byHand, 'the kit has a newer one for the same key')

  const other = await at(200)
  t.is((await openKits()).current().connector_cert_pem?.trim(), other.trim(), 'the stored one is for the key before')
  await t.throwsAsync((await openKits()).port!.install(renewed.cert_pem), { message: /not for the key/ })
})

test("only the certificate of the edge's own port is renewed, while it is not revoked", async t => {
  const { certs, authority } = await openRenewing(t, 0)
  const pki = await openPki(certs, Date.now)
  const { connector_cert_pem: other } = await pki.connector({ site_id: 'A', edge_id: 'e2', hosts: ['127.0.0.1'] })
  await t.throwsAsync(authority.renewPort(EDGE, other), { message: /issued for another one/ })
  const { cert_pem } = await pki.kit({ ...EDGE, broker_host: '127.0.0.1', broker_port: 1 })
  await t.throwsAsync(authority.renewPort(EDGE, cert_pem), { message: /issued for another one/ })
  const { connector_cert_pem: own, serial: revoked } = await pki.connector({ ...EDGE, hosts: ['127.0.0.1'] })
  t.not((await authority.renewPort(EDGE, own)).serial, revoked)
  await pki.revoke(revoked)
  await t.throwsAsync(authority.renewPort(EDGE, own), { message: /is revoked/ })
})

test('a renewal by hand does not keep the hub from the next one', async t => {
  const { certs, own, authority } = await openRenewing(t, 0)
  const { serial: _, ...pair } = await (await openPki(certs, Date.now)).connector({ ...EDGE, hosts: ['127.0.0.1'] })
  await writeKit({ ...(await readKit(own, Date.now())), ...pair }, own)
  const file = join(own, 'connector.cert.pem')
  const { exit, text } = await runCommand(['renew', '--dir', certs, '--cert', file, '--json'], Date.now)
  t.is(exit, 0, text)
  t.regex((await authority.renewPort(EDGE, readFileSync(file, 'utf8'))).serial, /^[0-9A-F]+$/)
})

test('a certificate of another authority is for a person to renew', async t => {
  const { certs, openKits } = await openRenewing(t, 0)
  const elsewhere = folder(t)
  const { exit } = await runCommand(['ca', '--dir', elsewhere, '--json'], Date.now)
  t.is(exit, 0)
  const long = () => Date.now() - 300 * DAY
  const foreign = await openPki(elsewhere, long)
  const { serial: _, ...pair } = await foreign.connector({ ...EDGE, hosts: ['127.0.0.1'] })
  const port = new PortCertificate(pair, folder(t))
  t.true(port.isRenewalDue(Date.now(), foreign.ca_pem))
  t.false(port.isRenewalDue(Date.now(), (await openPki(certs, Date.now)).ca_pem))
  t.is((await openKits()).port, undefined, 'a kit without a port has none')
})

test('a port certificate from a hub whose clock was years ahead is renewed, although the next one ends earlier', async t => {
  const { certs, authority } = await openRenewing(t, 0)
  const ahead = await openPki(certs, () => Date.now() + 3650 * DAY)
  const { serial: _, ...pair } = await ahead.connector({ ...EDGE, hosts: ['127.0.0.1'], days: 300 })
  const port = new PortCertificate(pair, folder(t))
  t.true(port.isRenewalDue(Date.now(), ahead.ca_pem))
  const { cert_pem } = await authority.renewPort(EDGE, pair.connector_cert_pem)
  await port.install(cert_pem)
  t.is(port.request().cert_pem, cert_pem)
  t.false(port.isRenewalDue(Date.now(), ahead.ca_pem))
  await t.throwsAsync(port.install(cert_pem), { message: /ends no later/ })
})
