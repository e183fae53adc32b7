/** One box in an emulator from its first boot through good, bad and sick updates, damage and power cuts. `scripts/test --image`. */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { type BacnetDevice, openBacnetDevice } from '#scripts/simulator/bacnet/device.ts'
import { OBJECT_TYPES } from '#scripts/simulator/bacnet/objects.ts'
import { timesOf } from '../support/optional.ts'
import { Box } from '#scripts/lib-emulator/box.ts'
import { IMAGE } from '#scripts/lib-emulator/built-image.ts'
import { PARTITION, partitionOf } from './partitions.ts'
import { builtVersion, CONSOLE_LOG, packVersion, tampered, versionAfter, WATCHED_SHORTLY } from './versions.ts'

const folder = mkdtempSync(join(tmpdir(), 'plenum-emulator-'))
const first = builtVersion()
const next = versionAfter(first, 1)
const sick = versionAfter(first, 2)
const INSTALL_MS = 3_600_000
const CONFIRM_MS = 7_200_000
const STORED_MS = 1_800_000
const POLL_SECS = 2
/** What may be missing at the end before a power cut, by the box's clock: a batch that was not on the disk yet, and a poll. */
const UNSTORED_MS = 30_000

const box = new Box(folder, IMAGE, CONSOLE_LOG)
let device: BacnetDevice
let bundle = ''
/** The version of the image as an update, watched for less long than a shipped one. */
let older = ''

test.before(async () => {
  // Each value is how often it was asked: none is like another, and each is larger than the one before.
  let asked = 100
  const objects = [{ type: OBJECT_TYPES.AI, instance: 1, name: 'sat', value: () => ++asked }]
  device = await openBacnetDevice({ device_instance: 1001, name: 'ahu-1', objects })
})
test.after.always(async () => {
  await box.cut()
  await device.close()
  rmSync(folder, { recursive: true, force: true })
})

/** @returns a number from 0 to `end`, which no run repeats */
const anyOf = (end: number): number => randomBytes(4).readUInt32LE() % end

type Sample = { t: number; v: number }

/** What the box has stored of the device. */
async function stored(): Promise<Sample[]> {
  const { series } = await box.get<{ series: { points: { t: string; last: number | null }[] }[] }>(
    '/api/fdd/series?building_id=building-1&point_ids=sat&max_points=20000',
  )
  return series.flatMap(({ points }) => points).flatMap(({ t, last }) => (last === null ? [] : [{ t: Date.parse(t), v: last }]))
}

async function untilStored(count: number): Promise<Sample[]> {
  for (const end = Date.now() + STORED_MS; Date.now() < end; await sleep(2000)) {
    const samples = await stored()
    if (samples.length >= count) return samples
  }
  throw new Error(`fewer than ${count} samples: ${JSON.stringify(await stored())}`)
}

/** The box starts again after a cut and has what it had. */
async function restartsWith(t: { true(is: boolean, message?: string): void }, before: Sample[]): Promise<void> {
  await box.start()
  await box.signIn()
  const after = await stored()
  const values = after.map(({ v }) => v)
  t.true(
    values.every((v, i) => i === 0 || v > values[i - 1]!),
    `doubled or out of order: ${values.join(' ')}`,
  )
  const there = new Set(values)
  const newest = before.at(-1)?.t ?? 0
  const lost = before.filter(({ t: at, v }) => at < newest - UNSTORED_MS && !there.has(v))
  t.true(lost.length === 0, `lost: ${JSON.stringify(lost)}`)
}

test.serial('the first boot shows certificate and password once, serves the page, and confirms its slot', async t => {
  await box.start()
  await box.signIn()
  const { version, last } = await box.update()
  t.is(version, first)
  t.is(last, null)
  await box.says(/in slot A is confirmed/)
  t.regex(box.password, /^(?:[a-z2-9]{4}-){3}[a-z2-9]{4}$/)
  await box.says(/[█▀▄]{10}.*\n.*[█▀▄]{10}/)
  box.type('status')
  await box.says(/eth0 .* 10\.0\.8\.\d+[^]*The page answers, and the box is well\./)
})

test.serial('a device on the network of the controllers is polled and stored', async t => {
  await box.poll(device, POLL_SECS)
  t.true((await untilStored(5)).length >= 5)
})

test.serial('the page answers on the uplink and not on the network of the controllers', async t => {
  t.false(await box.answersOn('field'))
  t.true(await box.answersOn('uplink'))
})

test.serial('a power cut while it polls loses nothing that was stored, and shows no password again', async t => {
  const times = timesOf(2, 100)
  for (let cut = 1; cut <= times; cut++) {
    box.note(`cut ${cut} of ${times} while it polls`)
    await sleep(5000 + anyOf(20_000))
    const before = await stored()
    await box.cut()
    await restartsWith(t, before)
    t.notRegex(box.console, /sign in as admin with/)
    t.regex(box.console, /in slot A is confirmed|certificate/)
  }
})

