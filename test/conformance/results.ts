import type { ExecutionContext, TestFn } from 'ava'
import type { Finding } from '#shared/core/findings/finding.ts'
import type { Results } from '#shared/core/ports.ts'
import { summaryOf } from '#shared/core/runs/run-summary.ts'
import { HOUR } from '#shared/core/time.ts'
import { at, finding, result, run, STORIES, T } from './result-stories.ts'

/** What every results store must do. */
export function resultsConformance(test: TestFn, name: string, open: (t: ExecutionContext) => Results) {
  test(`${name}: put inserts or updates by finding_id`, t => {
    const results = open(t)
    results.put([finding('a', 1, null), finding('b', 3, 4)])
    results.put([finding('a', 1, 2)])
    t.deepEqual(results.list({ limit: 10 }), [finding('b', 3, 4), finding('a', 1, 2)])
    t.deepEqual(results.get('a'), finding('a', 1, 2))
    t.is(results.get('c'), undefined)
  })

  for (const { title, before, run: newest, found, after, resumed, earlier = [] } of STORIES) {
    test(`${name}: ${title}`, t => {
      const results = open(t)
      for (const one of earlier) results.replace(one, [])
      results.put(before)
      const left = new Set(after.map(({ finding_id }) => finding_id))
      const gone = before.map(({ finding_id }) => finding_id).filter(id => !left.has(id))
      for (const times of ['once', 'again']) {
        results.replace(newest, found, resumed)
        t.deepEqual(results.list({ limit: 10 }), after, times)
        const untold = results.unsent('b').filter(id => results.get(id) === undefined)
        t.deepEqual(untold, gone.toSorted(), times)
      }
    })
  }

  test(`${name}: findings that are gone, or ended before the span, are untold until they are told`, t => {
    const results = open(t)
    results.put([finding('a', 11, 12), finding('b', 13, 14), finding('c', 15, 16), finding('d', 2, null)])
    results.replace(run('1', 10, 20), [finding('b', 13, 14)])
    t.deepEqual(results.unsent('b'), ['a', 'c', 'd'])
    t.deepEqual(results.unsent('other'), [])
    results.replace(run('2', 10, 20), [])
    results.markSent(['a', 'c'])
    t.deepEqual(results.unsent('b'), ['b', 'd'])
  })

  test(`${name}: a list goes on after a finding, newest start first, without holes or repeats`, t => {
    const results = open(t)
    const all = Array.from({ length: 25 }, (_, i) => finding(`f${i % 10}-${i}`, Math.floor(i / 4), null))
    results.put(all)
    const seen: Finding[] = []
    for (;;) {
      const after = seen.at(-1)?.finding_id
      const page = results.list({ limit: 7, ...(after ? { after } : {}) })
      if (page.length === 0) break
      seen.push(...page)
    }
    const order = all.toSorted((a, b) => b.from - a.from || (a.finding_id < b.finding_id ? -1 : 1))
    t.deepEqual(seen, order)
    t.throws(() => results.list({ limit: 7, after: 'gone' }), { code: 'bad_cursor' })
  })

  test(`${name}: a list is filtered by building, equipment, rule, state and time`, t => {
    const results = open(t)
    const other = { building_id: 'b2', equipment_id: 'e2', rule_id: 'r2' }
    results.put([finding('a', 1, 3), finding('b', 5, null), finding('c', 8, 9, other)])
    const ids = (query: Omit<Parameters<Results['list']>[0], 'limit'>) =>
      results.list({ ...query, limit: 10 }).map(({ finding_id }) => finding_id)
    t.deepEqual(ids({ building_id: 'b' }), ['b', 'a'])
    t.deepEqual(ids({ equipment_id: 'e2' }), ['c'])
    t.deepEqual(ids({ rule_id: 'r' }), ['b', 'a'])
    t.deepEqual(ids({ state: 'active' }), ['b'])
    t.deepEqual(ids({ from: at(3), to: at(8) }), ['b'])
    t.deepEqual(ids({ to: at(5) }), ['a'])
    t.deepEqual(ids({ from: at(8) }), ['c', 'b'])
  })

  test(`${name}: the latest word is that of the run that looked furthest, unless its clock was ahead`, t => {
    const results = open(t)
    const looked = () =>
      results.latest('b').map(({ run_id, status, evaluated_to }) => [run_id, status, (evaluated_to! - T) / HOUR])
    results.replace(run('whole', 0, 20), [])
    results.replace(run('past', 0, 10, [result({ status: 'fault' })], { started_at: at(21) }), [])
    t.deepEqual(looked(), [['whole', 'pass', 20]])
    results.replace(run('next', 0, 22, [result({ status: 'not_evaluated' })]), [])
    t.deepEqual(looked(), [['next', 'not_evaluated', 20]])
    results.replace(run('whole again', 0, 19), [], { since: at(18), equipment_ids: new Set() })
    t.deepEqual(looked(), [['whole again', 'pass', 19]], 'history ends before that')
    results.replace(run('ahead', 0, 400), [])
    results.replace(run('right again', 0, 24, [result({ status: 'fault' })]), [])
    t.deepEqual(looked(), [['right again', 'fault', 24]])
  })

  test(`${name}: runs are listed newest first, and the latest word of each rule and equipment is kept`, t => {
    const results = open(t)
    const first = run('1', 0, 10, [result(), result({ equipment_id: 'd', status: 'fault' })])
    const second = run('2', 0, 12, [result({ status: 'fault', episodes: 1 })], { finished_at: at(13) })
    results.replace(first, [])
    results.replace(second, [])
    t.deepEqual(results.runs({ limit: 10 }), [second, first].map(summaryOf))
    t.deepEqual(results.runs({ building_id: 'b', limit: 1 }), [summaryOf(second)])
    t.deepEqual(results.runs({ limit: 10, after: '2' }), [summaryOf(first)])
    t.deepEqual(results.record('2'), second)
    t.is(results.record('1'), undefined, 'only the newest is kept whole')
    t.deepEqual(results.runs({ building_id: 'x', limit: 10 }), [])
    t.deepEqual(results.latest('b'), [
      {
        ...result({ equipment_id: 'd', status: 'fault' }),
        run_id: '1',
        finished_at: first.finished_at,
        looked_to: at(10),
        evaluated_to: at(10),
      },
      { ...result({ status: 'fault', episodes: 1 }), run_id: '2', finished_at: at(13), looked_to: at(12), evaluated_to: at(12) },
    ])
  })
}
