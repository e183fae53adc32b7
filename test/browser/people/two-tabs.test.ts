/** One person in two tabs, or two people, at one fault: who comes second is told, and no text is lost. */
import test from 'ava'
import { openSite, PASSWORDS } from '../../support/sites/page-site.ts'
import { openChromium } from '../chromium.ts'
import { expectClean } from '../looks.ts'
import { openPage, signIn } from '../watch.ts'

test('of two tabs at one fault the second is told what the first has done, and its text is not lost', async t => {
  const chromium = await openChromium()
  const box = await openSite({ product: 'appliance' })
  t.teardown(async () => {
    await chromium.close()
    await box.close()
  })
  const { page: first, close } = await openPage(chromium.browser, box.url)
  t.teardown(close)
  await signIn(first, 'agent', PASSWORDS.agent, '/faults/f-cooling')
  const second = await first.context().newPage()
  await second.goto('/faults/f-cooling')
  const note = () => box.context.notes.get('f-cooling')

  await first.getByRole('button', { name: 'Acknowledge' }).first().click()
  await first.getByText('Acknowledged.', { exact: true }).first().waitFor()
  await second.getByRole('button', { name: 'Acknowledge' }).first().click()
  await second.getByText('Acknowledged.', { exact: true }).first().waitFor()
  t.is(note().ack, 'acked')

  // Both have opened the page before either has written.
  await first.goto('/faults/f-cooling')
  await second.goto('/faults/f-cooling')
  const write = async (page: typeof first, text: string) => {
    await page.getByLabel('Note').fill(text)
    await page.getByRole('button', { name: 'Save the note' }).click()
  }
  await write(first, 'a belt slips\nordered')
  await first.getByText('ordered').first().waitFor()
  await write(second, 'the valve sticks')
  await second.getByText('The note was changed meanwhile: “a belt slips').waitFor()
  await second.getByText('Yours was not stored: “the valve sticks”').waitFor()
  await expectClean(t, second, 'conflict', 24)
  t.is(note().note?.replaceAll('\r', ''), 'a belt slips\nordered')

  // Having seen it, the second writes both; the first, whose page is older now, is told in turn.
  await second.goto('/faults/f-cooling')
  await write(second, 'a belt slips, and the valve sticks')
  await second.getByText('a belt slips, and the valve sticks').first().waitFor()
  t.is(note().note, 'a belt slips, and the valve sticks')
  await write(first, 'done')
  await first.getByText('The note was changed meanwhile').waitFor()

  await first.goto('/faults/f-cooling')
  await second.goto('/faults/f-cooling')
  for (const [page, name] of [
    [first, 'Kim'],
    [second, 'Lee'],
  ] as const) {
    await page.getByLabel('Assign to').fill(name)
    await page.getByRole('button', { name: 'Assign', exact: true }).click()
    await page
      .getByText(name === 'Kim' ? 'Kim' : 'It was assigned to “Kim” meanwhile')
      .first()
      .waitFor()
  }
  t.is(note().assignee, 'Kim')
})
