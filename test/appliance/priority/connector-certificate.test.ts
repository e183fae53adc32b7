/** The certificate of the HTTPS port is renewed in the kit, without a restart and also under a kit that was renewed over the session. */
import { join } from 'node:path'
import test from 'ava'
import { openEdgeKits } from '#appliance/kit/edge-kits.ts'
import { connectorService } from '#appliance/priority/connector.ts'
import { runCommand } from '#provisioning/commands.ts'
import { DAY } from '#shared/core/time.ts'
import { writeKit } from '#shared/node/pki/kit-write.ts'
import { openPki } from '#shared/node/pki/pki-files.ts'
import { folder } from '../../support/folders.ts'
import { serialShownBy } from '../../support/shown-certificate.ts'
import { makeAuthority, silent } from '../../support/sites/transport-site.ts'

const EDGE = { site_id: 'A', edge_id: 'e1' }

test('a renewed certificate of the port is shown at once, and by the next start too, whichever kit the session uses', async t => {
  const dir = folder(t)
  const [certs, path, renewed] = [join(dir, 'pki'), join(dir, 'kit'), join(dir, 'store', 'kit')]
  const pki = await makeAuthority(certs)
  const then = await openPki(certs, () => Date.now() - 200 * DAY)
  const kit = await then.kit({ ...EDGE, broker_host: '127.0.0.1', broker_port: 8883 })
  const { serial: before, ...pair } = await then.connector({ ...EDGE, hosts: ['127.0.0.1'] })
  await writeKit({ ...kit, ...pair }, path)
  const openKits = () => openEdgeKits({ path, folder: renewed, edge: EDGE, broker: undefined, log: silent, now: Date.now() })
  const kits = await openKits()
  const { csr_pem } = await kits.request()
  await kits.install(await pki.reissue({ ...EDGE, csr_pem }))

  const http = await connectorService({
    ...{ routes: () => [], kit: kits.current(), kitPath: path, renewed },
    ...{ host: '127.0.0.1', port: 0, version: '0', log: silent },
  })
  await http.start()
  t.teardown(() => http.stop())
  const shown = () => serialShownBy(Number(new URL(http.url()).port), { ca: pki.ca_pem })
  t.is(await shown(), before)
  const { exit, text } = await runCommand(
    ['renew', '--dir', certs, '--cert', join(path, 'connector.cert.pem'), '--json'],
    Date.now,
  )
  t.is(exit, 0, text)
  const { serial } = JSON.parse(text) as { serial: string }
  for (const end = Date.now() + 20_000; (await shown()) !== serial && Date.now() < end; );
  t.is(await shown(), serial)

  const { cert_pem, connector_cert_pem } = (await openKits()).current()
  t.is(cert_pem, kits.current().cert_pem, 'the kit that was renewed over the session')
  t.not(connector_cert_pem, pair.connector_cert_pem)
})
