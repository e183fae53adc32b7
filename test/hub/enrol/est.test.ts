/** EST as a client of another make speaks it: requests and answers by openssl, over TLS. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { request as httpsRequest } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import test, { type ExecutionContext } from 'ava'
import { createAuthority } from '#hub/enrol/authority.ts'
import { openBrokerFiles } from '#hub/broker/files.ts'
import { createEstSecrets } from '#hub/enrol/est-secrets.ts'
import { estService } from '#hub/enrol/est.ts'
import { folder } from '../../support/folders.ts'
import { signedIn } from '../../support/signed-in.ts'
import { makeHubAuthority, openEnrolSite } from '../../support/sites/enrol-site.ts'
import { PASSWORDS } from '../../support/sites/page-site.ts'
import { silent } from '../../support/sites/transport-site.ts'

type Sent = { method?: string; body?: string; headers?: Record<string, string>; cert?: string; key?: string }

async function openEst(t: ExecutionContext) {
  const dir = folder(t)
  const { hub } = await makeHubAuthority(dir)
  const [authority, secrets] = [createAuthority(hub, Date.now), createEstSecrets(hub, Date.now)]
  const { tls } = await openBrokerFiles(hub, silent)
  const subjects: string[] = []
  const est = estService({
    ...{ host: '127.0.0.1', port: 0, tls, authority, secrets, log: silent },
    audit: ({ subject }) => void subjects.push(subject),
    handshakeMs: 600_000,
  })
  await est.start()
  t.teardown(() => est.stop())
  const ask = (path: string, { method = 'POST', body, headers = {}, cert, key }: Sent) =>
    new Promise<{ status: number; type: string; text: string }>((resolve, reject) => {
      const url = `https://127.0.0.1:${est.port()}/.well-known/est/${path}`
      const options = { method, headers, ca: tls.current().ca_pem, ...(cert && { cert, key }), agent: false as const }
      const sent = httpsRequest(url, options, response => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('end', () =>
          resolve({
            status: response.statusCode!,
            type: String(response.headers['content-type']),
            text: Buffer.concat(parts).toString(),
          }),
        )
      })
      sent.on('error', reject)
      sent.end(body)
    })
  const openssl = (...argv: string[]) =>
    execFileSync('openssl', argv, { cwd: dir, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  /** A key and a request for it, as base64 of DER. */
  const makeCsr = (cn: string, kind = 'prime256v1') => {
    const name = `${cn.replaceAll(':', '-')}-${kind}`
    if (kind.startsWith('rsa')) openssl('genrsa', '-out', `${name}.key`, kind.slice(3))
    else openssl('ecparam', '-name', kind, '-genkey', '-noout', '-out', `${name}.key`)
    openssl('req', '-new', '-key', `${name}.key`, '-subj', `/CN=${cn}`, '-out', `${name}.csr`)
    const pem = openssl('req', '-in', `${name}.csr`)
    return { body: pem.replace(/-----[^-]+-----/g, '').trim(), key: openssl('pkey', '-in', `${name}.key`) }
  }
  /** The certificates of an answer, as openssl reads them. */
  const read = (text: string) => {
    writeFileSync(join(dir, 'answer.p7'), Buffer.from(text, 'base64'))
    return openssl('pkcs7', '-inform', 'DER', '-in', 'answer.p7', '-print_certs')
  }
  return { ask, makeCsr, read, secrets, authority, subjects, port: est.port() }
}

const PKCS10 = { 'content-type': 'application/pkcs10' }
const basic = (username: string, password: string) => ({
  ...PKCS10,
  authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
})

test('a device gets the authorities, a first certificate with its secret, and the next with its certificate', async t => {
  const { ask, makeCsr, read, secrets, authority, subjects } = await openEst(t)
  const ca = await ask('cacerts', { method: 'GET' })
  t.is(ca.status, 200)
  t.regex(read(ca.text), /CN\s?=\s?Hub[^]*CN\s?=\s?Root/)

  const { username, password } = await secrets.make({ site_id: 'A', edge_id: 'e1' })
  const { body, key } = makeCsr('edge:A:e1')
  t.is((await ask('simpleenroll', { body, headers: basic(username, 'wrong') })).status, 401)
  t.is((await ask('simpleenroll', { body, headers: PKCS10 })).status, 401)
  const first = await ask('simpleenroll', { body, headers: basic(username, password) })
  t.like(first, { status: 200, type: 'application/pkcs7-mime; smime-type=certs-only' })
  const cert = read(first.text)
  t.regex(cert, /subject=CN\s?=\s?edge:A:e1/)
  t.is((await ask('simpleenroll', { body, headers: basic(username, password) })).status, 401, 'a secret is used once')

  const next = makeCsr('edge:A:e1', 'prime256v1')
  const renewed = await ask('simplereenroll', { body: next.body, headers: PKCS10, cert, key })
  t.is(renewed.status, 200)
  t.not(read(renewed.text), cert)
  t.deepEqual(subjects, ['A/e1', 'A/e1'])
  t.is((await authority.list()).length, 2)

  t.is((await ask('simplereenroll', { body: next.body, headers: PKCS10 })).status, 403, 'without a certificate')
  const other = makeCsr('edge:A:e2')
  t.is((await ask('simplereenroll', { body: other.body, headers: PKCS10, cert, key })).status, 422, 'for another edge')
  await authority.revoke({ site_id: 'A', edge_id: 'e1' })
  t.is((await ask('simplereenroll', { body: next.body, headers: PKCS10, cert, key })).status, 403, 'revoked')
})

