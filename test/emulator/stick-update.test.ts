/** Updates that a USB stick brings to a box that nothing else reaches. `scripts/test --image`. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { Box } from '#scripts/lib-emulator/box.ts'
import { sticksOf } from './sticks.ts'
import { IMAGE } from '#scripts/lib-emulator/built-image.ts'
import { builtVersion, packForeign, packVersion, STICK_UPDATE_LOG, versionAfter } from './versions.ts'

const folder = mkdtempSync(join(tmpdir(), 'plenum-stick-update-'))
const box = new Box(folder, IMAGE, STICK_UPDATE_LOG)
const { makeStick, taken, resultWith } = sticksOf(box, folder)
const first = builtVersion()
const next = versionAfter(first, 1)
const CONFIRM_MS = 7_200_000

test.after.always(async () => {
  await box.cut()
  rmSync(folder, { recursive: true, force: true })
})

test.serial('an update on a stick that another authority has signed is refused, and the stick says why', async t => {
  await box.start()
  await box.signIn()
  const name = await box.name()
  await box.says(/in slot A is confirmed/)
  const foreign = makeStick('foreign', { 'update.raucb': readFileSync(packForeign(folder, next)) })
  t.regex(await taken(foreign, name), /update\.raucb: it is received/)
  const result = await resultWith(/last update: /, foreign, name)
  t.regex(result, /last update: refused \S+ it is not signed for this box: .*signature verification failed/i)
  t.is((await box.update()).version, first)
})

test.serial(
  'an update on a stick is installed into the other slot, runs, stays when it was watched, and the stick says so',
  async t => {
    const name = await box.name()
    const stick = makeStick('update', { 'update.raucb': readFileSync(packVersion(folder, next)) })
    box.forgetConsole()
    await box.plugIn(stick)
    await box.says(/Plenum update: installed/)
    await box.says(/in slot B is confirmed/, CONFIRM_MS)
    const result = await resultWith(/last update: confirmed/, stick, name)
    t.true(result.includes(`last update: confirmed ${next} `), result)
    await box.signIn()
    const { version, last } = await box.update()
    t.is(version, next)
    t.like(last, { state: 'confirmed', version: next, slot: 'B' })
  },
)
