/** `quality.json`: data outside the trusted windows is kept and shown, and no rule judges it. */
import test from 'ava'
import { readQuality, untrustedAfter } from '#shared/core/csv/quality.ts'
import { DAY, HOUR } from '#shared/core/time.ts'
import { checkOf, importer } from '../../../support/packages/importer.ts'
import { CASES, FAULT_FROM, referencePackage, START } from '../../../support/packages/reference-package.ts'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

let site: TestCentral
test.before(async () => {
  site = await startCentral({ pages: true })
})
test.after.always(() => site?.close())
const { ownBuilding, preflight, execute, history } = importer(() => site)

const CASE = CASES.find(({ rule_id }) => rule_id === 'AHU-MECH-COOL-COLD')!
const iso = (ms: number) => new Date(ms).toISOString()
const trusting = (...windows: [number, number][]) =>
  JSON.stringify({ trusted_windows: windows.map(([from, to]) => ({ from: iso(from), to: iso(to) })) })

async function runWith(quality: string | undefined, more: object = {}) {
  const { building_id } = ownBuilding()
  const files = { ...referencePackage(CASE, building_id, quality === undefined ? {} : { 'quality.json': quality }), ...more }
  const { body } = await preflight(files)
  const executed = await execute(body.session_id)
  const run = await site.call('operator', 'POST', '/api/fdd/run', { building_id, from: iso(START) })
  const resultOf = (rule_id: string) => run.body.results.find((each: { rule_id: string }) => each.rule_id === rule_id)
  return { building_id, body, executed, run, resultOf }
}

test('a condition in data that is not trusted is not judged, and the data stays', async t => {
  const { resultOf: free } = await runWith(undefined)
  t.truthy(free(CASE.rule_id).unconfirmed)
  t.is(free(CASE.rule_id).untrusted_secs, undefined)

  const { building_id, body, resultOf, run } = await runWith(trusting([START, START + 2 * DAY]))
  t.is(body.verdict, 'pass')
  t.deepEqual(checkOf(body.checks, 'quality_applied')!.examples, ['2026-01-12T00:00:00Z to 2026-01-14T00:00:00Z'])
  const { untrusted_secs, unconfirmed, status } = resultOf(CASE.rule_id)
  t.is(unconfirmed, undefined)
  t.is(status, 'pass')
  t.true(untrusted_secs >= DAY / 1000 - 600 && untrusted_secs <= DAY / 1000)
  const { ts, values } = await history(building_id, `${CASE.equipment_id}.cooling_valve`)
  t.is(values[ts.indexOf(FAULT_FROM)]! > 0.5, true)
  const page = await site.call('viewer', 'GET', `/runs?building=${building_id}`)
  t.regex(page.text.replace(/<[^>]+>/g, ''), /AHU_CASE_4: \d+\sh \d+\smin outside the trusted windows of its package/)
  const arrival = run.body.results.filter(({ rule_id }: { rule_id: string }) => ['SEN-STALE', 'SEN-GAP'].includes(rule_id))
  t.deepEqual(
    arrival.map(({ status: said }: { status: string }) => said).filter((said: string) => said === 'fault'),
    [],
    'what came in and is not trusted is no silence',
  )
})

test('with nothing trusted a rule was not evaluated, and says why', async t => {
  const { resultOf } = await runWith(JSON.stringify({ trusted_windows: [] }))
  t.like(resultOf(CASE.rule_id), { status: 'not_evaluated', reason: 'untrusted' })
})

test('a hole in the trust makes no finding of silence afterwards', async t => {
  const { run } = await runWith(trusting([START, START + DAY], [START + 2 * DAY, START + 3 * DAY]))
  const found = run.body.results.filter(
    ({ rule_id, status }: { rule_id: string; status: string }) => rule_id.startsWith('SEN-') && status === 'fault',
  )
  t.deepEqual(found, [])
})

test('quality.json at the root speaks for the folders without one', async t => {
  const { resultOf } = await runWith(undefined, { 'quality.json': trusting([START, START + 2 * DAY]) })
  t.true(resultOf(CASE.rule_id).untrusted_secs > 0)
})

for (const [what, json, complaint] of [
  ['that is no JSON', '{', /is not JSON/],
  ['with a list that is none', '{"trusted_windows":7}', /trusted_windows is not a list/],
  [
    'with a time that cannot be read',
    '{"trusted_windows":[{"from":"2026-01-12","to":"2026-01-13"},{"from":"then","to":"now"}]}',
    /entry 2: has no readable/,
  ],
  [
    'with a window that ends before it begins',
    '{"trusted_windows":[{"from":"2026-01-13","to":"2026-01-12"}]}',
    /entry 1: ends before/,
  ],
] as const) {
  test(`a quality.json ${what} is refused with its place`, async t => {
    const { body, executed } = await runWith(json)
    t.regex(checkOf(body.checks, 'quality_invalid')!.message, complaint)
    t.is(body.can_execute, false)
    t.not(executed.status, 200)
  })
}

test('a quality.json that names no windows changes nothing', async t => {
  const { body, resultOf } = await runWith('{"flags":[]}')
  t.is(checkOf(body.checks, 'quality_unread')!.severity, 'info')
  t.truthy(resultOf(CASE.rule_id).unconfirmed)
})

test('windows are read under their usual names, joined and in order', t => {
  const [a, b, c] = ['2026-01-12T00:00:00Z', '2026-01-13T00:00:00Z', '2026-01-14T00:00:00Z'] as const
  const ms = Date.parse
  for (const json of [
    {
      trusted_windows: [
        [a, b],
        [b, c],
      ],
    },
    {
      trusted: [
        { start: b, end: c },
        { start: a, end: b },
      ],
    },
    { windows: [{ start_utc: a, end_utc: c }] },
  ]) {
    t.deepEqual(readQuality(json, undefined), { ok: true, value: [[ms(a), ms(c)]] })
  }
  const chicago = (wall: number) => wall + 6 * HOUR
  const local = readQuality({ trusted_windows: [['2026-01-12 00:00', '2026-01-13 00:00']] }, chicago)
  t.deepEqual(local, { ok: true, value: [[ms(a) + 6 * HOUR, ms(b) + 6 * HOUR]] })
})

test('a package speaks of its own span: what earlier ones said of other times stays', t => {
  t.deepEqual(untrustedAfter(undefined, [0, 100], [[20, 60]]), [
    [0, 20],
    [60, 100],
  ])
  t.deepEqual(untrustedAfter([[0, 20]], [100, 200], [[150, 200]]), [
    [0, 20],
    [100, 150],
  ])
  t.deepEqual(untrustedAfter([[0, 200]], [50, 100], undefined), [
    [0, 50],
    [100, 200],
  ])
  t.deepEqual(untrustedAfter([[0, 100]], [0, 100], [[0, 500]]), [])
  t.deepEqual(untrustedAfter([], [0, 100], []), [[0, 100]])
})
