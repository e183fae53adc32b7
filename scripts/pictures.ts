/**
 * `scripts/pictures`: twelve pages of a running site as PNG in docs/pictures, on a desk and on a phone. With `--data DIR` the site of an
 * earlier start goes on, which has more history to show.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import type { RunningSite } from './lib-start/run.ts'
import { withSite } from './lib-start/with-site.ts'

const TO = 'docs/pictures'
const DESK = { viewport: { width: 1280, height: 800 } }
const PHONE = { viewport: { width: 390, height: 844 } }
const FINDINGS_LEAST = 6
/** A plot is drawn anew by script, and parts of a page come later. */
const SETTLE_MS = 3000

type Picture = {
  name: string
  at: 'appliance' | 'hub'
  size: typeof DESK
  path: string
  /** Followed from there, each a link by its selector. */
  links?: string[]
  dark?: true
}
const FAULT = 'td.what > a'
const EQUIPMENT = 'td.where a'
const PICTURES: Picture[] = [
  { name: 'home', at: 'appliance', size: DESK, path: '/' },
  { name: 'home-phone', at: 'appliance', size: PHONE, path: '/' },
  { name: 'faults', at: 'appliance', size: DESK, path: '/faults' },
  { name: 'faults-phone', at: 'appliance', size: PHONE, path: '/faults' },
  { name: 'fault', at: 'appliance', size: DESK, path: '/faults', links: [FAULT] },
  { name: 'fault-phone', at: 'appliance', size: PHONE, path: '/faults', links: [FAULT], dark: true },
  { name: 'building', at: 'appliance', size: DESK, path: '/buildings' },
  { name: 'equipment', at: 'appliance', size: DESK, path: '/faults', links: [EQUIPMENT] },
  { name: 'trends', at: 'appliance', size: DESK, path: '/faults', links: [EQUIPMENT, '#now a[href^="/trends"]'], dark: true },
  { name: 'overrides', at: 'appliance', size: DESK, path: '/overrides' },
  { name: 'coverage', at: 'appliance', size: DESK, path: '/coverage' },
  { name: 'fleet', at: 'hub', size: DESK, path: '/' },
]

const { values } = parseArgs({ options: { data: { type: 'string' }, 'port-base': { type: 'string', default: '9800' } } })
await withSite({
  options: { data: values.data, portBase: Number(values['port-base']) },
  isReady: rule_ids => rule_ids.length >= FINDINGS_LEAST,
  lacks: `fewer than ${FINDINGS_LEAST} findings`,
  async work(browser, site) {
    mkdirSync(TO, { recursive: true })
    for (const picture of PICTURES) await take(browser, site, picture)
  },
})

async function take(browser: Browser, site: RunningSite, { name, at, size, path, links = [], dark }: Picture): Promise<void> {
  const baseURL = at === 'hub' ? site.hubUrl : site.applianceUrl
  const context = await browser.newContext({ baseURL, ...size, colorScheme: dark ? 'dark' : 'light' })
  const page = await context.newPage()
  await signIn(page, site.folder.kept.passwords.agent, path)
  for (const link of links) {
    await page.locator(link).first().click()
    await page.waitForLoadState()
  }
  await page.waitForTimeout(SETTLE_MS)
  const file = join(TO, `${name}.png`)
  await page.screenshot({ path: file })
  await context.close()
  process.stdout.write(`${file}\n`)
}

async function signIn(page: Page, password: string, path: string): Promise<void> {
  await page.goto(path)
  await page.getByLabel('Name').fill('agent')
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(url => url.pathname !== '/login')
}
