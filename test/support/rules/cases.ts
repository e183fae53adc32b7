/** Results of one rule for one air handler, in the test notation. */
import type { TestFn } from 'ava'
import { MINUTE } from '#shared/core/time.ts'
import { expandRows } from '#shared/core/rules/check/parse-tests.ts'
import { ahu, type Rows, ruleOf, run, spans, yamlOf } from './helpers.ts'

export type Case = {
  title: string
  rule: Record<string, string>
  /** Five minutes a row. */
  rows: Rows
  spans?: string[]
  status?: string
  coverage?: number
}

const ROLES = '{ sa_t: degC, fan_status: bool }'
/** A rule that looks while the fan runs. */
export const GATED = { roles: ROLES, gate: 'fan_status' }

export function testCases(test: TestFn, cases: Case[]): void {
  for (const { title, rule, rows, ...wanted } of cases) {
    test(title, t => {
      const count = Math.max(...Object.values(rows).map(row => expandRows(row)!.length))
      const output = run([ruleOf(yamlOf(rule))], [ahu(rows)], count * 5 * MINUTE)
      const result = output.results[0]!
      if (wanted.spans) t.deepEqual(spans(output), wanted.spans)
      if (wanted.status)
        t.is([result.status, result.reason, ...(result.missing_roles ?? [])].filter(Boolean).join(' '), wanted.status)
      if (wanted.coverage !== undefined) t.true(Math.abs(result.coverage - wanted.coverage) < 1e-9)
      t.deepEqual(output.failed, [])
    })
  }
}
