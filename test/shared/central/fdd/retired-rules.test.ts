/** Findings that are active when their rule is changed, removed or switched off, or when their data ends. */
import test, { type ExecutionContext } from 'ava'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { airHandler, table } from '../../../support/packages/packages.ts'
import { importer } from '../../../support/packages/importer.ts'
import { warmRule } from '../../../support/rule-texts.ts'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'
import { deployTo } from '../../../support/sites/warm-site.ts'

const START = Date.UTC(2026, 2, 1, 6)
const DAYS = 2
const building_id = 'b1'
const END = new Date(START + DAYS * DAY - 5 * MINUTE).toISOString().replace('.000Z', 'Z')

/** The fan runs all the time; the supply air is warm in the last three hours, and history ends there. */
const warmAtTheEnd = (): string[] =>
  Array.from({ length: (DAYS * DAY) / (5 * MINUTE) }, (_, i) => START + i * 5 * MINUTE).map(at => {
    return `${new Date(at).toISOString()},${at >= START + DAYS * DAY - 3 * HOUR ? 80 : 55},40,1`
  })

/** As long as the longer of its tests. */
const evenRule = warmRule().replace('60x12\n    status', '60x36\n    status')
/** The same rule, which now looks only while the fan is off. */
const gatedRule = evenRule
  .replace('roles: { sa_t: degF }', 'roles: { sa_t: degF, fan_status: bool }')
  .replace('when: sa_t > limit', 'gate: fan_status == 0\nwhen: sa_t > limit')
  .replaceAll('    step: 5m\n', '    step: 5m\n    fan_status: 0x36\n')
/** The same rule, which now needs a role that nothing here has. */
const needier = evenRule
  .replace('roles: { sa_t: degF }', 'roles: { sa_t: degF, ra_rh: fraction }')
  .replaceAll('    step: 5m\n', '    step: 5m\n    ra_rh: 0.5x36\n')
const otherEquipment = warmRule().replace('equipment: [ahu]', 'equipment: [rtu]')
/** Other words, the same condition. */
const reworded = warmRule().replace('explains: The', 'explains: For a while the')

const { imported } = importer(() => site)
let site: TestCentral

async function open(t: ExecutionContext): Promise<void> {
  site = await startCentral({ pages: true })
  t.teardown(site.close)
  await onlyOwnRules()
  await imported(airHandler(table(warmAtTheEnd())))
  await deploy(t, warmRule())
  await run(t)
  t.like(await finding(), { state: 'active', to: null, ended: undefined })
}

/** The shipped rules are no subject here: a run of them takes as long as all the rest of a test. */
async function onlyOwnRules(): Promise<void> {
  const { rules, ruleStates } = site.central.context
  const shipped = await rules.catalogue()
  for (const { id: rule_id } of shipped.rules) ruleStates.set({ rule_id, active: false, changed_by: 'test', changed_at: START })
}

async function deploy(t: ExecutionContext, yaml: string): Promise<void> {
  const answer = await deployTo(site, [{ filename: 'warm.yaml', yaml }])
  t.is(answer.status, 200, answer.text)
}

async function run(t: ExecutionContext): Promise<void> {
  const answer = await site.call('operator', 'POST', '/api/fdd/run', { building_id })
  t.is(answer.status, 200, answer.text)
}

async function finding() {
  const { body } = await site.call('viewer', 'GET', `/api/fdd/findings?building_id=${building_id}&rule_id=TEST-WARM`)
  return body.findings.length === 1 ? body.findings[0] : body.findings
}

const activate = (active: boolean) => site.call('operator', 'POST', `/api/fdd-rules/TEST-WARM/activate?active=${active}`)

