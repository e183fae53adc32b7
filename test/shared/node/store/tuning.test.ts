import test from 'ava'
import type { StoredReset, StoredSetting } from '#shared/core/tuning.ts'
import { baselineStore } from '#shared/node/store/baselines.ts'
import { paramSettingStore } from '#shared/node/store/param-settings.ts'
import { temporaryDatabase } from '../../../support/sites/workspace.ts'

const site: StoredSetting = {
  rule_id: 'R',
  param: 'limit',
  scope: 'site',
  scope_id: 's1',
  site_id: 's1',
  value: 21,
  unit: 'degC',
  changed_by: 'kim',
  changed_at: 1,
}
const own: StoredSetting = { ...site, scope: 'equipment', scope_id: 'AHU-1', building_id: 'b1', value: 22, note: 'south side' }
const ofRole: StoredSetting = { ...site, role: 'sa_t', value: 23 }

test('settings are told apart by everything that says for what they count, and the last one is kept', t => {
  const store = paramSettingStore(temporaryDatabase(t))
  const others = [own, ofRole, { ...own, building_id: 'b2' }, { ...site, site_id: 's2', scope_id: 's2' }]
  for (const setting of [site, ...others, { ...site, value: 24 }]) store.put(setting)
  const sorted = (settings: StoredSetting[]) => settings.map(one => JSON.stringify(one, Object.keys(one).toSorted())).toSorted()
  t.deepEqual(sorted(store.list()), sorted([{ ...site, value: 24 }, ...others]))
  t.deepEqual(sorted(store.list({ site_id: 's1', building_id: 'b1' })), sorted([{ ...site, value: 24 }, own, ofRole]))
  t.deepEqual(store.get(own), own)
  store.remove(own)
  t.is(store.get(own), undefined)
  t.deepEqual(store.get({ ...own, building_id: 'b2' }), { ...own, building_id: 'b2' }, 'that of another building stays')
})

const baseline = (rule_id: string, more: object = {}) => ({
  rule_id,
  equipment_id: 'AHU-1',
  name: 'usual',
  value: 2.25,
  spread: null,
  days_used: 1,
  dates: ['2026-03-01'],
  left_out: [{ date: '2026-03-02', why: 'SEN' }],
  cold: true,
  min_days: 4,
  unit: 'K',
  absolute: false,
  fallback: null,
  tolerance_cold: 2,
  ...more,
})
const looked = [{ equipment_id: 'AHU-1', rule_id: 'R' }]
const report = { building_id: 'b1', date: '2026-03-03', today: '2026-03-05', looked }

test('a run replaces the baselines of what it looked at, and leaves the others', t => {
  const store = baselineStore(temporaryDatabase(t))
  const two = [...looked, { equipment_id: 'AHU-1', rule_id: 'S' }]
  store.keep({ ...report, looked: two, baselines: [baseline('R'), baseline('R', { role: 'sa_t' }), baseline('S')] })
  store.keep({ ...report, date: '2026-03-04', baselines: [baseline('R', { value: 3, dates: [] })] })
  t.deepEqual(
    store.list({ building_id: 'b1' }).map(one => [one.rule_id, one.role, one.value, one.date]),
    [
      ['R', undefined, 3, '2026-03-04'],
      ['S', undefined, 2.25, '2026-03-03'],
    ],
  )
  const key = { building_id: 'b1', equipment_id: 'AHU-1', rule_id: 'S', name: 'usual' }
  t.deepEqual(store.get(key), { building_id: 'b1', date: '2026-03-03', ...baseline('S') })
  t.is(store.get({ ...key, role: 'sa_t' }), undefined)
  t.deepEqual(
    store.list({ building_id: 'b1', rule_id: 'S' }).map(({ rule_id }) => rule_id),
    ['S'],
  )
  t.deepEqual(store.list({ building_id: 'b1', equipment_id: 'AHU-2' }), [])
  t.deepEqual(store.list({ building_id: 'b2' }), [])
})

test('a run over an earlier span replaces nothing that a later one said', t => {
  const store = baselineStore(temporaryDatabase(t))
  store.keep({ ...report, baselines: [baseline('R')] })
  store.keep({ ...report, date: '2026-02-03', baselines: [] })
  store.keep({ ...report, date: '2026-02-03', baselines: [baseline('R', { value: 9 })] })
  t.deepEqual(
    store.list({ building_id: 'b1' }).map(({ value, date }) => [value, date]),
    [[2.25, '2026-03-03']],
  )
})

test('what a run said under a clock that was ahead stands only until one says it under the right clock', t => {
  const store = baselineStore(temporaryDatabase(t))
  store.keep({ ...report, date: '2099-01-01', today: '2099-01-01', baselines: [baseline('R')] })
  store.keep({ ...report, baselines: [baseline('R', { value: 9 })] })
  t.deepEqual(
    store.list({ building_id: 'b1' }).map(({ value, date }) => [value, date]),
    [[9, '2026-03-03']],
  )
})

test('a baseline that stands as it stood is not written again', t => {
  const db = temporaryDatabase(t)
  const store = baselineStore(db)
  store.keep({ ...report, baselines: [baseline('R')] })
  const changes = () => db.prepare('SELECT total_changes()').pluck().get()
  const before = changes()
  store.keep({ ...report, baselines: [baseline('R')] })
  t.is(changes(), before)
})

test('a reset is kept until it is taken back, the later one instead of the earlier', t => {
  const store = baselineStore(temporaryDatabase(t))
  const reset: StoredReset = {
    building_id: 'b1',
    equipment_id: 'AHU-1',
    rule_id: 'R',
    name: 'usual',
    at: 5,
    note: 'new coil',
    changed_by: 'kim',
    changed_at: 6,
  }
  const ofRole = { ...reset, role: 'sa_t' }
  for (const one of [reset, ofRole, { ...reset, at: 7 }]) store.reset(one)
  t.deepEqual(store.resets('b1'), [{ ...reset, at: 7 }, ofRole])
  t.deepEqual(store.resets('b2'), [])
  store.restore(ofRole)
  t.deepEqual(store.resets('b1'), [{ ...reset, at: 7 }])
})
