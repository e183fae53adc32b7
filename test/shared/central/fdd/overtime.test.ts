/** A rule that takes too long fails alone, on the equipment where it does. The clock is told, so nothing has to be slow. */
import test from 'ava'
import type { Historian } from '#shared/core/ports.ts'
import { parseRule } from '#shared/core/rules/check/parse-rule.ts'
import type { Rule } from '#shared/core/rules/check/rule.ts'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { type EvaluateJob, evaluateRules } from '#shared/flow/fdd/evaluate-rules.ts'
import { warmRule } from '../../../support/rule-texts.ts'

const START = Date.UTC(2026, 2, 1)
const DAYS = 2
const EQUIPMENT = ['AHU-1', 'AHU-2']
const rules = ['TEST-FIRST', 'TEST-SECOND'].map(id => (parseRule(warmRule(id), `${id}.yaml`) as { rule: Rule }).rule)

/** Warm for three hours of each day. */
const historian: Pick<Historian, 'read' | 'firsts'> = {
  read: async ({ point_ids, from, to }) => {
    const ts = Array.from({ length: (DAYS * DAY) / (5 * MINUTE) }, (_, i) => START + i * 5 * MINUTE).filter(
      t => t >= from && t < to,
    )
    const values = ts.map(t => ((t - START) % DAY < 3 * HOUR ? 27 : 13))
    return point_ids.map(() => ({ ts: Float64Array.from(ts), values: Float64Array.from(values) }))
  },
  firsts: async () => ({}),
}

const JOB: EvaluateJob = {
  building: { building_id: 'b', timezone: 'UTC' },
  equipment: EQUIPMENT.map(equipment_id => ({ building_id: 'b', equipment_id, equipment_type: 'ahu', name: equipment_id })),
  points: EQUIPMENT.map(equipment_id => {
    const source = { protocol: 'csv', address: equipment_id } as const
    const point = {
      building_id: 'b',
      equipment_id,
      point_id: equipment_id,
      name: 'SAT',
      kind: 'number',
      role: 'sa_t',
      unit: 'degC',
    } as const
    return { ...point, source, poll_secs: 300 }
  }),
  from: START,
  to: START + DAYS * DAY,
  rule_ids: undefined,
  inactive: [],
  equipment_ids: undefined,
  params: undefined,
  settings: [],
  resets: [],
  carried: [],
}

/** Evaluates with a clock that stands, but for one long look at it while the second equipment is evaluated. */
async function evaluate(ruleMs: number, longMs: number) {
  let now = 0
  let looksLeft = Infinity
  const elapsed = () => {
    if (--looksLeft === 0) now += longMs
    return now
  }
  const progress = ({ step, equipment_done }: { step: string; equipment_done: number }) => {
    if (step === 'evaluation' && equipment_done === 1) looksLeft = 1
  }
  return evaluateRules(JOB, { historian, loadRules: () => ({ rules, errors: [] }), elapsed, progress, ruleMs })
}

test('the rule that takes too long is left out on that equipment, and says so; everything else is found', async t => {
  const { failed, findings, results } = await evaluate(1000, 1001)
  t.is(failed.length, 1)
  const [{ rule_id, equipment_id, error }] = failed as [(typeof failed)[number]]
  t.regex(error, /takes too long/)
  t.false(findings.some(one => one.rule_id === rule_id && one.equipment_id === equipment_id))
  const said = results.map(one => `${one.rule_id} ${one.equipment_id} ${one.status}`).toSorted()
  const others = rules
    .flatMap(({ id }) => EQUIPMENT.map(where => `${id} ${where} fault`))
    .filter(one => one !== `${rule_id} ${equipment_id} fault`)
  t.deepEqual(said, others.toSorted())
})

test('what takes as long as it may is no failure', async t => {
  const { failed, findings } = await evaluate(1000, 1000)
  t.deepEqual(failed, [])
  t.is(findings.length, rules.length * EQUIPMENT.length * DAYS)
})
