/** The script of the box that sets its clock by the hub's time, run as it is with its paths in a folder of the test. */
import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { folder } from '../support/folders.ts'

const SCRIPTS = 'image/root/usr/lib/plenum'
const run = promisify(execFile)
/** When the version of the box was made, s since 1970 UTC. */
const MADE = 1_790_000_000
const UP_S = 500

function openBox(t: ExecutionContext) {
  const at = folder(t)
  for (const name of ['bin', 'run', 'kept']) mkdirSync(join(at, name))
  const put = (name: string, text: string) => writeFileSync(join(at, name), text)
  const moved = (text: string) =>
    text
      .replaceAll('/run/plenum-clock', join(at, 'run'))
      .replaceAll('/run/systemd/timesync', at)
      .replaceAll('/var/lib/systemd/timesync', join(at, 'kept'))
      .replaceAll('/usr/lib/plenum/', `${at}/`)
      .replaceAll('/opt/plenum', at)
      .replaceAll('/proc/uptime', join(at, 'uptime'))
  for (const name of ['common', 'clock']) put(name, moved(readFileSync(join(SCRIPTS, name), 'utf8')))
  put('uptime', `${UP_S}.73 900.00\n`)
  put('package.json', '{}')
  utimesSync(join(at, 'package.json'), MADE, MADE)
  const program = (name: string, text: string) => {
    put(`bin/${name}`, `#!/bin/sh\n${text}\n`)
    chmodSync(join(at, 'bin', name), 0o755)
  }
  // The real one shows times; what would set the clock of this machine is noted.
  program(
    'date',
    `case "$*" in *-s*) echo "$*$([ ! -e ${join(at, 'synced')} ] || echo ', which is on the disk')" >> ${join(at, 'set')} ;; *) exec /bin/date "$@" ;; esac`,
  )
  program('hwclock', ':')
  program('sync', `[ ! -e ${join(at, 'kept/clock')} ] || : > ${join(at, 'synced')}`)
  const env = { PATH: `${join(at, 'bin')}:${process.env['PATH']}` }
  return {
    put,
    has: (name: string) => existsSync(join(at, name)),
    keptUntil: () => statSync(join(at, 'kept/clock')).mtimeMs / 1000,
    wasSet: () => (existsSync(join(at, 'set')) ? readFileSync(join(at, 'set'), 'utf8').trim() : undefined),
    clock: () =>
      run('sh', [join(at, 'clock')], { env }).then(
        ({ stdout }) => ({ exit: 0, stdout }),
        (error: { code: number; stdout: string }) => ({ exit: error.code, stdout: error.stdout }),
      ),
  }
}

test('the clock is set by when the box was started and how long ago that is, and kept for the next start', async t => {
  const box = openBox(t)
  box.put('run/started', `${MADE}\n`)
  const { exit, stdout } = await box.clock()
  t.is(exit, 0)
  t.is(box.wasSet(), `-u -s @${MADE + UP_S}, which is on the disk`, 'a power cut right after it does not take it back')
  t.is(box.keptUntil(), MADE + UP_S)
  t.false(box.has('run/started'))
  t.regex(stdout, /^Plenum: the clock is set by the hub's time; it said /)
})

test('a time before the version was made, and one that a time server knows better, are not used', async t => {
  const box = openBox(t)
  box.put('run/started', `${MADE - UP_S - 1}\n`)
  t.regex((await box.clock()).stdout, /is before this version was made, and is not used/)
  box.put('run/started', `${MADE}\n`)
  box.put('synchronized', '')
  t.deepEqual(await box.clock(), { exit: 0, stdout: '' })
  t.is(box.wasSet(), undefined)
  t.false(box.has('run/started'), 'it is not asked again and again')
})

for (const [title, text] of [
  ['empty', ''],
  ['words', 'tomorrow\n'],
  ['a command', '$(reboot)\n'],
  ['too long', `${MADE}000\n`],
  ['negative', `-${MADE}\n`],
  ['a number in octal', `0${MADE}\n`],
  ['two lines of which the second is an instant', `x\n${MADE}\n`],
] as const)
  test(`a file without an instant sets nothing: ${title}`, async t => {
    const box = openBox(t)
    box.put('run/started', text)
    const { exit, stdout } = await box.clock()
    t.is(exit, 1)
    t.is(stdout, 'Plenum: the file with the time of the hub has no instant\n')
    t.is(box.wasSet(), undefined)
    t.false(box.has('run/started'))
  })
