/** Requirements of every page, for every role and screen. */
import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'

/**
 * The little of a document that the checks touch, from functions that run inside the page. The whole library of DOM types
 * would clash with Node's own.
 */
type Rectangle = { height: number; left: number; right: number }
type Element_ = {
  id: string
  textContent: string | null
  outerHTML: string
  offsetParent: unknown
  scrollWidth: number
  clientWidth: number
  getBoundingClientRect(): Rectangle
  known?: boolean
}
declare const document: {
  documentElement: Element_
  activeElement: Element_ | null
  querySelectorAll(selector: string): Iterable<Element_>
  createRange(): { selectNodeContents(node: unknown): void; getBoundingClientRect(): Rectangle }
  dispatchEvent(event: Event): boolean
}
declare function getComputedStyle(element: Element_): { getPropertyValue(name: string): string }
declare const axe: { run(): Promise<{ violations: Violation[] }> }
type Violation = { id: string; help: string; nodes: { target: string[]; failureSummary: string }[] }

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** A page that notes what should not happen: errors on the console, requests to elsewhere, answers that failed. */
export async function openPage(browser: Browser, origin: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ baseURL: origin, ...options })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', message => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', error => complaints.push(String(error)))
  page.on('request', request => {
    if (new URL(request.url()).origin !== origin) complaints.push(`asked ${request.url()}`)
  })
  page.on('requestfailed', request => {
    const why = request.failure()?.errorText
    // A page that is left no longer needs what it asked for.
    if (why !== 'net::ERR_ABORTED') complaints.push(`failed ${request.url()}: ${why}`)
  })
  return { page, complaints, close: () => context.close() }
}

export async function signIn(page: Page, username: string, password: string, next = '/'): Promise<void> {
  await page.goto(next)
  await page.getByLabel('Name').fill(username)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(url => url.pathname !== '/login')
}

/** A click returns when the next page begins: what looks at a whole page waits until it has come, with style and scripts. */
const whole = (page: Page): Promise<void> => page.waitForLoadState('load')

/** @returns what axe finds against WCAG 2.2 AA and its own good practice, one line each */
export async function axeFindings(page: Page): Promise<string[]> {
  await whole(page)
  await page.evaluate(AXE)
  return page.evaluate(async () => {
    const { violations } = await axe.run()
    return violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${help} at ${target.join(' ')}: ${failureSummary}`),
    )
  })
}

/** @returns by how many CSS pixels the page is wider than the window */
export async function overflow(page: Page): Promise<number> {
  await whole(page)
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
}

/** @returns the texts of elements that are wider than their element, and so lie over what is beside it */
export const cutTexts = (page: Page, selector: string): Promise<string[]> =>
  page
    .locator(selector)
    .evaluateAll(all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => (one.textContent ?? '').trim()))

/** @returns controls that are smaller than `least` CSS pixels in height; links within sentences are exempt (WCAG 2.5.8) */
export async function smallControls(page: Page, least: number): Promise<string[]> {
  await whole(page)
  return page.evaluate(size => {
    const controls = document.querySelectorAll(
      'button, select, input:not([type=hidden]), textarea, summary, nav a, .choices a, .breakdown a, .figure a',
    )
    return [...controls]
      .filter(control => control.offsetParent !== null && control.getBoundingClientRect().height < size - 0.5)
      .map(control => `${control.outerHTML.slice(0, 80)} ${control.getBoundingClientRect().height}`)
  }, least)
}

/** @returns fields whose text is under 16 CSS pixels, into which a telephone zooms */
export const smallFields = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('select, textarea, input:not([type=hidden], [type=checkbox], [type=radio])')]
      .filter(field => Number.parseFloat(getComputedStyle(field).getPropertyValue('font-size')) < 16)
      .map(field => field.outerHTML.slice(0, 80)),
  )

/** @returns fields and buttons of forms that lie beyond the right edge of the window, where nobody looks for them */
export const hiddenFields = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('form :is(button, select, input:not([type=hidden]), textarea)')]
      .filter(field => field.offsetParent !== null)
      .filter(field => field.getBoundingClientRect().right > document.documentElement.clientWidth)
      .map(field => field.outerHTML.slice(0, 80)),
  )

/** @returns the free space between neighbours of a row, CSS pixels between their texts */
export const gapsBetween = (page: Page, selector: string): Promise<number[]> =>
  page.locator(`${selector}:visible`).evaluateAll(all => {
    const boxes = all.map(one => {
      const range = document.createRange()
      range.selectNodeContents(one)
      return range.getBoundingClientRect()
    })
    return boxes.slice(1).map((box, i) => box.left - boxes[i]!.right)
  })

/** @returns a custom property of the page's style, such as `--bg` */
export const customProperty = (page: Page, name: string): Promise<string> =>
  page.evaluate(one => getComputedStyle(document.documentElement).getPropertyValue(one).trim(), name)

/** @returns text and id of what has the focus */
export const focused = (page: Page) =>
  page.evaluate(() => ({ text: document.activeElement?.textContent ?? '', id: document.activeElement?.id ?? '' }))

/** Marks the very element that has the focus, to know it again. */
export const rememberFocus = (page: Page) => page.evaluate(() => void (document.activeElement!.known = true))
export const isSameFocus = (page: Page) => page.evaluate(() => document.activeElement?.known === true)

/** Makes the page hidden or visible. */
export const setHidden = (page: Page, hidden: boolean) =>
  page.evaluate(now => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => now })
    document.dispatchEvent(new Event('visibilitychange'))
  }, hidden)
