/** A central with two days of one air handler, whose supply air is warm for three hours, and two rules. */
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { airHandler, table, zipForm, zipOf } from '../packages/packages.ts'
import { needyRule, warmRule } from '../rule-texts.ts'
import { startCentral, type TestCentral } from './central-site.ts'

export const START = Date.UTC(2026, 2, 1, 6)
export const WARM = { from: START + 6 * HOUR, to: START + 9 * HOUR }
export const ISO = (ms: number) => new Date(ms).toISOString()

/** Two days of five minutes: 55 °F, and 80 °F for three hours of the first day; a hole of four hours on the second. */
function supplyAir(): string[] {
  return Array.from({ length: (2 * DAY) / (5 * MINUTE) }, (_, i) => START + i * 5 * MINUTE)
    .filter(at => at < START + DAY || at >= START + DAY + 4 * HOUR)
    .map(at => `${ISO(at)},${at >= WARM.from && at < WARM.to ? 80 : 55},40,1`)
}

export const deployTo = (site: TestCentral, rules: object[], more: object = {}, query = '') =>
  site.call('operator', 'POST', `/api/rules/batch${query}`, { confirm: true, rules, ...more })

export async function startWarm(): Promise<TestCentral> {
  const site = await startCentral()
  const files = airHandler(table(supplyAir()))
  const { body } = await site.call('operator', 'POST', '/api/csv/import/preflight', zipForm(await zipOf(files)))
  const done = await site.call('operator', 'POST', '/api/csv/import/execute', { session_id: body.session_id, confirm: true })
  if (done.status !== 200) throw new Error(done.text)
  const answer = await deployTo(site, [
    { filename: 'warm.yaml', yaml: warmRule() },
    { filename: 'needy.yaml', yaml: needyRule },
  ])
  if (answer.status !== 200) throw new Error(answer.text)
  return site
}
