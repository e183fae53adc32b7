/** The page of a fault that the engine itself found in kept history: rule file, history, frames, run, page. */
import test from 'ava'
import { loadRules } from '#shared/node/rule-files.ts'
import { runRules } from '#shared/core/rules/run-rules.ts'
import { DAY } from '#shared/core/time.ts'
import { buildFrames } from '#shared/flow/build-frames.ts'
import { BUILDING, EQUIPMENT, NOW, POINTS } from './fixture.ts'
import { openSite } from './site.ts'

test('a fault that the engine found is explained with its own sentence, values and thresholds', async t => {
  const site = await openSite({ house: 'appliance', open: true, findings: [] })
  t.teardown(site.close)
  const { historian, results, rulesDirs } = site.context
  const span = { from: NOW - 3 * DAY, to: NOW }
  const { rules } = loadRules([rulesDirs.deployed])
  const equipment = await buildFrames(BUILDING.building_id, EQUIPMENT, POINTS, span, historian)
  const { findings } = runRules({ ...span, building_id: BUILDING.building_id, timezone: BUILDING.timezone, rules, equipment })
  t.is(findings.length, 2)
  results.put(findings)

  const list = await (await fetch(`${site.url}/faults`)).text()
  t.regex(list, /8 h 5\d min <span class="muted">in 2 episodes/)
  const latest = findings.find(({ state }) => state === 'active')!
  const page = await (await fetch(`${site.url}/faults/${latest.finding_id}`)).text()
  t.regex(page, /Supply air was [67]\.\d °F above its set point with the cooling valve at 100 %, for [56] h/)
  t.regex(page, /<code>too_warm &gt; tolerance and clg_valve &gt;= full<\/code>/)
  t.regex(page, /<li class="term true">.*too_warm &gt; tolerance <span class="value">1\.98 °F<\/span>/)
  t.regex(page, /clg_valve <span class="value">100 %<\/span> &gt;= full <span class="value">95 %<\/span>/)
  t.regex(page, /<strong>cooling valve<\/strong>; next most likely: supply air sensor/)
  t.regex(page, /<svg class="plot"[^>]* aria-label="Plot of the inputs\. sa_t, sa_t_sp, /)
})
