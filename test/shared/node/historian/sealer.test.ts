import test from 'ava'
import { MINUTE } from '#shared/core/time.ts'
import { childrenWith } from '../../../support/children.ts'
import { temporaryHistorian } from '../../../support/sites/workspace.ts'

const T = Date.UTC(2026, 2, 1)

test('the process that writes files is started when there are samples to seal, and not before', async t => {
  const { historian } = await temporaryHistorian(t)
  await historian.append('b1', [{ id: 'p', t: T, v: 1 }])
  t.deepEqual(await historian.seal({ before: T }), { parts: 0, rows: 0 })
  t.deepEqual(childrenWith('write-worker.ts'), [])
  t.deepEqual(await historian.seal({ before: T + MINUTE }), { parts: 1, rows: 1 })
  t.is(childrenWith('write-worker.ts').length, 1)
})
