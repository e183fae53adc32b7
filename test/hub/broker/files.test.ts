import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import pino from 'pino'
import { openBrokerFiles, readCentralFiles } from '#hub/broker/files.ts'
import { openPki } from '#shared/node/pki/pki-files.ts'
import { makeAuthority, silent } from '../../support/sites/transport-site.ts'

const root = mkdtempSync(join(tmpdir(), 'plenum-hub-files-'))
test.before(() => Promise.all([makeAuthority(join(root, 'own')), makeAuthority(join(root, 'foreign'))]))
test.after.always(() => rmSync(root, { recursive: true }))

test('the files that provisioning writes are accepted', async t => {
  await t.notThrowsAsync(openBrokerFiles(join(root, 'own'), silent))
  await t.notThrowsAsync(readCentralFiles(join(root, 'own')))
})

const DAMAGE: Record<string, { file: string; spoil: (path: string, foreign: string) => void; says: RegExp }> = {
  'an empty key': { file: 'broker.key.pem', spoil: path => truncateSync(path), says: /broker\.key\.pem cannot be used/ },
  "another pair's key": { file: 'broker.key.pem', spoil: copyOf, says: /it is not the key of broker\.cert\.pem/ },
  'half a certificate': {
    file: 'broker.cert.pem',
    spoil: path => truncateSync(path, 200),
    says: /broker\.cert\.pem cannot be used/,
  },
  'text for the authority': {
    file: 'ca.cert.pem',
    spoil: path => writeFileSync(path, 'ca'),
    says: /ca\.cert\.pem cannot be used/,
  },
  'an empty list of revoked ones': {
    file: 'crl.pem',
    spoil: path => truncateSync(path),
    says: /crl\.pem cannot be used: there is no/,
  },
  "another authority's list": { file: 'crl.pem', spoil: copyOf, says: /crl\.pem cannot be used: .* not signed by the authority/ },
  'no list': { file: 'crl.pem', spoil: path => rmSync(path), says: /ENOENT.*crl\.pem/ },
}

function copyOf(path: string, foreign: string): void {
  copyFileSync(foreign, path)
}

for (const [name, { file, spoil, says }] of Object.entries(DAMAGE)) {
  test(`${name} is refused with the name of the file`, async t => {
    const dir = mkdtempSync(join(root, 'spoilt-'))
    cpSync(join(root, 'own'), dir, { recursive: true })
    spoil(join(dir, file), join(root, 'foreign', file))
    await t.throwsAsync(openBrokerFiles(dir, silent), { message: says })
  })
}

test('a list of a backup brings back no certificate while the broker runs, and takes what it adds', async t => {
  const dir = mkdtempSync(join(root, 'older-'))
  const pki = await makeAuthority(dir)
  for (const edge_id of ['e1', 'e2']) await pki.kit({ site_id: 'A', edge_id, broker_host: 'hub.example', broker_port: 8883 })
  const [first, second] = (await pki.list()).filter(({ kind }) => kind === 'edge').map(({ serial }) => serial) as [string, string]
  const lines: string[] = []
  const log = pino({ base: null }, { write: line => void lines.push(JSON.parse(line).msg) })
  const list = join(dir, 'crl.pem')
  copyFileSync(list, join(dir, 'backup.pem'))
  const { revoked } = await openBrokerFiles(dir, log)
  const held = async () => {
    await revoked.look()
    return [...revoked.current()].toSorted()
  }
  await pki.revoke(first)
  t.deepEqual(await held(), [first])
  copyFileSync(join(dir, 'backup.pem'), list)
  t.deepEqual(await held(), [first])
  t.regex(
    lines.join('\n'),
    new RegExp(`crl\\.pem is an older list: it lacks 1 revoked certificate, refused until the next start: ${first}`),
  )
  await pki.revoke(second)
  t.deepEqual(await held(), [first, second].toSorted())

  const other = mkdtempSync(join(root, 'other-'))
  const { serial } = (await (await makeAuthority(other)).list())[0]!
  await (await openPki(other, Date.now)).revoke(serial)
  const read = (name: string) => readFileSync(join(other, name), 'utf8')
  await pki.trust({ ca_pem: read('ca.cert.pem'), crl_pem: read('crl.pem') })
  t.true((await held()).includes(serial))
  await (await openPki(dir, Date.now)).trustOnlyOwn()
  t.deepEqual(await held(), [first, second].toSorted(), 'an authority that is trusted no more takes its list along')
})
