import test, { type ExecutionContext } from 'ava'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openEngineStates, openSampleLogs } from '#shared/node/rules/engine-states.ts'
import { engineStatesConformance, sampleLogsConformance, stateOf } from '../../../conformance/engine-states.ts'
import { temporaryFolder } from '../../../support/sites/workspace.ts'

const folderOf = (t: ExecutionContext) => join(temporaryFolder(t), 'states')

engineStatesConformance(test, 'files', t => openEngineStates(folderOf(t), '1.0.0'))
sampleLogsConformance(test, 'files', t => {
  const folder = folderOf(t)
  return { states: openEngineStates(folder, '1.0.0'), sampleLogs: openSampleLogs(folder) }
})

function opened(t: ExecutionContext) {
  const folder = folderOf(t)
  const files = () => readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.state'))
  return { folder, states: openEngineStates(folder, '1.0.0'), file: () => join(folder, files()[0]!) }
}

test('a file with any changed byte or cut end is not used', async t => {
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
  t.true('state' in states.load('b', 1000, 'e'), 'a state that is saved again is used again')
})

test('a file in another place, of another version, or replaced by a folder is not used', async t => {
  const { states, folder, file } = opened(t)
  await states.save('b', stateOf('e', 1000))
  t.deepEqual(openEngineStates(folder, '1.0.1').load('b', 1000, 'e'), { why: 'another version of the program saved it' })
  const [building] = readdirSync(folder)
  renameSync(join(folder, building!, '1000'), join(folder, building!, '2000'))
  t.like(states.load('b', 2000, 'e'), { why: `${file()} belongs to another building, equipment or day` })
  rmSync(file())
  mkdirSync(join(folder, building!, '2000', 'stray'))
  t.deepEqual(states.load('b', 2000, 'e'), { why: 'no state is saved' })
  rmSync(folder, { recursive: true })
  t.deepEqual(states.ends('b'), [])
})
