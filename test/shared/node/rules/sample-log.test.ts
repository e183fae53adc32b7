/** Samples as runs have read them: whatever happens to the file, nothing comes out of it that was not put in. */
import test, { type ExecutionContext } from 'ava'
import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ReadSamples } from '#shared/core/ports.ts'
import type { EquipmentState } from '#shared/core/rules/evaluate/equipment-state.ts'
import { openEngineStates } from '#shared/node/rules/engine-states.ts'
import { temporaryFolder } from '../../../support/sites/workspace.ts'

const AT = 1000
const stateOf = (at: number, equipment_id = 'e') => ({ equipment_id, at }) as unknown as EquipmentState

async function opened(t: ExecutionContext) {
  const folder = join(temporaryFolder(t), 'states')
  const states = openEngineStates(folder, '1.0.0')
  await states.save('b', stateOf(AT))
  const logs = () => readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.samples'))
  const kept = (until = Infinity) => states.samples('b', AT, 'e', until)
  const samples = (until?: number): ReadSamples | undefined => {
    const { pieces: _pieces, ...read } = kept(until) ?? {}
    return 'from' in read ? (read as ReadSamples) : undefined
  }
  return {
    folder,
    states,
    kept,
    samples,
    logs,
    file: () => join(folder, logs()[0]!),
    add: (more: ReadSamples) => states.addSamples('b', AT, 'e', more, kept()),
  }
}

/** Samples by point, as pairs of instant and value. */
const read = (from: number, to: number, points: Record<string, [t: number, v: number][]>): ReadSamples => ({
  from,
  to,
  series: new Map(
    Object.entries(points).map(([id, pairs]) => [
      id,
      { ts: Float64Array.from(pairs, ([t]) => t), values: Float64Array.from(pairs, ([, v]) => v) },
    ]),
  ),
})

// biome-ignore format: a record is a line
const FIRST = read(AT, 2000, { even: [[1000, 1], [1500, Number.NaN]], 'ö dd': [[1001, -0]], silent: [] })
const SECOND = read(2000, 2600, { even: [[2000, 1 / 3]], 'ö dd': [], silent: [[2599, 7]] })
// biome-ignore format: a record is a line
const BOTH = read(AT, 2600, { even: [[1000, 1], [1500, Number.NaN], [2000, 1 / 3]], 'ö dd': [[1001, -0]], silent: [[2599, 7]] })

test('what runs have read one after the other comes back as one, to the bit', async t => {
  const { samples, add } = await opened(t)
  t.is(samples(), undefined)
  add(FIRST)
  t.deepEqual(samples(), FIRST)
  add(SECOND)
  t.deepEqual(samples(), BOTH)
})

test('what was read beyond an instant is forgotten for good, and read again', async t => {
  const { samples, add } = await opened(t)
  add(FIRST)
  add(SECOND)
  t.deepEqual(samples(2600), BOTH)
  t.deepEqual(samples(2599), FIRST)
  t.deepEqual(samples(), FIRST)
  add(SECOND)
  t.deepEqual(samples(), BOTH)
  t.is(samples(1999), undefined)
  t.is(samples(), undefined)
})

test('a file in which any byte is another, or that was cut anywhere, gives the whole records before that alone', async t => {
  const { samples, add, file } = await opened(t)
  add(FIRST)
  const first = readFileSync(file()).length
  add(SECOND)
  const whole = readFileSync(file())
  for (let i = 0; i < whole.length; i++) {
    const damaged = Buffer.from(whole)
    damaged[i]! ^= 1 << (i % 8)
    writeFileSync(file(), damaged)
    t.deepEqual(samples(), i < first ? undefined : FIRST, `byte ${i}`)
    writeFileSync(file(), whole)
    truncateSync(file(), i)
    t.deepEqual(samples(), i < first ? undefined : FIRST, `cut at ${i}`)
  }
  add(FIRST)
  add(SECOND)
  t.deepEqual(samples(), BOTH, 'what is read anew counts again')
})

test('a point that was not read every time is none of them', async t => {
  const { samples, add } = await opened(t)
  add(FIRST)
  add(read(2000, 2600, { even: [[2000, 1 / 3]], new: [[2001, 5]] }))
  t.deepEqual([...samples()!.series.keys()], ['even'])
})

test('records that do not follow each other, and those of another equipment, do not count', async t => {
  const { folder, states, samples, add, logs, file } = await opened(t)
  add(FIRST)
  add({ ...SECOND, from: 2001 })
  t.deepEqual(samples(), FIRST)
  const own = readFileSync(file())
  await states.save('b', stateOf(AT, 'other'))
  states.addSamples('b', AT, 'other', read(AT, 2000, { p: [] }))
  t.deepEqual(samples(), FIRST)
  for (const log of logs()) writeFileSync(join(folder, log), own)
  t.deepEqual(samples(), FIRST)
  t.is(states.samples('b', AT, 'other', Infinity), undefined)
})

test('a state takes the place of what was read for its day and before it', async t => {
  const { states, samples, add, logs } = await opened(t)
  add(FIRST)
  await states.save('b', stateOf(AT))
  t.is(samples(), undefined)
  add(FIRST)
  await states.save('b', stateOf(5000, 'other'))
  t.deepEqual(samples(), FIRST)
  await states.save('b', stateOf(5000))
  t.deepEqual(logs(), [])
  states.addSamples('b', 5000, 'e', read(5000, 6000, { p: [] }))
  states.drop('b', [5000])
  t.deepEqual(logs(), [])
})

test('what stands in its place is removed', async t => {
  const { samples, add, file } = await opened(t)
  add(FIRST)
  const path = file()
  rmSync(path)
  mkdirSync(join(path, 'stray'), { recursive: true })
  t.is(samples(), undefined)
  add(FIRST)
  t.deepEqual(samples(), FIRST)
})

test('many records become one, and nothing of them is lost', async t => {
  const { kept, samples, add } = await opened(t)
  const whole: [number, number][] = []
  const pieces = new Set<number>()
  for (let from = AT; from < AT + 2000; from += 100) {
    whole.push([from + 7, from / 3])
    add(read(from, from + 100, { p: whole.slice(-1) }))
    t.deepEqual(samples(), read(AT, from + 100, { p: whole }))
    pieces.add(kept()!.pieces)
  }
  t.deepEqual([...pieces], [1, 2, 3, 4, 5, 6])
})

test('who was not looked at is forgotten', async t => {
  const { states, samples, add, logs } = await opened(t)
  add(FIRST)
  await states.save('b', stateOf(AT, 'other'))
  states.addSamples('b', AT, 'other', FIRST)
  t.is(logs().length, 2)
  states.forgetOthers('b', ['e'])
  t.deepEqual(samples(), FIRST)
  t.is(logs().length, 1)
  t.true('state' in states.load('b', AT, 'other'))
})
