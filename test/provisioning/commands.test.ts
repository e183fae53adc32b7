/** What the commands of provisioning take for granted, and what they refuse of a number. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { runCommand } from '#provisioning/commands.ts'
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
  t.like(await ca('hub', '--above', join(dir, 'above')), { exit: 3 })
  t.like(await ca('lower', '--above', join(dir, 'hub')), { exit: 2 })
  t.like(await ca('lower', '--above', join(dir, 'nowhere')), { exit: 3 })
})
