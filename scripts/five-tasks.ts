/**
 * `node scripts/five-tasks.ts`: walks five tasks of people on the simulated site, as `npm start` runs it, and prints for each the
 * clicks from Home, the words that stand before the answer on the pages that are passed, and the seconds that the pages take.
 * docs/design.md has them beside the ways of other products.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Browser, Locator, Page } from 'playwright-core'
import { openChromium } from './lib/chromium.ts'
import { Refusal } from './lib-start/refusal.ts'
import { type RunningSite, startSite } from './lib-start/run.ts'

const WAIT_MS = 15 * 60_000
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
      await click(page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Admin' }))
      await click(page.getByRole('main').getByRole('link', { name: /^Enrol/ }))
      await click(page.getByText('Reissue', { exact: true }).first())
      await see(page.getByRole('button', { name: 'Download a new kit' }).first())
      const [kit] = await Promise.all([
        page.waitForEvent('download'),
        click(page.getByRole('button', { name: 'Download a new kit' }).first()),
      ])
      await kit.delete()
    },
  },
]

const { values } = parseArgs({ options: { 'port-base': { type: 'string', default: '9800' } } })
const stopped = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopped.abort())
try {
  const site = await startSite(
    { data: undefined, portBase: Number(values['port-base']), speed: 120, once: false, json: false },
    stopped.signal,
  )
  const chromium = await openChromium()
  try {
    await waitForFault(site)
    for (const task of TASKS) await measure(chromium.browser, site, task)
  } finally {
    await chromium.close()
    await site.stop()
  }
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
// A library may still hold a socket; everything of ours has been stopped by now.
process.exit()

async function waitForFault({ hub }: RunningSite): Promise<void> {
  for (const end = Date.now() + WAIT_MS; !stopped.signal.aborted; await wait(5000)) {
    const rules = (await hub.findings()).map(({ rule_id }) => rule_id)
    if (rules.length > 2 && rules.some(id => id.startsWith('OVR-'))) return
    if (Date.now() > end) throw new Refusal('no fault and no override reached the hub within 15 min')
  }
}

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
