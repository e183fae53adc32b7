/** Damage to the files of sample logs: a read never returns samples that were not written. */
import test, { type ExecutionContext } from 'ava'
import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ReadSamples } from '#shared/core/ports.ts'
import { openEngineStates, openSampleLogs } from '#shared/node/rules/engine-states.ts'
import { AT, BOTH_READS, FIRST_READ, readOf, SECOND_READ, stateOf, withoutPieces } from '../../../conformance/engine-states.ts'
import { temporaryFolder } from '../../../support/sites/workspace.ts'

async function opened(t: ExecutionContext) {
  const folder = join(temporaryFolder(t), 'states')
  const states = openEngineStates(folder, '1.0.0')
  const sampleLogs = openSampleLogs(folder)
  await states.save('b', stateOf('e', AT))
  const logs = () => readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.samples'))
  const stored = () => sampleLogs.read('b', AT, 'e', Infinity)
  return {
    folder,
    states,
    sampleLogs,
    samples: () => withoutPieces(stored()),
    logs,
    file: () => join(folder, logs()[0]!),
    add: (more: ReadSamples) => sampleLogs.add('b', AT, 'e', more, stored()),
  }
}

test('a file with a changed byte or a cut end gives only the whole records before the damage', async t => {
  const { samples, add, file } = await opened(t)
  add(FIRST_READ)
  const first = readFileSync(file()).length
  add(SECOND_READ)
  const whole = readFileSync(file())
  for (let i = 0; i < whole.length; i++) {
    const damaged = Buffer.from(whole)
    damaged[i]! ^= 1 << (i % 8)
    writeFileSync(file(), damaged)
    t.deepEqual(samples(), i < first ? undefined : FIRST_READ, `byte ${i}`)
    writeFileSync(file(), whole)
    truncateSync(file(), i)
    t.deepEqual(samples(), i < first ? undefined : FIRST_READ, `cut at ${i}`)
  }
  add(FIRST_READ)
  add(SECOND_READ)
  t.deepEqual(samples(), BOTH_READS, 'samples that are read again are stored again')
})

test('the file of another equipment in the place of a log is not used', async t => {
  const { folder, states, sampleLogs, samples, add, logs, file } = await opened(t)
  add(FIRST_READ)
  const own = readFileSync(file())
  await states.save('b', stateOf('other', AT))
  sampleLogs.add('b', AT, 'other', readOf(AT, 2000, { p: [] }))
  for (const log of logs()) writeFileSync(join(folder, log), own)
  t.deepEqual(samples(), FIRST_READ)
  t.is(sampleLogs.read('b', AT, 'other', Infinity), undefined)
})

test('a folder in the place of a log is replaced', async t => {
  const { samples, add, file } = await opened(t)
  add(FIRST_READ)
  const path = file()
  rmSync(path)
  mkdirSync(join(path, 'stray'), { recursive: true })
  t.is(samples(), undefined)
  add(FIRST_READ)
  t.deepEqual(samples(), FIRST_READ)
})

test('logs are deleted with their day and with a later state, and the logs of other equipment by dropOthers', async t => {
  const { states, sampleLogs, add, logs } = await opened(t)
  add(FIRST_READ)
  await states.save('b', stateOf('e', 5000))
  t.deepEqual(logs(), [])
  sampleLogs.add('b', 5000, 'e', readOf(5000, 6000, { p: [] }))
  states.drop('b', [5000])
  t.deepEqual(logs(), [])
  add(FIRST_READ)
  await states.save('b', stateOf('other', AT))
  sampleLogs.add('b', AT, 'other', FIRST_READ)
  t.is(logs().length, 2)
  sampleLogs.dropOthers('b', ['e'])
  t.is(logs().length, 1)
})
