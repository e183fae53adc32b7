import 'reflect-metadata'
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Pkcs10CertificateRequestGenerator } from '@peculiar/x509'
import test, { type ExecutionContext } from 'ava'
import { connectAsync } from 'mqtt'
import { fromBufferPromise } from 'yauzl'
import { createAuthority } from '#hub/enrol/authority.ts'
import { writeMosquittoFiles } from '#hub/broker/mosquitto.ts'
import { certificatesOf, issueKit } from '#hub/enrol/issue-kit.ts'
import { commonName } from '#shared/core/auth/identity.ts'
import type { Kit } from '#shared/node/pki/kit-read.ts'
import { readKit } from '#shared/node/pki/kit-read.ts'
import { makePki, PkiRefusal } from '#shared/node/pki/pki-files.ts'
import { folder } from '../../support/folders.ts'
import { signedIn } from '../../support/signed-in.ts'
import { makeHubAuthority, openEnrolSite } from '../../support/sites/enrol-site.ts'
import { PASSWORDS } from '../../support/sites/page-site.ts'
import { startBroker } from '../../support/sites/transport-site.ts'

async function openEnrol(t: ExecutionContext, dir: string | undefined, brokerPort: number) {
  const site = await openEnrolSite(dir, brokerPort)
  t.teardown(site.close)
  const operator = await signedIn(site.url, 'agent', PASSWORDS.agent)
  return { operator, viewer: await signedIn(site.url, 'viewer', PASSWORDS.viewer) }
}

/** The kit as a box reads it. */
async function kitOf(t: ExecutionContext, answer: Response): Promise<Kit> {
  t.is(answer.status, 200)
  const file = join(folder(t), 'kit.zip')
  writeFileSync(file, Buffer.from(await answer.arrayBuffer()))
  return readKit(file, Date.now())
}

async function connect(t: ExecutionContext, { cert_pem: cert, key_pem: key, ca_pem: ca, edge }: Kit) {
  const options = { cert, key, ca, clientId: commonName({ kind: 'edge', ...edge }), reconnectPeriod: 0 }
  const client = await connectAsync(`mqtts://${edge.broker_host}:${edge.broker_port}`, options, false)
  client.on('error', () => undefined)
  t.teardown(() => client.endAsync(true))
  return client
}

test('what no kit can have is refused on the page in words, and nothing is issued', async t => {
  const { hub } = await makeHubAuthority(folder(t))
  const { operator } = await openEnrol(t, hub, 8883)
  const order = { site_id: 'plant-7', edge_id: 'box-2', broker_host: '127.0.0.1' }
  const words = 'may have letters, digits, dots, hyphens and underscores, at most 128, not '
  for (const [change, status, says] of [
    [{ site_id: 'Süd' }, 400, `/site_id ${words}&quot;Süd&quot;`],
    [{ edge_id: 'box 2' }, 400, `/edge_id ${words}&quot;box 2&quot;`],
    [{ edge_id: 'a/b' }, 400, `/edge_id ${words}&quot;a/b&quot;`],
    [{ broker_port: '0' }, 422, 'a port is a number from 1 to 65535'],
    [{ broker_port: '65536' }, 422, 'a port is a number from 1 to 65535'],
    [{ edge_id: 'x'.repeat(64) }, 422, 'has more than the 64 characters of a common name'],
    [{ csr_pem: 'no request' }, 422, 'it is no certificate request (PKCS #10)'],
  ] as const) {
    const answer = await operator.post('/enrol/kit', '/enrol', { ...order, ...change })
    const text = await answer.text()
    t.is(answer.status, status, text)
    t.true(text.includes(says), `${says}: ${text}`)
  }
  t.regex(await (await operator.get('/enrol')).text(), /No edge is enrolled yet/)
  const { edge } = await kitOf(t, await operator.post('/enrol/kit', '/enrol', { ...order, broker_port: '65535' }))
  t.is(edge.broker_port, 65_535)
})

