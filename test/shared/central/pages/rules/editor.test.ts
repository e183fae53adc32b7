/** Writing a rule by forms: check, try, review, deploy, go back. What was typed is on every page that refuses it. */
import anyTest, { type TestFn } from 'ava'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { GERMAN } from '#shared/central/ui/language/german.ts'
import { brokenYaml, crookedRule, failingRule, warmRule } from '../../../../support/rule-texts.ts'
import { signedIn } from '../../../../support/signed-in.ts'
import { openSite, PASSWORDS, type TestSite } from '../../../../support/sites/page-site.ts'

const test = anyTest as TestFn<{ site: TestSite }>
test.before(async t => {
  t.context = { site: await openSite({ product: 'appliance' }) }
})
test.after.always(t => t.context.site.close())

const EDITOR = '/rule-editor'
const as = ({ url }: TestSite, who: 'agent' | 'admin' = 'agent') => signedIn(url, who, PASSWORDS[who])
const words = (text: string) => text.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')
const unescape = (text: string) =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&')
/** The text in the field of the page. */
const typed = (text: string) => unescape(/<textarea[^>]*>\n([^]*?)<\/textarea>/.exec(text)?.[1] ?? '')
const hidden = (text: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1]
const fieldsOf = (text: string) => ({ rule: hidden(text, 'rule')!, sha: hidden(text, 'sha')!, file: hidden(text, 'file')! })

test.serial('the editor begins with a rule that checks, with a rule that is there, or with a copy of one', async t => {
  const { get, post } = await as(t.context.site)
  const fresh = await (await get(EDITOR)).text()
  const checked = words(await (await post(`${EDITOR}/checked`, EDITOR, { yaml: typed(fresh) })).text())
  t.regex(checked, /It checks\. Supply air warmer than its limit \( OWN-SUPPLY-WARM \), for Air handler\. 3 tests, all pass/)
  const own = await (await get(`${EDITOR}?rule=AHU-ALWAYS-ON`)).text()
  t.regex(typed(own), /^id: AHU-ALWAYS-ON\ntitle: Fan runs day and night/)
  const copy = await (await get(`${EDITOR}?copy=AHU-ALWAYS-ON`)).text()
  t.regex(typed(copy), /^id: OWN-AHU-ALWAYS-ON\ntitle: Fan runs day and night without a stop \(own\)\n/)
  t.regex(
    words(await (await post(`${EDITOR}/checked`, EDITOR, { yaml: typed(copy) })).text()),
    /It checks\..* \d+ tests, all pass/,
  )
  t.is((await get(`${EDITOR}?rule=NOTHING`)).status, 404)
  t.is((await get(`${EDITOR}?file=nothing.yaml`)).status, 404)
})

for (const [what, yaml, said] of [
  ['another dimension', crookedRule, /Line 7, when: sa_t &gt; 5 Pa : cannot compare a temperature with a pressure/],
  ['a test that fails', failingRule, /Line 15, - name: warm for an hour : warm for an hour: faults/],
  ['markup', `${warmRule()}\nx: "<img src=x onerror=alert(1)>"`, /Line \d+, x: .* : /],
] as const) {
  test.serial(`a text with ${what} is refused with its line by each form, and is on the page`, async t => {
    const { site } = t.context
    const { post } = await as(site)
    for (const verb of ['check', 'review', 'deploy']) {
      const answer = await post(`${EDITOR}/${verb}`, EDITOR, { yaml: yaml.replaceAll('\n', '\r\n') })
      const text = await answer.text()
      t.is(answer.status, verb === 'deploy' ? 422 : 200)
      t.is(typed(text), yaml, verb)
      t.regex(words(text), said)
      t.notRegex(text, /<img/)
    }
    const part = await post(`${EDITOR}/checked`, EDITOR, { yaml })
    t.is(part.status, 200, 'a part of a page is shown whatever it says')
    t.regex(words(await part.text()), /\d places? to correct/)
    t.is((await site.context.rules.deployed()).length, 1)
  })
}

