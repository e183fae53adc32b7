import type { ExecutionContext, TestFn } from 'ava'
import type { EngineStates, KeptSamples, ReadSamples, SampleLogs } from '#shared/core/ports.ts'
import type { EquipmentState } from '#shared/core/rules/evaluate/equipment-state.ts'

/** End of a day at which the suites save a state, ms. */
export const AT = 1000

/** A state with the values that a format may lose: NaN, -0, a repeating fraction, nested objects. */
export const stateOf = (equipment_id: string, at: number) =>
  ({
    equipment_id,
    at,
    from: 0,
    columns: Float64Array.of(1, Number.NaN, -0, 1 / 3),
    deep: [{ on: true }],
  }) as unknown as EquipmentState

/** Samples by point, as pairs of instant and value. */
export const readOf = (from: number, to: number, points: Record<string, [t: number, v: number][]>): ReadSamples => ({
  from,
  to,
  series: new Map(
    Object.entries(points).map(([id, pairs]) => [
      id,
      { ts: Float64Array.from(pairs, ([t]) => t), values: Float64Array.from(pairs, ([, v]) => v) },
    ]),
  ),
})

// biome-ignore format: one record in one line
export const FIRST_READ = readOf(AT, 2000, { even: [[1000, 1], [1500, Number.NaN]], 'ö dd': [[1001, -0]], empty: [] })
export const SECOND_READ = readOf(2000, 2600, { even: [[2000, 1 / 3]], 'ö dd': [], empty: [[2599, 7]] })
// biome-ignore format: one record in one line
export const BOTH_READS = readOf(AT, 2600, { even: [[1000, 1], [1500, Number.NaN], [2000, 1 / 3]], 'ö dd': [[1001, -0]], empty: [[2599, 7]] })

export function withoutPieces(stored: KeptSamples | undefined): ReadSamples | undefined {
  if (!stored) return undefined
  const { pieces: _pieces, ...samples } = stored
  return samples
}

/** Every adapter of `EngineStates` passes these tests. */
export function engineStatesConformance(test: TestFn, name: string, open: (t: ExecutionContext) => EngineStates) {
  test(`${name}: a state is loaded bit for bit by building, end of the day and equipment`, async t => {
    const states = open(t)
    t.deepEqual(states.ends('b'), [])
    for (const at of [2000, 1000]) for (const id of ['a/../1', 'é 2']) await states.save('b', stateOf(id, at))
    await states.save('other', stateOf('a/../1', 3000))
    t.deepEqual(states.ends('b'), [1000, 2000])
    t.deepEqual(states.load('b', 1000, 'é 2'), { state: stateOf('é 2', 1000) })
    t.deepEqual(states.load('b', 2000, 'a/../1'), { state: stateOf('a/../1', 2000) })
    t.true('why' in states.load('b', 3000, 'a/../1'))
    t.true('why' in states.load('other', 3000, 'é 2'))
  })

  test(`${name}: a state that is saved again replaces the earlier one`, async t => {
    const states = open(t)
    await states.save('b', stateOf('e', AT))
    const changed = { ...stateOf('e', AT), from: 7 }
    await states.save('b', changed)
    t.deepEqual(states.load('b', AT, 'e'), { state: changed })
  })

  test(`${name}: drop deletes the states of the given ends of one building only`, async t => {
    const states = open(t)
    for (const at of [1000, 2000]) await states.save('b', stateOf('e', at))
    await states.save('other', stateOf('e', 1000))
    states.drop('b', [1000, 5000])
    t.deepEqual(states.ends('b'), [2000])
    t.true('why' in states.load('b', 1000, 'e'))
    t.deepEqual(states.load('other', 1000, 'e'), { state: stateOf('e', 1000) })
  })
}

type Opened = { states: EngineStates; sampleLogs: SampleLogs }