const CHANGES: { change: string; why: string; words: string; make: (t: ExecutionContext) => Promise<unknown> }[] = [
  {
    change: 'its rule was changed so that its gate never opens',
    why: 'rule_changed',
    words: 'Ended: the rule does not apply any more since it was changed',
    make: t => deploy(t, gatedRule),
  },
  {
    change: 'its rule was changed so that it lacks a point',
    why: 'rule_changed',
    words: 'Ended: the rule does not apply any more since it was changed',
    make: t => deploy(t, needier),
  },
  {
    change: 'its rule was changed to be for other equipment',
    why: 'not_for_equipment',
    words: 'Ended: the rule does not apply to this equipment any more',
    make: t => deploy(t, otherEquipment),
  },
  {
    change: 'its rule was removed',
    why: 'rule_removed',
    words: 'Ended: the rule was removed',
    make: async t => {
      const key = { authorization: 'Bearer key-of-the-older-api' }
      const answer = await site.call('nobody', 'DELETE', '/rules/warm.yaml', undefined, key)
      t.true(answer.status < 300, answer.text)
    },
  },
  {
    change: 'its rule was deactivated',
    why: 'rule_deactivated',
    words: 'Ended: the rule was deactivated',
    make: async t => t.is((await activate(false)).status, 200),
  },
  {
    change: 'its point was unmapped',
    why: 'point_unmapped',
    words: 'Ended: a required point is not mapped any more',
    make: async () => {
      const { model } = site.central.context
      const point = model.points(building_id).find(({ role }) => role === 'sa_t')!
      const { role: _role, ...rest } = point
      model.put({ points: [rest] })
    },
  },
]

for (const { change, why, words, make } of CHANGES) {
  test.serial(`a finding is ended by the next run, which says so, when ${change}`, async t => {
    await open(t)
    await make(t)
    await run(t)
    const ended = await finding()
    t.like(ended, { state: 'cleared', to: END.replace(/..Z$/, '00.001Z'), ended: { why }, duration_secs: 3 * 3600 - 300 })
    const page = (await site.call('viewer', 'GET', `/faults/${ended.finding_id}`)).text
    t.true(page.includes(words), page)
    await run(t)
    t.deepEqual(await finding(), ended, 'and it stays as it is')
  })
}

test.serial('a run of some rules ends no finding of another', async t => {
  await open(t)
  await deployTo(site, [{ filename: 'cold.yaml', yaml: warmRule('TEST-OTHER', 90) }])
  await activate(false)
  const answer = await site.call('operator', 'POST', '/api/fdd/run', { building_id, rule_ids: ['TEST-OTHER'] })
  t.is(answer.status, 200, answer.text)
  t.like(await finding(), { state: 'active', ended: undefined })
})

test.serial('a finding whose data ended stays open, also when the words of its rule are changed', async t => {
  await open(t)
  await run(t)
  t.like(await finding(), { state: 'active', to: null, ended: undefined })
  await deploy(t, reworded)
  await run(t)
  t.like(await finding(), { state: 'active', to: null, ended: undefined })
})

test.serial('a finding that ended with its rule is open again once the rule is active again', async t => {
  await open(t)
  await activate(false)
  await run(t)
  const { finding_id } = await finding()
  await activate(true)
  await run(t)
  t.like(await finding(), { finding_id, state: 'active', to: null, ended: undefined })
})

test.serial('a rule that is deactivated does not run when it is named, whether or not the run is waited for', async t => {
  await open(t)
  await activate(false)
  for (const path of ['/api/fdd/run', '/api/fdd/run?async=true']) {
    const { status, body } = await site.call('operator', 'POST', path, { building_id, rule_ids: ['TEST-WARM'] })
    t.deepEqual([status, body.code], [409, 'rule_inactive'])
    t.is(body.detail, 'TEST-WARM is deactivated; activate it to run it')
  }
  await activate(true)
  t.is((await site.call('operator', 'POST', '/api/fdd/run', { building_id, rule_ids: ['TEST-WARM'] })).status, 200)
})

test.serial('while a rule file does not parse no rule counts as removed', async t => {
  await open(t)
  const { writeFileSync } = await import('node:fs')
  writeFileSync(`${site.workspace}/rules/warm.yaml`, 'id: TEST-WARM\n  title: [\n')
  await run(t)
  t.like(await finding(), { state: 'active', ended: undefined })
})
