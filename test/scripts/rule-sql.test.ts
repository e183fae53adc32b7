import test from 'ava'
import { join } from 'node:path'
import type { PointRows } from '#shared/core/ports.ts'
import type { Rule } from '#shared/core/rules/check/rule.ts'
import { parseRule } from '#shared/core/rules/check/parse-rule.ts'
import { DAY, MINUTE } from '#shared/core/time.ts'
import { openManifest } from '#shared/node/historian/manifest.ts'
import { airHandlerRows, YEAR_START } from '#scripts/benchmarks/lib-fdd/air-handler.ts'
import { openPeer } from '#scripts/benchmarks/lib-fdd/peer.ts'
import { building_id, chooseRules, compareSides, POINT_OF } from '#scripts/benchmarks/lib-fdd/sides.ts'
import { temporaryHistorian } from '../support/sites/workspace.ts'

const DAYS = 2

/** Every word that SQL has for the rule language, each with faulty minutes and others in the first days of the year. */
const CONDITIONS: Record<string, string> = {
  compare: 'sa_t > 19',
  arithmetic: 'abs(-(sa_t - ma_t) * 2 / 3) > 1 K',
  choice: 'if(fan_status, sa_t, ra_t) > 19',
  first: 'first(oa_damper, 1) < 0.21 and first(zone_flow, 0.5 m3/s) > 0.1 m3/s',
  least: 'least(sa_t, ra_t) > 18 or greatest(sa_t, oa_t) < 14',
  logic: 'not (fan_on and not occ) and has(sa_t) and not has(zone_flow)',
  avg: 'avg(sa_t - ra_t, 30m) > 0 K',
  min: 'min(sa_t, 20m) > 18.5',
  max: 'max(sa_t, 20m) < 18.5',
  range: 'range(sa_t, 15m) > 0.5 K',
  median: 'median(sa_t, 15m) > 18.5',
  lag: 'lag(ra_t, 1h) > ra_t',
  delta: 'delta(ra_t, 1h) < 0 K - 0.1 K',
  changes: 'changes(fan_status, 2h) > 0',
  starts: 'starts(fan_on, 2h) > 0',
  duty: 'duty(fan_on, 4h) > 0.5',
  held: 'held(fan_on, 45m)',
  coverage: 'coverage(sa_t, 3h) > 0.99',
  age: 'age(sa_t) > 30s',
  since: 'since(fan_on) > 2h',
  since_gap: 'since(sa_t < 15) < 6h',
  off_set_point: 'off_set_point(sa_t) > 1 K',
  silent_sensors: 'silent_sensors(5m) >= 1 and silent_sensors(5m) < sensors()',
  known_choice: 'if(has(chiller_on), chiller_on, sa_t > 19)',
  nested: 'max(avg(sa_t, 10m), 20m) - min(avg(sa_t, 10m), 20m) > 0.3 K',
  oaf: 'oaf > 0.25',
}

function ruleOf(id: string, when: string, more = ''): Rule {
  const optional = '{ ra_t: degC, oa_t: degC, oa_damper: fraction, fan_status: bool, zone_flow: m3/s }'
  const text = `id: ${id}\ntitle: x\nequipment: [ahu]\nroles: { sa_t: degC, ma_t: degC }\noptional: ${optional}\nwhen: ${when}\npersistence: 3m\nseverity: 3\nsource: x\n${more}`
  const parsed = parseRule(text, `${id}.yaml`)
  if (!parsed.ok) throw new Error(`${id}: ${JSON.stringify(parsed.errors)}`)
  return parsed.rule
}

/** A controller that is restarted: the supply air and its set point are not evaluated for some minutes. */
async function* withGap(rows: AsyncIterable<PointRows>): AsyncGenerator<PointRows> {
  for await (const each of rows) {
    if (each.point_id === POINT_OF.sa_t) each.series.values.fill(Number.NaN, 700, 712)
    if (each.point_id === POINT_OF.sa_t_sp) each.series.values.fill(Number.NaN, 900, 920)
    yield each
  }
}

test('what is said in SQL finds the minutes that the engine finds', async t => {
  const { historian, db, root } = await temporaryHistorian(t)
  const minutes = (DAYS * DAY) / MINUTE
  const span = { from: YEAR_START, to: YEAR_START + DAYS * DAY }
  await historian.load(building_id, Object.values(POINT_OF), 'replace', withGap(airHandlerRows(POINT_OF, minutes)))
  const files = openManifest(db)
    .files()
    .map(({ file }) => join(root, file))

  const rules = [
    ...Object.entries(CONDITIONS).map(([id, when]) => ruleOf(id, when)),
    ruleOf('gated', 'sa_t < 17', 'gate: fan_on\nsettle: 20m'),
    ruleOf('smoothed', 'sa_t - ma_t > 1', 'smooth: 10m'),
  ]
  const { instances, leftOut } = chooseRules(rules)
  t.deepEqual(leftOut, [])
  const peer = await openPeer(instances, POINT_OF)
  t.teardown(peer.close)
  for (const { key, ours, theirs, within } of await compareSides(rules, historian, span, await peer.run(files))) {
    t.deepEqual({ theirs, within }, { theirs: ours, within: ours }, key)
    t.true(ours > 0 && ours < minutes, `${key}: ${ours} of ${minutes} minutes`)
  }
})

test('what SQL has no words for is left out, with the reason', t => {
  const baseline =
    'baseline:\n  usual: { of: sa_t - ma_t, stat: median, days: 30, min_days: 4, fallback: 1 K, tolerance_cold: 2 K }\n'
  const { rules, leftOut } = chooseRules([
    ruleOf('baseline', 'sa_t - ma_t > base(usual)', baseline),
    ruleOf('state', 'reversals(oa_damper, 1h, 0.02) > 4'),
    ruleOf('plain', 'sa_t > 19'),
  ])
  t.deepEqual(
    rules.map(({ id }) => id),
    ['plain'],
  )
  t.deepEqual(
    leftOut.map(({ rule_id, why }) => `${rule_id}: ${why.slice(0, 20)}`),
    ['baseline: a baseline leaves ou', 'state: reversals goes from '],
  )
})
