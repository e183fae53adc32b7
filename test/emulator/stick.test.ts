/** A box without time server, network or hub: what a USB stick brings, and how it is erased. `scripts/test --image`. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { formatInstant, HOUR } from '#shared/core/time.ts'
import { resultFile } from '#shared/core/system/stick-files.ts'
import { Box } from './box.ts'
import { IMAGE, STICK_LOG } from './versions.ts'

const folder = mkdtempSync(join(tmpdir(), 'plenum-stick-'))
const box = new Box(folder, IMAGE, STICK_LOG)
const RESULT_MS = 1_800_000
/** Where the file system of a stick begins, for mtools. */
const PARTITION = '@@1M'
/** What the clock of a machine whose battery is empty says. */
const NO_BATTERY = '2015-01-01T00:00:00'

test.after.always(async () => {
  await box.cut()
  rmSync(folder, { recursive: true, force: true })
})

/** @returns the file of a stick that has these files, on a partition that is called as the data of the box */
function makeStick(name: string, files: Record<string, string>): string {
  const image = join(folder, `${name}.img`)
  execFileSync('truncate', ['-s', '64M', image])
  execFileSync('sgdisk', ['--new=1:2048:0', '--change-name=1:data', image])
  execFileSync('mkfs.vfat', ['--offset=2048', '-n', 'PLENUM', image, String(60 * 1024)])
  for (const [file, text] of Object.entries(files)) {
    const path = join(folder, file)
    writeFileSync(path, text)
    execFileSync('mcopy', ['-i', `${image}${PARTITION}`, path, `::/${file}`])
  }
  return image
}

/** Plugs a stick in. @returns what became of it, which the box writes onto it */
async function taken(image: string, name: string): Promise<string> {
  await box.plugIn(image)
  for (const end = Date.now() + RESULT_MS; Date.now() < end; await sleep(2000)) {
    const result = resultOn(image, name)
    if (result !== undefined) return result
  }
  throw new Error(`no ${resultFile(name)}; the console: ${box.console.slice(-2000)}`)
}

function resultOn(image: string, name: string): string | undefined {
  try {
    return execFileSync('mtype', ['-i', `${image}${PARTITION}`, `::/${resultFile(name)}`], { encoding: 'utf8', stdio: 'pipe' })
  } catch {
    return undefined
  }
}

/** Waits until the clock of the box has reached an instant. */
async function clockFrom(wanted: number): Promise<number> {
  for (const end = Date.now() + RESULT_MS; Date.now() < end; await sleep(2000)) {
    const said = await box.clock()
    if (said >= wanted) return said
  }
  throw new Error(`the clock says ${formatInstant(await box.clock())}`)
}

const nameOnConsole = async (): Promise<string> => (await box.says(/https:\/\/(plenum-[a-z2-9]{4})\.local/))[1]!
let first = ''

test.serial('a stick sets the clock where no time server does, and a power cut does not set it back', async t => {
  await box.start(NO_BATTERY)
  await box.signIn()
  first = await nameOnConsole()
  // Not later than here: the certificate that it makes when it is erased would not be valid yet.
  const wanted = Date.now()
  const result = await taken(makeStick('clock', { 'clock.txt': formatInstant(wanted) }), first)
  t.regex(result, /clock\.txt: the clock is set to /)
  const said = await clockFrom(wanted)
  t.true(said < wanted + HOUR, formatInstant(said))
  await box.cut()
  await box.start(NO_BATTERY)
  await box.signIn()
  t.true((await box.clock()) >= wanted, formatInstant(await box.clock()))
})

test.serial('a stick that names another box erases nothing, and one that names this box erases everything', async t => {
  await box.put('/api/devices/ahu-1', {
    ...{ device_id: 'ahu-1', name: 'AHU', enabled: false, protocol: 'bacnet' },
    bacnet: { device_instance: 1001, host: '10.0.9.2', port: 47808, max_apdu: 1476 },
    points: [],
  })
  const devices = async () => (await box.get<{ devices: unknown[] }>('/api/devices')).devices.length
  t.is(await devices(), 1)
  t.regex(await taken(makeStick('other', { 'reset.txt': 'plenum-none' }), first), /names "plenum-none" and this box is /)
  t.is(await devices(), 1)
  const before = box.password
  box.forgetConsole()
  box.forgetPassword()
  await box.plugIn(makeStick('reset', { 'reset.txt': first }))
  await box.says(/everything on this box is erased/)
  await box.signIn()
  t.not(box.password, before)
  t.not(await nameOnConsole(), first)
  t.is(await devices(), 0)
})
