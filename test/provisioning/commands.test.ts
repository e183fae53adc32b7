/** What the commands of provisioning take for granted, and what they refuse of a number. */
import { appendFileSync, chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { writeMosquittoFiles } from '#hub/broker/mosquitto.ts'
import { runCommand } from '#provisioning/commands.ts'
import { lockFolder } from '#shared/node/folder-lock.ts'
import { folder } from '../support/folders.ts'

test('help is asked for and ends well; no command at all is a mistake, and shows the same', async t => {
  const asked = await runCommand(['--help'], Date.now)
  t.is(asked.exit, 0)
  t.regex(asked.text, /^Usage: provisioning\/main\.ts COMMAND/)
  t.deepEqual(await runCommand([], Date.now), { exit: 2, text: asked.text })
  t.deepEqual(await runCommand(['kit', '--help'], Date.now), asked)
})

test('the port of the broker is 8883 unless it is given, and one that there is', async t => {
  const dir = folder(t)
  const pki = join(dir, 'pki')
  t.is((await runCommand(['ca', '--dir', pki], Date.now)).exit, 0)
  const kit = (name: string, ...more: string[]) => {
    const out = join(dir, name)
    const argv = ['kit', '--dir', pki, '--site', 'A', '--edge', 'e1', '--broker-host', 'hub.example', '--out', out, ...more]
    return runCommand(argv, Date.now).then(done => ({ ...done, out }))
  }
  const portOf = ({ out }: { out: string }) =>
    (JSON.parse(readFileSync(join(out, 'edge.json'), 'utf8')) as { broker_port: number }).broker_port
  t.is(portOf(await kit('plain')), 8883)
  for (const port of [1, 65_535]) t.is(portOf(await kit(`p${port}`, '--broker-port', String(port))), port)
  for (const port of ['0', '65536', '1.5', 'x', '']) {
    t.like(await kit('refused', '--broker-port', port), { exit: 2, text: '--broker-port takes a whole number from 1 to 65535\n' })
  }
})

test('days are whole, at least one and at most a hundred years', async t => {
  const dir = folder(t)
  const ca = (name: string, days: string) => runCommand(['ca', '--dir', join(dir, name), '--days', days], Date.now)
  for (const days of ['1', '36525']) t.is((await ca(days, days)).exit, 0, days)
  for (const days of ['0', '36526', '1.5', 'ten']) {
    t.like(await ca('no', days), { exit: 2, text: '--days takes a whole number from 1 to 36525\n' }, days)
  }
})

test('an intermediate authority is made below another, and not below one that may have none', async t => {
  const dir = folder(t)
  const ca = (name: string, ...more: string[]) => runCommand(['ca', '--dir', join(dir, name), ...more], Date.now)
  t.is((await ca('above')).exit, 0)
  const made = await ca('hub', '--above', join(dir, 'above'))
  t.is(made.exit, 0)
  t.regex(made.text, /above may now be kept where no network reaches/)
  t.like(await ca('hub', '--above', join(dir, 'above')), { exit: 0, text: `the authority is in ${join(dir, 'hub')} already\n` })
  t.like(await ca('hub'), { exit: 3 }, 'the folder has an intermediate authority, and a root was asked for')
  t.like(await ca('lower', '--above', join(dir, 'hub')), { exit: 3 })
  t.like(await ca('lower', '--above', join(dir, 'nowhere')), { exit: 3 })
})

test('a command that is repeated keeps what is valid, and says so to programs', async t => {
  const dir = folder(t)
  const pki = join(dir, 'pki')
  const run = async (now: number, ...argv: string[]) => {
    const { exit, text } = await runCommand([...argv, '--json', '--dir', pki], () => now)
    t.is(exit, 0, text)
    t.is(text.indexOf('\n'), text.length - 1, 'one line')
    return JSON.parse(text) as { ok: true; changed: boolean; serial: string }
  }
  const [now, later] = [Date.now(), Date.now() + 300 * 86_400_000]
  const kit = ['kit', '--site', 'A', '--edge', 'e1', '--broker-host', 'hub.example', '--out', join(dir, 'kit.zip')]
  const commands = [['ca'], ['broker', '--hosts', 'hub.example,10.0.0.5'], ['central'], kit]
  for (const argv of commands) {
    const first = await run(now, ...argv)
    const again = await run(now, ...argv)
    t.deepEqual([first.ok, first.changed, again.changed, again.serial], [true, true, false, first.serial], argv[0])
    if (argv[0] === 'ca') continue
    t.not((await run(now, ...argv, '--replace')).serial, first.serial)
    t.true((await run(later, ...argv)).changed, 'two thirds of its life are over')
  }
  t.true((await run(now, 'broker', '--hosts', 'hub.example,other.example')).changed, 'another name')
  t.true((await run(now, ...kit.with(6, 'other.example'))).changed, 'another broker')
  const refused = await runCommand(['revoke', '1234', '--json', '--dir', pki], Date.now)
  t.deepEqual(
    [refused.exit, JSON.parse(refused.text)],
    [3, { ok: false, exit: 3, error: 'no certificate with serial 1234 was issued here' }],
  )
})

test('where mosquitto has a list of names, each certificate is added to it, and what has mosquitto read it is said', async t => {
  const dir = folder(t)
  const pki = join(dir, 'pki')
  const list = join(pki, 'mosquitto.acl')
  const run = async (...argv: string[]) => {
    const { exit, text } = await runCommand([...argv, '--dir', pki], Date.now)
    t.is(exit, 0, text)
    return text
  }
  const kit = (edge: string) => ['kit', '--site', 'A', '--edge', edge, '--broker-host', 'hub.example', '--out', join(dir, edge)]
  await run('ca')
  t.notRegex(await run(...kit('e1')), /mosquitto/, 'no mosquitto')
  await writeMosquittoFiles(pki, { host: '127.0.0.1', port: 8883 }, Date.now())
  chmodSync(list, 0o640)
  t.regex(await run(...kit('e2')), /\nmosquitto.acl has been written anew: pkill -HUP -x mosquitto\n$/)
  const names = () => readFileSync(list, 'utf8').match(/(?<=^user ).*$/gm)
  t.deepEqual(names(), ['edge:A:e1', 'edge:A:e2'])
  t.is(statSync(list).mode & 0o777, 0o640)
  t.notRegex(await run(...kit('e2')), /mosquitto/, 'nothing was issued')
  const { serial } = JSON.parse(await run(...kit('e2'), '--replace', '--json'))
  const revoked = JSON.parse(await run('revoke', serial, '--json'))
  t.deepEqual(revoked.mosquitto, { missing: [], run: 'pkill -HUP -x mosquitto' })

  // A list that somebody has added to is left as it is.
  appendFileSync(list, 'user monitor\ntopic read $SYS/#\n')
  const own = readFileSync(list, 'utf8')
  const said = JSON.parse(await run(...kit('e3'), '--json')).mosquitto
  t.deepEqual(said.missing, ['edge:A:e3'])
  t.is(said.run, `SERVICE_MQTT_CERT_DIR=${pki} node hub/mqtt/main.ts --mosquitto && pkill -HUP -x mosquitto`)
  t.is(readFileSync(list, 'utf8'), own)
})

test('the key of an authority may be under a passphrase, which every command then needs', async t => {
  const dir = folder(t)
  const [pki, hub] = [join(dir, 'pki'), join(dir, 'hub')]
  const file = (name: string, text: string) => {
    writeFileSync(join(dir, name), text)
    return ['--passphrase-file', join(dir, name)]
  }
  const [right, wrong, short] = [file('right', 'correct horse\n'), file('wrong', 'another horse\n'), file('short', 'horse')]
  const run = (...argv: string[]) => runCommand(argv, Date.now)
  t.like(await run('ca', '--dir', pki, ...short), { exit: 2 })
  t.is((await run('ca', '--dir', pki, ...right)).exit, 0)
  t.regex(readFileSync(join(pki, 'ca.key.pem'), 'utf8'), /^-----BEGIN ENCRYPTED PRIVATE KEY-----/)
  t.like(await run('list', '--dir', pki), { exit: 3, text: `the key of the authority in ${pki} is under a passphrase\n` })
  t.like(await run('list', '--dir', pki, ...wrong), { exit: 3 })
  t.is((await run('ca', '--dir', hub, '--above', pki, ...right)).exit, 0)
  t.is((await run('central', '--dir', hub)).exit, 0, 'a hub opens its own authority unattended')
})

test('a command waits for another that changes the same authority, and not for ever', async t => {
  const pki = join(folder(t), 'pki')
  const broker = () => runCommand(['broker', '--hosts', 'hub.example', '--dir', pki], Date.now)
  t.is((await runCommand(['ca', '--dir', pki], Date.now)).exit, 0)
  const unlock = lockFolder('the authority', pki)
  t.like(await broker(), { exit: 4 })
  const waiting = broker()
  unlock()
  t.is((await waiting).exit, 0)
})
