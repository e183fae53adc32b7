/** The list of faults: by hand, by keys, on a phone. */
import anyTest, { type TestFn } from 'ava'
import type { Page } from 'playwright-core'
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { FINDINGS, finding, NOW } from '../support/page-fixture.ts'
import { openSite, PASSWORDS, type TestSite } from '../support/sites/page-site.ts'
import { openChromium, type OpenBrowser } from './chromium.ts'
import { expectClean, looks } from './looks.ts'
import { focused, openPage, signIn } from './watch.ts'

const HELD = {
  ...finding({
    finding_id: 'f-held',
    rule_id: 'OVR-HELD',
    equipment_id: 'vav-3',
    title: 'Point overridden by an operator',
    kind: 'override',
    severity: 3,
    from: NOW - 40 * HOUR,
  }),
  role: 'damper',
}
/** Where the bar of tasks begins in the window of a phone, 844 px high. */
const ABOVE_TASKS = 844 - 64

const test = anyTest as TestFn<{ chromium: OpenBrowser; box: TestSite }>
test.before(async t => {
  t.context = { chromium: await openChromium(), box: await openSite({ product: 'appliance', findings: [...FINDINGS, HELD] }) }
})
test.after.always(async t => {
  await t.context.chromium.close()
  await t.context.box.close()
})

const ack = (box: TestSite, id: string) => box.context.notes.get(id).ack

test.serial('on the page of a fault a key acknowledges and another goes to the note, which the keyboard sends', async t => {
  const { chromium, box } = t.context
  const { page, complaints, close } = await openPage(chromium.browser, box.url)
  t.teardown(close)
  await signIn(page, 'agent', PASSWORDS.agent, '/faults/f-cooling')
  await page.keyboard.press('n')
  await page.keyboard.type('a belt slips')
  t.is(ack(box, 'f-cooling'), 'unacked', 'letters of a note are no commands')
  await page.keyboard.press('Tab')
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')])
  t.is(box.context.notes.get('f-cooling').note, 'a belt slips')
  await page.keyboard.press('a')
  await page.getByText('Acknowledged.', { exact: true }).waitFor()
  t.is(ack(box, 'f-cooling'), 'acked')
  t.deepEqual(
    complaints.filter(text => !text.includes('404')),
    [],
    'the plot of this site has no values to load',
  )
  box.context.notes.set({ ...box.context.notes.get('f-cooling'), ack: 'unacked', note: '' })
})

test.serial('on a phone a fault is acknowledged without scrolling, and the way to the rest is beside it', async t => {
  const { chromium, box } = t.context
  const { page, close } = await openPage(chromium.browser, box.url, PHONE)
  t.teardown(close)
  await signIn(page, 'agent', PASSWORDS.agent, '/faults/f-cooling')
  const button = page.getByRole('button', { name: 'Acknowledge' })
  const { y, height } = (await button.boundingBox())!
  t.true(y + height <= ABOVE_TASKS, `ends at ${y + height} px`)
  await page.getByRole('link', { name: 'Note, assign, snooze …' }).click()
  await page.waitForURL('**#actions')
  t.true((await page.getByLabel('Note').boundingBox())!.y < ABOVE_TASKS)
  await button.click()
  await page.getByText('Acknowledged.', { exact: true }).waitFor()
  t.is(ack(box, 'f-cooling'), 'acked')
  t.is(await button.count(), 0)
  box.context.notes.set({ ...box.context.notes.get('f-cooling'), ack: 'unacked' })
})

test.serial('keys walk through the list, acknowledge and snooze, and a click takes it back', async t => {
  const { chromium, box } = t.context
  const { page, complaints, close } = await openPage(chromium.browser, box.url)
  t.teardown(close)
  await signIn(page, 'agent', PASSWORDS.agent, '/faults')
  await page.keyboard.press('j')
  t.is((await focused(page)).text, 'Supply air too warm with the cooling valve wide open')
  await page.keyboard.press('j')
  await page.keyboard.press('k')
  t.is(await page.locator('.bulk').isVisible(), false)
  await page.keyboard.press('x')
  t.true(await page.locator('.bulk').isVisible())
  await page.keyboard.press('a')
  await page.getByText('1 fault acknowledged.').waitFor()
  t.is(ack(box, 'f-cooling'), 'acked')
  // The script takes what was done out of the address, and hears the keys, once the page has come.
  await page.waitForURL(url => url.search === '')
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('1 fault no longer acknowledged.').waitFor()
  await page.waitForURL(url => url.search === '')
  t.is(ack(box, 'f-cooling'), 'unacked')
  await page.keyboard.press('j')
  await page.keyboard.press('s')
  await page.keyboard.type('valve is ordered')
  await page.keyboard.press('Enter')
  await page.getByText('1 fault snoozed.').waitFor()
  t.like(box.context.snoozes.list(NOW, 10), [{ until: NOW + 24 * HOUR, reason: 'valve is ordered', rule_id: 'AHU-SUPPLY-WARM' }])
  t.is(ack(box, 'f-cooling'), 'unacked', 'Enter in the reason does not acknowledge')
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('1 fault no longer snoozed.').waitFor()
  t.deepEqual(box.context.snoozes.list(NOW, 10), [])
  await page.getByLabel('Choose all').check()
  await page.getByLabel('Assign to').fill('Kim')
  await page.getByRole('button', { name: 'Assign' }).click()
  await page.getByText('3 faults assigned.').waitFor()
  t.is(box.context.notes.get('f-flow').assignee, 'Kim')
  t.deepEqual(complaints, [])
})

