/** A server takes a new certificate at once, and connections that are open stay. */
import { createPrivateKey } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import test from 'ava'
import pino from 'pino'
import { freePort } from '#scripts/lib/free-port.ts'
import { webService } from '#hub/web/proxy.ts'
import { DAY } from '#shared/core/time.ts'
import { openAuthWithoutUsers } from '#shared/node/auth/no-users.ts'
import { openHttp } from '#shared/node/http/server.ts'
import { readServerTls, watchServerTls } from '#shared/node/http/server-tls.ts'
import { serialOf } from '#shared/node/pki/certificate.ts'
import { issueServer, makeCa } from '#shared/node/pki/pki.ts'
import { folder } from '../../../support/folders.ts'

const log = pino({ level: 'silent' })

test('a pair that is replaced is shown to the next connection of central and of web, and an open one goes on', async t => {
  const dir = folder(t)
  const ca = await makeCa({ name: 'Test', now: Date.now() })
  const place = async (days: number) => {
    const pair = await issueServer(ca, { hosts: ['127.0.0.1'], now: Date.now(), days })
    writeFileSync(join(dir, 'key.pem'), pair.key_pem)
    writeFileSync(join(dir, 'cert.pem'), pair.cert_pem)
    return pair.serial
  }
  const before = await place(10)
  const tls = await watchServerTls(dir, log)
  const parts = { name: 'test', host: '127.0.0.1', port: 0, routes: [], audit: undefined, version: '0', trustedProxies: [] }
  const http = await openHttp({ ...parts, auth: openAuthWithoutUsers(log, Date.now), log, tls })
  const port = await freePort()
  const web = webService({ host: '127.0.0.1', port, upstream: '127.0.0.1:1', resolver: 'auto', pages: true, tls })
  for (const service of [tls, http, web]) {
    await service.start()
    t.teardown(() => service.stop())
  }
  const open = async (url: string) => {
    const socket = connectTls({ host: '127.0.0.1', port: Number(new URL(url).port), ca: ca.cert_pem })
    t.teardown(() => void socket.destroy())
    await once(socket, 'secureConnect')
    return socket
  }
  const shown = async (url: string) => serialOf((await open(url)).getPeerX509Certificate()!.serialNumber)
  const urls = [http.url(), `https://127.0.0.1:${port}`]
  const sockets = await Promise.all(urls.map(open))
  for (const url of urls) t.is(await shown(url), before)
  const after = await place(20)
  await tls.look()
  for (const url of urls) t.is(await shown(url), after)
  for (const socket of sockets) {
    socket.write('GET /none/of/these HTTP/1.1\r\nHost: x\r\n\r\n')
    t.regex(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 404/, 'the connection that was open')
  }

  await place(-1)
  await tls.look()
  for (const url of urls) t.is(await shown(url), after, 'one that has ended is not used')
})

test('a certificate that has ended, or begins later, is used at the start with a warning', async t => {
  const dir = folder(t)
  const ca = await makeCa({ name: 'Test', now: Date.now() })
  const lines: string[] = []
  const told = pino({ base: null }, { write: line => void lines.push(JSON.parse(line).msg) })
  const startWith = async (days: number, now: number) => {
    const pair = await issueServer(ca, { hosts: ['127.0.0.1'], now, days })
    writeFileSync(join(dir, 'key.pem'), pair.key_pem)
    writeFileSync(join(dir, 'cert.pem'), pair.cert_pem)
    t.is((await watchServerTls(dir, told)).current().cert, pair.cert_pem)
    return lines.splice(0)
  }
  t.deepEqual(await startWith(10, Date.now()), [])
  t.regex((await startWith(10, Date.now() - 20 * DAY)).join(), /cert\.pem ended at .*: browsers refuse it$/)
  t.regex((await startWith(10, Date.now() + 20 * DAY)).join(), /cert\.pem begins at .*: is this machine's clock right\?$/)
})

test('a key under a passphrase is refused in words, in both of its forms', async t => {
  const dir = folder(t)
  const ca = await makeCa({ name: 'Test', now: Date.now() })
  const { cert_pem, key_pem } = await issueServer(ca, { hosts: ['127.0.0.1'], now: Date.now() })
  writeFileSync(join(dir, 'cert.pem'), cert_pem)
  for (const type of ['pkcs8', 'sec1'] as const) {
    const under = { cipher: 'aes-256-cbc', passphrase: 'correct horse' }
    writeFileSync(join(dir, 'key.pem'), createPrivateKey(key_pem).export({ type, format: 'pem', ...under }))
    await t.throwsAsync(
      readServerTls(dir),
      { message: /key\.pem is under a passphrase: store it without one, with permissions 600$/ },
      type,
    )
  }
})
