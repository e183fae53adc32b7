/**
 * `node scripts/five-tasks.ts`: walks five tasks of people on the simulated site, as `npm start` runs it, and prints for each the
 * clicks from Home, the words that stand before the answer on the pages that are passed, and the seconds that the pages take.
 * docs/design.md has them beside the ways of other products.
 */
import { parseArgs } from 'node:util'
import type { Browser, Locator, Page } from 'playwright-core'
import type { RunningSite } from './lib-start/run.ts'
import { withSite } from './lib-start/with-site.ts'

/** The little of a document that is read inside of the page. */
type Node_ = { textContent: string | null; contains(other: Node_): boolean; compareDocumentPosition(other: Node_): number }
declare const document: {
  querySelector(selector: string): Node_ | null
  createTreeWalker(root: Node_, what: number): { nextNode(): (Node_ & { parentElement: { checkVisibility(): boolean } }) | null }
}

/** `see` ends a task: the answer is read. Fields that are filled are counted beside the clicks. */
type Walk = {
  click(target: Locator): Promise<void>
  fill(target: Locator, text: string): Promise<void>
  see(target: Locator): Promise<void>
}
type Task = { name: string; at: 'appliance' | 'hub'; walk(page: Page, steps: Walk): Promise<void> }

const TASKS: Task[] = [
  {
    name: 'why something is flagged',
    at: 'appliance',
    async walk(page, { click, see }) {
      await click(page.locator('.worst-faults a').first())
      await see(page.getByRole('heading', { name: 'Because' }))
    },
  },
  {
    name: 'the trend of a point',
    at: 'appliance',
    async walk(page, { click, fill, see }) {
      await fill(page.getByRole('searchbox'), 'AHU-1 supply')
      await click(page.locator('#found a').first())
      await see(page.locator('.plot:visible').first())
    },
  },
  {
    name: 'a forgotten override',
    at: 'appliance',
    async walk(page, { click, see }) {
      await click(page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Overrides' }))
      await see(page.locator('tbody tr').first())
    },
  },
  {
    name: 'a new box',
    at: 'hub',
    async walk(page, { click, fill, see }) {
      await click(page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Admin' }))
      await click(page.getByRole('main').getByRole('link', { name: /^Enrol/ }))
      await fill(page.getByLabel('Site', { exact: true }), 'riverside')
      await fill(page.getByLabel('Box (edge id)'), 'box-2')
      await see(page.getByRole('button', { name: 'Download the kit' }))
      const [kit] = await Promise.all([
        page.waitForEvent('download'),
        click(page.getByRole('button', { name: 'Download the kit' })),
      ])
      await kit.delete()
    },
  },
  {
    name: 'another box in the place of a broken one',
    at: 'hub',
    async walk(page, { click, see }) {
      await click(page.locator('td a[href^="/edges/"]').first())
      await click(page.getByRole('link', { name: 'Replace this box' }))
      await see(page.getByRole('button', { name: 'Download the kit' }))
      const [kit] = await Promise.all([
        page.waitForEvent('download'),
        click(page.getByRole('button', { name: 'Download the kit' })),
      ])
      await kit.delete()
    },
  },
]

const { values } = parseArgs({ options: { 'port-base': { type: 'string', default: '9800' } } })
await withSite({
  options: { data: undefined, portBase: Number(values['port-base']) },
  isReady: rule_ids => rule_ids.length > 2 && rule_ids.some(id => id.startsWith('OVR-')),
  lacks: 'no fault and no override',
  async work(browser, site) {
    for (const task of TASKS) await measure(browser, site, task)
  },
})

async function measure(browser: Browser, site: RunningSite, { name, at, walk }: Task): Promise<void> {
  const baseURL = at === 'hub' ? site.hubUrl : site.applianceUrl
  const context = await browser.newContext({ baseURL, viewport: { width: 1280, height: 800 } })
  const page = await context.newPage()
  await page.goto('/')
  await page.getByLabel('Name').fill('admin')
  await page.getByLabel('Password').fill(site.folder.kept.passwords.admin)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(url => url.pathname !== '/login')
  const counted = { clicks: 0, fields: 0, words: 0 }
  const read = async (target: Locator) => {
    await target.waitFor()
    counted.words += await target.evaluate(wordsBefore)
  }
  const begun = performance.now()
  await walk(page, {
    async click(target) {
      await read(target)
      counted.clicks++
      await target.click()
    },
    async fill(target, text) {
      counted.fields++
      await target.pressSequentially(text)
    },
    see: read,
  })
  const seconds = (performance.now() - begun) / 1000
  process.stdout.write(
    `${name}: ${counted.clicks} clicks, ${counted.fields} fields, ${counted.words} words, ${seconds.toFixed(1)} s\n`,
  )
  await context.close()
}

/** In the page: the visible words of its main part before the end of an element. */
function wordsBefore(element: unknown): number {
  const target = element as Node_
  const main = document.querySelector('main')!
  if (!main.contains(target)) return 0
  const texts = document.createTreeWalker(main, 4)
  let words = 0
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const isAfter = (target.compareDocumentPosition(text) & 4) > 0 && !target.contains(text)
    if (isAfter) break
    if (text.parentElement.checkVisibility())
      words += (text.textContent ?? '').split(/\s+/).filter(word => /\p{L}{2}/u.test(word)).length
  }
  return words
}
