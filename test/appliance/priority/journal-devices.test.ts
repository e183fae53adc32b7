/** Records by device: two devices of one instance are distinguished, and journals of format 1 are continued. */
import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { FindDevice } from '#appliance/core/priority/journal-line.ts'
import { type PriorityReading, priorityKey, type PriorityTarget } from '#shared/core/priority/priority-record.ts'
import { journalCommand } from '#appliance/priority/journal-command.ts'
import { allRecords, journalFolder, openJournal } from '../../support/journal-harness.ts'
import { reading } from '../../support/journal-written.ts'

const of = (device_id: string, value: number): PriorityReading => ({
  ...reading(1),
  target: { device_id, device_instance: 1000, object_type: 'analog-input', object_instance: 1 },
  present_value: value,
  out_of_service: true,
})
const values = (records: PriorityReading[]) => records.map(({ target, present_value }) => [target.device_id, present_value])

test('objects of two devices of one instance are distinguished, before and after a restart', async t => {
  const dir = journalFolder(t)
  const journal = await openJournal(t, { dir })
  await journal.append([of('ahu-1', 1), of('ahu-2', 2)])
  const second = await journal.append([of('ahu-1', 1), of('ahu-2', 3)])
  t.deepEqual(
    second.map(({ changed }) => changed),
    [[], []],
  )
  await journal.close()
  const again = await openJournal(t, { dir })
  for (const one of [journal, again].slice(1)) {
    t.deepEqual([...one.latest().keys()].toSorted(), ['ahu-1/1000/analog-input,1', 'ahu-2/1000/analog-input,1'])
    for (const [key, record] of one.latest()) t.is(priorityKey(record.target), key)
    const page = (target: PriorityTarget, before = 99, limit = 9) => one.page({ target, before, limit })
    const both = { device_instance: 1000, object_type: 'analog-input', object_instance: 1 }
    t.deepEqual(values(page({ ...both, device_id: 'ahu-2' }).records), [
      ['ahu-2', 3],
      ['ahu-2', 2],
    ])
    t.deepEqual(values(page({ ...both, device_id: 'ahu-1' }).records), [
      ['ahu-1', 1],
      ['ahu-1', 1],
    ])
    t.deepEqual(page({ ...both, device_id: 'ahu-3' }).records, [])
    t.deepEqual(values(page(both).records), [
      ['ahu-2', 3],
      ['ahu-1', 1],
      ['ahu-2', 2],
      ['ahu-1', 1],
    ])
    t.deepEqual(
      [values(page(both, 4, 2).records), page(both, 4, 2).more],
      [
        [
          ['ahu-1', 1],
          ['ahu-2', 2],
        ],
        true,
      ],
    )
    t.deepEqual(page({ ...both, device_instance: 100 }).records, [])
  }
})

test('the longest id and type fit into a line, and an id that JSON escapes is refused', async t => {
  const dir = journalFolder(t)
  const target = {
    device_id: 'x'.repeat(128),
    device_instance: 4_194_302,
    object_type: 'y'.repeat(64),
    object_instance: 4_194_302,
  }
  const journal = await openJournal(t, { dir, segmentBytes: 3000 })
  for (let i = 0; i < 20; i++) await journal.append([{ ...reading(1), target }])
  const sizes = readdirSync(dir)
    .filter(name => name.endsWith('.jsonl'))
    .map(name => readFileSync(join(dir, name)).length)
  t.true(sizes.length > 1 && sizes.every(size => size <= 3000))
  await journal.close()
  t.is(allRecords(await openJournal(t, { dir })).length, 20)
  for (const device_id of ['a"b', '', 'a/b', 'x'.repeat(129)]) {
    await t.throwsAsync(journal.append([{ ...reading(1), target: { ...target, device_id } }]), { message: /is of no device id/ })
  }
})

/** A journal of format 1: six visits to the instances 1000 and 1001. */
function fromBefore(t: ExecutionContext): string {
  const dir = journalFolder(t)
  cpSync(new URL('../../cases/journal/format-1', import.meta.url), dir, { recursive: true })
  return dir
}
const OWNER: FindDevice = instance => (instance === 1000 ? 'ahu-1' : undefined)
const VALVE = { device_instance: 1000, object_type: 'analog-output', object_instance: 1 }

test('a journal of format 1 is read whole, and its records belong to the only device of the instance', async t => {
  const journal = await openJournal(t, { dir: fromBefore(t), ownerOf: OWNER })
  t.deepEqual(journal.state(), { journal: 'ok', first: 1, last: 24 })
  const all = allRecords(journal)
  t.is(all.length, 24)
  for (const { target } of all) t.is(target.device_id, target.device_instance === 1000 ? 'ahu-1' : undefined)
  t.deepEqual([...journal.latest().keys()].toSorted(), [
    '1001/analog-input,2',
    '1001/analog-output,1',
    'ahu-1/1000/analog-input,2',
    'ahu-1/1000/analog-output,1',
  ])
  t.is(journal.page({ target: { ...VALVE, device_id: 'ahu-1' }, limit: 100 }).records.length, 6)
  t.is(journal.page({ target: { ...VALVE, device_instance: 1001 }, limit: 100 }).records.length, 6)
})

test('a visit appended to a journal of format 1 verifies', async t => {
  const dir = fromBefore(t)
  const journal = await openJournal(t, { dir, ownerOf: OWNER })
  const { seq: _, changed: __, ...newest } = journal.latest().get('ahu-1/1000/analog-output,1')!
  const [record] = await journal.append([{ ...newest, observed_at: newest.observed_at + 1 }])
  t.deepEqual(record!.changed, [])
  await journal.close()
  const without = await openJournal(t, { dir })
  const { records } = without.page({ target: VALVE, limit: 100 })
  t.deepEqual(
    records.map(({ target }) => target.device_id),
    ['ahu-1', ...Array.from({ length: 6 }, () => undefined)],
  )
  await without.close()
  const text: string[] = []
  const out = async (part: string) => void text.push(part)
  t.is(await journalCommand(dir, ['verify'], out, out), 0)
  t.is(await journalCommand(dir, ['export', '--csv', '--verify'], out, out), 0)
  t.regex(text.join(''), /^25,2026-[^,]*,ahu-1,1000,analog-output,1,/m)
})

test('the device of a format 1 record does not change while the journal is open', async t => {
  let owner: string | undefined = 'ahu-1'
  const journal = await openJournal(t, { dir: fromBefore(t), ownerOf: () => owner })
  owner = 'ahu-2'
  t.is(journal.page({ target: { ...VALVE, device_id: 'ahu-1' }, limit: 1 }).records[0]?.target.device_id, 'ahu-1')
})