for (const [name, look] of looks('a desk at night', 'a phone in daylight')) {
  test.serial(
    `choosing, filters and parts are clean through ${name}; a fault is ${name.includes('desk') ? 'one line' : 'a card of few lines'}`,
    async t => {
      const { chromium, box } = t.context
      const { page, complaints, close } = await openPage(chromium.browser, box.url, look)
      t.teardown(close)
      await signIn(page, 'agent', PASSWORDS.agent, '/faults?state=active&minutes=60&days=30')
      const rows = page.locator('.faults tbody tr')
      const heights = await rows.evaluateAll(all => all.map(row => (row as unknown as { clientHeight: number }).clientHeight))
      t.true(Math.max(...heights) <= (name.includes('desk') ? 56 : 160), String(heights))
      await page.locator('.faults .pick').last().check()
      await page.locator('.parts summary').first().click()
      await expectClean(t, page, 'faults', 48)
      if (name.includes('phone')) await page.getByText('Filtered: open, 1 h or more, within 30 days').click()
      await expectClean(t, page, 'filter', 48)
      await page.getByRole('link', { name: /1\sh or more/ }).click()
      await page.waitForURL(url => url.search === '?days=30&state=active')
      await page.getByRole('link', { name: /^Overrides 1/ }).click()
      await page.getByRole('link', { name: 'Point overridden by an operator: damper' }).waitFor()
      await expectClean(t, page, 'overrides', 48)
      t.deepEqual(complaints, [])
    },
  )
}

const [, PHONE] = looks('a phone in daylight')[0]!

/** Not under the bar of tasks. */
async function seen(page: Page, selector: string): Promise<number> {
  const bar = (await page.getByRole('navigation', { name: /^(Pages|Seiten)$/ }).boundingBox())!
  const rows = await page.locator(selector).all()
  const boxes = await Promise.all(rows.map(row => row.boundingBox()))
  return boxes.filter(box => box && box.y + box.height <= bar.y).length
}

for (const [title, javaScriptEnabled, locale] of [
  ['with script', true, 'en-GB'],
  ['without script, in German', false, 'de-DE'],
] as const) {
  test.serial(`on a phone three faults are seen at once below the line of the filter, ${title}`, async t => {
    // As many episodes as the page gathers, so that its notice stands above the list.
    const many = Array.from({ length: 1000 }, (_, i) => ({
      ...FINDINGS[0]!,
      finding_id: `f-${i}`,
      rule_id: `RULE-${i % 8}`,
      from: NOW - (i + 1) * MINUTE,
    }))
    const box = await openSite({ product: 'appliance', findings: many })
    t.teardown(box.close)
    const { page, close } = await openPage(t.context.chromium.browser, box.url, { ...PHONE, javaScriptEnabled, locale })
    t.teardown(close)
    await page.goto('/faults?priority=1')
    await page.locator('[name=username]').fill('agent')
    await page.locator('[name=password]').fill(PASSWORDS.agent)
    await page.locator('[name=password]').press('Enter')
    await page.waitForURL('**/faults?priority=1')
    t.true(await page.locator('.notice').isVisible())
    t.true((await seen(page, '.faults tbody tr')) >= 3, 'three faults')
    t.false(await page.locator('.filter select').first().isVisible())
    await page.locator('summary', { hasText: /(Filtered: priority 1|Gefiltert: Priorität 1), / }).click()
    t.true(await page.locator('.filter select').first().isVisible())
    t.true(await page.locator('.chips a').first().isVisible())
  })
}

test.serial('on a desk the filter is open without a click, without script too', async t => {
  const { chromium, box } = t.context
  const [, desk] = looks('a desk in daylight')[0]!
  const { page, close } = await openPage(chromium.browser, box.url, { ...desk, javaScriptEnabled: false })
  t.teardown(close)
  await signIn(page, 'agent', PASSWORDS.agent, '/faults')
  await page.getByLabel('State').selectOption('active')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByRole('link', { name: 'open remove' }).click()
  await page.waitForURL(url => url.search === '')
  t.false(await page.locator('.fold > summary').isVisible())
})

