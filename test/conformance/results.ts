import type { ExecutionContext, TestFn } from 'ava'
import type { ActiveFinding, Finding } from '#shared/core/findings/finding.ts'
import type { FindingReader, FindingStore, LatestResult, ResultReader, RunRecorder, UnsentFindings } from '#shared/core/ports.ts'
import { summaryOf } from '#shared/core/runs/run-summary.ts'
import { HOUR } from '#shared/core/time.ts'
import { at, finding, result, run, RECORDER_CASES, T } from './run-cases.ts'

/** Every adapter of `FindingReader` and `FindingStore` passes these tests. */
export function findingsConformance(test: TestFn, name: string, open: (t: ExecutionContext) => FindingStore) {
  test(`${name}: put inserts or updates by finding_id`, t => {
    const findings = open(t)
    findings.put([finding('a', 1, null), finding('b', 3, 4)])
    findings.put([finding('a', 1, 2)])
    t.deepEqual(findings.list({ limit: 10 }), [finding('b', 3, 4), finding('a', 1, 2)])
    t.deepEqual(findings.get('a'), finding('a', 1, 2))
    t.is(findings.get('c'), undefined)
  })

  test(`${name}: a list continues after a finding, newest start first, without gaps or repeats`, t => {
    const findings = open(t)
    const all = Array.from({ length: 25 }, (_, i) => finding(`f${i % 10}-${i}`, Math.floor(i / 4), null))
    findings.put(all)
    const seen: Finding[] = []
    for (;;) {
      const after = seen.at(-1)?.finding_id
      const page = findings.list({ limit: 7, ...(after ? { after } : {}) })
      if (page.length === 0) break
      seen.push(...page)
    }
    const order = all.toSorted((a, b) => b.from - a.from || (a.finding_id < b.finding_id ? -1 : 1))
    t.deepEqual(seen, order)
    t.throws(() => findings.list({ limit: 7, after: 'unknown' }), { code: 'bad_cursor' })
  })

  test(`${name}: a list is filtered by building, equipment, rule, state and time`, t => {
    const findings = open(t)
    const other = { building_id: 'b2', equipment_id: 'e2', rule_id: 'r2' }
    findings.put([finding('a', 1, 3), finding('b', 5, null), finding('c', 8, 9, other)])
    const ids = (query: Omit<Parameters<FindingReader['list']>[0], 'limit'>) =>
      findings.list({ ...query, limit: 10 }).map(({ finding_id }) => finding_id)
    t.deepEqual(ids({ building_id: 'b' }), ['b', 'a'])
    t.deepEqual(ids({ equipment_id: 'e2' }), ['c'])
    t.deepEqual(ids({ rule_id: 'r' }), ['b', 'a'])
    t.deepEqual(ids({ state: 'active' }), ['b'])
    t.deepEqual(ids({ from: at(3), to: at(8) }), ['b'])
    t.deepEqual(ids({ to: at(5) }), ['a'])
    t.deepEqual(ids({ from: at(8) }), ['c', 'b'])
  })

  test(`${name}: active findings come by building and id, also where there are thousands`, t => {
    const findings = open(t)
    const many = Array.from({ length: 1500 }, (_, i) => finding(`m${i}`, i, null, { building_id: 'b2' }))
    const most = Array.from({ length: 2500 }, (_, i) => finding(`n${i}`, i, null, { building_id: 'b3' }))
    findings.put([finding('a', 1, null), finding('c', 2, 3), finding('b', 5, null), ...many, ...most])
    findings.put([finding('d', 5, null, { building_id: 'b4' }), finding('e', 5, 6, { building_id: 'b5' })])
    const active = Map.groupBy(findings.active(), ({ building_id }) => building_id)
    t.deepEqual(
      [...active].map(([building_id, own]) => [building_id, own.length, own[0]!.finding_id]),
      [
        ['b', 2, 'a'],
        ['b2', 1500, 'm0'],
        ['b3', 2500, 'n0'],
        ['b4', 1, 'd'],
      ],
    )
    t.deepEqual(findings.active('b2'), active.get('b2'))
  })

  test(`${name}: an active finding is counted by what it said last, until it ends or is removed`, t => {
    const findings = open(t)
    const counted = () => findings.active('b')
    const role = { role: 'sa_t', suppressed_by: 'x', kind: 'sensor', severity: 4 } as const
    findings.put([finding('a', 1, null), finding('c', 2, null, role)])
    const plainOf = ({ finding_id, building_id, equipment_id, rule_id, kind, title, severity, from }: Finding): ActiveFinding => {
      return { finding_id, building_id, equipment_id, rule_id, kind, title, severity, from }
    }
    const a = plainOf(finding('a', 1, null))
    const c = { ...plainOf(finding('c', 2, null)), ...role }
    t.deepEqual(counted(), [a, c])
    const { suppressed_by: _none, ...seen } = c
    findings.put([finding('a', 1, 4), finding('c', 2, null, { role: 'sa_t', kind: 'sensor', severity: 4 })])
    t.deepEqual(counted(), [seen])
    findings.put([finding('a', 1, null, { severity: 1 })])
    t.deepEqual(counted(), [{ ...a, severity: 1 }, seen], 'it lasts again')
  })

  test(`${name}: findings that overlap a span are counted by rule`, t => {
    const findings = open(t)
    const other = { rule_id: 'r2' }
    findings.put([finding('a', 1, 3), finding('b', 5, null), finding('c', 2, 4), finding('d', 8, 9, other)])
    t.deepEqual([...findings.countByRule(at(3), at(8))], [['r', 2]])
    t.deepEqual(
      findings.countByRule(at(0), at(20)),
      new Map([
        ['r', 3],
        ['r2', 1],
      ]),
    )
  })
}

