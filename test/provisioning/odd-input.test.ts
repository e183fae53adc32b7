/** What provisioning refuses, and what it takes back: input that makes certificates which nobody can use. */
import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { runCommand } from '#provisioning/commands.ts'
import { DAY } from '#shared/core/time.ts'
import { serialOf } from '#shared/node/pki/certificate.ts'
import { readKit } from '#shared/node/pki/kit-read.ts'
import { readCrl } from '#shared/node/pki/pki.ts'
import type { IssuedRecord } from '#shared/node/pki/pki-files.ts'
import { canMountTmpfs } from '../support/disk/mounts.ts'
import { smallDisk } from '../support/disk/small-disk.ts'
import { folder } from '../support/folders.ts'
import { testWhere } from '../support/optional.ts'

/** Commands over one authority. */
async function openCommands(t: ExecutionContext) {
  const dir = folder(t)
  const pki = join(dir, 'pki')
  const run = (argv: string[], now = Date.now) => runCommand([...argv, '--json'], now)
  const done = async (argv: string[], now = Date.now) => {
    const { exit, text } = await run(argv, now)
    t.is(exit, 0, `${argv.join(' ')}: ${text}`)
    return JSON.parse(text) as Record<string, unknown>
  }
  const refused = async (exit: number, message: RegExp, argv: string[], now = Date.now) => {
    const answer = await run(argv, now)
    t.is(answer.exit, exit, `${argv.join(' ')}: ${answer.text}`)
    t.regex((JSON.parse(answer.text) as { error: string }).error, message, argv.join(' '))
  }
  const issued = async (authority = pki) => (await done(['list', '--dir', authority]))['certificates'] as IssuedRecord[]
  await done(['ca', '--dir', pki])
  return { dir, pki, done, refused, issued }
}

const EDGE = ['--site', 'A', '--edge', 'e1', '--broker-host', 'hub.example']

test('names that no certificate, kit or topic can have are refused, and nothing is issued', async t => {
  const { dir, pki, refused, issued } = await openCommands(t)
  const out = ['--out', join(dir, 'kit')]
  const kit = (...change: string[]) => ['kit', '--dir', pki, ...EDGE, ...out, ...change]
  const hosts = [
    '',
    'a b',
    'hüb.example',
    'hub.example:8883',
    'mqtts://hub.example',
    'a,,b',
    'a..b',
    '*',
    'a.*.b',
    'x'.repeat(254),
  ]
  for (const host of hosts) await refused(2, /^--hosts: ".*" is not a host name/, ['broker', '--dir', pki, '--hosts', host])
  for (const host of ['', 'a b', 'mqtts://hub.example', 'hub.example:8883', '*.example']) {
    await refused(2, /^--broker-host: ".*" is not a host name/, kit('--broker-host', host))
  }
  for (const url of ['', 'hub.example', 'ftp://hub.example'])
    await refused(2, /^--hub-url: ".*" is not a URL/, kit('--hub-url', url))
  for (const site of ['', 'Süd', 'a/b', 'a b', '+', 'x'.repeat(80)])
    await refused(2, /site id|common name/, ['central', '--dir', pki, '--site', site])
  await refused(2, /^--name is empty$/, ['ca', '--dir', join(dir, 'unnamed'), '--name', ' '])
  await refused(2, /^Unexpected argument 'more'/, ['revoke', '1234', 'more', '--dir', pki])
  t.deepEqual(await issued(), [])
  t.false(existsSync(join(dir, 'unnamed')))
})

test('host names and addresses stand with or without blanks after the comma, and may begin with *', async t => {
  const { pki, done } = await openCommands(t)
  await done(['broker', '--dir', pki, '--hosts', 'hub.example, 10.0.0.5,fd00::5, *.hub.example,xn--hb-xka.example'])
  const text = execFileSync('openssl', ['x509', '-in', join(pki, 'broker.cert.pem'), '-noout', '-ext', 'subjectAltName'], {
    encoding: 'utf8',
  })
  t.regex(
    text,
    /DNS:hub\.example, IP Address:10\.0\.0\.5, IP Address:FD00:0:0:0:0:0:0:5, DNS:\*\.hub\.example, DNS:xn--hb-xka\.example/,
  )
})

