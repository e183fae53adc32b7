/** The script of the box that looks at a USB stick, run as it is with its paths in a folder of the test; the program that takes it is noted. */
import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { folder, until } from '../support/folders.ts'

const SCRIPTS = 'image/root/usr/lib/plenum'
const run = promisify(execFile)
/** What the program says that the box has to do. */
const [NOTHING, RESTART] = [0, 10]

function openBox(t: ExecutionContext, wish: number) {
  const at = folder(t)
  for (const name of ['bin', 'run/plenum-stick', 'dev', 'updates', 'opt/bin']) mkdirSync(join(at, name), { recursive: true })
  const put = (name: string, text: string) => writeFileSync(join(at, name), text)
  const moved = (text: string) =>
    text
      .replaceAll('/var/lib/plenum/updates', join(at, 'updates'))
      .replaceAll('/run/plenum-', join(at, 'run/plenum-'))
      .replaceAll('/dev/$1', join(at, 'dev/$1'))
      .replaceAll('/usr/lib/plenum/', `${at}/`)
      .replaceAll('/opt/plenum', join(at, 'opt'))
      .replace(/^( *)sleep 5$/m, '$1sleep 0.1')
  for (const name of ['common', 'stick']) put(name, moved(readFileSync(join(SCRIPTS, name), 'utf8')))
  const program = (name: string, text: string) => {
    put(name, `#!/bin/sh\n${text}\n`)
    chmodSync(join(at, name), 0o755)
  }
  for (const name of ['mount', 'umount']) program(`bin/${name}`, `echo ${name} >> ${join(at, 'told')}`)
  program(
    'bin/systemctl',
    `case "$1" in is-active) cat ${join(at, 'service')}; : > ${join(at, 'asked')} ;; *) echo "$*" >> ${join(at, 'told')} ;; esac`,
  )
  for (const name of ['chown', 'sync']) program(`bin/${name}`, ':')
  program('opt/bin/node', `echo looked >> ${join(at, 'told')}; exit ${wish}`)
  const is = (service: 'activating' | 'inactive', state: string) => {
    put('service', `${service}\n`)
    put('updates/state.json', JSON.stringify({ state, version: '1.1.0', slot: 'A', reason: '' }))
  }
  put('dev/sda1', '')
  is('inactive', 'confirmed')
  const env = { PATH: `${join(at, 'bin')}:${process.env['PATH']}` }
  return {
    put,
    is,
    pullOut: () => rmSync(join(at, 'dev/sda1')),
    told: () => (existsSync(join(at, 'told')) ? readFileSync(join(at, 'told'), 'utf8').trim().split('\n').join(' ') : ''),
    has: (name: string) => existsSync(join(at, name)),
    remove: (name: string) => rmSync(join(at, name)),
    look: () => run('sh', [join(at, 'stick'), 'sda1'], { env }),
  }
}

const LOOKED = 'mount looked umount'

test('a stick is looked at once where no update is under way', async t => {
  const box = openBox(t, NOTHING)
  await box.look()
  t.is(box.told(), LOOKED)
})

test('a stick that stays in is looked at again when it is seen what becomes of an update, and is not mounted meanwhile', async t => {
  const box = openBox(t, NOTHING)
  box.put('updates/install', 'newer')
  let isOver = false
  const looking = box.look().then(() => (isOver = true))
  await until(() => box.told() === LOOKED, 'it is looked at')
  for (const [service, state] of [
    ['activating', 'confirmed'],
    ['activating', 'installing'],
    ['inactive', 'installed'],
    ['inactive', 'trying'],
  ] as const) {
    box.is(service, state)
    if (box.has('updates/install')) box.remove('updates/install')
    await new Promise(resolve => setTimeout(resolve, 300))
    t.false(isOver, state)
    t.is(box.told(), LOOKED)
  }
  box.is('inactive', 'refused')
  await looking
  t.is(box.told(), `${LOOKED} ${LOOKED}`)
})

test('a stick whose update was refused before anybody asks is looked at again too', async t => {
  const box = openBox(t, NOTHING)
  box.is('inactive', 'refused')
  box.put('run/plenum-stick/update.raucb', '')
  await box.look()
  t.is(box.told(), `${LOOKED} ${LOOKED}`)
})

test('a stick that is pulled out is not waited for', async t => {
  const box = openBox(t, NOTHING)
  box.is('inactive', 'trying')
  const looking = box.look()
  await until(() => box.told() === LOOKED, 'it is looked at')
  box.pullOut()
  await looking
  t.is(box.told(), LOOKED)
})

test('a box with new settings restarts at once, and while an update is installed the update does that', async t => {
  const alone = openBox(t, RESTART)
  await alone.look()
  t.is(alone.told(), `${LOOKED} reboot`)
  const updating = openBox(t, RESTART)
  updating.put('run/plenum-stick/update.raucb', '')
  updating.is('activating', 'installing')
  const looking = updating.look()
  await until(() => updating.has('asked'), 'it is asked whether one is installed')
  t.true(updating.has('run/plenum-restart'), 'the update knows')
  updating.is('inactive', 'refused')
  await looking
  t.is(updating.told(), `${LOOKED} ${LOOKED}`)
})
