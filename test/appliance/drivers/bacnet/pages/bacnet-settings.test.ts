import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { bacnetSettings, type BacnetWish } from '#appliance/drivers/bacnet/pages/bacnet-settings.ts'
import { BACNET_VARIABLES } from '#appliance/env.ts'
import { type Environment, readEnv } from '#shared/core/env.ts'
import { Problem } from '#shared/core/problem.ts'
import { folder } from '../../../../support/folders.ts'

/** Holds a port of its own until it is ended. */
const HOLDER = "const s = require('dgram').createSocket('udp4'); s.bind(0, '127.0.0.1', () => console.log(s.address().port))"
const MACHINE = [{ name: 'lo', address: '127.0.0.1', netmask: '255.0.0.0' }]
const DEFAULTS: BacnetWish = { addresses: ['0.0.0.0'], port: 0, bbmd: '', bbmd_ttl_secs: 300 }

/** Port 0 is any that is free, so that no test depends on what else runs. */
const PORT = 'SERVICE_BACNET_PORT=0\n'

/** Settings as a process has read them from its environment and file. */
function open(
  t: ExecutionContext,
  given: { env?: Environment; text?: string; noFile?: true; way?: { interface: string; ports: number[] } },
) {
  const file = join(folder(t), 'settings.env')
  if (given.text !== undefined) writeFileSync(file, given.text)
  const settingsFile =
    given.text === undefined ? {} : { settingsFile: { path: file, text: given.text.replace(/^SERVICE_MQTT.*\n/m, '') } }
  const read = readEnv(BACNET_VARIABLES, { env: given.env ?? {}, ...settingsFile }, () => '')
  if (!read.ok) throw new Error(read.complaints.join())
  let restarts = 0
  const settings = bacnetSettings({
    effective: read.effective,
    file: given.noFile ? undefined : file,
    restart: () => restarts++,
    machine: () => MACHINE,
    way: () => given.way,
  })
  return { settings, file, text: () => (existsSync(file) ? readFileSync(file, 'utf8') : undefined) }
}
const sourceOf = ({ settings }: ReturnType<typeof open>) =>
  settings
    .current()
    .settings.map(({ name, value, is_decided_elsewhere }) => [name.replace('SERVICE_BACNET_', ''), value, is_decided_elsewhere])

test('what differs from the defaults is written, and other lines of the file stay', async t => {
  const box = open(t, { text: `SERVICE_MQTT_ENABLED=1\n${PORT}` })
  t.deepEqual(sourceOf(box), [
    ['BIND', '0.0.0.0', false],
    ['PORT', '0', false],
    ['BBMD', '', false],
    ['BBMD_TTL_SECS', '300', false],
  ])
  await box.settings.change({ addresses: ['127.0.0.1'], port: 0, bbmd: '10.0.0.1:47809', bbmd_ttl_secs: 60 })
  t.is(
    box.text(),
    `SERVICE_MQTT_ENABLED=1\nSERVICE_BACNET_BIND=127.0.0.1\n${PORT}SERVICE_BACNET_BBMD=10.0.0.1:47809\nSERVICE_BACNET_BBMD_TTL_SECS=60\n`,
  )
  t.true(box.settings.current().is_restarting)
  const next = open(t, { text: box.text()! })
  t.deepEqual(next.settings.current().wish, { addresses: ['127.0.0.1'], port: 0, bbmd: '10.0.0.1:47809', bbmd_ttl_secs: 60 })
  await next.settings.change(DEFAULTS)
  t.is(next.text(), `SERVICE_MQTT_ENABLED=1\n${PORT}`)
})

test('a file that the system also gives as environment is that of the page', async t => {
  const box = open(t, { env: { SERVICE_BACNET_PORT: '47809' }, text: 'SERVICE_BACNET_PORT=47809\n' })
  await box.settings.change(DEFAULTS)
  t.is(box.text(), PORT)
})

test('what the environment decides is refused, and the rest is changed', async t => {
  const box = open(t, { env: { SERVICE_BACNET_BIND: '127.0.0.1' } })
  t.is(box.settings.current().settings[0]!.is_decided_elsewhere, true)
  await t.throwsAsync(box.settings.change(DEFAULTS), {
    instanceOf: Problem,
    code: 'conflict',
    message: 'SERVICE_BACNET_BIND is set in the environment of this program: change it there',
  })
  t.is(box.text(), undefined)
  await box.settings.change({ ...DEFAULTS, addresses: ['127.0.0.1'], bbmd: '10.0.0.1' })
  t.is(box.text(), `${PORT}SERVICE_BACNET_BBMD=10.0.0.1\n`)
})

