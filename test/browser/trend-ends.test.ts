/** A line that no newer value follows: in Trends, on the page of its point and on that of a fault. */
import test from 'ava'
import { COOLING } from '../support/page-fixture.ts'
import { openSite, PASSWORDS } from '../support/sites/page-site.ts'
import { openChromium } from './chromium.ts'
import { looks } from './looks.ts'
import { openPage, signIn } from './watch.ts'

declare const window: { written: string[] }
declare const CanvasRenderingContext2D: { prototype: { fillText(text: string, ...at: number[]): void } }

/** In the page: notes each text that is written on a canvas. */
function noteTexts(): void {
  window.written = []
  const { prototype } = CanvasRenderingContext2D
  const write = prototype.fillText
  prototype.fillText = function (text, ...at) {
    window.written.push(text)
    return write.call(this, text, ...at)
  }
}

for (const [name, look] of looks('a desk in daylight', 'a phone at night')) {
  test.serial(`a line without newer values says since when on ${name}`, async t => {
    const chromium = await openChromium()
    const box = await openSite({ product: 'appliance', api: true })
    t.teardown(async () => {
      await chromium.close()
      await box.close()
    })
    const { page, close } = await openPage(chromium.browser, box.url, look)
    t.teardown(close)
    await signIn(page, 'viewer', PASSWORDS.viewer, '/trends')
    await page.addInitScript(noteTexts)
    const written = () => page.evaluate(() => window.written.filter(text => text.startsWith('no value')))
    for (const path of ['/trends?building=school&points=ahu-1.sa_t,ahu-1.ma_t', `/faults/${COOLING.finding_id}?window=day`]) {
      await page.goto(path)
      await page.locator('#trends canvas').waitFor()
      t.deepEqual(await written(), ['no value since 13:47'], path)
      await page.getByText('mixed air temperature: no value since 13:47').first().waitFor()
    }
    await page.goto('/trends?building=school&points=ahu-1.ma_t&from=2026-11-20T06:00&to=2026-11-20T08:00')
    await page.locator('#trends canvas').waitFor()
    t.deepEqual(await written(), [], 'it ended after this time')
    await page.goto('/buildings/school/points/ahu-1.ma_t')
    const drawing = page.locator(name.includes('phone') ? '.for-narrow' : '.for-wide')
    t.is(await drawing.locator('.ended').count(), 1)
    await drawing.getByText('no value since 13:47').waitFor()
  })
}
