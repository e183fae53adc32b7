/** Coverage over a real database and the real engine; what is counted is how often it is computed. */
import test from 'ava'
import { openCoverageCache } from '#shared/central/fdd/coverage-cache.ts'
import { ruleCoverage } from '#shared/core/rules/report/rule-coverage.ts'
import { parseRule } from '#shared/core/rules/check/parse-rule.ts'
import { modelStore } from '#shared/node/store/model.ts'
import { paramSettingStore } from '#shared/node/store/param-settings.ts'
import { ruleStateStore } from '#shared/node/store/rule-states.ts'
import { temporaryDatabase } from '../../../support/sites/workspace.ts'
import { BUILDING, point, unit } from '../../../support/sites/run-box.ts'
import { needyRule, warmRule } from '../../../support/rule-texts.ts'

const rules = [warmRule(), needyRule].map(text => {
  const parsed = parseRule(text, 'r.yaml')
  if (!parsed.ok) throw new Error(parsed.errors[0]!.message)
  return parsed.rule
})

function place(t: Parameters<typeof temporaryDatabase>[0]) {
  const db = temporaryDatabase(t)
  const [model, ruleStates] = [modelStore(db), ruleStateStore(db)]
  model.put({ building: BUILDING, equipment: [unit('ahu-1')], points: [point('ahu-1', 'sa_t', 'degC')] })
  let computed = 0
  let failure: Error | undefined
  const cache = openCoverageCache({
    model,
    ruleStates,
    compute: async ({ inactive, equipment, points }) => {
      computed++
      if (failure) throw failure
      const active = rules.filter(({ id }) => !inactive.includes(id))
      return ruleCoverage(active, equipment, points)
    },
  })
  const runs = async (revision = 'r1', building_id = 'b') =>
    (await cache.of(building_id, revision)).lines.map(({ rule_id, missing }) => `${rule_id} ${missing}`)
  return { db, model, ruleStates, runs, computed: () => computed, fail: (error: Error | undefined) => void (failure = error) }
}

test('coverage is computed once for each state of points, equipment, activation and rules', async t => {
  const { db, model, ruleStates, runs, computed } = place(t)
  const [needy, damp] = ['TEST-NEEDY ra_rh', 'TEST-NEEDY ']
  const humidity = point('ahu-1', 'ra_rh', 'percent')
  t.deepEqual(await runs(), [needy, 'TEST-WARM '])
  await Promise.all(Array.from({ length: 20 }, () => runs()))
  t.is(computed(), 1)

  // Each change is followed by 20 requests at once: one of them computes.
  const changes: [string, () => unknown, string[]][] = [
    ['a point comes', () => model.put({ points: [humidity] }), [damp, 'TEST-WARM ']],
    [
      'its unit changes to one that is no humidity',
      () => model.put({ points: [{ ...humidity, unit: 'degC' }] }),
      [needy, 'TEST-WARM '],
    ],
    ['its unit changes back', () => model.put({ points: [humidity] }), [damp, 'TEST-WARM ']],
    ['it loses its role', () => model.put({ points: [{ ...humidity, role: undefined } as never] }), [needy, 'TEST-WARM ']],
    [
      'it is assigned',
      () => model.assign('b', [{ point_id: humidity.point_id, equipment_id: 'ahu-1', role: 'ra_rh' }], 'merge'),
      [damp, 'TEST-WARM '],
    ],
    ['equipment changes its type', () => model.put({ equipment: [unit('ahu-1', { equipment_type: 'boiler' })] }), []],
    ['and changes back', () => model.put({ equipment: [unit('ahu-1')] }), [damp, 'TEST-WARM ']],
    [
      'a point is deleted by other code',
      () => db.prepare("DELETE FROM points WHERE role = 'ra_rh'").run(),
      [needy, 'TEST-WARM '],
    ],
    [
      'a rule is switched off',
      () => ruleStates.set({ rule_id: 'TEST-NEEDY', active: false, changed_by: 'x', changed_at: 1 }),
      ['TEST-WARM '],
    ],
    [
      'a rule is switched on',
      () => ruleStates.set({ rule_id: 'TEST-NEEDY', active: true, changed_by: 'x', changed_at: 2 }),
      [needy, 'TEST-WARM '],
    ],
  ]
  for (const [what, change, wanted] of changes) {
    const before = computed()
    change()
    const found = await Promise.all(Array.from({ length: 20 }, () => runs()))
    for (const one of found) t.deepEqual(one, wanted, what)
    t.is(computed(), before + 1, what)
  }
  const before = computed()
  await runs('r2')
  t.is(computed(), before + 1, 'other rules')
})

test('a write that changes nothing keeps what was computed, and so do settings of parameters', async t => {
  const { db, model, runs, computed } = place(t)
  await runs()
  const revision = model.revision('b')
  model.put({ building: BUILDING, equipment: [unit('ahu-1')], points: [point('ahu-1', 'sa_t', 'degC')] })
  const set = { rule_id: 'TEST-WARM', param: 'limit', scope: 'site', scope_id: 's', site_id: 's' } as const
  paramSettingStore(db).put({ ...set, value: 60, unit: 'degF', changed_by: 'x', changed_at: 1 })
  await runs()
  t.is(model.revision('b'), revision)
  t.is(computed(), 1)
})

test('the buildings that were asked for last are kept, and a failure never is', async t => {
  const { model, runs, computed, fail } = place(t)
  const ids = Array.from({ length: 17 }, (_, i) => `b${i}`)
  for (const building_id of ids) model.put({ building: { ...BUILDING, building_id } })
  for (const id of ids) await runs('r1', id)
  await runs('r1', 'b16')
  t.is(computed(), 17)
  await runs('r1', 'b0')
  t.is(computed(), 18, 'the seventeenth building has pushed the first one out')
  fail(new Error('out of memory'))
  await t.throwsAsync(() => runs('r2', 'b0'), { message: 'out of memory' })
  fail(undefined)
  await t.notThrowsAsync(() => runs('r2', 'b0'))
})