test.serial('on a phone what is done with a chosen fault covers no more than the room of one fault', async t => {
  const { chromium, box } = t.context
  const { page, close } = await openPage(chromium.browser, box.url, PHONE)
  t.teardown(close)
  await signIn(page, 'agent', PASSWORDS.agent, '/faults')
  await page.locator('.faults tbody .pick').first().check()
  const bar = (await page.getByRole('group', { name: 'Do with the chosen faults' }).boundingBox())!
  t.true(bar.height < 140, `${bar.height} px`)
  for (const name of ['Acknowledge', 'Assign']) t.true(await page.getByRole('button', { name, exact: true }).isVisible(), name)
  await page.locator('.bulk summary').click()
  t.true(await page.getByLabel('Snooze for').isVisible())
  await page.getByRole('button', { name: 'Snooze', exact: true }).click()
  t.is(await page.locator('.toast').count(), 0, 'not without a reason')
  await expectClean(t, page, 'the bar with the fields of a snooze', 44)
  await page.getByLabel('Assign to').fill('Mary')
  await page.getByRole('button', { name: 'Assign', exact: true }).click()
  await page.locator('.toast').waitFor()
})

for (const [title, javaScriptEnabled, locale, more] of [
  ['with script', true, 'en-GB', 'Show 15 more'],
  ['without script, in German', false, 'de-DE', '15 weitere zeigen'],
] as const) {
  test.serial(`on a phone the first 25 faults of a long list are shown, and a link shows the others, ${title}`, async t => {
    const many = Array.from({ length: 40 }, (_, i) => ({
      ...FINDINGS[0]!,
      finding_id: `f-${i}`,
      rule_id: `RULE-${i}`,
      equipment_id: i < 30 ? 'ahu-1' : 'vav-3',
      from: NOW - (i + 1) * MINUTE,
    }))
    const box = await openSite({ product: 'appliance', findings: many })
    t.teardown(box.close)
    const { page, close } = await openPage(t.context.chromium.browser, box.url, { ...PHONE, javaScriptEnabled, locale })
    t.teardown(close)
    await page.goto('/faults?group=equipment')
    await page.locator('[name=username]').fill('agent')
    await page.locator('[name=password]').fill(PASSWORDS.agent)
    await page.locator('[name=password]').press('Enter')
    const link = page.getByRole('link', { name: more })
    await page.waitForURL('**/faults?group=equipment')
    const shown = (selector: string) => page.locator(selector).filter({ visible: true }).count()
    t.deepEqual([await shown('.faults .what > a'), await shown('.faults .group')], [25, 1])
    if (javaScriptEnabled) await expectClean(t, page, 'the first 25', 44)
    await link.click()
    // The browser goes to a part of the same page after the click, and nothing else waits for it.
    await link.waitFor({ state: 'hidden' })
    t.deepEqual([await shown('.faults .what > a'), await shown('.faults .group')], [40, 2])
    const next = (await page.locator('#later').boundingBox())!
    t.true(next.y >= 0 && next.y + next.height <= ABOVE_TASKS, `the first of the others is in sight: ${next.y}`)
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.goto('/faults?group=equipment')
    t.is(await shown('.faults .what > a'), 40, 'a desk shows all')
    t.false(await link.isVisible())
  })
}

test.serial('what chooses all faults chooses none that a narrow window does not show', async t => {
  const many = Array.from({ length: 30 }, (_, i) => ({ ...FINDINGS[0]!, finding_id: `f-${i}`, rule_id: `RULE-${i}` }))
  const box = await openSite({ product: 'appliance', findings: many })
  t.teardown(box.close)
  const { page, close } = await openPage(t.context.chromium.browser, box.url, { viewport: { width: 1280, height: 900 } })
  t.teardown(close)
  await signIn(page, 'agent', PASSWORDS.agent, '/faults')
  const chosen = () => page.locator('.faults tbody .pick:checked').count()
  await page.getByLabel('Choose all').check()
  t.is(await chosen(), 30)
  await page.getByLabel('Choose all').uncheck()
  await page.setViewportSize({ width: 390, height: 844 })
  await page.locator('[data-pick-all]').evaluate(all => {
    Object.assign(all, { checked: true })
    all.dispatchEvent(new Event('change'))
  })
  t.is(await chosen(), 25)
  for (let i = 0; i < 40; i++) await page.keyboard.press('j')
  t.is(await page.locator('.faults tbody tr:not(.group)').nth(24).locator('a:focus').count(), 1, 'nor does a key go there')
})