type RunStores = {
  findings: FindingStore
  results: ResultReader
  runRecorder: RunRecorder
  unsentFindings: UnsentFindings
}

/** Every adapter of `RunRecorder` and `UnsentFindings` passes these tests. */
export function runRecorderConformance(test: TestFn, name: string, open: (t: ExecutionContext) => RunStores) {
  for (const { title, before, run: newest, found, after, resumed, earlier = [] } of RECORDER_CASES) {
    test(`${name}: ${title}`, t => {
      const { findings, runRecorder, unsentFindings } = open(t)
      for (const one of earlier) runRecorder.replace(one, [])
      findings.put(before)
      const left = new Set(after.map(({ finding_id }) => finding_id))
      const removed = before.map(({ finding_id }) => finding_id).filter(id => !left.has(id))
      for (const times of ['once', 'again']) {
        runRecorder.replace(newest, found, resumed)
        t.deepEqual(findings.list({ limit: 10 }), after, times)
        const unsent = unsentFindings.unsent('b').filter(id => findings.get(id) === undefined)
        t.deepEqual(unsent, removed.toSorted(), times)
      }
    })
  }

  test(`${name}: findings that were removed, or ended before the span, are unsent until they are marked as sent`, t => {
    const { findings, runRecorder, unsentFindings } = open(t)
    findings.put([finding('a', 11, 12), finding('b', 13, 14), finding('c', 15, 16), finding('d', 2, null)])
    runRecorder.replace(run('1', 10, 20), [finding('b', 13, 14)])
    t.deepEqual(unsentFindings.unsent('b'), ['a', 'c', 'd'])
    t.deepEqual(unsentFindings.unsent('other'), [])
    runRecorder.replace(run('2', 10, 20), [])
    unsentFindings.markSent(['a', 'c'])
    t.deepEqual(unsentFindings.unsent('b'), ['b', 'd'])
  })

  test(`${name}: when \`beside\` throws, the run leaves findings, results and unsent findings as they were`, t => {
    const { findings, results, runRecorder, unsentFindings } = open(t)
    findings.put([finding('a', 11, 12)])
    const fail = () => {
      throw new Error('beside')
    }
    t.throws(() => runRecorder.replace(run('1', 10, 20), [finding('b', 13, 14)], undefined, fail), { message: 'beside' })
    t.deepEqual(findings.list({ limit: 10 }), [finding('a', 11, 12)])
    t.deepEqual([results.runs({ limit: 10 }), [...results.each('b')], unsentFindings.unsent('b')], [[], [], []])
  })
}

