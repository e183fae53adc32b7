import test, { type ExecutionContext } from 'ava'
import type { Finding } from '#shared/core/findings/finding.ts'
import { DAY, formatInstant, HOUR } from '#shared/core/time.ts'
import { wallClock } from '#shared/node/clock.ts'
import { BUILDING, COOLING, EQUIPMENT, finding, FINDINGS, NOW, POINTS } from '../../../support/page-fixture.ts'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

const OTHER = finding({ finding_id: 'other', equipment_id: 'ahu-1', rule_id: 'OTHER', title: 'Other', from: NOW - HOUR })
const ELSEWHERE = finding({
  finding_id: 'elsewhere',
  equipment_id: 'vav-3',
  rule_id: COOLING.rule_id,
  title: 'Same',
  from: NOW - HOUR,
})

async function opened(t: ExecutionContext) {
  const at = { now: NOW }
  const site = await startCentral({ clock: { now: () => at.now, sleep: wallClock.sleep } })
  t.teardown(site.close)
  const { stores } = site.central
  stores.model.put({ building: BUILDING, equipment: EQUIPMENT, points: POINTS })
  stores.findings.put([...FINDINGS, OTHER, ELSEWHERE])
  return { site, at }
}

const until = (hours: number) => formatInstant(NOW + hours * HOUR)
const snooze = (site: TestCentral, body: object, finding_id = COOLING.finding_id) =>
  site.call('operator', 'POST', `/api/fdd/findings/${finding_id}/snooze`, body)
const listed = async (site: TestCentral, query = '') =>
  (await site.call('viewer', 'GET', `/api/fdd/snoozes${query}`)).body.snoozes
const isQuiet = async (site: TestCentral, finding_id: string) =>
  (await site.call('viewer', 'GET', `/api/fdd/findings/${finding_id}`)).body.finding.snoozed_until !== undefined

/** The next episode of the same fault. */
const NEXT: Finding = { ...COOLING, finding_id: 'next', from: NOW + HOUR, confirmed_at: NOW + HOUR }
const OF: [scope: string, quiet: string[]][] = [
  ['episode', ['f-cooling']],
  ['fault', ['f-cooling', 'next']],
  ['equipment', ['f-cooling', 'next', 'other']],
  ['rule', ['f-cooling', 'next', 'elsewhere']],
]
for (const [scope, quiet] of OF) {
  test(`a snooze of scope ${scope} covers ${quiet.join(', ')} until its end`, async t => {
    const { site, at } = await opened(t)
    t.is((await snooze(site, { until: until(24), scope, reason: ' valve is ordered ' })).status, 200)
    site.central.stores.findings.put([NEXT])
    at.now += 2 * HOUR
    const covered = async () => {
      const all = await Promise.all(
        ['f-cooling', 'next', 'other', 'elsewhere'].map(async id => ((await isQuiet(site, id)) ? [id] : [])),
      )
      return all.flat()
    }
    t.deepEqual(await covered(), quiet)
    const [only, ...more] = await listed(site)
    t.deepEqual(more, [])
    t.like(only, { scope, until: until(24), reason: 'valve is ordered', created_by: 'agent' })
    at.now = NOW + 24 * HOUR
    t.deepEqual(await covered(), [])
    t.deepEqual(await listed(site), [])
  })
}

test('of several snoozes the longest says why; a second of the same scope replaces the first', async t => {
  const { site } = await opened(t)
  await snooze(site, { until: until(48), scope: 'fault', reason: 'long' })
  const answer = await snooze(site, { until: until(4), scope: 'equipment', reason: 'short' })
  t.like(answer.body.finding, { snoozed_until: until(48), snooze_reason: 'long', snooze_scope: 'fault', snoozed_by: 'agent' })
  await snooze(site, { until: until(2), scope: 'fault', reason: 'sooner' })
  t.deepEqual(
    (await listed(site)).map((one: { scope: string; reason: string }) => [one.scope, one.reason]),
    [
      ['fault', 'sooner'],
      ['equipment', 'short'],
    ],
  )
  t.deepEqual(await listed(site, '?building_id=library'), [])
  t.is((await listed(site, `?building_id=${BUILDING.building_id}&limit=1`)).length, 1)
})

test('a snooze is ended early and taken up again as it was; both are in the audit', async t => {
  const { site, at } = await opened(t)
  await snooze(site, { until: until(24), scope: 'equipment', reason: 'rebuilt' })
  const [{ snooze_id }] = await listed(site)
  const path = `/api/fdd/snoozes/${snooze_id}`
  t.is((await site.call('viewer', 'DELETE', path)).status, 403)
  t.is((await site.call('operator', 'DELETE', path)).status, 200)
  t.false(await isQuiet(site, 'other'))
  t.deepEqual(await listed(site), [])
  t.is((await site.call('operator', 'DELETE', path)).status, 404, 'it is ended')
  t.is((await site.call('operator', 'POST', `${path}/restore`)).status, 200)
  t.true(await isQuiet(site, 'other'))
  t.like((await listed(site))[0], { until: until(24), reason: 'rebuilt' })
  const rows = site.central.context.audit.list({ limit: 10, subject: `${BUILDING.building_id}/${COOLING.equipment_id}/*` })
  t.deepEqual(
    rows.map(({ action, actor }) => [action, actor]),
    [
      ['snooze_restore', 'agent'],
      ['snooze_end', 'agent'],
      ['finding_snooze', 'agent'],
    ],
  )
  at.now += 25 * HOUR
  t.is((await site.call('operator', 'POST', `${path}/restore`)).status, 404, 'its time is over')
})

test('null ends the snooze of the scope that is asked, else those of the finding and its fault', async t => {
  const { site } = await opened(t)
  const scopes = async () => (await listed(site)).map(({ scope }: { scope: string }) => scope).toSorted()
  for (const scope of ['episode', 'fault', 'equipment', 'rule']) await snooze(site, { until: until(4), scope, reason: 'x' })
  await snooze(site, { until: null, scope: 'rule' })
  t.deepEqual(await scopes(), ['episode', 'equipment', 'fault'])
  await snooze(site, { until: null })
  t.deepEqual(await scopes(), ['equipment'])
})

for (const [what, body, pointer] of [
  ['without a reason for more than the finding', { until: until(4), scope: 'fault' }, '/reason'],
  ['with a blank reason for an equipment', { until: until(4), scope: 'equipment', reason: ' ' }, '/reason'],
  ['of more than 30 days', { until: formatInstant(NOW + 30 * DAY + HOUR), reason: 'x' }, '/until'],
  ['that is over', { until: formatInstant(NOW), reason: 'x' }, '/until'],
] as const) {
  test(`a snooze ${what} is refused and names the field`, async t => {
    const { site } = await opened(t)
    const { status, body: problem } = await snooze(site, body)
    t.is(status, 422)
    t.is(problem.errors[0].pointer, pointer)
    t.deepEqual(await listed(site), [])
  })
}
