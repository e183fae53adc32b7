import 'reflect-metadata'
import { X509Certificate } from 'node:crypto'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PemConverter, Pkcs10CertificateRequestGenerator } from '@peculiar/x509'
import test from 'ava'
import { fromBufferPromise } from 'yauzl'
import { EDGE_TOKENS_FILE, edgeToken, readEdgeTokensKey } from '#shared/node/auth/edge-token.ts'
import { makeKit } from '#shared/node/pki/kit-make.ts'
import { writeKit, zipKit } from '#shared/node/pki/kit-write.ts'
import { KitError, readKit } from '#shared/node/pki/kit-read.ts'
import { makeCa, readCrl } from '#shared/node/pki/pki.ts'
import { openPki, PKI_FILES } from '#shared/node/pki/pki-files.ts'
import { runCommand } from '#provisioning/commands.ts'
import { folder } from '../support/folders.ts'
import { makeAuthority } from '../support/sites/transport-site.ts'

const DAY = 86_400_000
const place = { site_id: 'A', edge_id: 'e1', broker_host: 'hub.example', broker_port: 8883 }

test('a kit holds six files and no key but the edge’s own', async t => {
  const dir = folder(t)
  const pki = await makeAuthority(dir)
  const kit = await pki.kit(place)
  const zip = await fromBufferPromise(await zipKit(kit))
  const files = new Map<string, { text: string; mode: number }>()
  for await (const entry of zip.eachEntry()) {
    const parts: Buffer[] = []
    for await (const part of await zip.openReadStreamPromise(entry)) parts.push(part as Buffer)
    files.set(entry.fileName, { text: Buffer.concat(parts).toString(), mode: (entry.externalFileAttributes >>> 16) & 0o777 })
  }
  t.deepEqual([...files.keys()].toSorted(), [
    'ca.pem',
    'edge.cert.pem',
    'edge.json',
    'edge.key.pem',
    'edge.token',
    'mosquitto.acl',
  ])
  t.is(files.get('edge.key.pem')?.mode, 0o600)
  t.is(files.get('edge.token')?.mode, 0o600)
  const secret = readFileSync(join(dir, PKI_FILES.ca.key), 'utf8')
  const everything = [...files.values()].map(({ text }) => text).join('\n')
  t.false(everything.includes(secret.split('\n')[1]!), 'the authority’s key')
  t.false(everything.includes(readFileSync(join(dir, EDGE_TOKENS_FILE), 'utf8').trim()), 'the key of the tokens')
  t.is(everything.match(/PRIVATE KEY-----\n/g)?.length, 2, 'one key: its first and its last line')
  t.like(JSON.parse(files.get('edge.json')!.text), { ...place, topic_base: 'sites/A/edges/e1' })
})

test('a kit is read from a folder and from a ZIP', async t => {
  const dir = folder(t)
  const pki = await makeAuthority(join(dir, 'pki'))
  const kit = await pki.kit(place)
  await writeKit(kit, join(dir, 'kit'))
  writeFileSync(join(dir, 'kit.zip'), await zipKit(kit))
  t.deepEqual(await readKit(join(dir, 'kit'), Date.now()), kit)
  t.deepEqual(await readKit(join(dir, 'kit.zip'), Date.now()), kit)
  t.is(statSync(join(dir, 'kit', 'edge.key.pem')).mode & 0o777, 0o600)
})

