/** The rules: found in the list, written, tried, deployed and taken back, with and without script. */
import anyTest, { type TestFn } from 'ava'
import { warmRule } from '../support/rule-texts.ts'
import { openSite, PASSWORDS, type TestSite } from '../support/sites/page-site.ts'
import { openChromium, type OpenBrowser } from './chromium.ts'
import { expectClean, looks } from './looks.ts'
import { openPage, overflow, signIn } from './watch.ts'

const test = anyTest as TestFn<{ chromium: OpenBrowser; box: TestSite }>
test.before(async t => {
  t.context = { chromium: await openChromium(), box: await openSite({ product: 'appliance' }) }
  const version = {
    rule_id: 'TEST-GONE',
    sha256: '0'.repeat(64),
    yaml: warmRule('TEST-GONE'),
    deployed_by: null,
    deployed_at: null,
  }
  t.context.box.context.ruleVersions.add(version)
})
test.after.always(async t => {
  await t.context.chromium.close()
  await t.context.box.close()
})

const RULE = '/fault-rules/AHU-SUPPLY-WARM'

for (const [name, look] of looks('a desk in daylight', 'a phone at night')) {
  test.serial(`the pages of rules are clean through ${name}`, async t => {
    const { page, complaints, close } = await openPage(t.context.chromium.browser, t.context.box.url, look)
    t.teardown(close)
    await signIn(page, 'agent', PASSWORDS.agent)
    for (const path of [
      '/fault-rules',
      '/fault-rules?type=ahu&show=own',
      RULE,
      '/fault-rules/AHU-ALWAYS-ON',
      '/fault-rules/TEST-GONE',
      '/rule-editor',
    ]) {
      await page.goto(path)
      await expectClean(t, page, path, 48)
    }
    await page.goto(RULE)
    for (const summary of await page.locator('main summary').all()) await summary.click()
    await expectClean(t, page, 'a rule with everything open', 48)
    await page.goto('/rule-editor?rule=AHU-SUPPLY-WARM')
    const field = page.getByLabel('Text of the rule')
    await field.fill(warmRule('AHU-SUPPLY-WARM', 50))
    await page.locator('#checked').getByText('It checks.').waitFor()
    await page.getByRole('button', { name: 'What would this have found?' }).click()
    await page.locator('#tried').getByText('Nothing was stored').waitFor()
    await expectClean(t, page, 'a trial', 48)
    await page.getByRole('button', { name: 'Deploy …' }).click()
    await page.getByText('Changed lines').waitFor()
    await expectClean(t, page, 'the review', 48)
    t.deepEqual(complaints, [])
  })
}

test.serial('a rule whose inputs need not all be mapped fits a window of 320 pixels', async t => {
  const look = { viewport: { width: 320, height: 568 } }
  const { page, close } = await openPage(t.context.chromium.browser, t.context.box.url, look)
  t.teardown(close)
  await signIn(page, 'agent', PASSWORDS.agent, '/fault-rules/VAV-REHEAT-LEAK')
  await page.getByText('where it is mapped').first().waitFor()
  t.is(await overflow(page), 0)
})

test.serial('while a person types the page says what is wrong in which line, and then that it checks', async t => {
  const { page, complaints, close } = await openPage(t.context.chromium.browser, t.context.box.url)
  t.teardown(close)
  await signIn(page, 'agent', PASSWORDS.agent, '/rule-editor?copy=AHU-SUPPLY-WARM')
  const field = page.getByLabel('Text of the rule')
  const good = await field.inputValue()
  t.regex(good, /^id: OWN-AHU-SUPPLY-WARM/)
  const checked = page.locator('#checked')
  await field.fill(good.replace('too_warm > tolerance', 'too_warm > 5 Pa'))
  await checked.getByText(/Line 12, when/).waitFor()
  await field.fill(good)
  await checked.getByText('It checks.').waitFor()
  t.is(await field.inputValue(), good)
  t.deepEqual(complaints, [])
})

test.serial('without script a rule is checked, deployed, found in the list and taken back', async t => {
  const { box, chromium } = t.context
  const { page, complaints, close } = await openPage(chromium.browser, box.url, { javaScriptEnabled: false })
  t.teardown(close)
  await signIn(page, 'agent', PASSWORDS.agent, '/fault-rules')
  await page.getByRole('link', { name: 'Write a rule' }).click()
  const field = page.getByLabel('Text of the rule')
  await field.fill(warmRule().replace('sa_t > limit', 'sa_t > 5 Pa'))
  await page.getByRole('button', { name: 'Check', exact: true }).click()
  await page.getByText(/Line 7, when/).waitFor()
  t.is(await field.inputValue(), warmRule().replace('sa_t > limit', 'sa_t > 5 Pa'))
  for (const limit of [70, 65]) {
    await page.goto('/rule-editor')
    await field.fill(warmRule('TEST-WARM', limit))
    await page.getByRole('button', { name: 'Deploy …' }).click()
    await page.getByRole('button', { name: 'Deploy', exact: true }).click()
    await page.getByText('The rule is deployed').waitFor()
  }
  const versions = page.locator('#versions')
  await versions.getByText('Go back to this text').first().click()
  await versions.getByRole('button', { name: 'Go back to this text' }).click()
  await page.getByText('The earlier text counts from the next run on.').waitFor()
  t.is((await box.context.rules.read('TEST-WARM'))!.yaml, warmRule())
  await page.goto('/fault-rules')
  await page.getByRole('searchbox', { name: 'Title or id' }).fill('test-warm')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByRole('link', { name: 'Supply air above 70 °F' }).click()
  await page.getByRole('button', { name: 'Deactivate' }).click()
  await page.getByText('The rule is deactivated: no run evaluates it.').waitFor()
  t.like(
    box.context.ruleStates.list().find(({ rule_id }) => rule_id === 'TEST-WARM'),
    { active: false, changed_by: 'agent' },
  )
  t.deepEqual(complaints, [])
})
