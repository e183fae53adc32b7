import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { connect } from 'node:tls'
import test from 'ava'
import { boxName, firstSecrets, firstSite, pageCertificate } from '#appliance/prepare/identity.ts'
import { openSiteSettings } from '#appliance/store/site.ts'
import { readServerTls } from '#shared/node/http/server-tls.ts'
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
