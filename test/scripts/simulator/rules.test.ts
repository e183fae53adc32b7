import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import type { Finding } from '#shared/core/findings/finding.ts'
import { parseRule } from '#shared/core/rules/check/parse-rule.ts'
import { runRules } from '#shared/core/rules/evaluate/run-rules.ts'
import type { Rule } from '#shared/core/rules/check/rule.ts'
import { DAY, HOUR } from '#shared/core/time.ts'
import { SITE_START, TIMEZONE } from '#scripts/simulator/building/building.ts'
import { BUILDING_ID } from '#scripts/simulator/building/catalogue.ts'
import { SCRIPT, type ScheduledFault } from '#scripts/simulator/building/faults.ts'
import { sampleSite } from '#scripts/simulator/building/frames.ts'
import { type Override, OVERRIDES } from '#scripts/simulator/building/overrides.ts'

const RULES = new URL('../../../rules/', import.meta.url).pathname

const rules: Rule[] = readdirSync(RULES, { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.yaml'))
  .map(name => {
    const parsed = parseRule(readFileSync(join(RULES, name), 'utf8'), name)
    if (!parsed.ok) throw new Error(`${name}: ${JSON.stringify(parsed.errors)}`)
    return parsed.rule
  })

/** Findings that nothing explains, of the shipped rules over the site's first `ms`. */
function findingsOf(script: readonly ScheduledFault[], ms: number, overrides?: readonly Override[]) {
  const to = SITE_START + ms
  const equipment = sampleSite(script, SITE_START, to, overrides)
  const { findings, failed } = runRules({ building_id: BUILDING_ID, timezone: TIMEZONE, from: SITE_START, to, rules, equipment })
  return { findings: findings.filter(({ suppressed_by }) => suppressed_by === undefined), failed }
}

test('the shipped rules find nothing in four days of a healthy building', t => {
  const { findings, failed } = findingsOf([], 4 * DAY)
  t.deepEqual(failed, [])
  t.deepEqual(
    findings.map(({ rule_id, equipment_id, evidence }) => `${equipment_id} ${rule_id}: ${evidence.sentence}`),
    [],
  )
})

test('three of the injected faults are confirmed within two and a half hours, without any history', t => {
  const { findings } = findingsOf(SCRIPT, 2.5 * HOUR)
  t.true(new Set(findings.map(({ equipment_id }) => equipment_id)).size >= 3)
})

test('every finding of the first four days is of an injected fault, and every injected fault is found', t => {
  const { findings } = findingsOf(SCRIPT, 4 * DAY)
  for (const { rule_id, equipment_id, from, evidence } of findings) {
    const since = from - SITE_START
    const fault = SCRIPT.find(
      one =>
        one.equipment_id === equipment_id && one.rules.includes(rule_id) && since >= one.from && since < (one.to ?? Infinity),
    )
    t.truthy(fault, `${equipment_id} ${rule_id} at ${(since / HOUR).toFixed(1)} h: ${evidence.sentence}`)
  }
  const found = new Set(findings.map(({ rule_id, equipment_id }) => `${equipment_id} ${rule_id}`))
  for (const { fault, equipment_id, rules: named } of SCRIPT) t.true(found.has(`${equipment_id} ${named[0]}`), fault)
})

const own = (findings: Finding[]) =>
  SCRIPT.flatMap(({ equipment_id, rules: [first], from }) =>
    findings
      .filter(one => one.equipment_id === equipment_id && one.rule_id === first && one.from - SITE_START >= from)
      .slice(0, 1),
  )

test('what people hold in the demonstration is found, hides no fault, and is no cause of any', t => {
  const { findings } = findingsOf(SCRIPT, 4 * DAY, OVERRIDES)
  const seen = own(findings)
  t.is(seen.length, SCRIPT.length)
  t.deepEqual(
    seen.filter(({ relabelled_by }) => relabelled_by !== undefined).map(({ rule_id }) => rule_id),
    [],
  )
  // What is over before the next hourly visit was seen once, and once proves nothing.
  for (const { point_id } of OVERRIDES.filter(({ from, to = Infinity }) => to - from > HOUR)) {
    const [equipment_id, role] = point_id.split('.')
    t.true(
      findings.some(one => one.kind === 'override' && one.equipment_id === equipment_id && one.role === role),
      point_id,
    )
  }
})

const handOn = (point_id: string, from = 0): Override => ({ point_id, level: 8, says: 'held by an operator', from })

test('a valve that somebody shut and that leaks is a leak: who shut it explains nothing', t => {
  const { findings } = findingsOf(SCRIPT, 4 * HOUR, [handOn('VAV-103.reheat_valve')])
  t.true(findings.some(({ rule_id, role }) => rule_id === 'OVR-HELD' && role === 'reheat_valve'))
  const leak = findings.find(({ rule_id }) => rule_id === 'VAV-REHEAT-LEAK')!
  t.is(leak.relabelled_by, undefined)
  t.is(leak.cause[0]!.component, 'reheat_valve')
})

test('a valve that somebody holds while its air is too warm is found as before, with the hand as the likeliest cause', t => {
  const { findings } = findingsOf(SCRIPT, 2 * DAY, [handOn('AHU-1.clg_valve', DAY)])
  const held = findings.find(({ rule_id }) => rule_id === 'OVR-HELD')!
  const warm = findings.find(({ rule_id }) => rule_id === 'AHU-FC13-COOL-FULL')!
  t.is(warm.relabelled_by, held.finding_id)
  t.is(warm.cause[0]!.component, 'override')
  t.true(warm.cause.some(({ component }) => component === 'cooling_valve'))
})
