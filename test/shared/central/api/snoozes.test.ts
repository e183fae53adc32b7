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
  t.is((await site.call('viewer', 'GET', '/api/fdd/snoozes?building_id=library')).body.code, 'unknown_building')
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

const begin = (site: TestCentral, body: object, role: 'operator' | 'viewer' = 'operator') =>
  site.call(role, 'POST', '/api/fdd/snoozes', {
    building_id: BUILDING.building_id,
    until: until(24),
    reason: 'belt is changed',
    ...body,
  })
const AHEAD: [what: string, target: object, quiet: string[]][] = [
  ['an equipment', { equipment_id: 'ahu-1' }, ['f-new', 'other-new']],
  ['a rule on an equipment', { equipment_id: 'ahu-1', rule_id: 'AHU-FC6-OUTDOOR-AIR' }, ['other-new']],
  ['a rule in the building', { rule_id: 'AHU-FC6-OUTDOOR-AIR' }, ['other-new', 'elsewhere-new']],
]
for (const [what, target, quiet] of AHEAD) {
  test(`${what} that is snoozed before anything is found keeps quiet what is found later: ${quiet.join(', ')}`, async t => {
    const { site } = await opened(t)
    const { status, body } = await begin(site, target)
    t.is(status, 200)
    t.like(body.snooze, { ...target, reason: 'belt is changed', until: until(24) })
    const at = { from: NOW + HOUR, confirmed_at: NOW + HOUR }
    const fc6 = { rule_id: 'AHU-FC6-OUTDOOR-AIR', title: 'Share', ...at }
    site.central.stores.findings.put([
      { ...COOLING, finding_id: 'f-new', ...at },
      finding({ finding_id: 'other-new', equipment_id: 'ahu-1', ...fc6 }),
      finding({ finding_id: 'elsewhere-new', equipment_id: 'vav-3', ...fc6 }),
    ])
    const found = ['f-new', 'other-new', 'elsewhere-new']
    const isSo = await Promise.all(found.map(id => isQuiet(site, id)))
    t.deepEqual(
      found.filter((_, i) => isSo[i]),
      quiet,
    )
  })
}

for (const [what, body, code] of [
  ['a whole building', {}, 'invalid'],
  ['an equipment that is not there', { equipment_id: 'ahu-9' }, 'unknown_equipment'],
  ['a rule that is not there', { rule_id: 'NO-SUCH' }, 'unknown_rule'],
  ['a building that is not there', { building_id: 'nowhere', equipment_id: 'ahu-1' }, 'unknown_building'],
  ['an end that is past', { equipment_id: 'ahu-1', until: until(-1) }, 'invalid'],
  ['no reason', { equipment_id: 'ahu-1', reason: ' ' }, 'invalid'],
] as const) {
  test(`a snooze ahead is refused for ${what}`, async t => {
    const { site } = await opened(t)
    t.is((await begin(site, body)).body.code, code)
    t.deepEqual(await listed(site), [])
  })
}
