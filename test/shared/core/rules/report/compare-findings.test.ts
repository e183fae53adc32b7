import test from 'ava'
import { compareFindings, countChanges } from '#shared/core/rules/report/compare-findings.ts'
import { finding } from '../../../../conformance/run-cases.ts'

const changes = (before: ReturnType<typeof finding>[], after: ReturnType<typeof finding>[]) =>
  compareFindings(before, after).map(({ equipment_id, episodes }) => [
    equipment_id,
    ...episodes.map(({ change, finding: { finding_id }, before_secs }) =>
      [change, finding_id, before_secs].filter(part => part !== undefined).join(' '),
    ),
  ])

test('episodes appear, go and stay, and those that stay say how long they were', t => {
  const before = [finding('a', 0, 1), finding('b', 4, 6)]
  const after = [finding('c', 5, 9), finding('d', 12, null)]
  t.deepEqual(changes(before, after), [['e', 'goes a', 'stays c 7200', 'appears d']])
  const [compared] = compareFindings(before, after)
  t.deepEqual(
    [compared!.before, compared!.after],
    [
      { episodes: 2, fault_secs: 3 * 3600 },
      { episodes: 2, fault_secs: 5 * 3600 },
    ],
  )
  t.deepEqual(
    (['appears', 'goes', 'stays'] as const).map(change => countChanges([compared!], change)),
    [1, 1, 1],
  )
})

test('an episode that falls apart stays in each part, and parts that grow together stay in one', t => {
  const whole = [finding('w', 0, 6)]
  const parts = [finding('p', 0, 2), finding('q', 4, 6)]
  t.deepEqual(changes(whole, parts), [['e', 'stays p 21600', 'stays q 21600']])
  t.deepEqual(changes(parts, whole), [['e', 'stays w 14400']])
})

test('episodes that only touch, of another role or of another equipment are not the same', t => {
  t.deepEqual(changes([finding('a', 0, 2)], [finding('b', 2, 3)]), [['e', 'goes a', 'appears b']])
  const ofRole = (id: string, role: string) => finding(id, 0, 2, { role })
  t.deepEqual(changes([ofRole('a', 'sa_t')], [ofRole('b', 'ra_t')]), [['e', 'appears b', 'goes a']])
  const other = finding('b', 0, 2, { equipment_id: 'f' })
  t.deepEqual(changes([finding('a', 0, 2)], [other]), [
    ['e', 'goes a'],
    ['f', 'appears b'],
  ])
  t.deepEqual(changes([], []), [])
})
