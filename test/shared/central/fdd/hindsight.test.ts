/** A beginning that was not normal, from an imported package over a run to the API, the fault's page and the hub's message. */
import test from 'ava'
import type { Finding } from '#shared/core/findings/finding.ts'
import { MADE } from '#shared/central/ui/language/german.ts'
import { madeTexts } from '#shared/central/ui/language/made-texts.ts'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { airHandler, table, zipForm, zipOf } from '../../../support/packages/packages.ts'
import { signedIn } from '../../../support/signed-in.ts'
import { PASSWORDS, startCentral, type TestCentral } from '../../../support/sites/central-site.ts'
import { deployTo, ISO, START } from '../../../support/sites/warm-site.ts'

/** Midnight in Chicago, where the clocks go forward on the eighth day. */
const at = (day: number, hours = 0) => START + day * DAY + hours * HOUR
const RULE = `id: TEST-REST
title: Two sensors moved apart
kind: sensor
equipment: [ahu]
roles: { sa_t: degC, oa_t: degC }
params:
  tolerance: { default: 2, min: 1, max: 5, unit: K }
let:
  gap: sa_t - oa_t
when: abs(gap - base(usual)) > tolerance
persistence: 1h
clear: 1h
baseline:
  usual: { of: gap, days: 30, min_days: 3 }
hindsight:
  of: usual
  usual: 0 K
  limit: tolerance
  above: { supply_air_sensor: 0.7 }
  below: { supply_air_sensor: 0.7 }
  explains: Return air was {early} from the rooms, later {later}.
severity: 3
cause: { supply_air_sensor: 0.7 }
source: test
tests:
  - { name: nothing, step: 5m, sa_t: 20x12, oa_t: 20, faults: [] }
`
/** Four days 20 °F apart, then seven 1 °F apart, both going up and down with the hours. */
const LINES = Array.from({ length: (11 * DAY) / (5 * MINUTE) }, (_, i) => {
  const now = START + i * 5 * MINUTE
  const outdoors = 40 + Math.abs((((i * 5) / 60) % 24) - 12)
  return `${ISO(now)},${outdoors + (now < at(4) ? 20 : 1)},${outdoors},1`
})

let site: TestCentral
test.before(async () => {
  site = await startCentral({ pages: true })
  const form = zipForm(await zipOf(airHandler(table(LINES))))
  const { body } = await site.call('operator', 'POST', '/api/csv/import/preflight', form)
  await site.call('operator', 'POST', '/api/csv/import/execute', { session_id: body.session_id, confirm: true })
  const answer = await deployTo(site, [{ filename: 'rest.yaml', yaml: RULE }])
  if (answer.status !== 200) throw new Error(answer.text)
})
test.after.always(() => site?.close())

const ask = { building_id: 'b1', rule_ids: ['TEST-REST'] }
const found = async () => (await site.call('viewer', 'GET', '/api/fdd/findings?building_id=b1')).body.findings

test.serial('the API has it once its days have shown it, and what the rule said meanwhile as explained', async t => {
  await site.call('operator', 'POST', '/api/fdd/run', { ...ask, from: ISO(at(0)), to: ISO(at(10)) })
  const [alarm, ...none] = await found()
  t.deepEqual(none, [])
  t.like(alarm, { from: '2026-03-05T06:00:00Z', state: 'active' })
  t.is(alarm.suppressed_by, undefined)
  t.is(alarm.hindsight, undefined)

  // The clocks went forward, so the eleventh day ends an hour earlier.
  await site.call('operator', 'POST', '/api/fdd/run', { ...ask, from: ISO(at(0)), to: ISO(at(11)) })
  const [explained, late, ...others] = await found()
  t.deepEqual(others, [])
  t.like(late, {
    rule_id: 'TEST-REST',
    from: '2026-03-01T06:00:00Z',
    to: '2026-03-05T06:00:00Z',
    confirmed_at: '2026-03-12T05:00:00Z',
    hindsight: { normal_from: '2026-03-05T06:00:00Z' },
    state: 'cleared',
    duration_secs: 4 * 24 * 3600,
    cause: [{ component: 'supply_air_sensor', weight: 0.7 }],
  })
  t.is(
    late.evidence.sentence,
    'Return air was 11.1 K from the rooms, later 0.6 K. It was so from 2026-03-01 to 2026-03-04 and was found on 2026-03-12, because the later weeks show that the beginning was not normal.',
  )
  t.like(explained, { finding_id: alarm.finding_id, suppressed_by: late.finding_id })
  const told = site.told.filter(({ hindsight }) => hindsight)
  t.deepEqual(
    told.map(({ finding_id, confirmed_at }: Finding) => [finding_id, ISO(confirmed_at)]),
    [[late.finding_id, '2026-03-12T05:00:00.000Z']],
  )
})

test.serial('a run over the past that ends before it was found leaves it', async t => {
  const before = await found()
  await site.call('operator', 'POST', '/api/fdd/run', { ...ask, from: ISO(at(0)), to: ISO(at(6)) })
  t.deepEqual(await found(), before)
})

test.serial('its page says that it was found afterwards, on which day, and compares with the later days', async t => {
  const late = (await found()).find(({ hindsight }: Finding) => hindsight)
  const { get } = await signedIn(site.url, 'agent', PASSWORDS.agent)
  const text = (await (await get(`/faults/${late.finding_id}`)).text()).replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
  t.regex(text, /In fault 4 d, found afterwards, on Thu 12 Mar 00:00/)
  t.regex(text, /The first days were compared with those from .* on/)
  t.regex(text, /Compared with its own later days usual : 0\.6 K/)
  t.notRegex(text, /At the worst moment/)
})

test('its sentence is said in German, with the same days', t => {
  const german = madeTexts(MADE, english => english.replace('.', ','))
  t.is(
    german(
      'Return air was 11.1 K from the rooms, later 0.6 K. It was so from 2026-03-01 to 2026-03-04 and was found on 2026-03-12, because the later weeks show that the beginning was not normal.',
    ),
    'Die Abluft lag 11,1 K neben den Räumen, später 0,6 K. Das war von 2026-03-01 bis 2026-03-04 so und wurde am 2026-03-12 gefunden, weil die späteren Wochen zeigen, dass der Anfang nicht normal war.',
  )
})
