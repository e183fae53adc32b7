/**
 * The slots of a box at many moments of an update. A power cut leaves what the disk has at that moment, and GRUB starts a slot that is
 * marked as good: it must be whole. `updates.test.ts` cuts the power itself, less often. `scripts/test --image`.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { Box } from '#scripts/lib-emulator/box.ts'
import { IMAGE } from '#scripts/lib-emulator/built-image.ts'
import { PARTITION, partitionOf } from './partitions.ts'
import { builtVersion, packVersion, UPDATE_MOMENTS_LOG, versionAfter, WATCHED_SHORTLY } from './versions.ts'

const folder = mkdtempSync(join(tmpdir(), 'plenum-update-moments-'))
const box = new Box(folder, IMAGE, UPDATE_MOMENTS_LOG)
test.after.always(async () => {
  await box.cut()
  rmSync(folder, { recursive: true, force: true })
})

/** From one moment to the next, ms: at random up to this while a slot is written, and while the box starts with it. */
const APART_MS = { writing: 300, starting: 10_000 }
const UPDATE_MS = 7_200_000
const SLOTS = { A: [PARTITION.kernelA, PARTITION.rootA], B: [PARTITION.kernelB, PARTITION.rootB] } as const
type Slot = keyof typeof SLOTS
/** `startable`: slots that GRUB may start; `prints`: fingerprints of both. */
type Moment = { startable: Slot[]; prints: Record<Slot, string> }

/** @returns the variables of GRUB from its file, or from the copy that it takes where that says nothing */
function grubVariables(): Map<string, string> {
  const esp = `${box.disk}@@${partitionOf(box.disk, PARTITION.esp).start}`
  for (const name of ['grubenv', 'grubenv.copy']) {
    const text = execFileSync('mcopy', ['-n', '-i', esp, `::/${name}`, '-'], { encoding: 'latin1' })
    const variables = new Map([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, key, value]) => [key!, value!]))
    if (text.startsWith('# GRUB Environment Block\n') && variables.get('environment')) return variables
  }
  throw new Error('neither the variables of GRUB nor their copy can be read')
}

async function fingerprint(slot: Slot): Promise<string> {
  const hash = createHash('sha256')
  for (const partition of SLOTS[slot]) {
    const { start, bytes } = partitionOf(box.disk, partition)
    for await (const piece of createReadStream(box.disk, { start, end: start + bytes - 1, highWaterMark: 2 ** 20 }))
      hash.update(piece)
  }
  return hash.digest('hex')
}

async function readSlots(): Promise<Moment> {
  const variables = grubVariables()
  const startable = (['A', 'B'] as const).filter(slot => variables.get(`${slot}_OK`) === '1')
  return { startable, prints: { A: await fingerprint('A'), B: await fingerprint('B') } }
}

test('at each moment of an update every slot that may be started is whole, and there is one', async t => {
  const bundle = packVersion(folder, versionAfter(builtVersion(), 1), [WATCHED_SHORTLY])
  await box.start()
  await box.signIn()
  await box.says(/is confirmed/)
  const old = await fingerprint('A')
  box.forgetConsole()
  const moments: Moment[] = []
  const confirmed = box.says(/Plenum update: confirmed/, UPDATE_MS).then(() => true)
  await box.send(bundle)
  await box.says(/Plenum update: installing/)
  const mayStart = (slot: Slot) => moments.filter(({ startable }) => startable.includes(slot))
  const apartMs = () => (mayStart('B').length === 0 ? APART_MS.writing : APART_MS.starting)
  while (!(await Promise.race([confirmed, sleep(Math.random() * apartMs(), false)]))) {
    await box.atMoment(async () => void moments.push(await readSlots()))
    box.note(`moment ${moments.length}: ${moments.at(-1)!.startable.join(' and ') || 'no slot'} may be started`)
  }
  const fresh = await fingerprint('B')
  t.not(fresh, old)
  t.deepEqual(
    moments.filter(({ startable }) => startable.length === 0),
    [],
  )
  t.deepEqual([...new Set(mayStart('A').map(({ prints }) => prints.A))], [old])
  t.deepEqual([...new Set(mayStart('B').map(({ prints }) => prints.B))], [fresh])
  const halfWritten = new Set(moments.map(({ prints }) => prints.B)).size - 2
  t.true(halfWritten >= 5, `the slot was seen half written ${halfWritten} times`)
})