test('a kit of the page opens the broker under the intermediate authority, until it is revoked', async t => {
  const { hub } = await makeHubAuthority(folder(t))
  const broker = await startBroker(hub)
  t.teardown(() => broker.stop())
  const { operator, viewer } = await openEnrol(t, hub, broker.port())
  t.is((await viewer.get('/enrol')).status, 403)
  t.regex(await (await operator.get('/enrol')).text(), /No edge is enrolled yet/)

  const order = { site_id: 'plant-7', edge_id: 'box-2' }
  const kit = await kitOf(t, await operator.post('/enrol/kit', '/enrol', order))
  t.like(kit.edge, { ...order, broker_host: '127.0.0.1', broker_port: broker.port() })
  const client = await connect(t, kit)
  const page = await (await operator.get('/enrol')).text()
  t.regex(page, /1 certificate is valid/)
  t.regex(page, /box-2 <span class="muted">of site plant-7, never connected/)

  const again = await operator.post('/enrol/kit', '/enrol', order)
  t.is(again.status, 409)
  t.regex(await again.text(), /box-2 of site plant-7 has a valid certificate/)

  const replacing = await (await operator.get('/enrol?site_id=plant-7&edge_id=box-2')).text()
  t.regex(replacing, /<section class="card" id="kit"><h2>Replace box-2<\/h2>/)
  t.regex(replacing, /name="site_id" value="plant-7" .*name="edge_id" value="box-2" /s)
  t.regex(replacing, /name="replace" value="yes" checked>/)
  t.notRegex(page, /name="replace" value="yes" checked>/)

  const closed = new Promise(resolve => client.once('close', () => resolve(undefined)))
  t.is((await operator.post('/enrol/revoke', '/enrol', { ...order, confirm: 'yes' })).status, 303)
  await closed
  await t.throwsAsync(connect(t, kit))
  t.regex(await (await operator.get('/enrol')).text(), /revoked/)
  t.is((await operator.post('/enrol/revoke', '/enrol', { ...order, confirm: 'yes' })).status, 404)
  await connect(t, await kitOf(t, await operator.post('/enrol/kit', '/enrol', order)))
})

test('replacing a kit revokes the one before, and a box whose key stays with it gets a kit without key', async t => {
  const { hub } = await makeHubAuthority(folder(t))
  const authority = createAuthority(hub, Date.now)
  const enrolment = { authority, tenant_id: undefined, brokerPort: 8883 }
  const notes: unknown[] = []
  const actor = { audit: (note: unknown) => void notes.push(note) }
  const order = { site_id: 's', edge_id: 'e', replace: false }
  const first = await issueKit(enrolment, actor, order, 'hub.example')
  const second = await issueKit(enrolment, actor, { ...order, replace: true }, 'elsewhere.example')
  t.deepEqual(
    second.revoked.map(({ serial }) => serial),
    [first.serial],
  )
  t.like(notes[1], { subject: 's/e', after: { broker_host: '127.0.0.1', revoked: [first.serial], with_key: true } })
  t.false(JSON.stringify(notes).includes('PRIVATE KEY'))

  const keys = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])
  const csr = await Pkcs10CertificateRequestGenerator.create({
    name: 'CN=anything',
    keys,
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
  })
  const signed = await issueKit(enrolment, actor, { ...order, edge_id: 'own-key', csr_pem: csr.toString('pem') }, 'hub.example')
  const names: string[] = []
  for await (const entry of (await fromBufferPromise(signed.zip)).eachEntry()) names.push(entry.fileName)
  t.true(names.includes('edge.cert.pem') && names.includes('ca.pem') && !names.some(name => name.includes('key')), names.join())

  const spoilt = Buffer.from(csr.rawData)
  const key = Buffer.from(csr.publicKey.rawData)
  spoilt[spoilt.indexOf(key) + key.length - 1]! ^= 1
  const broken: any = await t.throwsAsync(
    issueKit(enrolment, actor, { ...order, edge_id: 'x', csr_pem: spoilt.toString('base64') }, 'hub.example'),
  )
  t.like(broken, { code: 'invalid', message: 'the request is not signed by the key that it names' })
  for (const csr_pem of ['no request', '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n']) {
    const error: any = await t.throwsAsync(issueKit(enrolment, actor, { ...order, edge_id: 'x', csr_pem }, 'hub.example'))
    t.like(error, { code: 'invalid', errors: [{ pointer: '/csr_pem' }] })
  }
  const error: any = await t.throwsAsync(issueKit(enrolment, actor, { ...order, edge_id: 'y', broker_host: 'other.example' }, ''))
  t.like(error, { code: 'invalid', errors: [{ pointer: '/broker_host' }] })
  t.regex(error.message, /127\.0\.0\.1, localhost, hub\.example|localhost, hub\.example, 127\.0\.0\.1/)
})