test('a kit that cannot be used says why', async t => {
  const dir = folder(t)
  const pki = await makeAuthority(join(dir, 'pki'))
  const good = await pki.kit(place)
  const other = await pki.kit({ ...place, edge_id: 'e2' })
  const foreign = await makeCa({ name: 'Foreign', now: Date.now() })
  const now = Date.now()
  const cases: [string, object, number, RegExp][] = [
    ['key', { key_pem: other.key_pem }, now, /edge\.key\.pem is not the key of edge\.cert\.pem/],
    ['authority', { ca_pem: foreign.cert_pem }, now, /not issued by the authority in ca\.pem/],
    ['late', {}, now + 500 * DAY, /the certificate ended at/],
    ['early', {}, now - 5 * DAY, /the certificate begins at .*is this machine's clock right/],
    ['name', { edge: { ...good.edge, edge_id: 'e2' } }, now, /is for CN=edge:A:e1, not for edge:A:e2/],
    ['json', { edge: { ...good.edge, broker_port: 'x' } }, now, /edge\.json lacks/],
    ['pem', { cert_pem: 'x' }, now, /cannot be read/],
  ]
  for (const [name, change, at, message] of cases) {
    await writeKit({ ...good, ...change }, join(dir, name))
    await t.throwsAsync(readKit(join(dir, name), at), { instanceOf: KitError, message }, name)
  }
  mkdirSync(join(dir, 'empty'))
  await t.throwsAsync(readKit(join(dir, 'empty'), now), {
    message: /lacks ca\.pem, edge\.cert\.pem, edge\.key\.pem, edge\.json, mos/,
  })
  await t.throwsAsync(readKit(join(dir, 'none'), now), { message: /does not exist/ })
  writeFileSync(join(dir, 'no.zip'), 'no zip')
  await t.throwsAsync(readKit(join(dir, 'no.zip'), now), { message: /neither a folder nor a ZIP/ })
})

test('ids that do not make a name are refused before anything is issued', async t => {
  const dir = folder(t)
  const pki = await makeAuthority(dir)
  const before = (await pki.list()).length
  for (const [site_id, edge_id] of [
    ['+', 'e'],
    ['A', '#'],
    ['A', ''],
    ['A:B', 'e'],
    ['A', 'x'.repeat(60)],
  ] as const) {
    await t.throwsAsync(pki.kit({ ...place, site_id, edge_id }), { instanceOf: RangeError })
  }
  t.is((await pki.list()).length, before)
})

const daysLeft = (pem: Buffer | string) => Math.round((Date.parse(new X509Certificate(pem).validTo) - Date.now()) / DAY)

test('an authority lasts ten years, a certificate 397 days, and each is good for one end of a connection only', async t => {
  const dir = folder(t)
  const pki = await makeAuthority(dir)
  const kit = await pki.kit(place)
  const broker = new X509Certificate(readFileSync(join(dir, PKI_FILES.broker.cert)))
  t.is(daysLeft(pki.ca_pem), 3652)
  t.is(daysLeft(kit.cert_pem), 397)
  t.deepEqual(new X509Certificate(kit.cert_pem).keyUsage, ['1.3.6.1.5.5.7.3.2'])
  t.deepEqual(broker.keyUsage, ['1.3.6.1.5.5.7.3.1'])
  t.is(broker.checkIP('127.0.0.1'), '127.0.0.1')
  t.is(broker.checkHost('localhost'), 'localhost')
  t.is(broker.checkHost('elsewhere'), undefined)
})

test('what is revoked is on the list that brokers read, once', async t => {
  const dir = folder(t)
  const pki = await makeAuthority(dir)
  await pki.kit(place)
  const { serial } = (await pki.list()).find(({ cn }) => cn === 'edge:A:e1')!
  await pki.revoke(serial)
  const { revoked_at } = await pki.revoke(serial.toLowerCase())
  t.is((await pki.list()).find(each => each.serial === serial)?.revoked_at, revoked_at)
  t.deepEqual([...(await readCrl(readFileSync(join(dir, PKI_FILES.crl), 'utf8'), pki.ca_pem))], [serial])
})

test('every command, with its exit code', async t => {
  const dir = folder(t)
  const pki = join(dir, 'pki')
  const run = (...argv: string[]) => runCommand([...argv, '--dir', pki], Date.now)
  const exits = async (exit: number, text: RegExp, ...argv: string[]) => {
    const done = await run(...argv)
    t.is(done.exit, exit, done.text)
    t.regex(done.text, text)
  }
  const kit = ['--site', 'A', '--edge', 'e1', '--broker-host', 'hub.example']
  await exits(3, /there is no authority/, 'list')
  await exits(0, /the authority is in/, 'ca')
  await exits(0, /is in .* already/, 'ca')
  await exits(3, /has an authority already: Plenum/, 'ca', '--name', 'Another')
  await exits(0, /^[0-9A-F]+\n$/, 'broker', '--hosts', 'hub.example,127.0.0.1')
  await exits(0, /^[0-9A-F]+\n$/, 'central')
  await exits(0, /sites\/A\/edges\/e1 until/, 'kit', ...kit, '--out', join(dir, 'kit'))
  await exits(0, /kit\.zip holds/, 'kit', ...kit, '--out', join(dir, 'kit.zip'))
  await exits(2, /missing: --out/, 'kit', ...kit)
  await exits(2, /--days takes a whole number/, 'kit', ...kit, '--out', join(dir, 'kit'), '--days', '0')
  await exits(2, /letters, digits/, 'kit', ...kit.with(1, 'A+'), '--out', join(dir, 'kit'))
  await exits(2, /Unknown option/, 'kit', ...kit, '--colour', 'red')
  await exits(2, /there is no command/, 'bake')
  await exits(0, /lasts until/, 'renew', '--kit', join(dir, 'kit'))
  const { serialNumber } = new X509Certificate(readFileSync(join(dir, 'kit', 'edge.cert.pem')))
  await exits(0, /edge:A:e1 was revoked/, 'revoke', serialNumber)
  await exits(3, /is revoked/, 'renew', '--kit', join(dir, 'kit'))
  await exits(3, /no certificate with serial/, 'revoke', '1234')
  await exits(0, /edge:A:e1 {2}revoked/, 'list')
  await exits(0, /"cn":"central:\*"/, 'list', '--json')
  writeFileSync(join(dir, 'file'), '')
  t.is((await runCommand(['ca', '--dir', join(dir, 'file', 'x')], Date.now)).exit, 78)
})

test('a renewed kit keeps its key; a request is signed without its key', async t => {
  const dir = folder(t)
  const pki = await makeAuthority(join(dir, 'pki'))
  const kit = await pki.kit({ ...place, days: 10 })
  const { serialNumber } = new X509Certificate(kit.cert_pem)
  const renewed = await pki.renew({ kit, serial: serialNumber })
  await writeKit({ ...renewed, key_pem: kit.key_pem }, join(dir, 'renewed'))
  const again = await readKit(join(dir, 'renewed'), Date.now() + 300 * DAY)
  t.is(again.key_pem, kit.key_pem)

  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const request = await Pkcs10CertificateRequestGenerator.create({ name: 'CN=whatever', keys, signingAlgorithm: algorithm })
  const key_pem = PemConverter.encode(await crypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY')
  const signed = await pki.sign({ ...place, edge_id: 'e9', csr_pem: request.toString('pem') })
  await writeKit({ ...signed, key_pem }, join(dir, 'signed'))
  t.is((await readKit(join(dir, 'signed'), Date.now())).edge.edge_id, 'e9')

  const spoilt = Buffer.from(request.rawData)
  spoilt[spoilt.length - 1]! ^= 1
  await t.throwsAsync(pki.sign({ ...place, csr_pem: PemConverter.encode(spoilt, 'CERTIFICATE REQUEST') }), {
    message: /not signed/,
  })
})

test('two authorities may overlap: a list is read for both', async t => {
  const [first, second] = [folder(t), folder(t)]
  const [old, young] = [await makeAuthority(first), await makeAuthority(second)]
  const kit = await makeKit(
    { cert_pem: old.ca_pem, key_pem: readFileSync(join(first, PKI_FILES.ca.key), 'utf8') },
    { ...place, now: Date.now() },
  )
  await writeKit({ ...kit, ca_pem: young.ca_pem + old.ca_pem }, join(first, 'kit'))
  await t.notThrowsAsync(readKit(join(first, 'kit'), Date.now()))
  const { serial } = (await (await openPki(second, Date.now)).list())[0]!
  await young.revoke(serial)
  const lists = readFileSync(join(first, PKI_FILES.crl), 'utf8') + readFileSync(join(second, PKI_FILES.crl), 'utf8')
  t.deepEqual([...(await readCrl(lists, old.ca_pem + young.ca_pem))], [serial])
  await t.throwsAsync(readCrl(lists, old.ca_pem), { message: /not signed/ })
})

test('each edge has a token of its own, which central makes from the same key', async t => {
  const dir = folder(t)
  const pki = await makeAuthority(dir)
  const [one, two] = [await pki.kit(place), await pki.kit({ ...place, edge_id: 'e2' })]
  const key = await readEdgeTokensKey(dir)
  t.is(one.token, edgeToken(key!, { site_id: 'A', edge_id: 'e1' }))
  const hosted = await pki.kit({ ...place, tenant_id: 'acme' })
  t.not(hosted.token, one.token, 'the edge of the same name of a tenant')
  t.not(one.token, two.token)
  t.is((await pki.kit(place)).token, one.token, 'a new kit of the same edge')
  t.is(statSync(join(dir, EDGE_TOKENS_FILE)).mode & 0o777, 0o600)
  t.is(await readEdgeTokensKey(folder(t)), undefined)
  writeFileSync(join(dir, EDGE_TOKENS_FILE), 'no key')
  await t.throwsAsync(pki.kit(place), { message: /takes 64 hexadecimal digits/ })
})

test('an older kit gets its token when it is renewed, and a connector’s certificate when it is asked for', async t => {
  const dir = folder(t)
  const [pki, kitDir] = [join(dir, 'pki'), join(dir, 'kit')]
  const { token, ...older } = await (await makeAuthority(pki)).kit(place)
  await writeKit(older, kitDir)
  t.is((await readKit(kitDir, Date.now())).token, undefined)
  t.like(await runCommand(['renew', '--dir', pki, '--kit', kitDir], Date.now), { exit: 0 })
  t.is((await readKit(kitDir, Date.now())).token, token)
  const hosts = 'box.example,127.0.0.1'
  t.like(await runCommand(['connector', '--dir', pki, '--kit', kitDir, '--hosts', hosts], Date.now), { exit: 0 })
  const kit = await readKit(kitDir, Date.now())
  const certificate = new X509Certificate(kit.connector_cert_pem!)
  t.deepEqual([certificate.checkHost('box.example'), certificate.checkIP('127.0.0.1')], ['box.example', '127.0.0.1'])
  t.is(statSync(join(kitDir, 'connector.key.pem')).mode & 0o777, 0o600)
  t.true((await (await openPki(pki, Date.now)).list()).some(({ kind, cn }) => kind === 'connector' && cn === 'connector:A:e1'))
  await writeKit({ ...kit, connector_key_pem: kit.key_pem }, kitDir)
  await t.throwsAsync(readKit(kitDir, Date.now()), { message: /connector\.key\.pem is not the key of connector\.cert\.pem/ })
})
