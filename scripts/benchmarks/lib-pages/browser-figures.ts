/** What a browser on a slow connection and a slow processor sees of a page: bytes on the wire, first paint, shift of the layout. */
import type { Browser } from 'playwright-core'

/** `paint_ms`: first contentful paint. `shift`: sum of layout shifts within two seconds, without unit. */
export type BrowserFigures = { bytes: number; paint_ms: number; shift: number }

/** WebPageTest's profile "3G": 1.6 Mbit/s down, 768 kbit/s up, 300 ms from sending to the first byte. */
const THREE_G = { offline: false, downloadThroughput: 1.6e6 / 8, uploadThroughput: 768e3 / 8, latency: 300 }
const CPU_SLOWER = 4
const PHONE = { viewport: { width: 390, height: 844 } }
/** After the load; parts that come later move the page within this. */
const SETTLE_MS = 2000

type Entries = { getEntriesByName(name: string): { startTime: number }[] }
declare const performance: Entries
declare const PerformanceObserver: new (
  take: (list: { getEntries(): { value?: number; hadRecentInput?: boolean }[] }) => void,
) => {
  observe(options: { type: string; buffered: boolean }): void
}
declare const window: { shift: number }

/** @param url with an empty cache */
export async function measureInBrowser(browser: Browser, url: string): Promise<BrowserFigures> {
  const context = await browser.newContext(PHONE)
  try {
    const page = await context.newPage()
    const cdp = await context.newCDPSession(page)
    await cdp.send('Network.enable')
    await cdp.send('Network.emulateNetworkConditions', THREE_G)
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWER })
    let bytes = 0
    cdp.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength
    })
    await page.addInitScript(() => {
      window.shift = 0
      new PerformanceObserver(list => {
        for (const { value = 0, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shift += value
      }).observe({ type: 'layout-shift', buffered: true })
    })
    await page.goto(url, { waitUntil: 'load' })
    const loaded = bytes
    await page.waitForTimeout(SETTLE_MS)
    const [paint_ms, shift] = await page.evaluate(() => {
      const [paint] = performance.getEntriesByName('first-contentful-paint')
      return [paint?.startTime ?? Number.NaN, window.shift] as const
    })
    return { bytes: Math.max(loaded, bytes), paint_ms: Math.round(paint_ms), shift: Math.round(shift * 1e3) / 1e3 }
  } finally {
    await context.close()
  }
}
