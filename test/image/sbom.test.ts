import test from 'ava'
import { billOfMaterials } from '#image/build/sbom.ts'

const materials = {
  debian: [
    { name: 'systemd', version: '257.13-1~deb13u1', arch: 'arm64', sha256: 'ab'.repeat(32), licences: ['GPL-2+', 'LGPL-2.1+'] },
  ],
  nodePackages: [
    {
      name: '@fastify/cookie',
      version: '11.1.5',
      license: 'MIT',
      integrity: `sha512-${Buffer.from('ab').toString('base64')}`,
      path: 'node_modules/@fastify/cookie',
    },
    { name: 'two', version: '1.0.0', license: '(MIT OR Apache-2.0)', integrity: '', path: 'node_modules/two' },
  ],
  version: '1.2.3+0123456789ab',
  seconds: 1_700_000_000,
}

test('a bill of materials names every package with its URL, licence and hash, and is the same each time', t => {
  const text = billOfMaterials(materials)
  t.is(text, billOfMaterials(materials))
  const bill = JSON.parse(text)
  t.is(bill.bomFormat, 'CycloneDX')
  t.is(bill.metadata.timestamp, '2023-11-14T22:13:20.000Z')
  t.deepEqual(
    bill.components.map(({ purl }: { purl: string }) => purl),
    ['pkg:deb/debian/systemd@257.13-1~deb13u1?arch=arm64', 'pkg:npm/%40fastify/cookie@11.1.5', 'pkg:npm/two@1.0.0'],
  )
  t.deepEqual(bill.components[0].licenses, [{ license: { name: 'GPL-2+' } }, { license: { name: 'LGPL-2.1+' } }])
  t.deepEqual(bill.components[0].hashes, [{ alg: 'SHA-256', content: 'ab'.repeat(32) }])
  t.deepEqual(bill.components[1].licenses, [{ license: { name: 'MIT' } }])
  t.deepEqual(bill.components[1].hashes, [{ alg: 'SHA-512', content: '6162' }])
  t.deepEqual(bill.components[2].licenses, [{ expression: '(MIT OR Apache-2.0)' }])
})
