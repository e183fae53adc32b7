/** From the button on Home to the page of a fault that the engine found in stored history, with real parts. */
import { setTimeout } from 'node:timers/promises'
import test from 'ava'
import { asRead } from '../../../support/signed-in.ts'
import { BUILDING } from '../../../support/page-fixture.ts'
import { openSite } from '../../../support/sites/page-site.ts'

const RUN_MS = 60_000

test('the button on Home runs the rules, and what they find is explained with its own sentence, values and thresholds', async t => {
  const site = await openSite({ product: 'appliance', open: true, findings: [] })
  t.teardown(site.close)
  const { findings, results } = site.context
  const read = async (path: string) => asRead(await fetch(site.url + path)).text()

  const [, csrf] = /name="csrf" value="([^"]+)"/.exec(await read('/'))!
  const answer = await fetch(`${site.url}/home/run`, {
    method: 'POST',
    body: new URLSearchParams({ csrf: csrf! }),
    redirect: 'manual',
  })
  t.is(answer.headers.get('location'), '/')
  const newest = () => results.runs({ building_id: BUILDING.building_id, limit: 1 })[0]!
  for (const deadline = Date.now() + RUN_MS; newest().trigger !== 'request' && Date.now() < deadline; ) await setTimeout(50)
  t.like(newest(), { trigger: 'request', failed: [] })
  t.regex(await read('/'), /Finished <time[^>]*>14:02/)

  const found = findings.list({ rule_id: 'AHU-SUPPLY-WARM', limit: 10 })
  t.deepEqual(
    found.map(({ state }) => state),
    ['active', 'cleared'],
  )
  const list = await read('/faults?state=active')
  t.regex(list, /8 h 5\d min <span class="muted">in 2 episodes/)
  const page = await read(`/faults/${found[0]!.finding_id}`)
  t.regex(page, /Supply air was [67]\.\d °F above its set point with the cooling valve at 100 %, for [56] h/)
  t.regex(page, /<code>too_warm &gt; tolerance and clg_valve &gt;= full<\/code>/)
  t.regex(page, /<li class="term true">.*too_warm &gt; tolerance <span class="value">1\.98 °F<\/span>/)
  t.regex(page, /clg_valve <span class="value">100 %<\/span> &gt;= full <span class="value">95 %<\/span>/)
  t.regex(page, /Likely cause<\/h2>\s*<p><strong>cooling valve<\/strong>; next most likely: supply air sensor/)
  t.regex(
    page,
    /<svg class="plot"[^>]* aria-label="Plot of the inputs\. supply air temperature, supply air temperature setpoint, cooling valve command, fan status from /,
  )
})
