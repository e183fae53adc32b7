import test, { type ExecutionContext } from 'ava'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EquipmentState } from '#shared/core/rules/evaluate/equipment-state.ts'
import { openEngineStates } from '#shared/node/rules/engine-states.ts'
import { temporaryFolder } from '../../../support/sites/workspace.ts'

const stateOf = (equipment_id: string, at: number) =>
  ({
    equipment_id,
    at,
    from: 0,
    columns: Float64Array.of(1, Number.NaN, -0, 1 / 3),
    deep: [{ on: true }],
  }) as unknown as EquipmentState

function opened(t: ExecutionContext) {
  const folder = join(temporaryFolder(t), 'states')
  const files = () => readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.state'))
  return { folder, states: openEngineStates(folder, '1.0.0'), file: () => join(folder, files()[0]!) }
}

test('a state comes back to the bit, by building, end of the day and equipment', async t => {
  const { states } = opened(t)
  t.deepEqual(states.ends('b'), [])
  for (const at of [2000, 1000]) for (const id of ['a/../1', 'é 2']) await states.save('b', stateOf(id, at))
  await states.save('other', stateOf('a/../1', 3000))
  t.deepEqual(states.ends('b'), [1000, 2000])
  t.deepEqual(states.load('b', 1000, 'é 2'), { state: stateOf('é 2', 1000) })
  t.deepEqual(states.load('b', 2000, 'a/../1'), { state: stateOf('a/../1', 2000) })
  t.deepEqual(states.load('b', 3000, 'a/../1'), { why: 'nothing is kept of it' })
  states.drop('b', [1000, 5000])
  t.deepEqual(states.ends('b'), [2000])
  t.deepEqual(states.ends('other'), [3000])
})

test('a file in which any byte is another, or that was cut anywhere, is not used', async t => {
  const { states, file } = opened(t)
  await states.save('b', stateOf('e', 1000))
  const whole = readFileSync(file())
  for (let i = 0; i < whole.length; i++) {
    const damaged = Buffer.from(whole)
    damaged[i]! ^= 1 << (i % 8)
    writeFileSync(file(), damaged)
    t.true('why' in states.load('b', 1000, 'e'), `byte ${i}`)
    truncateSync(file(), i)
    t.true('why' in states.load('b', 1000, 'e'), `cut at ${i}`)
  }
  await states.save('b', stateOf('e', 1000))
  t.true('state' in states.load('b', 1000, 'e'), 'what is written anew counts again')
})

test('a file in another place, of another version, or a folder in its stead is not used', async t => {
  const { states, folder, file } = opened(t)
  await states.save('b', stateOf('e', 1000))
  t.deepEqual(openEngineStates(folder, '1.0.1').load('b', 1000, 'e'), { why: 'another version of the program kept it' })
  const [building] = readdirSync(folder)
  renameSync(join(folder, building!, '1000'), join(folder, building!, '2000'))
  t.like(states.load('b', 2000, 'e'), { why: `${file()} is of something else` })
  rmSync(file())
  mkdirSync(join(folder, building!, '2000', 'stray'))
  t.deepEqual(states.load('b', 2000, 'e'), { why: 'nothing is kept of it' })
  rmSync(folder, { recursive: true })
  t.deepEqual(states.ends('b'), [])
})
