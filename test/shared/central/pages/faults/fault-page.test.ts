/** The page of one fault: its parts, what its plot shows, and what is not kept here. */
import test from 'ava'
import { faultModel } from '#shared/central/pages/faults/fault-model.ts'
import { WINDOWS } from '#shared/central/pages/faults/fault.view.ts'
import type { Point } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { asRead } from '../../../../support/signed-in.ts'
import { COOLING, NOW, POINTS } from '../../../../support/page-fixture.ts'
import { openSite, type TestSite } from '../../../../support/sites/page-site.ts'

const box = await openSite({ product: 'appliance', open: true })
test.after.always(() => box.close())
const read = async ({ url }: TestSite, path: string) =>
  asRead(await fetch(url + path, { headers: { accept: 'text/html' } })).text()

test('the page of one fault explains it in the order in which one asks', async t => {
  const page = await read(box, '/faults/f-cooling')
  const order = [
    '7.4 °F above',
    'class="plot"',
    'too_warm &gt; tolerance',
    'Thresholds',
    'dev 1007 AI-12',
    'How good the data is',
    'Likely cause',
    'This fault at other times',
    'What to do about it',
  ]
  const at = order.map(part => page.indexOf(part))
  t.deepEqual(
    at.toSorted((a, b) => a - b),
    at,
  )
  t.true(at.every(i => i > 0))
  t.regex(page, /62\.2 °F/)
  t.regex(page, /1\.98 °F <span class="muted">the rule(&#39;|')s default/)
  t.regex(page, /where <code>too_warm<\/code> is <code>avg\(sa_t - sa_t_sp, 10m\)<\/code>/)
  t.regex(page, /Looked at only while <code>fan_status<\/code>/)
  t.regex(page, /sa_t <span class="value">62\.2 °F<\/span> - sa_t_sp/)
})

test('what the plot has no room for is what only says when the rule looks, never the set point that it compares with', async t => {
  const inputs = { fan_status: 1, clg_valve: 0, fan_speed: 0.5, sa_t_sp_heat: 30, sa_t: 19, ma_t: 17, htg_valve: 1 }
  const evidence = { ...COOLING.evidence, expression: 'missing > tolerance and rise < least_rise and htg_valve >= full', inputs }
  const points = Object.keys(inputs).map((role): Point => ({ ...POINTS[0]!, point_id: role, role, unit: ROLES[role]!.unit }))
  const site = await openSite({
    product: 'appliance',
    open: true,
    points,
    findings: [{ ...COOLING, rule_id: 'AHU-FC7-HEAT-FULL', evidence }],
  })
  t.teardown(site.close)
  const page = await read(site, '/faults/f-cooling')
  t.regex(page, /Not on the plot, but in the table below: fan speed command\./)
  t.regex(
    page,
    /Plot of the inputs\. supply air temperature, heating valve command, .*, mixed air temperature, fan status, cooling valve command from/,
  )
})

test('a plot has as many values as it has room for, over whatever time it goes', async t => {
  const at = { here: { now: NOW }, user: undefined, csrf: '' } as unknown as Parameters<typeof faultModel>[3]
  for (const window of WINDOWS) {
    const { plot } = await faultModel(box.context, 'f-cooling', window, at)
    const lengths = plot.traces.map(({ buckets }) => buckets.count.length)
    t.true(lengths.length > 0 && lengths.every(length => length <= 480), `${window}: ${lengths}`)
    if (window === 'week')
      t.true(
        lengths.every(length => length > 240),
        `${lengths}`,
      )
  }
})

const BARE = { ...COOLING.evidence, inputs: {} }

test('of a fault whose inputs are not kept here nobody is told that all of them were there', async t => {
  const site = await openSite({
    product: 'hub',
    open: true,
    points: [],
    findings: [COOLING, { ...COOLING, finding_id: 'f-bare', evidence: BARE }],
  })
  t.teardown(site.close)
  const page = await read(site, '/faults/f-cooling')
  t.regex(page, /No history of the inputs is kept here\.<\/li>.*No point has the role <code>sa_t<\/code>, <code>sa_t_sp<\/code>/s)
  const bare = await read(site, '/faults/f-bare')
  t.regex(bare, /The inputs of the rule were not recorded\./)
  for (const one of [page, bare]) t.notRegex(one, /All inputs were there/)
})
