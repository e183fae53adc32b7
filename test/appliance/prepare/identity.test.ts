import { X509Certificate } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { connect } from 'node:tls'
import test from 'ava'
import { boxName, firstSecrets, firstSite, pageCertificate } from '#appliance/prepare/identity.ts'
import { openSiteSettings } from '#appliance/store/site.ts'
import { DAY } from '#shared/core/time.ts'
import { readServerTls } from '#shared/node/http/server-tls.ts'
import { issueServer, makeCa } from '#shared/node/pki/pki.ts'
import { folder } from '../../support/folders.ts'

test('a name is made once, and two boxes have two', async t => {
  const name = join(folder(t), 'name')
  const made = await boxName({ name })
  t.regex(made, /^plenum-[a-z2-9]{4}$/)
  t.is(await boxName({ name }), made)
  const others = await Promise.all(Array.from({ length: 8 }, () => boxName({ name: join(folder(t), 'name') })))
  t.true(new Set(others).size > 1)
})

test('the certificate of the page is of the box’s name, stays, and a server runs with it', async t => {
  const tls = join(folder(t), 'tls')
  const fingerprint = await pageCertificate({ tls }, 'plenum-ab12', Date.now())
  t.is(await pageCertificate({ tls }, 'plenum-ab12', Date.now()), fingerprint)
  t.is(statSync(join(tls, 'key.pem')).mode & 0o777, 0o600)
  const server = createServer(await readServerTls(tls)).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  // The box's own authority ends the chain that the server sends; with it a client need not look away.
  const ca = readFileSync(join(tls, 'cert.pem'), 'utf8')
    .match(/-----BEGIN[^]*?-----END CERTIFICATE-----/g)!
    .at(-1)!
  const socket = connect({ host: '127.0.0.1', port, servername: 'plenum-ab12.local', ca })
  await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject))
  t.is(socket.getPeerCertificate().fingerprint256, fingerprint)
  socket.destroy()
})

const NOW = Date.UTC(2026, 4, 1)
const leafOf = (tls: string) => new X509Certificate(readFileSync(join(tls, 'cert.pem')))
const keyOf = (tls: string) => readFileSync(join(tls, 'key.pem'), 'utf8')

test('the certificate of the page is one that a phone takes, and is renewed for its key before it ends', async t => {
  const tls = join(folder(t), 'tls')
  const first = await pageCertificate({ tls }, 'plenum-ab12', NOW)
  const { validFromDate, validToDate } = leafOf(tls)
  // Apple's systems refuse more than 825 days.
  t.true(validToDate.getTime() - validFromDate.getTime() < 400 * DAY)
  const key = keyOf(tls)
  t.is(await pageCertificate({ tls }, 'plenum-ab12', NOW + 264 * DAY), first, 'more than a third of 397 days is left')
  const renewed = await pageCertificate({ tls }, 'plenum-ab12', NOW + 266 * DAY)
  t.not(renewed, first)
  t.is(leafOf(tls).validToDate.getTime(), NOW + (266 + 397) * DAY)
  t.is(keyOf(tls), key)
  await t.notThrowsAsync(readServerTls(tls))
  t.is(
    await pageCertificate({ tls }, 'plenum-ab12', NOW + 265.5 * DAY),
    renewed,
    'a clock that goes back a little renews nothing',
  )
})

test('a certificate of twenty years, of a clock that was ahead, or with the key of another, is made anew', async t => {
  const tls = join(folder(t), 'tls')
  await pageCertificate({ tls }, 'plenum-ab12', NOW + 3650 * DAY)
  await pageCertificate({ tls }, 'plenum-ab12', NOW)
  t.is(leafOf(tls).validToDate.getTime(), NOW + 397 * DAY)
  const authority = await makeCa({ name: 'plenum-ab12', now: NOW, days: 7305 })
  const long = await issueServer(authority, { cn: 'plenum-ab12', hosts: ['plenum-ab12'], now: NOW, days: 7305 })
  writeFileSync(join(tls, 'cert.pem'), long.cert_pem)
  writeFileSync(join(tls, 'key.pem'), long.key_pem)
  await pageCertificate({ tls }, 'plenum-ab12', NOW)
  t.is(leafOf(tls).validToDate.getTime(), NOW + 397 * DAY)
  t.is(keyOf(tls), long.key_pem)
  writeFileSync(join(tls, 'key.pem'), (await issueServer(authority, { hosts: ['other'], now: NOW })).key_pem)
  await pageCertificate({ tls }, 'plenum-ab12', NOW)
  await t.notThrowsAsync(readServerTls(tls))
})

test('a certificate that a site has put there itself stays, for whoever issued it to renew', async t => {
  const tls = folder(t)
  const authority = await makeCa({ name: 'Authority of the site', now: NOW })
  const own = await issueServer(authority, { cn: 'plenum-ab12', hosts: ['plenum-ab12'], now: NOW, days: 30 })
  writeFileSync(join(tls, 'cert.pem'), own.cert_pem)
  writeFileSync(join(tls, 'key.pem'), own.key_pem)
  await pageCertificate({ tls }, 'plenum-ab12', NOW)
  t.is(readFileSync(join(tls, 'cert.pem'), 'utf8'), own.cert_pem)
})

test('the first password is long, told once, in a file of the owner alone, and never the one of another box', async t => {
  const workspace = join(folder(t), 'workspace')
  const password = await firstSecrets({ workspace })
  t.regex(password!, /^(?:[a-z2-9]{4}-){3}[a-z2-9]{4}$/)
  const file = join(workspace, 'auth.env.local')
  t.is(statSync(file).mode & 0o777, 0o600)
  t.true(readFileSync(file, 'utf8').includes(`SERVICE_ADMIN_PASSWORD=${password}\n`))
  t.is(await firstSecrets({ workspace }), undefined)
  t.not(await firstSecrets({ workspace: join(folder(t), 'workspace') }), password)
})

test('a box without a building gets an empty one that the appliance takes, and keeps its own', async t => {
  const workspace = folder(t)
  await firstSite({ workspace }, 'plenum-ab12')
  const settings = await openSiteSettings(join(workspace, 'config'))
  t.is(settings.current().edge_id, 'plenum-ab12')
  await settings.replace({ ...settings.current(), site_id: 'school' })
  await firstSite({ workspace }, 'plenum-ab12')
  t.is((await openSiteSettings(join(workspace, 'config'))).current().site_id, 'school')
})

test('a folder without certificate, or with the key of another, is named', async t => {
  const [a, b, mixed] = [join(folder(t), 'a'), join(folder(t), 'b'), folder(t)]
  await t.throwsAsync(readServerTls(mixed), { message: /^SERVICE_TLS_DIR: .*cert\.pem/ })
  for (const tls of [a, b]) await pageCertificate({ tls }, 'plenum-ab12', Date.now())
  mkdirSync(mixed, { recursive: true })
  copyFileSync(join(a, 'cert.pem'), join(mixed, 'cert.pem'))
  copyFileSync(join(b, 'key.pem'), join(mixed, 'key.pem'))
  await t.throwsAsync(readServerTls(mixed), { message: /key\.pem is not the key of cert\.pem/ })
  writeFileSync(join(mixed, 'key.pem'), 'no key')
  await t.throwsAsync(readServerTls(mixed), { message: /key\.pem is unreadable/ })
})