test('without a settings file nothing is changed', async t => {
  const box = open(t, { noFile: true })
  await t.throwsAsync(box.settings.change(DEFAULTS), { code: 'conflict', message: /no settings file/ })
})

for (const [wish, pointer, message] of [
  [{ addresses: ['10.9.9.9'] }, '/addresses', '10.9.9.9 is no address of this machine'],
  [{ addresses: ['eth0'] }, '/addresses', 'eth0 is no value of SERVICE_BACNET_BIND'],
  [{ port: 70_000 }, '/port', '70000 is no value of SERVICE_BACNET_PORT'],
  [{ port: Number.NaN }, '/port', 'NaN is no value of SERVICE_BACNET_PORT'],
  [{ bbmd: 'router' }, '/bbmd', 'router is no value of SERVICE_BACNET_BBMD'],
  [{ bbmd: '10.0.0.300' }, '/bbmd', '10.0.0.300 is no address of a broadcast manager'],
  [{ bbmd: '10.0.0.3:99999' }, '/bbmd', '10.0.0.3:99999 is no address of a broadcast manager'],
  [{ bbmd: '127.0.0.1' }, '/bbmd', '127.0.0.1 is this machine, and a broadcast manager is another one'],
  [{ bbmd_ttl_secs: 5 }, '/bbmd_ttl_secs', '5 is no value of SERVICE_BACNET_BBMD_TTL_SECS'],
  [{ bbmd: '10.0.0.1\nSERVICE_AUTH=0' }, '/bbmd', '10.0.0.1\nSERVICE_AUTH=0 is no value of SERVICE_BACNET_BBMD'],
] as const) {
  test(`${JSON.stringify(wish)} is refused and nothing is written`, async t => {
    const box = open(t, { text: '' })
    const error = await t.throwsAsync<Problem>(box.settings.change({ ...DEFAULTS, ...(wish as Partial<BacnetWish>) }), {
      code: 'invalid',
    })
    t.deepEqual(error?.errors?.[0], { pointer, message })
    t.is(box.text(), '')
    t.false(box.settings.current().is_restarting)
  })
}

test('a port that another program holds is named with it, and one that this process holds is free after its start', async t => {
  const box = open(t, {})
  const own = createSocket('udp4')
  t.teardown(() => own.close())
  own.bind({ address: '127.0.0.1', port: 0 })
  await once(own, 'listening')
  await box.settings.change({ ...DEFAULTS, addresses: ['127.0.0.1'], port: own.address().port })
  t.is(box.text(), `SERVICE_BACNET_BIND=127.0.0.1\nSERVICE_BACNET_PORT=${own.address().port}\n`)

  const other = spawn(process.execPath, ['-e', HOLDER], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => other.kill())
  const port = Number(String((await once(other.stdout!, 'data'))[0]))
  const message = new RegExp(`^Port ${port} of 127.0.0.1 cannot be used: process ${other.pid} \\(node`)
  await t.throwsAsync(box.settings.change({ ...DEFAULTS, addresses: ['127.0.0.1'], port }), { code: 'invalid', message })
})

test('what the firewall of the box would drop is refused with what opens it', async t => {
  const box = open(t, { text: PORT, way: { interface: 'eth1', ports: [47808] } })
  const error = await t.throwsAsync(box.settings.change({ ...DEFAULTS, addresses: ['127.0.0.1'] }), { instanceOf: Problem })
  t.deepEqual(
    error.errors.map(({ pointer }) => pointer),
    ['/addresses', '/port'],
  )
  t.regex(error.message, /^127\.0\.0\.1 is on lo: the firewall of this box lets BACnet through on eth1 alone$/)
  t.regex(error.errors[1]!.message, /at UDP port 47808 alone: bacnet_ports of system\.json on a USB stick opens others/)
  t.is(box.text(), PORT)
  const free = open(t, { text: PORT, way: { interface: 'lo', ports: [0] } })
  await free.settings.change({ ...DEFAULTS, addresses: ['127.0.0.1'] })
  t.regex(free.text()!, /BIND=127\.0\.0\.1/)
})
