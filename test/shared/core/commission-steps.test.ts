import test from 'ava'
import { type CommissionFacts, commissionSteps } from '#shared/core/commission-steps.ts'
import { freeId } from '#shared/core/model/free-id.ts'
import { unitDoubt } from '#shared/core/model/unit-doubt.ts'

const EMPTY: CommissionFacts = {
  points: 0,
  silent: 0,
  unplaced: 0,
  withoutRole: 0,
  likely: 0,
  doubtful: 0,
  canRun: 0,
  cannotRun: 0,
  lastRunAt: null,
}
const STEPS: [title: string, facts: Partial<CommissionFacts>, expected: string][] = [
  ['nothing is there', {}, 'open later later later later later'],
  ['points are found', { points: 9, unplaced: 9 }, 'done open later later later later'],
  ['some points are silent', { points: 9, unplaced: 9, silent: 2 }, 'open open later later later later'],
  ['nobody polls here', { points: 9, unplaced: 9, silent: undefined }, 'done open later later later later'],
  ['points are in equipment', { points: 9, withoutRole: 9, likely: 7 }, 'done done open later later later'],
  ['roles are given', { points: 9, withoutRole: 2, canRun: 3, cannotRun: 20 }, 'done done done done done open'],
  ['roles fit no rule', { points: 9, withoutRole: 8, cannotRun: 20 }, 'done done open done open later'],
  ['a unit is doubtful', { points: 9, canRun: 3, doubtful: 1, lastRunAt: 5 }, 'done done done open done done'],
]
for (const [title, facts, expected] of STEPS) {
  test(`the steps of commissioning follow from the stores: ${title}`, t => {
    t.is(Object.values(commissionSteps({ ...EMPTY, ...facts })).join(' '), expected)
  })
}

const UNITS: [role: string, unit: string, low: number, high: number, instead: string | undefined][] = [
  ['sa_t', 'degC', 12, 18, undefined],
  ['zone_t', 'degC', 68, 74, 'degF'],
  ['zone_t', 'degF', 21, 23, 'degC'],
  ['clg_valve', 'fraction', 0, 55, 'percent'],
  ['clg_valve', 'percent', 0, 100, undefined],
  ['no_such_role', 'degC', 0, 900, undefined],
]
for (const [role, unit, low, high, instead] of UNITS) {
  test(`${role} of ${low} to ${high} ${unit} ${instead === undefined ? 'is plausible' : `is rather ${instead}`}`, t => {
    const doubt = unitDoubt({ role, unit, kind: 'number' }, [low, high])
    if (instead === undefined) t.is(doubt, undefined)
    else t.true(doubt?.instead.includes(instead), JSON.stringify(doubt))
  })
}

test('values that no unit makes plausible are doubted without another unit', t => {
  t.deepEqual(unitDoubt({ role: 'sa_t', unit: 'degC', kind: 'number' }, [-250, -250])?.instead, [])
})

test('an id is made from a name, and from none', t => {
  const taken = new Set(['air-handler-1', 'equipment'])
  t.is(freeId('  Air handler 1 ', taken), 'air-handler-1-2')
  t.is(freeId('Lüftung Süd', taken), 'lu-ftung-su-d')
  t.is(freeId('///', taken), 'equipment-2')
})