test.serial('a bundle with another byte is refused, and nothing changes', async t => {
  bundle = packVersion(folder, next)
  await box.send(tampered(bundle))
  await box.says(/Plenum update: (?:refused|failed)/, INSTALL_MS)
  const { version, last } = await box.update()
  t.is(version, first)
  t.regex(last!.state, /^(?:refused|failed)$/)
  t.not(last!.reason, '')
})

test.serial('power cuts while an update is installed leave a box that starts, and an update can be sent again', async t => {
  older = packVersion(folder, first, [WATCHED_SHORTLY])
  const newer = packVersion(folder, versionAfter(first, 3), [WATCHED_SHORTLY])
  /** Installs what does not run. @returns the version that ran before */
  const send = async () => {
    const { version } = await box.update()
    box.forgetConsole()
    await box.send(version === first ? newer : older, true)
    await box.says(/Plenum update: installing/, INSTALL_MS)
    return version
  }
  const times = timesOf(2, 20)
  for (let cut = 1; cut <= times; cut++) {
    const before = await stored()
    const ran = await send()
    const afterMs = anyOf(40_000)
    await sleep(afterMs)
    await box.cut()
    await restartsWith(t, before)
    await box.says(/Plenum update: (?:failed|trying|rolled_back|confirmed)/)
    const { version, last } = await box.update()
    box.note(`cut ${cut} of ${times}, ${afterMs} ms into an update of ${ran}: ${version} runs, ${last!.state}`)
    if (version === ran) t.regex(last!.reason, /power was cut/)
    else await box.says(/Plenum update: confirmed/, CONFIRM_MS)
  }
  if ((await box.update()).version !== first) {
    await send()
    await box.says(/Plenum update: confirmed/, CONFIRM_MS)
    await box.signIn()
  }
  t.is((await box.update()).version, first)
})

test.serial('a good update starts, is watched for five minutes, and stays', async t => {
  box.forgetConsole()
  await box.send(bundle)
  await box.says(/Plenum update: installed/, INSTALL_MS)
  await box.says(/Plenum update: trying/)
  await box.signIn()
  t.is((await box.update()).version, next)
  await box.says(/Plenum update: confirmed/, CONFIRM_MS)
  const { last } = await box.update()
  t.is(last!.state, 'confirmed')
  t.is(last!.version, next)
})

test.serial('an older version is refused', async t => {
  box.forgetConsole()
  await box.send(older)
  await box.says(/Plenum update: refused .* older than/, INSTALL_MS)
  t.is((await box.update()).version, next)
})

/** Makes the root of a slot another than the one that was signed. */
async function damage(partition: number): Promise<void> {
  await box.cut()
  execFileSync('dd', [
    ...['if=/dev/urandom', `of=${box.disk}`, 'bs=1M', 'count=200', 'conv=notrunc', 'status=none', 'oflag=seek_bytes'],
    `seek=${partitionOf(box.disk, partition).start}`,
  ])
}

test.serial('a slot whose root is damaged is not run, and the other one takes over', async t => {
  const before = await stored()
  await damage(PARTITION.rootB)
  await restartsWith(t, before)
  const { version, last } = await box.update()
  t.is(version, first)
  t.is(last!.state, 'rolled_back')
})

test.serial('a version that does not start its page is left, and the one before says why', async t => {
  // Its own patience is shortened; that of a shipped version is 25 minutes.
  const bundleOfSick = packVersion(folder, sick, [
    { file: 'opt/plenum/appliance/main.ts', to: "throw new Error('this version cannot start')\n" },
    { file: 'usr/lib/plenum/confirm', from: /^patience_secs=\d+$/m, to: 'patience_secs=60' },
  ])
  box.forgetConsole()
  await box.send(bundleOfSick)
  await box.says(/Plenum update: installed/, INSTALL_MS)
  await box.says(/Plenum update: rolled_back/, CONFIRM_MS)
  await box.signIn()
  const { version, last } = await box.update()
  t.is(version, first)
  t.is(last!.state, 'rolled_back')
  t.is(last!.version, sick)
  t.regex(last!.reason, /its page does not answer/)
  t.regex(last!.log!.join('\n'), /cannot start/)
})

test.serial('a file of the slots that a power cut left empty is taken from its copy', async t => {
  const before = await stored()
  await box.cut()
  const empty = join(folder, 'empty')
  execFileSync('truncate', ['-s', '0', empty])
  execFileSync('mcopy', ['-o', '-i', `${box.disk}@@${partitionOf(box.disk, PARTITION.esp).start}`, empty, '::/grubenv'])
  await restartsWith(t, before)
  t.is((await box.update()).version, first)
})

test.serial('where the only good slot is damaged, the one that was left runs', async t => {
  await box.says(/is confirmed/)
  await damage(PARTITION.rootA)
  await box.start()
  await box.says(/was left and runs because no other one starts: install an update/)
  t.true((box.console.match(/verity: .* is corrupted/g) ?? []).length >= 12, 'the good one was tried first, round after round')
})
