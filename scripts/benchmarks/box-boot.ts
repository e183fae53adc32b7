/**
 * `scripts/bench boot`: how many instructions an arm64 box runs from switching it on until its page answers, at its first boot and at the
 * next, and how large image and update are. The peer in the same run is the system under it: firmware, kernel and systemd up to
 * `basic.target`, with what the box prepares meanwhile (network, firewall). One core is emulated, whose instructions do not depend on how
 * fast this machine is. `scripts/image build` makes the image; `npm test -- --image` installs the emulator.
 */
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Box } from '../lib-emulator/box.ts'
import { BUILT, IMAGE, UPDATE } from '../lib-emulator/built-image.ts'

const SYSTEM_IS_UP = /Reached target .*basic\.target/
const MILLION = 1e6

const isJson = process.argv.includes('--json')
const say = (line: string) => isJson || process.stdout.write(`${line}\n`)
const millions = (count: number) => Math.round(count / MILLION)

if (!existsSync(IMAGE)) {
  process.stderr.write(`${IMAGE} is not there: scripts/image build makes it\n`)
  process.exit(2)
}
const folder = mkdtempSync(join(tmpdir(), 'plenum-boot-'))
const box = new Box(folder, IMAGE, join(BUILT, 'console-boot.log'), true)
try {
  const first = await boot('first boot')
  await box.cut()
  const next = await boot('next boot')
  const result = {
    bench: 'boot',
    ours: next.page,
    peer: next.system,
    peer_name: 'firmware, kernel, and systemd with the preparation of the box up to basic.target',
    ratio: Math.round((next.page / next.system) * 100) / 100,
    unit: 'million instructions',
    first_boot: first.page,
    first_boot_system: first.system,
    disk_mb: Math.round(statSync(IMAGE).size / MILLION),
    disk_used_mb: Math.round((statSync(IMAGE).blocks * 512) / MILLION),
    update_mb: Math.round(statSync(UPDATE).size / MILLION),
  }
  process.stdout.write(`${JSON.stringify(result)}\n`)
} finally {
  await box.cut()
  rmSync(folder, { recursive: true, force: true })
}

async function boot(name: string) {
  await box.start()
  await box.says(SYSTEM_IS_UP)
  const system = millions(await box.instructions())
  await box.healthy()
  const page = millions(await box.instructions())
  say(`${name}: ${page} million instructions to the page, ${system} of them of the system below`)
  return { system, page }
}
