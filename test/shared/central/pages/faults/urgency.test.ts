import test from 'ava'
import { FINDINGS, finding, NOW } from '../../../../support/page-fixture.ts'
import { signedIn } from '../../../../support/signed-in.ts'
import { openSite, PASSWORDS } from '../../../../support/sites/page-site.ts'
import { DAY, HOUR } from '#shared/core/time.ts'

const OLD = finding({
  finding_id: 'old',
  rule_id: 'OLD',
  title: 'Valve leaks',
  equipment_id: 'vav-3',
  severity: 3,
  from: NOW - 5 * DAY,
})
const NEW = finding({
  finding_id: 'new',
  rule_id: 'NEW',
  title: 'Fan stands',
  equipment_id: 'vav-3',
  severity: 1,
  from: NOW - HOUR,
})

test('urgent faults stand apart from chronic ones, with numbers, a filter in the address and what is meant', async t => {
  const site = await openSite({ product: 'appliance', findings: [...FINDINGS, OLD, NEW] })
  t.teardown(site.close)
  const viewer = await signedIn(site.url, 'viewer', PASSWORDS.viewer)
  const read = async (path: string) => (await viewer.get(path)).text()
  const all = await read('/faults')
  const groups = [...all.matchAll(/<h2>(\w+) <span class="count">(\d+)</g)].map(([, title, count]) => [title, Number(count)])
  const [urgent, chronic] = groups as [[string, number], [string, number]]
  t.deepEqual(groups.map(([title]) => title).slice(0, 2), ['Urgent', 'Chronic'])
  const places = ['Fan stands', '<h2>Chronic', 'Valve leaks'].map(one => all.indexOf(one))
  t.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  )
  t.regex(all, new RegExp(`href="/faults\\?urgency=urgent">Urgent <span class="count">${urgent[1]}<`))
  t.regex(all, new RegExp(`href="/faults\\?urgency=chronic">Chronic <span class="count">${chronic[1]}<`))
  t.regex(all, /Urgent: open, and of high priority, about comfort/)
  const filtered = await read('/faults?urgency=chronic')
  t.true(filtered.includes('Valve leaks'))
  t.false(filtered.includes('Fan stands'))
  t.regex(filtered, /aria-current="true">Chronic/)
  t.regex(filtered, new RegExp(`Urgent <span class="count">${urgent[1]}<`), 'the numbers are those without this filter')
  t.regex(filtered, /class="chip" href="\/faults">chronic/)
  t.regex(await read('/faults/new'), /high<\/span><\/span><span class="muted">, urgent</)
})

test('each of the four states has a sign of its own beside its words, and the list says what they mean', async t => {
  const gone = { ...OLD, finding_id: 'gone', rule_id: 'GONE', state: 'cleared' as const, to: NOW - HOUR }
  const site = await openSite({ product: 'hub', findings: [OLD, NEW, gone, { ...gone, finding_id: 'done', rule_id: 'DONE' }] })
  t.teardown(site.close)
  const agent = await signedIn(site.url, 'agent', PASSWORDS.agent)
  for (const id of ['old', 'done']) await agent.post(`/faults/${id}/ack`, `/faults/${id}`, {})
  const list = await (await agent.get('/faults')).text()
  const table = list.slice(list.indexOf('<table class="faults"'), list.indexOf('</table>'))
  const signs = (text: string) =>
    [...text.matchAll(/class="mark ((?:active|cleared)-(?:un)?acked)".*?<\/svg>/g)].map(([svg, name]) => ({ name, svg }))
  const inTable = signs(table)
  t.deepEqual(inTable.map(({ name }) => name).toSorted(), ['active-acked', 'active-unacked', 'cleared-acked', 'cleared-unacked'])
  t.is(new Set(inTable.map(({ svg }) => svg.slice(svg.indexOf('>')))).size, 4, 'four shapes')
  t.regex(table, /Open<span class="hidden">, not acknowledged</, 'also for who does not see it')
  const legend = list.slice(list.indexOf('class="plain legend"'))
  for (const words of ['active, not acknowledged', 'active, acknowledged', 'cleared, not acknowledged', 'cleared, acknowledged'])
    t.true(legend.includes(words), words)
  t.deepEqual(signs(await (await agent.get('/faults/done')).text()).map(({ name }) => name)[0], 'cleared-acked')
})
