/** A run that is under way at a stop: what it finds must still find an open outbox. */
import test from 'ava'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Problem } from '#shared/core/problem.ts'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { airHandler, table, zipForm, zipOf } from '../../../support/packages/packages.ts'
import { warmRule } from '../../../support/rule-texts.ts'
import { startCentral } from '../../../support/sites/central-site.ts'

const START = Date.UTC(2026, 2, 1, 6)
const ISO = (ms: number) => new Date(ms).toISOString()

/** A day of five minutes: 55 °F, and 80 °F for three hours. */
const supplyAir = () =>
  Array.from({ length: DAY / (5 * MINUTE) }, (_, i) => START + i * 5 * MINUTE).map(
    at => `${ISO(at)},${at >= START + 6 * HOUR && at < START + 9 * HOUR ? 80 : 55},40,1`,
  )

test('when the schedule has stopped, every run is over and its findings were told', async t => {
  const site = await startCentral()
  t.teardown(site.close)
  const form = zipForm(await zipOf(airHandler(table(supplyAir()))))
  const { body } = await site.call('operator', 'POST', '/api/csv/import/preflight', form)
  await site.call('operator', 'POST', '/api/csv/import/execute', { session_id: body.session_id, confirm: true })
  const rules = [{ filename: 'warm.yaml', yaml: warmRule() }]
  await site.call('operator', 'POST', '/api/rules/batch', { confirm: true, rules })

  const { context, schedule } = site.central
  const span = { from: START, to: START + DAY }
  const running = context.runs.run({ building_id: 'b1', rule_ids: ['TEST-WARM'], ...span }, 'request')
  t.is(site.told.length, 0)
  void context.runs.stop(HOUR) // however slow the machine is
  for (const service of schedule.toReversed()) await service.stop()
  t.is(site.told.length, 1)
  t.false(context.runs.status().running)
  t.is((await running).rules_succeeded, 1)
})

test('a stop does not wait for a run of the schedule longer than runs themselves let it', async t => {
  t.timeout(60_000)
  const site = await startCentral({ scheduled: true })
  t.teardown(site.close)
  const form = zipForm(await zipOf(airHandler(table(supplyAir()))))
  const { body } = await site.call('operator', 'POST', '/api/csv/import/preflight', form)
  await site.call('operator', 'POST', '/api/csv/import/execute', { session_id: body.session_id, confirm: true })
  const { context, schedule } = site.central
  const begun = Promise.withResolvers<void>()
  const run = Promise.withResolvers<never>()
  // A run without an end, but for a stop of the runs.
  Object.assign(context.runs, {
    run: () => (begun.resolve(), run.promise),
    stop: async () => run.reject(new Problem('not_ready', 'the process stops')),
  })
  mkdirSync(join(site.workspace, 'config'), { recursive: true })
  writeFileSync(join(site.workspace, 'config', '.run_fdd_now'), '')
  for (const service of schedule) await service.start()
  await begun.promise
  for (const service of schedule.toReversed()) await service.stop()
  await t.throwsAsync(run.promise, { code: 'not_ready' })
})
