/**
 * What the disk of a box has at many moments while it polls. A power cut leaves what the disk has at that moment: the box is
 * stopped between two instructions, its disk is copied, and it goes on. `updates.test.ts` cuts the power itself, less often. `scripts/test --image`.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { journalCommand } from '#appliance/priority/journal-command.ts'
import { IMAGE } from '#scripts/lib-emulator/built-image.ts'
import { Box, FIELD_HOST } from '#scripts/lib-emulator/box.ts'
import { openBacnetDevice } from '#scripts/simulator/bacnet/device.ts'
import { OBJECT_TYPES } from '#scripts/simulator/bacnet/objects.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { timesOf } from '../support/optional.ts'
import { withData } from './data-partition.ts'
import { MOMENTS_LOG } from './versions.ts'
import { withHotRows } from '../support/sites/hot-rows.ts'

const folder = mkdtempSync(join(tmpdir(), 'plenum-moments-'))
const box = new Box(folder, IMAGE, MOMENTS_LOG)
/** Below the values that count. */
const HELD = 30
const FIRST = 100
let asked = FIRST
let overridden = 0
const device = await openBacnetDevice({
  device_instance: 1001,
  name: 'ahu-1',
  objects: [
    // Each value is how often it was asked: none is like another, and each is larger than the one before.
    { type: OBJECT_TYPES.AI, instance: 1, name: 'sat', value: () => ++asked },
    // Somebody overrides it anew for every visit.
    {
      type: OBJECT_TYPES.AO,
      instance: 1,
      name: 'valve',
      value: () => HELD,
      commands: { level: at => (at === 8 ? ++overridden : null), relinquishDefault: 0 },
    },
  ],
})
test.after.always(async () => {
  await box.cut()
  await device.close()
  rmSync(folder, { recursive: true, force: true })
})

const POLL_SECS = 2
/** Readings that were read and are not on the disk yet: those of the half minute before a commit, and of polls on their way. */
const UNSTORED_MAX = 30 / POLL_SECS + 5

const MOMENTS_APART_MS = 8000
/** As often as it can be. */
const OFTEN = 'SERVICE_PRIORITY_SCAN_INTERVAL_SECS=300\n'

/** Has it poll the counter, and a valve that somebody has overridden. */
async function pollBoth(): Promise<void> {
  const point = (point_id: string, unit: string, address: string) => ({
    ...{ point_id, address, unit, name: point_id, kind: 'number', poll_secs: POLL_SECS },
  })
  await box.put('/api/devices/ahu-1', {
    ...{ device_id: 'ahu-1', name: 'AHU', enabled: true, protocol: 'bacnet', timeout_ms: 4000, retries: 1 },
    bacnet: { device_instance: 1001, host: FIELD_HOST, port: device.port, max_apdu: 1476 },
    points: [point('sat', 'degC', 'analog-input,1'), point('valve', 'percent', 'analog-output,1')],
  })
}

type Found = { integrity: string; counts: number[]; journal: number; said: string }

/** What is there when somebody starts with this disk. */
async function readDisk(data: string): Promise<Found> {
  const db = openDatabase(join(data, 'lib/plenum/workspace/plenum.db'))
  const integrity = db.pragma('integrity_check', { simple: true }) as string
  const counts = withHotRows(db).prepare('SELECT value FROM hot_rows WHERE value > ? ORDER BY ts').pluck().all(FIRST) as number[]
  db.close()
  let said = ''
  const hear = async (text: string) => void (said += text)
  const journal = await journalCommand(join(data, 'lib/plenum/edge-state/priority'), ['verify'], hear, hear)
  return { integrity, counts, journal, said }
}

test('at each moment while it polls the disk has all that was stored before, in order, once, and a priority history that verifies', async t => {
  await box.start()
  await box.signIn()
  await box.says(/is confirmed/)
  await pollBoth()
  await box.cut()
  await withData(box.disk, folder, data => writeFileSync(join(data, 'lib/plenum/settings.env'), OFTEN))
  await box.start()
  await box.signIn()
  const copy = join(folder, 'copy.img')
  const times = timesOf(10, 100)
  let before: number[] = []
  let records = 0
  for (let moment = 1; moment <= times; moment++) {
    await sleep(Math.random() * MOMENTS_APART_MS)
    let read = 0
    await box.atMoment(() => {
      read = asked
      execFileSync('cp', ['--sparse=always', box.disk, copy])
    })
    const { integrity, counts, journal, said } = await withData(copy, folder, readDisk)
    const what = `moment ${moment} of ${times}: ${counts.length} readings, ${read - (counts.at(-1) ?? FIRST)} on their way; ${said.trim()}`
    box.note(what)
    t.is(integrity, 'ok', what)
    t.is(journal, 0, what)
    const inOrder = counts.every((count, i) => i === 0 || count > counts[i - 1]!)
    t.true(inOrder, `doubled or out of order, ${what}: ${counts.join(' ')}`)
    t.deepEqual(counts.slice(0, before.length), before, `lost, ${what}`)
    t.true(read - (counts.at(-1) ?? FIRST) <= UNSTORED_MAX, what)
    const verified = Number(/verified: (\d+) record/.exec(said)?.[1])
    t.true(verified >= records, what)
    before = counts
    records = verified
  }
  t.true(before.length > times)
  t.true(records > 0)
})
