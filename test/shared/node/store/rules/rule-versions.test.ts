import test from 'ava'
import { ruleVersionStore } from '#shared/node/store/rules/rule-versions.ts'
import { temporaryDatabase } from '../../../../support/sites/workspace.ts'

const version = (rule_id: string, n: number) => ({
  rule_id,
  sha256: String(n).padStart(64, '0'),
  yaml: `id: ${rule_id} ${n}`,
  deployed_by: 'agent',
  deployed_at: n,
})

test('versions of a rule are listed from the last that was deployed, and one that is deployed again is the last', t => {
  const store = ruleVersionStore(temporaryDatabase(t))
  for (const n of [1, 2, 3]) store.add(version('A', n))
  store.add({ ...version('B', 1), deployed_by: null, deployed_at: null })
  store.add({ ...version('A', 1), deployed_by: 'kim', deployed_at: 4 })
  t.deepEqual(store.list('A'), [{ ...version('A', 1), deployed_by: 'kim', deployed_at: 4 }, version('A', 3), version('A', 2)])
  t.deepEqual(store.get('B', version('B', 1).sha256), { ...version('B', 1), deployed_by: null, deployed_at: null })
  t.is(store.get('B', version('A', 2).sha256), undefined)
  t.deepEqual(
    store.newest().map(({ rule_id, sha256 }) => `${rule_id} ${Number(sha256)}`),
    ['A 1', 'B 1'],
  )
})

test('the newest 20 versions of a rule are stored, and 2,000 of all rules', t => {
  const db = temporaryDatabase(t)
  const store = ruleVersionStore(db)
  db.transaction(() => {
    for (let n = 0; n < 30; n++) store.add(version('A', n))
    t.deepEqual(
      store.list('A').map(({ deployed_at }) => deployed_at),
      Array.from({ length: 20 }, (_, i) => 29 - i),
    )
    for (let n = 0; n < 1990; n++) store.add(version(`R-${n}`, 0))
  })()
  t.is(store.list('A').length, 10)
  t.is(store.list('R-1989').length, 1)
})
