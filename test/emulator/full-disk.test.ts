/** A box whose data partition is full to the last byte when it starts. `scripts/test --image`. */
import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { openBacnetDevice } from '#scripts/simulator/bacnet/device.ts'
import { OBJECT_TYPES } from '#scripts/simulator/bacnet/objects.ts'
import { Box } from '#scripts/lib-emulator/box.ts'
import { IMAGE } from '#scripts/lib-emulator/built-image.ts'
import { withData } from './data-partition.ts'
import { FULL_DISK_LOG } from './versions.ts'

const folder = mkdtempSync(join(tmpdir(), 'plenum-full-disk-'))
const box = new Box(folder, IMAGE, FULL_DISK_LOG)
let asked = 100
const objects = [{ type: OBJECT_TYPES.AI, instance: 1, name: 'sat', value: () => ++asked }]
const device = await openBacnetDevice({ device_instance: 1001, name: 'ahu-1', objects })
test.after.always(async () => {
  await box.cut()
  await device.close()
  rmSync(folder, { recursive: true, force: true })
})

const POLL_SECS = 5
const STORED_MS = 1_800_000

type Series = { series: { points: { last: number | null }[] }[] }
type Health = { checks: Record<string, { status: string; detail?: string; points_ok?: number }> }

/** Waits until a value is stored that is larger than `value`. @returns the largest */
async function storedAfter(value: number): Promise<number> {
  for (const end = Date.now() + STORED_MS; Date.now() < end; await sleep(2000)) {
    const { series } = await box.get<Series>('/api/fdd/series?building_id=building-1&point_ids=sat&max_points=20000')
    const newest = Math.max(...series.flatMap(({ points }) => points.map(({ last }) => last ?? 0)), 0)
    if (newest > value) return newest
  }
  throw new Error(`nothing above ${value} is stored`)
}

async function healthWhen(holds: (health: Health) => boolean): Promise<Health> {
  let health: Health | undefined
  for (const end = Date.now() + STORED_MS; Date.now() < end; await sleep(2000)) {
    health = await box.get<Health>('/api/health/details').catch(() => undefined)
    if (health && holds(health)) return health
  }
  throw new Error(`health stays ${JSON.stringify(health)}`)
}

/** What nobody but a user of the box can fill: the file system keeps some blocks for root, as it does on a box. */
const NOBODY = 65_534

function fill(data: string): void {
  const file = openSync(join(data, 'of-another-program'), 'a')
  for (const bytes of ['1M', '1K']) {
    // It fails when there is no room left.
    spawnSync('dd', ['if=/dev/zero', `bs=${bytes}`], { uid: NOBODY, gid: NOBODY, stdio: ['ignore', file, 'ignore'] })
  }
  closeSync(file)
}

test.serial('a box whose data partition is full serves its page, polls, and says what is wrong', async t => {
  await box.start()
  await box.signIn()
  await box.says(/in slot A is confirmed/)
  await box.poll(device, POLL_SECS)
  const before = await storedAfter(101)
  await box.cut()
  await withData(box.disk, folder, fill)
  await box.start()
  await box.signIn()
  // The first start on it gives its ballast away; the next has what that left.
  await healthWhen(({ checks }) => (checks['poll']?.points_ok ?? 0) > 0)
  await box.cut()
  await box.start()
  await box.signIn()
  await box.says(/in slot A is confirmed/)
  const { checks } = await healthWhen(({ checks: { poll } }) => (poll?.points_ok ?? 0) > 0 && poll!.detail !== undefined)
  t.regex(checks['poll']!.detail!, /the disk is full/)
  t.regex(checks['workspace']!.detail!, /readings wait until there is space/)
  t.is(await storedAfter(before - 1), before, 'what was stored is there')
})

test.serial('with space again it stores', async t => {
  await box.cut()
  await withData(box.disk, folder, data => rmSync(join(data, 'of-another-program')))
  const before = asked
  await box.start()
  await box.signIn()
  t.true((await storedAfter(before)) > before)
  const { checks } = await healthWhen(({ checks: { poll } }) => poll?.status === 'ok')
  t.is(checks['poll']!.detail, undefined)
})
