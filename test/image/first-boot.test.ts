/** The appliance's unit at the first boot: its own commands and environment, on the files of the image and folders as it makes them. */
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test from 'ava'
import { buildApplication } from '#image/build/application.ts'
import { MAINS } from '#image/build/build.ts'
import { targetHere } from '#image/build/target.ts'
import { freePort } from '#scripts/lib/free-port.ts'
import { folder, until } from '../support/folders.ts'

const unit = readFileSync('image/root/etc/systemd/system/plenum.service', 'utf8')
const entries = readFileSync('image/root/usr/lib/tmpfiles.d/plenum.conf', 'utf8')

/** A start takes two seconds on a quiet machine. */
const STARTED_MS = 240_000

test('a new box makes its secrets, and the appliance then serves its page', async t => {
  t.timeout(300_000)
  const at = folder(t)
  const program = join(at, 'program')
  await buildApplication(program, MAINS, { target: targetHere(), version: '1.2.3+0123456789ab' })
  const node = join(program, 'bin/node')
  const moved = (path: string) => path.replace(/\/(?:var|run)\//, `${at}/`)
  for (const [, kind, path, mode] of entries.matchAll(/^([df]) (\S+) (\d+) /gm)) {
    if (kind === 'd') mkdirSync(moved(path!), { recursive: true, mode: Number.parseInt(mode!, 8) })
    else writeFileSync(moved(path!), '', { mode: Number.parseInt(mode!, 8) })
  }
  // systemd makes it for the unit.
  mkdirSync(dirname(moved('/run/plenum/alive')), { recursive: true })
  const ofUnit = [...unit.matchAll(/^Environment=([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name!, moved(value!)])
  // Ports and networks of this machine in place of the box's.
  const here = {
    SERVICE_SYSTEM_DIR: join(at, 'lib/plenum-system'),
    SERVICE_CENTRAL_PORT: String(await freePort()),
    SERVICE_CENTRAL_BIND: '127.0.0.1',
    SERVICE_BACNET_BIND: '127.0.0.1',
    SERVICE_BACNET_PORT: '0',
  }
  const env = { PATH: process.env['PATH'], ...Object.fromEntries(ofUnit), ...here }
  const wordsOf = (setting: string) => new RegExp(`^${setting}=/opt/plenum/bin/node (.*)$`, 'm').exec(unit)![1]!.split(' ')

  const said = execFileSync(node, wordsOf('ExecStartPre'), { cwd: program, env, encoding: 'utf8' })
  t.regex(said, /sign in as admin with \S+ and keep it/)

  const appliance = spawn(node, wordsOf('ExecStart'), { cwd: program, env, stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => appliance.kill('SIGKILL'))
  let output = ''
  for (const stream of [appliance.stdout, appliance.stderr]) stream.setEncoding('utf8').on('data', text => (output += text))
  await until(() => output.includes('"msg":"running"') || appliance.exitCode !== null, 'the appliance runs', STARTED_MS)
  t.is(appliance.exitCode, null, output)
  t.regex(output, /"url":"https:\/\/127\.0\.0\.1:\d+","msg":"appliance listens"/)
})
