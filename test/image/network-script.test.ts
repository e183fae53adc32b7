/**
 * The script of the box that tries settings of the network, run as it is with its paths in a folder of the test, with the program that
 * checks them and the part of the appliance that asks. systemd notes what it is told.
 */
import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { openNetwork } from '#appliance/system/network.ts'
import { canMountTmpfs } from '../support/disk/mounts.ts'
import { smallDisk } from '../support/disk/small-disk.ts'
import { folder, until } from '../support/folders.ts'
import { testWhere } from '../support/optional.ts'

const SCRIPTS = 'image/root/usr/lib/plenum'
const run = promisify(execFile)
const RUNS = { uplink: { interface: 'eth0' }, ot: { interface: 'eth1' }, usb: false }
const WISH = { uplink: { address: '10.9.0.7/24', gateway: '10.9.0.1' }, ot: {}, time_servers: ['10.9.0.2'] }
const WISHED = {
  ...RUNS,
  uplink: { interface: 'eth0', ...WISH.uplink },
  time_servers: WISH.time_servers,
}

function openBox(t: ExecutionContext, { patience }: { patience: number }) {
  const at = folder(t)
  for (const name of ['bin', 'system', 'wishes', 'run']) mkdirSync(join(at, name))
  const put = (name: string, text: string) => writeFileSync(join(at, name), text)
  const read = (name: string) => readFileSync(join(at, name), 'utf8')
  const moved = (text: string) =>
    text
      .replaceAll('/var/lib/plenum-system', join(at, 'system'))
      .replaceAll('/var/lib/plenum/network', join(at, 'wishes'))
      .replaceAll('/run/systemd/', `${at}/run/`)
      .replaceAll('/usr/lib/plenum/', `${at}/`)
      .replaceAll('/opt/plenum', process.cwd())
      .replace('bin/node', process.execPath)
      .replace(/^patience_secs=.*$/m, `patience_secs=${patience}`)
      .replace(/^step=.*$/m, 'step=1')
  for (const name of ['common', 'network']) put(name, moved(readFileSync(join(SCRIPTS, name), 'utf8')))
  const program = (name: string, text: string) => {
    put(`bin/${name}`, `#!/bin/sh\n${text}\n`)
    chmodSync(join(at, 'bin', name), 0o755)
  }
  program('systemctl', `echo "$*" >> ${join(at, 'told')}`)
  for (const name of ['chown', 'sync']) program(name, ':')
  const env = {
    PATH: `${join(at, 'bin')}:${process.env['PATH']}`,
    ...{ SERVICE_SYSTEM_DIR: join(at, 'system'), SERVICE_NETWORK_DIR: join(at, 'wishes'), SERVICE_RUN_DIR: join(at, 'run') },
  }
  const starts = () =>
    put('run/plenum-system.json', existsSync(join(at, 'system/system.json')) ? read('system/system.json') : JSON.stringify(RUNS))
  starts()
  const script = (command: string) => run('sh', [join(at, 'network'), command], { env })
  return {
    at,
    put,
    has: (name: string) => existsSync(join(at, name)),
    remove: (name: string) => rmSync(join(at, name)),
    system: () => JSON.parse(read('system/system.json')) as unknown,
    network: openNetwork(join(at, 'wishes'), () => false),
    starts,
    script,
    restarts: () => (existsSync(join(at, 'told')) ? read('told').trim().split('\n') : []),
  }
}

/** A box that runs with `RUNS` of a file, and has started with `WISH`. */
async function startedWithWish(t: ExecutionContext, patience: number) {
  const box = openBox(t, { patience })
  box.put('system/system.json', JSON.stringify(RUNS))
  box.starts()
  await box.script('watch')
  await box.network.ask(WISH)
  t.true(box.network.isAsked())
  await box.script('try')
  t.false(box.network.isAsked())
  t.deepEqual(box.restarts(), ['reboot'])
  t.deepEqual(box.system(), WISHED, 'what the page may not ask for stays')
  box.starts()
  return box
}