for (const kind of ['rsa2048', 'secp384r1', 'secp521r1', 'prime256v1']) {
  test(`a kit for a request of ${kind}, in PEM or DER, is renewed for the same key`, async t => {
    const { dir, pki, done } = await openCommands(t)
    const at = (name: string) => join(dir, name)
    const openssl = (...argv: string[]) => execFileSync('openssl', argv, { cwd: dir, stdio: 'ignore' })
    if (kind === 'rsa2048') openssl('genrsa', '-out', 'key', '2048')
    else openssl('ecparam', '-name', kind, '-genkey', '-noout', '-out', 'key')
    for (const form of ['PEM', 'DER']) {
      const out = at(form)
      openssl('req', '-new', '-key', 'key', '-subj', '/CN=any', '-outform', form, '-out', 'csr')
      await done(['csr', '--dir', pki, '--request', at('csr'), ...EDGE, '--out', out])
      copyFileSync(at('key'), join(out, 'edge.key.pem'))
      const { serial } = await done(['renew', '--dir', pki, '--kit', out])
      t.is(serialOf(new X509Certificate(readFileSync(join(out, 'edge.cert.pem'))).serialNumber), serial as string)
      await t.notThrowsAsync(readKit(out, Date.now()), 'key and certificate belong together')
    }
  })
}

test('a kit whose certificate has ended is renewed for the same key, and one that was revoked is not', async t => {
  const { dir, pki, done, refused } = await openCommands(t)
  const [out, later] = [join(dir, 'kit'), () => Date.now() + 20 * DAY]
  await done(['kit', '--dir', pki, ...EDGE, '--out', out, '--days', '10'])
  const { key_pem } = await readKit(out, Date.now())
  const { serial } = await done(['renew', '--dir', pki, '--kit', out], later)
  t.is((await readKit(out, later())).key_pem, key_pem)
  await done(['revoke', String(serial), '--dir', pki], later)
  await refused(3, /the certificate of the kit is revoked/, ['renew', '--dir', pki, '--kit', out], later)
})

test('a kit that is a ZIP is renewed where it is', async t => {
  const { dir, pki, done } = await openCommands(t)
  const zip = join(dir, 'kit.zip')
  await done(['kit', '--dir', pki, ...EDGE, '--out', zip, '--days', '10'])
  const before = await readKit(zip, Date.now())
  await done(['renew', '--dir', pki, '--kit', zip])
  const after = await readKit(zip, Date.now() + 300 * DAY)
  t.is(after.key_pem, before.key_pem)
  t.not(after.cert_pem, before.cert_pem)
  await done(['connector', '--dir', pki, '--kit', zip, '--hosts', 'box.example'])
  t.truthy((await readKit(zip, Date.now())).connector_key_pem)
})

test('an old list of another authority brings back none of its revoked certificates, and a text that is no list is refused', async t => {
  const { dir, pki, done, refused } = await openCommands(t)
  const [other, old] = [join(dir, 'other'), join(dir, 'old.pem')]
  await done(['ca', '--dir', other, '--name', 'Other'])
  const serials: string[] = []
  for (const out of ['k1', 'k2'])
    serials.push(String((await done(['kit', '--dir', other, ...EDGE, '--out', join(dir, out)]))['serial']))
  const trust = (crl: string) => ['trust', '--dir', pki, '--also', join(other, 'ca.cert.pem'), '--crl', crl]
  const revoked = async () => [
    ...(await readCrl(readFileSync(join(pki, 'crl.pem'), 'utf8'), readFileSync(join(pki, 'ca.cert.pem'), 'utf8'))),
  ]
  copyFileSync(join(other, 'crl.pem'), old)
  t.is((await done(trust(old)))['changed'], true)
  for (const serial of serials) {
    await done(['revoke', serial, '--dir', other], () => Date.now() + DAY)
    t.is((await done(trust(join(other, 'crl.pem'))))['changed'], true, 'a newer list alone is a change')
    t.is((await done(trust(join(other, 'crl.pem'))))['changed'], false)
  }
  t.deepEqual((await revoked()).toSorted(), serials.toSorted())
  t.is((await done(trust(old)))['changed'], false)
  t.deepEqual((await revoked()).toSorted(), serials.toSorted())
  writeFileSync(old, 'no list')
  await refused(3, /there is no list of revoked certificates in it/, trust(old))
  await refused(3, /there is no certificate of an authority in it/, ['trust', '--dir', pki, '--also', old])
})

test('the own list is made from what was revoked here, whatever the clock says and wherever an old copy comes from', async t => {
  const { dir, pki, done, refused } = await openCommands(t)
  const list = join(pki, 'crl.pem')
  const revoked = async () => (await readCrl(readFileSync(list, 'utf8'), readFileSync(join(pki, 'ca.cert.pem'), 'utf8'))).size
  const make = async (name: string) => String((await done(['kit', '--dir', pki, ...EDGE, '--out', join(dir, name)]))['serial'])
  const [first, second, third] = [await make('k1'), await make('k2'), await make('k3')]
  copyFileSync(list, join(dir, 'old.pem'))
  await done(['revoke', first, '--dir', pki], () => Date.now() + 2 * DAY)
  await done(['revoke', second, '--dir', pki])
  t.is(await revoked(), 2, 'a clock that was set back')
  await done(['trust', '--dir', pki, '--also', join(pki, 'ca.cert.pem'), '--crl', join(dir, 'old.pem')])
  t.is(await revoked(), 2, 'an old copy of it')
  writeFileSync(list, 'damaged')
  await refused(3, /crl\.pem cannot be read .*: remove it, repeat this/, ['revoke', third, '--dir', pki])
  await refused(3, /crl\.pem cannot be read/, ['trust', '--dir', pki, '--also', join(pki, 'ca.cert.pem')])
  rmSync(list)
  await done(['revoke', third, '--dir', pki])
  t.is(await revoked(), 3, 'a file that was lost')
})