test('where mosquitto is the broker, Enrol says what has it read its list, and which names the list lacks', async t => {
  const { hub } = await makeHubAuthority(folder(t))
  const { operator } = await openEnrol(t, hub, 8883)
  const page = async () => (await operator.get('/enrol')).text()
  t.notRegex(await page(), /mosquitto/)
  await writeMosquittoFiles(hub, { host: '127.0.0.1', port: 8883 }, Date.now())
  await operator.post('/enrol/kit', '/enrol', { site_id: 'A', edge_id: 'e1' })
  t.regex(await page(), /written anew with each certificate\..*<code>pkill -HUP -x mosquitto<\/code>/)
  t.regex(readFileSync(join(hub, 'mosquitto.acl'), 'utf8'), /^user edge:A:e1$/m)
  appendFileSync(join(hub, 'mosquitto.acl'), '# by hand\n')
  await operator.post('/enrol/kit', '/enrol', { site_id: 'A', edge_id: 'e2' })
  t.regex(await page(), /lacks some names.*: edge:A:e2\. Run <code>SERVICE_MQTT_CERT_DIR=/)
})

test('twenty orders at once are all listed, and each tenant sees its own', async t => {
  const { hub } = await makeHubAuthority(folder(t))
  const authority = createAuthority(hub, Date.now)
  const actor = { audit: () => undefined }
  const tenants = [undefined, 'acme'] as const
  await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      issueKit(
        { authority, tenant_id: tenants[i % 2], brokerPort: 1 },
        actor,
        { site_id: 's', edge_id: `e${i >> 1}`, replace: false },
        'localhost',
      ),
    ),
  )
  for (const tenant_id of tenants) {
    const listed = await certificatesOf({ authority, tenant_id, brokerPort: 1 })
    t.deepEqual(
      listed.map(({ edge_id }) => edge_id).toSorted(),
      Array.from({ length: 10 }, (_, i) => `e${i}`),
    )
    t.true(listed.every(one => one.tenant_id === tenant_id))
  }
})

test('the key of the authority above is not on the hub, and a hub without any key says where kits are made', async t => {
  const dir = folder(t)
  const { root, hub } = await makeHubAuthority(dir)
  const rootKey = readFileSync(join(root, 'ca.key.pem'), 'utf8')
  t.is(statSync(join(hub, 'ca.key.pem')).mode & 0o777, 0o600)
  t.not(readFileSync(join(hub, 'ca.key.pem'), 'utf8'), rootKey)
  t.true(readFileSync(join(hub, 'ca.cert.pem'), 'utf8').endsWith(readFileSync(join(root, 'ca.cert.pem'), 'utf8')))
  await t.throwsAsync(makePki(join(dir, 'below'), { name: 'Below', now: Date.now(), above: hub }), { message: /edges alone/ })
  await t.throwsAsync(makePki(hub, { name: 'Again', now: Date.now(), above: root }), { instanceOf: PkiRefusal })

  for (const [folderOf, reason] of [
    [undefined, /runs without a broker/],
    [join(dir, 'nothing'), /made on the machine of the authority/],
  ] as const) {
    const { operator } = await openEnrol(t, folderOf, 8883)
    t.regex(await (await operator.get('/enrol')).text(), reason)
    t.is((await operator.get('/api/mqtt/certificates')).status, 409)
  }
})
