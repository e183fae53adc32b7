/** The list of rules, and the page of one: what they say, and what their forms do. */
import anyTest, { type TestFn } from 'ava'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DAY } from '#shared/core/time.ts'
import { brokenValue } from '../../../../support/pages/broken-value.ts'
import { finding, FINDINGS, NOW } from '../../../../support/page-fixture.ts'
import { brokenYaml, failingRule, warmRule } from '../../../../support/rule-texts.ts'
import { signedIn } from '../../../../support/signed-in.ts'
import { openSite, PASSWORDS, type TestSite } from '../../../../support/sites/page-site.ts'

const test = anyTest as TestFn<{ site: TestSite }>
const SHIPPED = 'AHU-ALWAYS-ON'
const OWN = 'AHU-SUPPLY-WARM'
const EARLIER = finding({
  finding_id: 'f-old',
  rule_id: OWN,
  equipment_id: 'ahu-1',
  title: 'Old',
  from: NOW - 40 * DAY,
  to: NOW - 39 * DAY,
})

test.before(async t => {
  t.context = { site: await openSite({ product: 'hub', findings: [...FINDINGS, EARLIER] }) }
})
test.after.always(t => t.context.site.close())

const as = ({ url }: TestSite, who: 'agent' | 'viewer' = 'agent') => signedIn(url, who, PASSWORDS[who])
const words = (text: string) => text.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')
const rowsOf = (text: string) =>
  [...text.matchAll(/<tr[^>]*>\s*<td class="what" data-label="Rule">([^]*?)<\/tr>/g)].map(([row]) => words(row))

test.serial('the list says how many rules run and shows a part of them, each with its id', async t => {
  const { get } = await as(t.context.site, 'viewer')
  const text = await (await get('/fault-rules')).text()
  const { rules } = await t.context.site.context.rules.catalogue()
  t.regex(words(text), new RegExp(`${rules.length} rules of ${rules.length} run, 1 of your own`))
  t.is(rowsOf(text).length, 20)
  t.regex(text, new RegExp(`Page 1 of ${Math.ceil(rules.length / 20)}`))
  t.regex(text, /<a href="\/fault-rules\/AHU-ALWAYS-ON">Fan runs day and night without a stop<\/a>/)
  t.notRegex(text, /Write a rule/, 'a viewer writes none')
  t.regex(text, /<td data-label="For"><div>Air handler, Rooftop unit, Fan coil unit, Heat pump<\/div>/)
  t.regex(text, /<option value="ahu">Air handler<\/option>/)
  t.is(brokenValue(text), '')
  const seen = new Set<string>()
  for (let page = 1; page <= Math.ceil(rules.length / 20); page++)
    for (const row of rowsOf(await (await get(`/fault-rules?page=${page}`)).text())) seen.add(row)
  t.is(seen.size, rules.length)
})

for (const [query, some, none] of [
  ['q=supply+warm', OWN, SHIPPED],
  ['q=always-on', SHIPPED, OWN],
  ['type=meter', 'MTR', OWN],
  ['show=own', OWN, SHIPPED],
  ['show=found', OWN, SHIPPED],
  ['type=ahu&show=shipped&q=fan', SHIPPED, OWN],
] as const) {
  test.serial(`the list that is asked for ${query} has what fits and nothing else`, async t => {
    const { get } = await as(t.context.site, 'viewer')
    const text = await (await get(`/fault-rules?${query}`)).text()
    const rows = rowsOf(text)
    t.true(rows.length > 0, words(text))
    t.true(
      rows.some(row => row.includes(some)),
      rows.join('\n'),
    )
    t.false(rows.some(row => row.includes(none)))
    t.regex(text, /class="chips"/)
  })
}

test.serial('findings of the last 30 days are counted, and the number leads to them', async t => {
  const { get } = await as(t.context.site, 'viewer')
  const text = await (await get(`/fault-rules?q=${OWN}`)).text()
  t.regex(text, /<a href="\/faults\?rule=AHU-SUPPLY-WARM&amp;days=30">2 findings<\/a>/)
  const listed = await (await get('/faults?rule=AHU-SUPPLY-WARM&days=30')).text()
  t.regex(listed, /Supply air too warm with the cooling valve wide open/)
})

test.serial('a file that does not check is named with its line, and an operator corrects it', async t => {
  const { site } = t.context
  const { workspace } = site.context
  writeFileSync(join(workspace, 'rules', 'broken.yaml'), `${brokenYaml}# <script>alert(1)</script>`)
  const { get } = await as(site)
  const text = await (await get('/fault-rules?show=errors')).text()
  t.regex(words(text), /broken\.yaml : line \d+, /)
  t.is(rowsOf(text).length, 0)
  const href = /<a href="(\/rule-editor\?file=[^"]+)">Correct it/.exec(text)![1]!
  const editor = await (await get(href)).text()
  t.regex(editor, /id: TEST-BROKEN/)
  t.regex(editor, /&lt;script&gt;/)
  t.notRegex(editor, /<script>alert/)
  await site.context.rules.withDeployed(({ change }) => change([], ['broken.yaml']))
})