/** Every adapter of `ResultReader` passes these tests. */
export function resultsConformance(test: TestFn, name: string, open: (t: ExecutionContext) => RunStores) {
  test(`${name}: the latest result is that of the run whose span ends last, unless its clock was ahead`, t => {
    const { results, runRecorder } = open(t)
    const looked = () =>
      [...results.each('b')].map(({ run_id, status, evaluated_to }) => [run_id, status, (evaluated_to! - T) / HOUR])
    runRecorder.replace(run('whole', 0, 20), [])
    runRecorder.replace(run('past', 0, 10, [result({ status: 'fault' })], { started_at: at(21) }), [])
    t.deepEqual(looked(), [['whole', 'pass', 20]])
    runRecorder.replace(run('next', 0, 22, [result({ status: 'not_evaluated' })]), [])
    t.deepEqual(looked(), [['next', 'not_evaluated', 20]])
    runRecorder.replace(run('whole again', 0, 19), [], { since: at(18), equipment_ids: new Set() })
    t.deepEqual(looked(), [['whole again', 'pass', 19]], 'history ends before that')
    runRecorder.replace(run('ahead', 0, 400), [])
    runRecorder.replace(run('right again', 0, 24, [result({ status: 'fault' })]), [])
    t.deepEqual(looked(), [['right again', 'fault', 24]])
  })

  test(`${name}: every result of a large building is kept as the latest`, t => {
    const { results, runRecorder } = open(t)
    const equipment = Array.from({ length: 4_500 }, (_, i) => `e${String(i).padStart(4, '0')}`)
    runRecorder.replace(
      run(
        'large',
        0,
        10,
        equipment.map(equipment_id => result({ equipment_id })),
      ),
      [],
    )
    t.deepEqual(
      [...results.each('b')].map(({ equipment_id }) => equipment_id),
      equipment,
    )
  })

  test(`${name}: the latest results are read from any of them on, of an equipment, and one by one`, t => {
    const { results, runRecorder } = open(t)
    const pairs = ['a', 'b c', 'd'].flatMap(equipment_id => ['R1', 'R2'].map(rule_id => ({ equipment_id, rule_id })))
    runRecorder.replace(run('1', 0, 10, pairs.map(result)), [])
    const idsOf = (found: Iterable<LatestResult>) => [...found].map(({ equipment_id, rule_id }) => ({ equipment_id, rule_id }))
    for (const [i, pair] of pairs.entries()) t.deepEqual(idsOf(results.each('b', pair)), pairs.slice(i + 1))
    t.deepEqual(idsOf(results.latest('b', 'b c')), pairs.slice(2, 4))
    t.like(results.latestOf('b', 'd', 'R2'), { ...pairs[5], run_id: '1', looked_to: at(10) })
    t.is(results.latestOf('b', 'd', 'R3'), undefined)
  })

  test(`${name}: what the latest results of a building say together is that of now`, t => {
    const { results, runRecorder } = open(t)
    const none = {
      checks: 0,
      counts: { fault: 0, pass: 0, gated: 0, no_data: 0 },
      reasons: {},
      looked_to: undefined,
      remarkable: [],
    }
    t.deepEqual(results.standing('b'), none)
    const silent = { status: 'not_evaluated', reason: 'missing_role' } as const
    const brief = { sampling: { every_secs: 900, needs_secs: 300 } }
    const said = [result(), result({ equipment_id: 'f', ...silent }), result({ equipment_id: 'g', ...silent, ...brief })]
    runRecorder.replace(run('1', 0, 10, said), [])
    const { remarkable, ...first } = results.standing('b')
    const counts = { fault: 0, pass: 1, gated: 0, no_data: 2 }
    t.deepEqual(first, { checks: 3, counts, reasons: { missing_role: 2 }, looked_to: at(10) })
    t.deepEqual(remarkable, results.latest('b', 'g'))
    runRecorder.replace(run('2', 0, 12, [result({ status: 'fault' }), result({ equipment_id: 'g' })]), [])
    const again = { fault: 1, pass: 1, gated: 0, no_data: 1 }
    t.deepEqual(results.standing('b'), {
      checks: 3,
      counts: again,
      reasons: { missing_role: 1 },
      looked_to: at(12),
      remarkable: [],
    })
    t.deepEqual(results.standing('x'), none)
  })

  test(`${name}: runs are listed newest first, with the latest result of each rule and equipment`, t => {
    const { results, runRecorder } = open(t)
    const first = run('1', 0, 10, [result(), result({ equipment_id: 'd', status: 'fault' })])
    const second = run('2', 0, 12, [result({ status: 'fault', episodes: 1 })], { finished_at: at(13) })
    runRecorder.replace(first, [])
    runRecorder.replace(second, [])
    t.deepEqual(results.runs({ limit: 10 }), [second, first].map(summaryOf))
    t.deepEqual(results.runs({ building_id: 'b', limit: 1 }), [summaryOf(second)])
    t.deepEqual(results.runs({ limit: 10, after: '2' }), [summaryOf(first)])
    t.deepEqual(results.record('2'), second)
    t.is(results.record('1'), undefined, 'only the newest run keeps all its results')
    t.deepEqual(results.runs({ building_id: 'x', limit: 10 }), [])
    t.deepEqual(
      [...results.each('b')],
      [
        {
          ...result({ equipment_id: 'd', status: 'fault' }),
          run_id: '1',
          finished_at: first.finished_at,
          looked_to: at(10),
          evaluated_to: at(10),
        },
        {
          ...result({ status: 'fault', episodes: 1 }),
          run_id: '2',
          finished_at: at(13),
          looked_to: at(12),
          evaluated_to: at(12),
        },
      ],
    )
  })
}
