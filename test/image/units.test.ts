/** What the units of the image say, and how systemd itself judges them where it is there. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { parse } from 'yaml'
import { APPLIANCE_ENV } from '#appliance/env.ts'
import { PREPARE_ENV } from '#appliance/prepare/env.ts'
import { PARTITION_FILES, withPartitionIds } from '#image/build/disk.ts'
import { nodeFlags } from '#image/recipes/node-flags.ts'
import { testExposure } from './exposure.ts'

const UNITS = 'image/root/etc/systemd/system'
const SCRIPTS = 'image/root/usr/lib/plenum'
const unit = readFileSync(join(UNITS, 'plenum.service'), 'utf8')

test('every variable that the unit sets is one of the appliance', t => {
  const names = [...unit.matchAll(/^Environment=([A-Z_]+)=/gm)].map(([, name]) => name!)
  t.true(names.length > 5)
  for (const name of names) if (name.startsWith('SERVICE_')) t.true(Object.hasOwn(APPLIANCE_ENV, name), name)
})

test('what takes a stick looks for everything where the appliance has it', t => {
  const defaults = new Map<string, string>(Object.entries(PREPARE_ENV).map(([name, variable]) => [name, variable.default]))
  const both = [...unit.matchAll(/^Environment=([A-Z_]+)=(.*)$/gm)].filter(([, name]) => defaults.has(name!))
  t.true(both.length >= 5)
  for (const [, name, value] of both) t.is(defaults.get(name!), value, name)
})

test('the appliance has no capability and nothing of root', t => {
  for (const line of [
    'User=plenum',
    'NoNewPrivileges=yes',
    'CapabilityBoundingSet=',
    'AmbientCapabilities=',
    'ProtectSystem=strict',
  ]) {
    t.true(unit.split('\n').includes(line), line)
  }
})

test('Node runs the appliance on a box as it does elsewhere', t => {
  const main = 'appliance/main.ts'
  t.true(unit.split('\n').includes(`ExecStart=/opt/plenum/bin/node ${nodeFlags(main).join(' ')} ${main}`))
})

test('what a unit starts is in the image and can be run', t => {
  for (const name of readdirSync(UNITS).filter(one => !one.endsWith('.d'))) {
    for (const [, path] of readFileSync(join(UNITS, name), 'utf8').matchAll(/^ExecStart=(\/usr\/lib\/plenum\/\S+)/gm)) {
      const file = join(SCRIPTS, path!.split('/').at(-1)!)
      t.true((statSync(file).mode & 0o111) === 0o111, file)
      t.regex(readFileSync(file, 'utf8'), /^#!\/usr\/bin\/busybox sh\n/)
    }
  }
})

test('the clock of a box starts no earlier than its version: systemd takes the time of this file, which the build gives to all', t => {
  t.is(statSync('image/root/usr/lib/clock-epoch').size, 0)
})

test('a box finds its partitions by their identity, which no stick has', t => {
  const named = PARTITION_FILES.map(file => readFileSync(join('image/root', file), 'utf8')).join('')
  t.false(named.includes('by-partlabel'))
  t.is(new Set(withPartitionIds(named).match(/by-partuuid\/[0-9a-f-]{35}[1-6]\b/g)).size, 6)
  t.throws(() => withPartitionIds('/dev/disk/by-partuuid/@swap@'), { message: 'there is no partition swap' })
})

test('the scripts on the box are shell that parses', t => {
  for (const name of readdirSync(SCRIPTS)) t.notThrows(() => execFileSync('sh', ['-n', join(SCRIPTS, name)]), name)
  t.notThrows(() => execFileSync('sh', ['-n', 'image/boot/init']))
})

test('packages are named once, and patterns of what is removed stay below the root', t => {
  const { packages, remove, removeModules } = parse(readFileSync('image/packages.yaml', 'utf8'))
  t.is(new Set(packages).size, packages.length)
  for (const pattern of [...remove, ...removeModules]) t.regex(pattern, /^[a-z]/)
})

/** Exposure from 0 to 10; what is left is the network, and the unit says why. */
const EXPOSURE_MAX = 1
for (const name of ['plenum.service', 'plenum-certificate.service']) testExposure(join(UNITS, name), EXPOSURE_MAX)