test.serial('the page of a rule says what it finds, reads and compares with, and where it comes from', async t => {
  const { get } = await as(t.context.site, 'viewer')
  const text = words(await (await get(`/fault-rules/${OWN}`)).text())
  for (const part of [
    /Supply air was too_warm above its set point with the cooling valve at clg_valve , for duration \./,
    /Fault when: too_warm &gt; tolerance and clg_valve &gt;= full\./,
    /In it too_warm stands for: avg\(sa_t - sa_t_sp, 10m\)\./,
    /The fault must last 1 h without a break/,
    /sa_t supply air temperature °C yes/,
    /tolerance 1\.1 K \(1\.98 °F\) 0\.5 K \(0\.9 °F\) to 5 K \(9 °F\) no reason is given/,
    /cooling valve weight 0\.7/,
    /1 test\. Run them now What they try warm for two hours/,
    /own supply-warm\.yaml/,
    /2 findings in 30 days/,
    /Rules are changed by operators/,
    /It would not count here: the appliance Plant room runs the rules/,
  ])
    t.regex(text, part)
  const shipped = words(await (await get(`/fault-rules/${SHIPPED}`)).text())
  for (const part of [
    /most 0\.98 \(98 %\) 0\.8 \(80 %\) to 1 \(100 %\) engineering judgement: two weeks/,
    /occ .* where it is mapped/,
    /Comes from shipped/,
  ])
    t.regex(shipped, part)
  t.is((await get('/fault-rules/NOTHING')).status, 404)
})

test.serial('the tests of a rule run when somebody asks, and say which fail', async t => {
  const { site } = t.context
  const { get } = await as(site, 'viewer')
  t.regex(words(await (await get(`/fault-rules/${SHIPPED}?tests=run`)).text()), /Its own tests 11 tests: all pass\./)
  const path = join(site.context.workspace, 'rules', 'failing.yaml')
  writeFileSync(path, failingRule)
  const text = words(await (await get('/fault-rules/TEST-FAILING?tests=run')).text())
  t.regex(text, /1 of 2 tests fail\. Line 15, warm for an hour : faults/)
  await site.context.rules.withDeployed(({ change }) => change([], ['failing.yaml']))
})

test.serial('shipped rules of every family have a page', async t => {
  const { get } = await as(t.context.site, 'viewer')
  const { rules } = await t.context.site.context.rules.catalogue()
  for (const { id } of rules.filter((_rule, i) => i % 12 === 0)) {
    const answer = await get(`/fault-rules/${id}`)
    t.is(answer.status, 200, id)
    t.is(brokenValue(await answer.text()), '', id)
  }
})

test.serial('a rule is deactivated and activated by its form, with who and when, and the list says so', async t => {
  const { site } = t.context
  const { get, post } = await as(site)
  const path = `/fault-rules/${OWN}`
  const done = await post(`${path}/activate`, path, { active: 'false' })
  t.deepEqual([done.status, done.headers.get('location')], [303, `${path}?done=deactivated`])
  t.like(site.context.ruleStates.list()[0], { rule_id: OWN, active: false, changed_by: 'agent' })
  t.like(site.context.audit.list({ limit: 1 })[0], { action: 'activate_rule', subject: OWN, after: { active: false } })
  const page = words(await (await get(`${path}?done=deactivated`)).text())
  t.regex(page, /The rule is deactivated: no run evaluates it/)
  t.regex(page, /Deactivated by agent, 14:02/)
  t.regex(rowsOf(await (await get('/fault-rules?show=inactive')).text()).join(), /AHU-SUPPLY-WARM .* deactivated/)
  await post(`${path}/activate`, path, { active: 'true' })
  t.true(site.context.ruleStates.list()[0]!.active)
  t.regex(words(await (await get('/fault-rules?show=inactive')).text()), /No rule is like that/)
})

test.serial('a viewer changes nothing by any form of the pages', async t => {
  const { site } = t.context
  const { get, post } = await as(site, 'viewer')
  const path = `/fault-rules/${OWN}`
  for (const [to, fields] of [
    [`${path}/activate`, { active: 'false' }],
    [`${path}/roll-back`, { to: 'shipped' }],
    ['/rule-editor/check', { yaml: warmRule() }],
    ['/rule-editor/checked', { yaml: warmRule() }],
    ['/rule-editor/try', { yaml: warmRule(), building: 'school' }],
    ['/rule-editor/review', { yaml: warmRule() }],
    ['/rule-editor/deploy', { yaml: warmRule() }],
  ] as [string, Record<string, string>][])
    t.is((await post(to, path, fields)).status, 403, to)
  t.is((await get('/rule-editor')).status, 403)
  t.true(site.context.ruleStates.list()[0]!.active)
  t.is((await site.context.rules.catalogue()).byId.get('TEST-WARM'), undefined)
})