test.serial('a text is tried on past data, compared with what is deployed, and stays on the page', async t => {
  const { site } = t.context
  const { post } = await as(site)
  const yaml = warmRule('TEST-WARM', 50)
  const answer = await post(`${EDITOR}/try`, EDITOR, { yaml, building: 'school', days: '3' })
  const text = await answer.text()
  t.is(answer.status, 200, text)
  t.regex(words(text), /What TEST-WARM would have found in Riverside School/)
  t.regex(words(text), /\d+ episodes? with this text; no rule of this id is deployed to compare with/)
  t.is(typed(text), yaml)
  t.regex(text, /<option value="3" selected>/)
  const known = await post(`${EDITOR}/try`, EDITOR, { yaml: warmRule('AHU-SUPPLY-WARM', 50), building: 'school', days: '3' })
  t.regex(words(await known.text()), /\d+ episodes? as it is deployed, \d+ with this text/)
  const wrong = await post(`${EDITOR}/try`, EDITOR, { yaml: crookedRule, building: 'school' })
  t.is(wrong.status, 422)
  t.is(typed(await wrong.text()), crookedRule)
  t.is((await site.context.rules.deployed()).length, 1)
})

test.serial('a deployment says first what it changes, and is then on the page of the rule with its version', async t => {
  const { site } = t.context
  const { get, post } = await as(site)
  const review = await (await post(`${EDITOR}/review`, EDITOR, { yaml: warmRule() })).text()
  for (const part of [/Deploy TEST-WARM\?/, /It is a new rule/, /1 in Riverside School/, /2 tests of its own: all pass/])
    t.regex(words(review), part)
  t.is((await site.context.rules.catalogue()).byId.get('TEST-WARM'), undefined, 'nothing is deployed yet')
  const done = await post(`${EDITOR}/deploy`, EDITOR, { yaml: unescape(hidden(review, 'yaml')!) })
  t.deepEqual([done.status, done.headers.get('location')], [303, '/fault-rules/TEST-WARM?done=deployed'])
  const page = words(await (await get('/fault-rules/TEST-WARM?done=deployed')).text())
  t.regex(page, /The rule is deployed/)
  t.regex(page, /Deployed by agent, 14:02 counts now/)
  t.like(site.context.audit.list({ limit: 1 })[0], { action: 'deploy_rules', actor: 'agent', subject: 'TEST-WARM.yaml' })
})

test.serial('a changed rule shows its changed lines, and goes back to an earlier text and to the shipped rule', async t => {
  const { site } = t.context
  const { get, post } = await as(site)
  const opened = await (await get(`${EDITOR}?rule=TEST-WARM`)).text()
  const yaml = typed(opened).replace('persistence: 30m', 'persistence: 20m')
  const review = await (await post(`${EDITOR}/review`, EDITOR, { yaml, ...fieldsOf(opened) })).text()
  t.regex(words(review), /removed in line 8: persistence: 30m .* added in line 8: persistence: 20m/)
  t.is([...review.matchAll(/<li class="(?:added|removed)">/g)].length, 2, 'lines that stay are not shown')
  t.regex(words(review), /takes the place of the text that was deployed before/)
  t.is((await post(`${EDITOR}/deploy`, EDITOR, { yaml, ...fieldsOf(opened) })).status, 303)
  const path = '/fault-rules/TEST-WARM'
  const page = await (await get(path)).text()
  t.is([...page.matchAll(/Deployed by agent/g)].length, 2)
  const to = hidden(page, 'to')!
  t.is((await post(`${path}/roll-back`, path, { to })).headers.get('location'), `${path}?done=rolled-back`)
  t.is((await site.context.rules.read('TEST-WARM'))!.yaml, warmRule())
  const older = await (
    await get(`${EDITOR}?rule=TEST-WARM&version=${/version=([0-9a-f]{64})/.exec(await (await get(path)).text())![1]}`)
  ).text()
  t.is(typed(older), yaml)
  await post(`${EDITOR}/deploy`, EDITOR, { yaml: warmRule('AHU-ALWAYS-ON') })
  t.regex(words(await (await get('/fault-rules/AHU-ALWAYS-ON')).text()), /own, in the place of a shipped one/)
  await post('/fault-rules/AHU-ALWAYS-ON/roll-back', path, { to: 'shipped' })
  const again = words(await (await get('/fault-rules/AHU-ALWAYS-ON')).text())
  t.regex(again, /Comes from shipped/)
  t.regex(again, /The rule that ships with the program counts now/)
})

test.serial('a text that somebody else has replaced meanwhile is not overwritten unseen', async t => {
  const { site } = t.context
  const { get, post } = await as(site)
  const opened = await (await get(`${EDITOR}?rule=TEST-WARM`)).text()
  await post(`${EDITOR}/deploy`, EDITOR, { yaml: warmRule('TEST-WARM', 66) })
  const yaml = warmRule('TEST-WARM', 77)
  const answer = await post(`${EDITOR}/deploy`, EDITOR, { yaml, ...fieldsOf(opened) })
  const text = await answer.text()
  t.is(answer.status, 409)
  t.is(typed(text), yaml)
  t.regex(words(text), /TEST-WARM was changed by somebody else since you opened it/)
  t.is((await site.context.rules.read('TEST-WARM'))!.yaml, warmRule('TEST-WARM', 66))
})