/** Every adapter of `SampleLogs` passes these tests. */
export function sampleLogsConformance(test: TestFn, name: string, open: (t: ExecutionContext) => Opened) {
  const opened = async (t: ExecutionContext) => {
    const { states, sampleLogs } = open(t)
    await states.save('b', stateOf('e', AT))
    const stored = (until = Infinity) => sampleLogs.read('b', AT, 'e', until)
    const samples = (until?: number) => withoutPieces(stored(until))
    const add = (more: ReadSamples) => sampleLogs.add('b', AT, 'e', more, stored())
    return { states, sampleLogs, stored, samples, add }
  }

  test(`${name}: samples that were added one after the other are read as one, bit for bit`, async t => {
    const { samples, add } = await opened(t)
    t.is(samples(), undefined)
    add(FIRST_READ)
    t.deepEqual(samples(), FIRST_READ)
    add(SECOND_READ)
    t.deepEqual(samples(), BOTH_READS)
  })

  test(`${name}: samples from before the end of the day may be the first`, async t => {
    const { samples, add } = await opened(t)
    const early = readOf(AT - 500, 2000, { even: [[AT - 400, 7]] })
    add(early)
    t.deepEqual(samples(), early)
    add(readOf(2000, 2600, { even: [[2100, 8]] }))
    t.deepEqual(
      samples(),
      readOf(AT - 500, 2600, {
        even: [
          [AT - 400, 7],
          [2100, 8],
        ],
      }),
    )
  })

  test(`${name}: a read until an instant drops the records that end after it for good`, async t => {
    const { samples, add } = await opened(t)
    add(FIRST_READ)
    add(SECOND_READ)
    t.deepEqual(samples(2600), BOTH_READS)
    t.deepEqual(samples(2599), FIRST_READ)
    t.deepEqual(samples(), FIRST_READ)
    add(SECOND_READ)
    t.deepEqual(samples(), BOTH_READS)
    t.is(samples(1999), undefined)
    t.is(samples(), undefined)
  })

  test(`${name}: a point that is missing in one record is missing in the result`, async t => {
    const { samples, add } = await opened(t)
    add(FIRST_READ)
    add(readOf(2000, 2600, { even: [[2000, 1 / 3]], new: [[2001, 5]] }))
    t.deepEqual([...samples()!.series.keys()], ['even'])
  })

  test(`${name}: a record with a gap before it is not used, and equipment have separate logs`, async t => {
    const { states, sampleLogs, samples, add } = await opened(t)
    add(FIRST_READ)
    add({ ...SECOND_READ, from: 2001 })
    t.deepEqual(samples(), FIRST_READ)
    await states.save('b', stateOf('other', AT))
    sampleLogs.add('b', AT, 'other', readOf(AT, 2000, { p: [] }))
    t.deepEqual(samples(), FIRST_READ)
  })

  test(`${name}: a saved state deletes the samples of its equipment at its day and before`, async t => {
    const { states, sampleLogs, samples, add } = await opened(t)
    add(FIRST_READ)
    await states.save('b', stateOf('e', AT))
    t.is(samples(), undefined)
    add(FIRST_READ)
    await states.save('b', stateOf('other', 5000))
    t.deepEqual(samples(), FIRST_READ)
    await states.save('b', stateOf('e', 5000))
    t.is(samples(), undefined)
    sampleLogs.add('b', 5000, 'e', readOf(5000, 6000, { p: [] }))
    states.drop('b', [5000])
    t.is(sampleLogs.read('b', 5000, 'e', Infinity), undefined)
  })

  test(`${name}: many records are merged, and no sample is lost`, async t => {
    const { stored, samples, add } = await opened(t)
    const whole: [number, number][] = []
    const pieces = new Set<number>()
    for (let from = AT; from < AT + 2000; from += 100) {
      whole.push([from + 7, from / 3])
      add(readOf(from, from + 100, { p: whole.slice(-1) }))
      t.deepEqual(samples(), readOf(AT, from + 100, { p: whole }))
      pieces.add(stored()!.pieces)
    }
    t.deepEqual([...pieces], [1, 2, 3, 4, 5, 6])
  })

  test(`${name}: dropOthers deletes the samples of all other equipment and no state`, async t => {
    const { states, sampleLogs, samples, add } = await opened(t)
    add(FIRST_READ)
    await states.save('b', stateOf('other', AT))
    sampleLogs.add('b', AT, 'other', FIRST_READ)
    sampleLogs.dropOthers('b', ['e'])
    t.deepEqual(samples(), FIRST_READ)
    t.is(sampleLogs.read('b', AT, 'other', Infinity), undefined)
    t.true('state' in states.load('b', AT, 'other'))
  })
}
