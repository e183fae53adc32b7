import { X509Certificate } from 'node:crypto'
import test from 'ava'
import { refusalOfBroker } from '#shared/node/pki/broker-certificate.ts'
import { issueClient, issueServer, makeCa, makeIntermediateCa, type Pair } from '#shared/node/pki/pki.ts'
import { DAY } from '#shared/core/time.ts'

const NOW = Date.UTC(2026, 0, 1)
const life = { now: NOW, days: 100 }

test('a broker is accepted only as a server of the right name and authority that had not ended before the edge began', async t => {
  const root = await makeCa({ name: 'Root', now: NOW })
  const middle = await makeIntermediateCa(root, { name: 'Hub', now: NOW })
  const stranger = await makeCa({ name: 'Root', now: NOW })
  const { cert_pem } = await issueClient(middle, { cn: 'edge:A:e1', ...life })
  const later = await issueClient(middle, { cn: 'edge:A:e1', now: NOW + 200 * DAY })
  const server = async (ca: Pair = middle, hosts = ['10.0.0.5', 'hub.example']) =>
    new X509Certificate((await issueServer(ca, { hosts, ...life })).cert_pem)
  const good = await server()
  const expected = { host: 'hub.example', ca_pem: middle.cert_pem, cert_pem, times: [] }
  const client = new X509Certificate(cert_pem)
  for (const [name, peer, change, refusal] of [
    ['by name', good, {}, undefined],
    ['by address', good, { host: '10.0.0.5' }, undefined],
    ['of the authority above', await server(root), {}, undefined],
    ['another name', good, { host: 'other.example' }, /not for other\.example/],
    ['another address', good, { host: '10.0.0.6' }, /not for 10\.0\.0\.6/],
    ['another authority of the same name', await server(stranger), {}, /not issued by an authority of the kit/],
    ['the certificate of an edge', client, {}, /not one of a server/],
    ['the authority itself', new X509Certificate(root.cert_pem), {}, /not one of a server/],
    ['one of two times fits', good, { times: [NOW + 500 * DAY, NOW + DAY] }, undefined],
    ['it has ended at each time', good, { times: [NOW + 101 * DAY] }, /ended at 2026-04-11/],
    ['it has not begun', good, { times: [NOW - 2 * DAY] }, /begins at 2025-12-31/],
    ['it ended before the kit was made', good, { cert_pem: later.cert_pem }, /before that of this edge began/],
  ] as const) {
    const found = refusalOfBroker(peer, { ...expected, ...change })
    if (refusal === undefined) t.is(found, undefined, name)
    else t.regex(found ?? 'accepted', refusal, name)
  }
})
