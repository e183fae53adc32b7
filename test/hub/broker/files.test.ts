import { copyFileSync, cpSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { openBrokerFiles, readCentralFiles } from '#hub/broker/files.ts'
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
