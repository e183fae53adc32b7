/** Findings before and after a run: every adapter of `RunRecorder` gives these results. */
import type { Finding, RuleResult } from '#shared/core/findings/finding.ts'
import type { Resumed, RunRecord } from '#shared/core/ports.ts'
import { HOUR } from '#shared/core/time.ts'

export const T = Date.UTC(2026, 2, 1)
export const at = (hour: number) => T + hour * HOUR

/** A finding of rule r on equipment e that lasts from one hour to another; an open end is null. */
export function finding(finding_id: string, from: number, to: number | null, more: Partial<Finding> = {}): Finding {
  return {
    finding_id,
    building_id: 'b',
    equipment_id: 'e',
    rule_id: 'r',
    kind: 'fault',
    title: 'Supply air too warm',
    severity: 2,
    from: at(from),
    to: to === null ? null : at(to),
    confirmed_at: at(from) + HOUR / 2,
    duration_secs: to === null ? 3600 : (to - from) * 3600,
    state: to === null ? 'active' : 'cleared',
    cause: [{ component: 'ccv', weight: 1 }],
    evidence: {
      expression: 'sa_t > 20',
      terms: [],
      inputs: { sa_t: 21 },
      params: {},
      worst_at: at(from),
      sentence: 'It is warm.',
    },
    ...more,
  }
}

export const result = (more: Partial<RuleResult> = {}): RuleResult => ({
  rule_id: 'r',
  equipment_id: 'e',
  status: 'pass',
  coverage: 1,
  fault_secs: 0,
  episodes: 0,
  ...more,
})

export const run = (
  run_id: string,
  from: number,
  to: number,
  results = [result()],
  more: Partial<RunRecord> = {},
): RunRecord => ({
  run_id,
  building_id: 'b',
  started_at: at(to),
  finished_at: at(to) + 1000,
  from: at(from),
  to: at(to),
  trigger: 'schedule',
  rule_ids: ['r'],
  results,
  failed: [],
  ...more,
})

type RecorderCase = {
  title: string
  before: Finding[]
  run: RunRecord
  found: Finding[]
  after: Finding[]
  resumed?: Resumed
  earlier?: RunRecord[]
}