test('an authority that has ended issues nothing, and one whose files are damaged says which', async t => {
  const { dir, pki, done, refused, issued } = await openCommands(t)
  const late = () => Date.now() + 4000 * DAY
  await done(['kit', '--dir', pki, ...EDGE, '--out', join(dir, 'kit'), '--days', '36525'])
  const before = await issued()
  for (const argv of [
    ['broker', '--hosts', 'hub.example'],
    ['central'],
    ['kit', ...EDGE, '--out', join(dir, 'other')],
    ['renew', '--kit', join(dir, 'kit')],
    ['connector', '--kit', join(dir, 'kit'), '--hosts', 'box.example'],
  ]) {
    await refused(3, /^the authority in .* ended at .*: make a new one$/, [...argv, '--dir', pki], late)
  }
  t.deepEqual(await issued(), before)
  await done(['revoke', before[0]!.serial, '--dir', pki], late)

  await refused(3, /is not a certificate \(PEM\)$/, ['renew', '--dir', pki, '--cert', join(pki, 'ca.key.pem')])
  const list = readFileSync(join(pki, 'issued.json'))
  writeFileSync(join(pki, 'issued.json'), '[{')
  await refused(3, /issued\.json is damaged/, ['list', '--dir', pki])
  writeFileSync(join(pki, 'issued.json'), list)
  await done(['ca', '--dir', join(dir, 'other-pki')])
  for (const key of [readFileSync(join(dir, 'other-pki', 'ca.key.pem')), 'damaged']) {
    writeFileSync(join(pki, 'ca.key.pem'), key)
    await refused(3, /ca\.key\.pem in .* is not the key of ca\.cert\.pem/, ['central', '--dir', pki])
  }
})

testWhere(canMountTmpfs())('what does not fit on a stick is revoked again, and what is there stays', async t => {
  const { dir, pki, done, refused, issued } = await openCommands(t)
  mkdirSync(join(dir, 'stick'))
  const stick = smallDisk(t, join(dir, 'stick'), 32 * 1024)
  const pack = (edge: string) => ['pack-usb', '--dir', pki, ...EDGE.with(3, edge), '--out', stick.dir]
  const valid = async () => (await issued()).filter(one => one.revoked_at === null).map(({ cn }) => cn)
  await done(pack('e1'))
  stick.fill()
  await refused(5, /^ENOSPC: .*: certificate [0-9A-F]+ is revoked again$/, pack('e2'))
  t.deepEqual(await valid(), ['edge:A:e1'])
  t.is((await readKit(join(stick.dir, 'kit.zip'), Date.now())).edge.edge_id, 'e1')
  t.deepEqual(readdirSync(stick.dir).toSorted(), ['kit.zip', 'of-another-program'])
  stick.free()

  const kit = join(stick.dir, 'kit')
  await done(['kit', '--dir', pki, ...EDGE.with(3, 'e3'), '--out', kit])
  const before = await readKit(kit, Date.now())
  stick.fill()
  await refused(5, /^ENOSPC/, ['kit', '--dir', pki, ...EDGE.with(3, 'e4'), '--out', kit])
  await refused(5, /^ENOSPC/, ['renew', '--dir', pki, '--kit', kit])
  t.deepEqual(await readKit(kit, Date.now()), before)
  t.deepEqual(await valid(), ['edge:A:e1', 'edge:A:e3'])
  t.false(readdirSync(kit).some(name => name.endsWith('.tmp')))
})

test('a kit is issued only where it can be written', async t => {
  const { dir, pki, refused, issued } = await openCommands(t)
  writeFileSync(join(dir, 'file'), '')
  await refused(78, /ENOENT.*missing/, ['kit', '--dir', pki, ...EDGE, '--out', join(dir, 'missing', 'kit.zip')])
  await refused(3, /file is not a folder/, ['kit', '--dir', pki, ...EDGE, '--out', join(dir, 'file', 'kit')])
  await refused(3, /file is not a folder/, ['pack-usb', '--dir', pki, ...EDGE, '--out', join(dir, 'file')])
  t.deepEqual(await issued(), [])
})
