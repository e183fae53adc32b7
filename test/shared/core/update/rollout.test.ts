import test from 'ava'
import { advanceRollout, type BoxReport, nextBoxes, type Rollout, waitAgain, withBox } from '#shared/core/update/rollout.ts'
import { MINUTE } from '#shared/core/time.ts'

const T0 = Date.UTC(2026, 0, 1)
const [OLD, NEW] = ['1.0.0+aaaaaaaaaaaa', '1.1.0+bbbbbbbbbbbb']
const BEGUN: Rollout = {
  ...{ version: NEW, compatible: 'plenum-arm64', bytes: 100, sha256: 'a'.repeat(64) },
  ...{ started_at: T0, started_by: 'admin', state: 'running', reason: '', boxes: [] },
}
const last = (state: 'confirmed' | 'rolled_back' | 'trying' | 'refused', version = NEW, at = '2026-01-01T00:10:00Z') =>
  ({ state, version, slot: 'B', reason: 'why', at }) as const

const box = (edge_id: string, change: Partial<BoxReport> = {}): BoxReport => ({
  ...{ site_id: 'A', edge_id, version: OLD, online: true, is_healthy: true },
  system: { compatible: 'plenum-arm64', last: null },
  ...change,
})
const boxes = (count: number) => Array.from({ length: count }, (_, i) => box(`e${i + 10}`))
const names = (list: readonly { edge_id: string }[]) => list.map(({ edge_id }) => edge_id)
const begin = (reports: BoxReport[]) => advanceRollout(BEGUN, reports, T0)
const sent = (rollout: Rollout, edge_id: string, before: string | null = null) =>
  withBox(rollout, { site_id: 'A', edge_id }, { state: 'installing', since: T0, reason: '', before })

test('one box gets an update first, then ten, then the rest, a few at a time', t => {
  let reports = boxes(30)
  let rollout = begin(reports)
  const order: number[] = []
  while (rollout.state === 'running' && order.length < 100) {
    const next = nextBoxes(rollout, reports, T0)
    order.push(next.length)
    for (const { edge_id } of next) {
      rollout = sent(rollout, edge_id)
      reports = reports.map(one => (one.edge_id === edge_id ? box(edge_id, { version: NEW }) : one))
    }
    // Nobody else gets it before all of these are healthy.
    if (next.length === 0 || rollout.boxes.filter(({ state }) => state === 'installing').length === 11) t.fail(order.join())
    if (nextBoxes(rollout, reports, T0).length === 0) rollout = advanceRollout(rollout, reports, T0)
  }
  t.is(rollout.state, 'finished')
  t.is(order[0], 1)
  t.deepEqual(order.slice(1, 5), [3, 3, 3, 1])
  t.is(
    order.reduce((a, b) => a + b),
    30,
  )
})

test('a box that goes back, refuses, or stays away stops the roll-out with its reason, and nobody else gets the update', t => {
  const reports = boxes(3)
  const cases: [Partial<BoxReport>, number, RegExp | undefined][] = [
    [
      { system: { compatible: 'plenum-arm64', last: last('rolled_back') } },
      0,
      /^A\/e10: it went back to the version before: why/,
    ],
    [{ system: { compatible: 'plenum-arm64', last: last('refused', '') } }, 0, /^A\/e10: it refused the update: why/],
    [{ online: false, is_healthy: false }, 61 * MINUTE, /^A\/e10: it did not come back healthy within 60 min/],
    [{ version: NEW, is_healthy: false }, 61 * MINUTE, /did not come back healthy/],
    // Still within its time, on trial, or about an update before this one.
    [{ online: false, is_healthy: false }, 59 * MINUTE, undefined],
    [{ version: NEW, system: { compatible: 'plenum-arm64', last: last('trying') } }, 0, undefined],
    [{ system: { compatible: 'plenum-arm64', last: last('rolled_back', '0.9.0') } }, 0, undefined],
    [{ system: { compatible: 'plenum-arm64', last: last('rolled_back', NEW, 'before') } }, 0, undefined],
  ]
  for (const [change, later, reason] of cases) {
    const after = [box('e10', change), ...reports.slice(1)]
    const rollout = advanceRollout(sent(begin(reports), 'e10', 'before'), after, T0 + later)
    t.is(rollout.state, reason ? 'stopped' : 'running', JSON.stringify(change))
    t.regex(rollout.reason, reason ?? /^$/)
    t.deepEqual(nextBoxes(rollout, after, T0 + later), [], JSON.stringify(change))
  }
})

test('boxes of another kind are left out, boxes that are away do not hold up the others, and later ones join', t => {
  const reports = [box('away', { online: false }), box('b1'), box('x64', { system: { compatible: 'plenum-amd64', last: null } })]
  let rollout = begin([...reports, box('plain', { system: undefined })])
  t.deepEqual(names(rollout.boxes), ['away', 'b1'])
  t.deepEqual(names(nextBoxes(rollout, reports, T0)), ['b1'])
  const later = [reports[0]!, box('b1', { version: NEW }), box('c1')]
  rollout = advanceRollout(sent(rollout, 'b1'), later, T0)
  t.deepEqual(names(nextBoxes(rollout, later, T0)), ['c1'])
  t.is(rollout.state, 'running')
})

test('a box that could not be sent the file is tried again after a while, and one that has the version is done', t => {
  const reports = [box('b1'), box('b2', { version: NEW })]
  let rollout = begin(reports)
  t.deepEqual(
    rollout.boxes.map(({ state, reason }) => [state, reason]),
    [
      ['waiting', ''],
      ['done', 'ran it already'],
    ],
  )
  rollout = withBox(rollout, rollout.boxes[0]!, { state: 'waiting', since: T0, reason: 'no way there' })
  t.deepEqual(nextBoxes(rollout, reports, T0 + MINUTE), [])
  t.deepEqual(names(nextBoxes(rollout, reports, T0 + 6 * MINUTE)), ['b1'])
})

test('after a stop, boxes that failed are tried again when somebody goes on', t => {
  const failed: Rollout = { ...begin(boxes(2)), state: 'stopped' }
  const one = withBox(failed, { site_id: 'A', edge_id: 'e10' }, { state: 'failed', since: T0, reason: 'why' })
  t.deepEqual(nextBoxes(one, boxes(2), T0), [])
  t.deepEqual(
    waitAgain(one, ['failed'], T0 + 5).boxes.map(({ state, since, reason }) => [state, since, reason]),
    [
      ['waiting', T0 + 5, ''],
      ['waiting', T0, ''],
    ],
  )
})