/** Runs over hours 10 to 20. */
export const RECORDER_CASES: RecorderCase[] = [
  {
    title: 'an episode within the span that is not found again is removed',
    before: [finding('old', 11, 12), finding('kept', 14, 15)],
    run: run('1', 10, 20),
    found: [finding('kept', 14, 16)],
    after: [finding('kept', 14, 16)],
  },
  {
    title: 'findings outside the span are unchanged',
    before: [finding('early', 1, 10), finding('late', 20, null)],
    run: run('1', 10, 20),
    found: [],
    after: [finding('late', 20, null), finding('early', 1, 10)],
  },
  {
    title: 'findings of other rules, equipment and buildings are unchanged',
    before: [
      finding('x', 11, 12, { rule_id: 'x' }),
      finding('y', 11, 12, { equipment_id: 'y' }),
      finding('z', 11, 12, { building_id: 'z' }),
    ],
    run: run('1', 10, 20),
    found: [],
    after: [
      finding('x', 11, 12, { rule_id: 'x' }),
      finding('y', 11, 12, { equipment_id: 'y' }),
      finding('z', 11, 12, { building_id: 'z' }),
    ],
  },
  {
    title: 'a run that could not evaluate clears nothing',
    before: [finding('old', 5, null), finding('older', 11, 12)],
    run: run('1', 10, 20, [result({ status: 'not_evaluated', reason: 'no_data' })]),
    found: [],
    after: [finding('older', 11, 12), finding('old', 5, null)],
  },
  {
    title: 'an episode that began before the span continues under its id, with its start and its worst moment',
    before: [finding('long', 2, null, { duration_secs: 9 * 3600 })],
    run: run('1', 10, 20),
    found: [finding('cut', 10, 13, { title: 'Supply air too warm, reworded' })],
    after: [finding('long', 2, 13, { duration_secs: 11 * 3600, title: 'Supply air too warm, reworded' })],
  },
  {
    title: 'episodes of a rule over every role continue separately for each role',
    before: [
      finding('a', 2, null, { role: 'ma_t', duration_secs: 8 * 3600 }),
      finding('b', 3, null, { role: 'ra_t', duration_secs: 7 * 3600 }),
    ],
    run: run('1', 10, 20),
    found: [finding('cut', 10, 13, { role: 'ra_t' })],
    after: [
      finding('b', 3, 13, { role: 'ra_t', duration_secs: 10 * 3600 }),
      finding('a', 2, 10, { role: 'ma_t', duration_secs: 8 * 3600 }),
    ],
  },
  {
    title: 'an episode that begins after a closed earlier one is a separate episode',
    before: [finding('first', 2, 11)],
    run: run('1', 10, 20),
    found: [finding('second', 12, null)],
    after: [finding('second', 12, null), finding('first', 2, 11)],
  },
  {
    title: 'an open episode that is not found again ends at the beginning of the span',
    before: [finding('open', 2, null, { duration_secs: 15 * 3600 })],
    run: run('1', 10, 20),
    found: [],
    after: [finding('open', 2, 10, { duration_secs: 8 * 3600 })],
  },
  {
    title: 'a resumed run removes an episode that it does not find again, and does not continue it with a later one',
    before: [
      finding('confirmed since', 9, null, { confirmed_at: at(12) }),
      finding('another equipment', 9, null, { equipment_id: 'x', confirmed_at: at(12) }),
      finding('another rule', 9, null, { rule_id: 'x', confirmed_at: at(12) }),
      finding('before', 4, null, { role: 'ma_t', duration_secs: 6 * 3600 }),
    ],
    run: run('1', 10, 20, [result({ status: 'not_evaluated' }), result({ equipment_id: 'x' })]),
    found: [finding('later', 10, 15), finding('goes on', 10, 13, { role: 'ma_t' })],
    after: [
      finding('later', 10, 15),
      finding('another equipment', 9, 10, { equipment_id: 'x', confirmed_at: at(12) }),
      finding('another rule', 9, null, { rule_id: 'x', confirmed_at: at(12) }),
      finding('before', 4, 13, { role: 'ma_t', duration_secs: 9 * 3600 }),
    ],
    resumed: { since: at(12), equipment_ids: new Set(['e']) },
  },
  {
    title: 'a run over a past span keeps what is known after the span; other episodes end with the span',
    earlier: [run('0', 0, 30)],
    before: [
      finding('gone on', 12, 25),
      finding('going on', 13, null),
      finding('cut', 2, 26),
      finding('elsewhere', 15, 24),
      finding('of it', 16, 18),
      finding('silent since', 11, 17),
    ],
    run: run('1', 10, 20, undefined, { started_at: at(31) }),
    found: [
      finding('gone on', 12, null),
      finding('going on', 13, null),
      finding('rest', 10, null),
      finding('new', 19, null),
      finding('silent since', 11, null),
    ],
    after: [
      finding('new', 19, 20, { duration_secs: 3600 }),
      finding('elsewhere', 15, 24),
      finding('going on', 13, null),
      finding('gone on', 12, 25),
      finding('silent since', 11, 17),
      finding('cut', 2, 26),
    ],
  },
  {
    title: 'a run of all rules ends episodes where history ends, even if an earlier run had a later end',
    earlier: [run('0', 0, 30)],
    before: [finding('ended', 12, 25)],
    run: run('1', 10, 20, undefined, { started_at: at(31) }),
    found: [finding('ended', 12, 19), finding('going on', 13, null)],
    after: [finding('going on', 13, null), finding('ended', 12, 19)],
    resumed: { since: -Infinity, equipment_ids: new Set() },
  },
  {
    title: 'results of a run whose clock was ahead are replaced',
    earlier: [run('0', 0, 300)],
    before: [finding('ended', 12, 250), finding('of it', 16, 280)],
    run: run('1', 10, 20),
    found: [finding('ended', 12, null)],
    after: [finding('ended', 12, null)],
  },
  {
    title: 'an episode that was not evaluated for three days ends where it was evaluated last',
    earlier: [run('0', 0, 20), run('1', 10, 80, [result({ status: 'not_evaluated' })])],
    before: [finding('not run', 15, null, { rule_id: 'x' }), finding('missing', 14, null), finding('short', 4, null)],
    run: run('2', 10, 92, [result({ status: 'not_evaluated' })]),
    found: [finding('short', 4, null)],
    after: [
      finding('not run', 15, 15.5, { rule_id: 'x', duration_secs: 1800, confirmed_at: at(15.5) }),
      finding('missing', 14, 20, { duration_secs: 3600 }),
      finding('short', 4, null),
    ],
    resumed: { since: at(80), equipment_ids: new Set() },
  },
  {
    title: 'an episode that was not evaluated for less than three days does not end',
    earlier: [run('0', 0, 20)],
    before: [finding('missing', 14, null)],
    run: run('2', 10, 91, [result({ status: 'not_evaluated' })]),
    found: [],
    after: [finding('missing', 14, null)],
    resumed: { since: at(80), equipment_ids: new Set() },
  },
  {
    title: 'an episode confirmed from samples that have changed is removed, whether or not the run resumed',
    before: [finding('changed', 14, 15), finding('before', 11, 12)],
    run: run('1', 10, 20, [result({ status: 'not_evaluated' })]),
    found: [],
    after: [finding('before', 11, 12)],
    resumed: { since: at(13), equipment_ids: new Set() },
  },
  {
    title: 'a finding without a faulty sample in the span keeps its evidence and causes',
    before: [finding('carried', 2, null)],
    run: run('1', 10, 20),
    found: [
      finding('carried', 2, 12, {
        cause: [],
        evidence: { ...finding('', 2, 12).evidence, inputs: { sa_t: null }, sentence: 'unknown' },
      }),
    ],
    after: [finding('carried', 2, 12)],
  },
  {
    title: 'a run that ends before the days that showed a beginning keeps the finding in hindsight',
    before: [finding('late', 11, 13, { confirmed_at: at(30), hindsight: { normal_from: at(13) } })],
    run: run('1', 10, 20),
    found: [],
    after: [finding('late', 11, 13, { confirmed_at: at(30), hindsight: { normal_from: at(13) } })],
  },
  {
    title: 'a run over the days that showed a beginning removes the finding in hindsight that it does not find again',
    before: [finding('late', 11, 13, { confirmed_at: at(20), hindsight: { normal_from: at(13) } })],
    run: run('1', 10, 20),
    found: [],
    after: [],
  },
  {
    title: 'a finding in hindsight neither continues an episode nor is continued by one',
    before: [finding('open', 2, 12), finding('late', 3, 13, { confirmed_at: at(15), hindsight: { normal_from: at(13) } })],
    run: run('1', 10, 20),
    found: [finding('new', 12.5, 12.75), finding('other', 4, 12, { confirmed_at: at(16), hindsight: { normal_from: at(12) } })],
    after: [
      finding('new', 12.5, 12.75),
      finding('other', 4, 12, { confirmed_at: at(16), hindsight: { normal_from: at(12) } }),
      finding('late', 3, 13, { confirmed_at: at(15), hindsight: { normal_from: at(13) } }),
      finding('open', 2, 12),
    ],
  },
]