test.serial('an administrator removes an own rule, and an operator brings it back from its page', async t => {
  const { site } = t.context
  const operator = await as(site)
  const admin = await as(site, 'admin')
  const path = '/fault-rules/TEST-WARM'
  t.is((await operator.post(`${path}/remove`, path)).status, 403)
  t.notRegex(await (await operator.get(path)).text(), /Remove this rule/)
  t.notRegex(await (await admin.get('/fault-rules/AHU-ALWAYS-ON')).text(), /Remove this rule/, 'a shipped one stays')
  t.is((await admin.post('/fault-rules/AHU-ALWAYS-ON/remove', path)).status, 409)
  const done = await admin.post(`${path}/remove`, path)
  t.deepEqual([done.status, done.headers.get('location')], [303, `${path}?done=removed`])
  t.like(site.context.audit.list({ limit: 1 })[0], { action: 'delete_rule', actor: 'admin', subject: 'TEST-WARM.yaml' })
  const page = await (await operator.get(`${path}?done=removed`)).text()
  t.regex(words(page), /The rule is removed\..*No rule of this id counts now/)
  const sha = hidden(page, 'to')!
  t.regex(page, new RegExp(`removed\\.</p><form method="post" action="${path}/roll-back">`), 'what was just done can be undone')
  t.regex(await (await operator.get('/fault-rules')).text(), /<a href="\/fault-rules\?show=removed">1 removed rule<\/a>/)
  const removed = await (await operator.get('/fault-rules?show=removed')).text()
  t.regex(words(removed), /Supply air above 66 °F TEST-WARM Bring back TEST-WARM/)
  t.is(hidden(removed, 'to'), sha)
  const viewer = await signedIn(site.url, 'viewer', PASSWORDS.viewer)
  const seen = words(await (await viewer.get('/fault-rules?show=removed')).text())
  t.regex(seen, /Supply air above 66 °F TEST-WARM/)
  t.notRegex(seen, /Bring back TEST/)
  const shown = await (await operator.get(`${EDITOR}?rule=TEST-WARM&version=${sha}`)).text()
  t.is(typed(shown), warmRule('TEST-WARM', 66))
  t.is((await operator.post(`${path}/roll-back`, path, { to: sha })).status, 303)
  t.is((await site.context.rules.read('TEST-WARM'))!.yaml, warmRule('TEST-WARM', 66))
  t.regex(words(await (await operator.get('/fault-rules?show=removed')).text()), /No rule was removed/)
})

test.serial('a text that is sent after the session has ended is carried through the sign-in', async t => {
  const { site } = t.context
  const { post } = await as(site)
  site.context.auth.logoutEverywhere('agent')
  const yaml = warmRule('TEST-LATE')
  const refused = await post(`${EDITOR}/deploy`, EDITOR, { yaml })
  t.is(refused.status, 401)
  const carried = new URLSearchParams(unescape(hidden(await refused.text(), 'typed')!))
  t.is(new URLSearchParams(carried.get('fields')!).get('yaml'), yaml)
})

test('on a German page, what is wrong with a text, its tests and a file is said in German', async t => {
  const site = await openSite({ product: 'hub', pageLanguageOf: () => GERMAN })
  t.teardown(site.close)
  const { get, post } = await as(site)
  const check = async (yaml: string) => words(await (await post(`${EDITOR}/checked`, EDITOR, { yaml })).text())
  t.regex(await check(crookedRule), /Zeile 7, when: sa_t &gt; 5 Pa : nicht vergleichbar: eine Temperatur und ein Druck/)
  t.regex(await check(failingRule), /warm for an hour: faults \[[^\]]*\] erwartet, \[[^\]]*\] gefunden/)
  const shipped = words(await (await get('/fault-rules/AHU-ALWAYS-ON')).text())
  t.regex(shipped, /Der Ventilator lief share von zwei Wochen\. .* Art Energie .* Sie vergeudet /)
  t.regex(words(await (await get('/fault-rules/AHU-FC13-COOL-FULL')).text()), /2 K \(3,6 °F\).*0,95 \(95 %\).*Gewicht 0,6/)
  writeFileSync(join(site.context.config.read().rules_dir, 'broken.yaml'), brokenYaml)
  t.regex(
    words(await (await get('/fault-rules')).text()),
    /broken\.yaml : Zeile \d+, (?:die Zeile|ein Anführungszeichen|ein Schlüssel|das ist kein YAML)/,
  )
})
