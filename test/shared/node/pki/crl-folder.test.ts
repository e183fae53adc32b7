import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import test from 'ava'
import { writeCrlFolder } from '#shared/node/pki/crl-folder.ts'
import { makeCa, makeCrl, readCrl } from '#shared/node/pki/pki.ts'
import { folder } from '../../../support/folders.ts'

const NOW = Date.UTC(2026, 10, 24)
const REVOKED = [{ serial: '0A', revoked_at: NOW }]

for (const name of ['Plant 7', '  Two   Blanks ', 'ÜBER Strasse É', 'x'.repeat(60), 'a, b=c+d "e"'])
  test(`a list is named as OpenSSL names it: ${JSON.stringify(name)}`, async t => {
    const dir = folder(t)
    const ca = await makeCa({ name, now: NOW })
    const pem = await makeCrl(ca, REVOKED, NOW)
    const [path, ...more] = await writeCrlFolder(pem, join(dir, 'crl'))
    t.is(more.length, 0)
    const hash = execFileSync('openssl', ['crl', '-noout', '-hash', '-in', path!], { encoding: 'utf8' }).trim()
    t.is(basename(path!), `${hash}.r0`)
    t.deepEqual(await readCrl(readFileSync(path!, 'utf8'), ca.cert_pem), new Set(['A']))
  })

test('two lists of one issuer have two files, and a new list replaces the file of the old one', async t => {
  const dir = folder(t)
  const ca = await makeCa({ name: 'Plant 7', now: NOW })
  const [older, newer] = [await makeCrl(ca, [], NOW), await makeCrl(ca, REVOKED, NOW)]
  const both = await writeCrlFolder(`${older}${newer}`, dir)
  t.deepEqual(
    both.map(path => basename(path).slice(8)),
    ['.r0', '.r1'],
  )
  await writeCrlFolder(newer, dir)
  t.deepEqual(await readCrl(readFileSync(both[0]!, 'utf8'), ca.cert_pem), new Set(['A']))
})
