import test from 'ava'
import { lostSince } from '#appliance/core/system/since-update.ts'

const BEFORE = {
  checks: { poll: { points_ok: 40 }, hub: { state: 'up' }, priority_history: { journal: 'ok' } },
}
const WELL = { points_ok: 40, hub: { state: 'up' }, journal: { journal: 'ok' } }

for (const [title, before, now, lost] of [
  ['everything that worked works', BEFORE, WELL, []],
  ['half of the points are enough, because devices are switched off at any time', BEFORE, { ...WELL, points_ok: 20 }, []],
  ['more than half of the points are gone', BEFORE, { ...WELL, points_ok: 19 }, ['polling: 19 points are good, 40 were before']],
  [
    'the hub is not connected any more',
    BEFORE,
    { ...WELL, hub: { state: 'connecting', reason: 'ECONNREFUSED' } },
    ['uplink: the hub was connected before and is not (ECONNREFUSED)'],
  ],
  [
    'the journal has closed',
    BEFORE,
    { ...WELL, journal: { journal: 'disabled', reason: '0001.jsonl, byte 7' } },
    ['priority journal: it was open before and is disabled (0001.jsonl, byte 7)'],
  ],
  ['a journal that was repaired is open', BEFORE, { ...WELL, journal: { journal: 'repaired' } }, []],
  [
    'what did not work before is not asked for',
    { checks: { poll: { points_ok: 0 }, hub: { state: 'connecting' }, priority_history: { journal: 'disabled' } } },
    { points_ok: 0, hub: { state: 'connecting' }, journal: { journal: 'disabled' } },
    [],
  ],
  [
    'a version that told nothing asks for nothing',
    { checks: {} },
    { points_ok: 0, hub: { state: 'off' }, journal: { journal: 'disabled' } },
    [],
  ],
] as const)
  test(`after an update: ${title}`, t => t.deepEqual(lostSince(before, now), [...lost]))