testWhere(canMountTmpfs())('on a full disk, which could not keep the settings before, no others are tried', async t => {
  const box = openBox(t, { patience: 60 })
  const disk = smallDisk(t, join(box.at, 'system'), 65_536)
  box.put('system/system.json', JSON.stringify(RUNS))
  box.starts()
  await box.script('watch')
  await box.network.ask(WISH)
  // There is room for what the page asks for, and then no more.
  box.put('system/spare', 'x')
  disk.fill()
  box.remove('system/spare')
  await box.script('try')
  t.deepEqual(box.system(), RUNS)
  t.deepEqual(box.restarts(), [])
  t.like(box.network.trial(), { state: 'refused' })
  t.false(box.has('system/system.json.before'))
})

test('settings that somebody keeps at their new address stay', async t => {
  const box = await startedWithWish(t, 60)
  const watching = box.script('watch')
  await until(() => box.network.trial()?.state === 'trying', 'they are tried')
  t.deepEqual(box.network.current()?.uplink, WISHED.uplink)
  await t.throwsAsync(box.network.ask(WISH), { message: /tries other settings/ })
  await box.network.keep()
  await watching
  t.is(box.network.trial()?.state, 'kept')
  t.deepEqual(box.system(), WISHED)
  t.false(box.has('system/system.json.before'))
  t.deepEqual(box.restarts(), ['reboot'])
  await box.script('watch')
  t.is(box.network.trial()?.state, 'kept', 'also after the next start')
  await t.throwsAsync(box.network.keep(), { message: 'The box tries no settings of the network' })
})

test('settings that nobody keeps are set back, also when the power is cut meanwhile', async t => {
  const box = await startedWithWish(t, 2)
  const cut = box.script('watch')
  cut.child.kill('SIGKILL')
  await cut.catch(() => undefined)
  await box.script('watch')
  t.like(box.network.trial(), { state: 'set_back', reason: 'nobody kept them within 0 minutes' })
  t.deepEqual(box.system(), RUNS)
  t.deepEqual(box.restarts(), ['reboot', 'reboot'])
  box.starts()
  await box.script('watch')
  t.deepEqual(box.restarts(), ['reboot', 'reboot'], 'the next start tries nothing')
  t.deepEqual(box.network.current(), RUNS)
})

test('a box without a file has none again', async t => {
  const box = openBox(t, { patience: 1 })
  await box.script('watch')
  await box.network.ask({ uplink: {}, ot: {}, time_servers: ['10.9.0.2'] })
  await box.script('try')
  t.deepEqual(
    box.system(),
    { ...RUNS, time_servers: ['10.9.0.2'] },
    'the interfaces are those with which it runs, whatever the service sees',
  )
  box.starts()
  await box.script('watch')
  t.is(box.network.trial()?.state, 'set_back')
  t.false(box.has('system/system.json'))
  t.false(box.has('system/system.json.before'))
})

test('what a USB stick sets meanwhile is not set back', async t => {
  const box = await startedWithWish(t, 60)
  const watching = box.script('watch')
  await until(() => box.network.trial()?.state === 'trying', 'they are tried')
  box.put('system/system.json', JSON.stringify(RUNS))
  box.remove('system/system.json.before')
  await watching
  box.starts()
  await box.script('watch')
  t.like(box.network.trial(), { state: 'set_back', reason: 'the network was set at the box itself' })
  t.deepEqual(box.system(), RUNS)
  t.deepEqual(box.restarts(), ['reboot'])
})

for (const [what, text, reason] of [
  ['more than addresses', JSON.stringify({ ...WISH, outbound: [{ network: '0.0.0.0/0', ports: [443] }] }), /^\/outbound: /],
  ['another interface', JSON.stringify({ ...WISH, uplink: { interface: 'eth1' } }), /^\/uplink\/interface: /],
  [
    'a gateway beyond the network',
    JSON.stringify({ ...WISH, uplink: { address: '10.9.0.7/24', gateway: '10.8.0.1' } }),
    /^\/uplink\/gateway: /,
  ],
  ['half a file', '{"uplink"', /^is no JSON: /],
] as const) {
  test(`the system itself refuses a wish for ${what}`, async t => {
    const box = openBox(t, { patience: 1 })
    box.put('system/system.json', JSON.stringify(RUNS))
    box.put('wishes/wanted.json', text)
    await box.script('try')
    t.is(box.network.trial()?.state, 'refused')
    t.regex(box.network.trial()!.reason, reason)
    t.deepEqual(box.system(), RUNS)
    t.false(box.has('wishes/wanted.json'))
    t.deepEqual(box.restarts(), [])
  })
}