for (const kind of ['rsa2048', 'rsa4096', 'secp384r1', 'secp521r1']) {
  test(`a device with a key of ${kind} enrols, renews with its certificate, and a request for another key is refused`, async t => {
    const { ask, makeCsr, read, secrets } = await openEst(t)
    const { username, password } = await secrets.make({ site_id: 'A', edge_id: 'e1' })
    const { body, key } = makeCsr('edge:A:e1', kind)
    const first = await ask('simpleenroll', { body, headers: basic(username, password) })
    t.is(first.status, 200, first.text)
    const cert = read(first.text)
    const renewed = await ask('simplereenroll', { body, headers: PKCS10, cert, key })
    t.is(renewed.status, 200, renewed.text)
    const spoilt = Buffer.from(body, 'base64')
    spoilt[spoilt.length - 3]! ^= 1
    const refused = await ask('simplereenroll', { body: spoilt.toString('base64'), headers: PKCS10, cert, key })
    t.is(refused.status, 422, refused.text)
  })
}

test('what cannot be used is refused with its reason, and uses no secret', async t => {
  const { ask, makeCsr, read, secrets } = await openEst(t)
  const { username, password } = await secrets.make({ site_id: 'A', edge_id: 'e1' })
  const headers = basic(username, password)
  for (const [status, sent] of [
    [415, { body: 'x', headers: { ...headers, 'content-type': 'text/plain' } }],
    [422, { body: 'no request', headers }],
    [422, { body: makeCsr('edge:A:e1', 'secp256k1').body, headers }],
    [422, { body: makeCsr('edge:A:e1', 'rsa1024').body, headers }],
    [413, { body: 'A'.repeat(20_000), headers }],
    [422, { body: 'no request', headers: { ...headers, 'content-type': 'Application/PKCS10 ; charset=utf-8' } }],
    [404, { method: 'GET' }],
  ] as const) {
    t.is((await ask('simpleenroll', sent)).status, status, JSON.stringify(sent).slice(0, 80))
  }
  t.is((await ask('serverkeygen', { body: 'x', headers })).status, 404)
  const good = await ask('simpleenroll', { body: makeCsr('anything').body, headers })
  t.is(good.status, 200, good.text)
  t.regex(read(good.text), /subject=CN\s?=\s?edge:A:e1/, 'the secret decides the name')
  const again = await secrets.make({ site_id: 'A', edge_id: 'e1' })
  const refused = await ask('simpleenroll', { body: makeCsr('edge:A:e1').body, headers: basic(again.username, again.password) })
  t.is(refused.status, 409, 'it has a valid certificate')
})

test('the page makes a secret, shows it once, lists it until it is used or withdrawn, and only to an operator', async t => {
  const { hub } = await makeHubAuthority(folder(t))
  const site = await openEnrolSite(hub, 8883)
  t.teardown(site.close)
  const operator = await signedIn(site.url, 'agent', PASSWORDS.agent)
  const secrets = createEstSecrets(hub, Date.now)
  const make = async (edge_id: string) => (await operator.post('/enrol/est', '/enrol', { site_id: 'A', edge_id })).text()
  const page = async () => (await operator.get('/enrol')).text()
  const passwordIn = (text: string) => /<code data-secret>([^<]+)<\/code>/.exec(text)![1]!
  const shown = await make('d1')
  const password = passwordIn(shown)
  t.regex(shown, /https:\/\/127\.0\.0\.1:8085\/\.well-known\/est/)
  t.regex(await page(), /d1 <span class="muted">of site A/)
  t.false((await page()).includes(password))
  const newer = passwordIn(await make('d1'))
  t.is(await secrets.use('A/d1', password, async () => true), undefined, 'a newer one takes its place')
  t.true(await secrets.use('A/d1', newer, async () => true))
  t.false((await page()).includes('d1 <span'))

  const gone = passwordIn(await make('d2'))
  t.is((await operator.post('/enrol/est/withdraw', '/enrol', { site_id: 'A', edge_id: 'd2' })).status, 303)
  t.is(await secrets.use('A/d2', gone, async () => true), undefined)
  t.is((await operator.post('/enrol/est/withdraw', '/enrol', { site_id: 'A', edge_id: 'd2' })).status, 404)
  const viewer = await signedIn(site.url, 'viewer', PASSWORDS.viewer)
  t.is((await viewer.get('/api/est/secrets')).status, 403)
})

test('connections of one network that say nothing leave room for another network', async t => {
  const { port } = await openEst(t)
  const ended: number[] = []
  const silent = Array.from({ length: 80 }, (_, i) =>
    connect(port, '127.0.0.1')
      .on('error', () => undefined)
      .on('close', () => ended.push(i)),
  )
  t.teardown(() => silent.forEach(socket => socket.destroy()))
  await Promise.all(silent.slice(16).map(socket => socket.destroyed || once(socket, 'close')))
  t.is(ended.length, 64)
  const other = connectTls({
    socket: connect({ host: '127.0.0.1', port, localAddress: '127.0.0.2' }),
    rejectUnauthorized: false,
  })
  t.teardown(() => other.destroy())
  await once(other, 'secureConnect')
  t.pass()
})
