/** The import of EDE sets into the list of field devices. */
import test from 'ava'
import { parseAddress } from '#appliance/drivers/bacnet/core/address.ts'
import { edeFormat } from '#appliance/drivers/bacnet/core/ede/ede-format.ts'
import { applyImport, type ImportSource, readPointSet } from '#appliance/services/point-import.ts'
import type { ImportPlan } from '#appliance/store/catalogue-import.ts'
import { EMPTY, HEAD, none, planEde, read, readEde, table, TITLES } from '../drivers/bacnet/core/ede/ede-tables.ts'
import { memoryCatalogue } from '../../support/sites/catalogue-site.ts'

test('points of a device with the same name get their address in the id, in any order of rows', t => {
  const rows = ['a;1;Temp;0;1', 'b;1;Temp;0;2', 'c;1;Fan;3;1']
  const idsOf = (order: string[]) =>
    planEde(EMPTY, read(order.join('\n')), { ...none, addresses: new Map([[1, parseAddress('10.0.0.1')!]]) })
      .catalogue.devices[0]!.points.map(({ point_id }) => point_id)
      .toSorted()
  t.deepEqual(idsOf(rows), ['bacnet-1.Fan', 'bacnet-1.Temp.analog-input-1', 'bacnet-1.Temp.analog-input-2'])
  t.deepEqual(idsOf(rows.toReversed()), idsOf(rows))
})

test('an import adds missing points and does not change existing ones; repeated it adds nothing', t => {
  const first = read('a;1;Temp;0;1;;;;;;;;;;62;')
  const addresses = new Map([[1, parseAddress('10.0.0.1')!]])
  const before = planEde(EMPTY, first, { addresses, poll_secs: 30 }).catalogue
  const named = {
    devices: [{ ...before.devices[0]!, device_id: 'mine', points: [{ ...before.devices[0]!.points[0]!, name: 'Mine' }] }],
  }
  const more = read('a;1;Temp;0;1;;;;;;;;;;64;\nb;1;Fan;3;1')
  const plan = planEde(named, more, none)
  t.like(plan.devices[0], { device_id: 'mine', state: 'known', points_known: 1, where: '10.0.0.1' })
  t.deepEqual(plan.catalogue.devices[0]!.points[0], named.devices[0]!.points[0])
  t.is(plan.catalogue.devices[0]!.points[1]!.point_id, 'mine.Fan')
  t.deepEqual(planEde(plan.catalogue, more, none).catalogue, plan.catalogue)
})

test('an id that another point has is not used again', t => {
  const addresses = new Map([[1, parseAddress('10.0.0.1')!]])
  const { catalogue } = planEde(EMPTY, read('a;1;Fan;0;9'), { addresses, poll_secs: 60 })
  const plan = planEde(catalogue, read('b;1;Fan;3;1'), none)
  t.deepEqual(
    plan.catalogue.devices[0]!.points.map(({ point_id, address }) => [point_id, address]),
    [
      ['bacnet-1.Fan', 'analog-input,9'],
      ['bacnet-1.Fan-2', 'binary-input,1'],
    ],
  )
})

test('a device without an address is left out, the others are added', t => {
  const ede = read('a;1;Temp;0;1\nb;2;Temp;0;1')
  const plan = planEde(EMPTY, ede, { ...none, addresses: new Map([[2, parseAddress('10.0.0.2:47809 network 7 mac 0A')!]]) })
  t.deepEqual(
    plan.devices.map(({ state, where }) => [state, where]),
    [
      ['no_address', null],
      ['new', '10.0.0.2:47809 network 7 mac 0a'],
    ],
  )
  t.is(plan.catalogue.devices.length, 1)
})

test('supports COV in files of other tools does not set cov; valid poll periods are taken from any file', t => {
  const polled = `${TITLES};poll-secs`
  const row = (instance: number, cov: string, secs: string) =>
    `k${instance};7;P${instance};0;${instance};;;;;N;${cov};;;;62;;;${secs}`
  const rows = [row(1, 'Y', '300'), row(2, 'N', ''), row(3, '', '0'), row(4, '', 'often')]
  const ede = readEde({ main: table(`${HEAD}${polled}\nd;7;D;8;7;;;;;;;;;;;10.0.0.1\n${rows.join('\n')}`) })
  const { points } = planEde(EMPTY, ede, none).catalogue.devices[0]!
  t.deepEqual(
    points.map(({ poll_secs, cov }) => [poll_secs, cov]),
    [300, 60, 60, 60].map(secs => [secs, undefined]),
  )
  t.deepEqual(
    ede.notes.map(({ column, message }) => `${column} ${message.slice(0, 8)}`),
    ['poll-secs "0" is n', 'poll-secs "often" '],
  )
})

/** @returns how often the event loop turned during the work */
async function turnsIn(work: () => Promise<unknown>): Promise<number> {
  let turns = -1
  const turn = () => {
    turns++
    next = setImmediate(turn)
  }
  let next = setImmediate(turn)
  await work()
  clearImmediate(next)
  return turns
}

test('a long list is read and planned in slices, so that other work continues', async t => {
  const [devices, each] = [20, 200]
  const rows = Array.from({ length: devices * each }, (_, i) => `k${i};${1 + Math.floor(i / each)};N${i};0;${i % each}`)
  const main = table(`${HEAD}${TITLES}\n${rows.join('\n')}`)
  let source: ImportSource | undefined
  const reading = await turnsIn(async () => (source = await readPointSet(edeFormat, [main], 60)))
  t.true(reading * 1_000 >= rows.length, `${reading} turns`)
  const addresses = new Map(Array.from({ length: devices }, (_, i) => [i + 1, parseAddress(`10.0.0.${i + 1}`)!]))
  let plan: ImportPlan | undefined
  const planning = await turnsIn(async () => (plan = await source!.plan(EMPTY, addresses)))
  t.true(planning >= devices - 1, `${planning} turns`)
  t.deepEqual(plan, planEde(EMPTY, readEde({ main }), { addresses, poll_secs: 60 }))
})

test('two simultaneous imports both add their devices, and an import without additions changes nothing', async t => {
  const list = memoryCatalogue(EMPTY)
  const used: number[] = []
  list.onUsed(() => used.push(list.current().devices.length))
  const addresses = new Map([1, 2].map(instance => [instance, parseAddress(`10.0.0.${instance}`)!]))
  const apply = async (row: string) =>
    applyImport(list, await readPointSet(edeFormat, [table(`${HEAD}${TITLES}\n${row}`)], 60), addresses)
  const plans = await Promise.all(['a;1;Fan;0;1', 'b;2;Pump;0;1'].map(apply))
  t.deepEqual(
    list.current().devices.map(({ bacnet }) => bacnet!.device_instance),
    [1, 2],
  )
  t.deepEqual(
    plans.map(({ plan }) => plan.devices.map(({ state, points }) => [state, points.length])),
    [[['new', 1]], [['new', 1]]],
  )
  const { plan } = await apply('a;1;Fan;0;1')
  t.like(plan.devices[0], { state: 'known', points: [], points_known: 1 })
  t.deepEqual(used, [1, 2])
})
