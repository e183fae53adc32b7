/** Trends: the plot that zooms, on a desk, on a phone and without script. */
import { readFileSync } from 'node:fs'
import anyTest, { type TestFn } from 'ava'
import { openSite, PASSWORDS, type TestSite } from '../support/sites/page-site.ts'
import { openChromium, type OpenBrowser } from './chromium.ts'
import { expectClean, looks } from './looks.ts'
import { openPage, signIn } from './watch.ts'

const test = anyTest as TestFn<{ chromium: OpenBrowser; box: TestSite }>
test.before(async t => {
  t.context = { chromium: await openChromium(), box: await openSite({ product: 'appliance', api: true }) }
})
test.after.always(async t => {
  await t.context.chromium.close()
  await t.context.box.close()
})

type Shift = { value: number; sources: { node: { outerHTML?: string } | null }[] }
declare const window: { shifts: string[]; scrollY: number }
declare function getComputedStyle(element: unknown): { borderTopColor: string }
type Bitmap = { width: number; height: number }
declare function createImageBitmap(source: Blob): Promise<Bitmap>
declare const OffscreenCanvas: new (
  width: number,
  height: number,
) => {
  getContext(kind: '2d'): {
    drawImage(image: Bitmap, x: number, y: number): void
    getImageData(x: number, y: number, width: number, height: number): { data: Uint8ClampedArray }
  }
}
declare const document: {
  querySelector(
    selector: string,
  ): { getBoundingClientRect(): { height: number }; dataset: Record<string, string | undefined> } | null
}
declare const PerformanceObserver: new (
  take: (list: { getEntries(): Shift[] }) => void,
) => {
  observe(options: { type: string; buffered: boolean }): void
}

/** In the page: the room that is kept for the plot, and what a part of it takes, such as plot and legend. */
const heights = (part: string): [number, number] => {
  const tall = (selector: string) => document.querySelector(selector)!.getBoundingClientRect().height
  return [tall('#trends'), tall(part)]
}

/** In the page: notes each shift of the layout with the first element that moved. */
function countShifts(): void {
  window.shifts = []
  new PerformanceObserver(list => {
    for (const { value, sources } of list.getEntries())
      if (value > 0.0005) window.shifts.push(`${value} ${sources[0]?.node?.outerHTML?.slice(0, 80)}`)
  }).observe({ type: 'layout-shift', buffered: true })
}

/** In the page: the pixels of a canvas as text. */
const toPixels = (canvas: unknown): string => (canvas as { toDataURL(): string }).toDataURL()
const borderColour = (element: unknown): string => getComputedStyle(element).borderTopColor

/** In the page: how many pixels of the three right columns of a PNG differ from its background, in its first and last 60 rows. */
async function inkAtRightEdge(base64: string): Promise<{ top: number; bottom: number }> {
  const image = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), one => one.charCodeAt(0))]))
  const { width, height } = image
  const context = new OffscreenCanvas(width, height).getContext('2d')
  context.drawImage(image, 0, 0)
  const ink = (top: number): number => {
    const { data } = context.getImageData(width - 3, top, 3, 60)
    let count = 0
    for (let at = 0; at < data.length; at += 4) if (data[at] !== data[0] || data[at + 1] !== data[1]) count++
    return count
  }
  return { top: ink(0), bottom: ink(height - 60) }
}

const PLOT = '/trends?building=school&points=ahu-1.sa_t,ahu-1.clg_valve,ahu-1.fan_status,vav-3.zone_flow'

for (const [name, look] of looks('a desk in daylight', 'a desk at night', 'a phone in daylight', 'a phone at night')) {
  test.serial(`trends are clean through ${name}`, async t => {
    const { chromium, box } = t.context
    const { page, complaints, close } = await openPage(chromium.browser, box.url, look)
    t.teardown(close)
    await signIn(page, 'viewer', PASSWORDS.viewer)
    await page.goto('/trends')
    await expectClean(t, page, 'empty', 48)
    await page.goto(PLOT)
    await page.locator('#trends canvas').waitFor()
    await expectClean(t, page, 'plot', 48)
    t.deepEqual(complaints, [])
  })
}

for (const [name, look] of looks('a desk in daylight', 'a phone in daylight')) {
  test.serial(`the plot that zooms moves nothing when it replaces the drawing on ${name}`, async t => {
    const { chromium, box } = t.context
    const { page, close } = await openPage(chromium.browser, box.url, look)
    t.teardown(close)
    await signIn(page, 'viewer', PASSWORDS.viewer)
    if (name.includes('phone')) {
      await page.route('**/trends.js', route => route.abort())
      await page.goto(PLOT)
      const [held, drawing] = await page.evaluate(heights, '#trends > .for-narrow > svg')
      t.true(held - drawing < 4, `${held} px held for ${drawing} px of the drawing until the script has drawn`)
      await page.unroute('**/trends.js')
    }
    await page.addInitScript(countShifts)
    for (const points of ['ahu-1.sa_t', 'ahu-1.sa_t,ahu-1.ma_t,ahu-1.fan_status', 'ahu-1.sa_t,ahu-1.clg_valve,vav-3.zone_flow']) {
      await page.goto(`/trends?building=school&points=${points}`)
      await page.locator('#trends canvas').waitFor()
      await page.locator('#trends .u-over').hover()
      await page.waitForTimeout(300)
      t.deepEqual(await page.evaluate(() => window.shifts), [], points)
      const [room, plot] = await page.evaluate(heights, '#trends .uplot')
      t.true(plot >= Math.min(room, 640) - 40, `${points}: ${plot} px of ${room} are used`)
    }
  })
}

test.serial('each unit that is measured has an axis of its own', async t => {
  const { chromium, box } = t.context
  const { page, close } = await openPage(chromium.browser, box.url)
  t.teardown(close)
  const axes = async (points: string) => {
    await page.goto(`/trends?building=school&points=${points}`)
    await page.locator('#trends canvas').waitFor()
    return (await page.locator('#trends .u-axis').count()) - 1
  }
  await signIn(page, 'viewer', PASSWORDS.viewer, '/trends')
  t.is(await axes('ahu-1.sa_t,ahu-1.fan_status,ahu-1.clg_valve,vav-3.zone_flow'), 3, '°F, % and cfm beside on and off')
  t.is(await axes('ahu-1.sa_t,ahu-1.ma_t'), 1)
  t.is(await axes('ahu-1.fan_status'), 1)
})

test.serial('dragging zooms, the address follows, and a reload shows the same', async t => {
  const { chromium, box } = t.context
  const { page, complaints, close } = await openPage(chromium.browser, box.url)
  t.teardown(close)
  await signIn(page, 'viewer', PASSWORDS.viewer, PLOT)
  const over = page.locator('#trends .u-over')
  await over.waitFor()
  const { x, y, width } = (await over.boundingBox())!
  await page.mouse.move(x + width * 0.5, y + 50)
  await page.mouse.down()
  await page.mouse.move(x + width * 0.75, y + 60, { steps: 5 })
  await page.mouse.up()
  await page.waitForURL(/from=2026-11-20T/)
  const shown = (await page.locator('#trends').getAttribute('data-shown'))!
  const [from, to] = shown.split(',').map(Number)
  t.true(Math.abs(to! - from! - 6 * 3_600_000) < 600_000, `6 h are shown: ${to! - from!} ms`)
  await page.locator('#trend-time input[name=from][value^="2026-11-20T02"]').waitFor()
  await page.reload()
  await page.locator('#trends canvas').waitFor()
  t.is(await page.locator('#trends').getAttribute('data-shown'), shown)
  t.deepEqual(complaints, [])
})

test.serial('the wheel zooms, a double click returns, and the crosshair says the values', async t => {
  const { chromium, box } = t.context
  const { page, complaints, close } = await openPage(chromium.browser, box.url)
  t.teardown(close)
  await signIn(page, 'viewer', PASSWORDS.viewer, PLOT)
  const over = page.locator('#trends .u-over')
  await over.waitFor()
  const whole = await page.locator('#trends').getAttribute('data-shown')
  await over.hover()
  await page.mouse.wheel(0, -200)
  await page.waitForURL(/from=/)
  t.not(await page.locator('#trends').getAttribute('data-shown'), whole)
  await page.locator('#trends .u-legend').getByText(/\d °F/).first().waitFor()
  await over.dblclick()
  await page.locator(`#trends[data-shown="${whole}"]`).waitFor()
  t.deepEqual(complaints, [])
})

test.serial('on a phone two fingers zoom, a tap says the values, a second tap returns, and one finger scrolls', async t => {
  const { chromium, box } = t.context
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 }
  const { page, complaints, close } = await openPage(chromium.browser, box.url, phone)
  t.teardown(close)
  await signIn(page, 'viewer', PASSWORDS.viewer, PLOT)
  const host = page.locator('#trends')
  const over = host.locator('.u-over')
  await over.waitFor()
  const whole = await host.getAttribute('data-shown')
  const { x, y, width, height } = (await over.boundingBox())!
  const [middle, level] = [x + width / 2, y + height / 2]
  const cdp = await page.context().newCDPSession(page)
  const move = async (type: 'touchStart' | 'touchMove' | 'touchEnd', ...at: [number, number][]) => {
    const touchPoints = at.map(([left, top], id) => ({ x: left, y: top, id }))
    await cdp.send('Input.dispatchTouchEvent', { type, touchPoints })
  }

  await page.touchscreen.tap(middle, level)
  await host.locator('.u-legend').getByText(/\d °F/).first().waitFor()
  t.is(await host.getAttribute('data-shown'), whole)

  await move('touchStart', [middle - 20, level], [middle + 20, level])
  for (let step = 1; step <= 8; step++) await move('touchMove', [middle - 20 - 5 * step, level], [middle + 20 + 5 * step, level])
  await move('touchEnd')
  // Three times apart: a third of the day. On the way there it may have rested, and an earlier time been shown.
  await page.waitForFunction(() => {
    const [from, to] = document.querySelector('#trends')!.dataset['shown']!.split(',').map(Number)
    return to! - from! > 6 * 3_600_000 && to! - from! < 10 * 3_600_000
  })

  await page.touchscreen.tap(middle, level)
  await page.touchscreen.tap(middle, level)
  await page.locator(`#trends[data-shown="${whole}"]`).waitFor()

  await move('touchStart', [middle, level])
  for (let step = 1; step <= 8; step++) await move('touchMove', [middle, level - 10 * step])
  await move('touchEnd')
  await page.waitForFunction(() => window.scrollY > 20)
  t.is(await host.getAttribute('data-shown'), whole)
  t.deepEqual(complaints, [])
})

test.serial('the plot follows the light of the room, and on paper the drawing of the time shown stands in its place', async t => {
  const { chromium, box } = t.context
  const { page, complaints, close } = await openPage(chromium.browser, box.url, { colorScheme: 'light' })
  t.teardown(close)
  await signIn(page, 'viewer', PASSWORDS.viewer, PLOT)
  const host = page.locator('#trends')
  const canvas = host.locator('canvas')
  await canvas.waitFor()
  const marker = () => host.locator('.u-marker').nth(1).evaluate(borderColour)
  const [day, markedByDay] = [await canvas.evaluate(toPixels), await marker()]
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.waitForFunction(([element, before]) => (element as unknown as { toDataURL(): string }).toDataURL() !== before, [
    (await canvas.elementHandle())!,
    day,
  ] as const)
  t.not(await marker(), markedByDay)

  await host.locator('.u-over').hover()
  await page.mouse.wheel(0, -200)
  const [from] = (await page.waitForURL(/from=/).then(() => host.getAttribute('data-shown')))!.split(',').map(Number)
  await page.locator(`#trend-words input[name=from][value="${new Date(from!).toISOString()}"]`).waitFor({ state: 'attached' })
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  await page.setViewportSize({ width: 718, height: 1000 })
  t.false(await canvas.isVisible())
  const drawing = host.locator('svg:visible')
  t.is(await drawing.count(), 1)
  const { width } = (await drawing.boundingBox())!
  t.true(width > 500 && width <= 718, `${width} px`)
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone: 'America/Chicago', hour: '2-digit', minute: '2-digit' }).format(from)
  t.true((await drawing.getAttribute('aria-label'))!.includes(`${clock} to `), clock)
  t.deepEqual(complaints, [])
})

test.serial('the picture of a narrow plot has its words whole', async t => {
  const { chromium, box } = t.context
  const { page, close } = await openPage(chromium.browser, box.url, { viewport: { width: 360, height: 800 } })
  t.teardown(close)
  const points = ['ahu-1.sa_t', 'ahu-1.ma_t', 'ahu-1.clg_valve', 'ahu-1.fan_status', 'vav-3.zone_flow']
  await signIn(page, 'viewer', PASSWORDS.viewer, `/trends?building=school&points=${points.join(',')}`)
  await page.locator('#trends canvas').waitFor()
  const saving = page.waitForEvent('download')
  await page.getByRole('button', { name: 'PNG of this plot' }).click()
  const bytes = readFileSync(await (await saving).path())
  const edges = await page.evaluate(inkAtRightEdge, bytes.toString('base64'))
  t.deepEqual(edges, { top: 0, bottom: 0 })
})

test.serial('a plot is compared with the day before, and saved as a picture', async t => {
  const { chromium, box } = t.context
  const { page, complaints, close } = await openPage(chromium.browser, box.url)
  t.teardown(close)
  await signIn(page, 'viewer', PASSWORDS.viewer, '/trends?building=school&points=ahu-1.sa_t,ahu-1.clg_valve')
  await page.locator('#trends canvas').waitFor()
  await page.getByRole('link', { name: /a day before/ }).click()
  await page.waitForURL(/compare=day/)
  await page.locator('#trends canvas').waitFor()
  await page.locator('#trends .u-legend').getByText('supply air temperature −1 d', { exact: true }).waitFor()
  await expectClean(t, page, 'compared', 48)
  const saving = page.waitForEvent('download')
  await page.getByRole('button', { name: 'PNG of this plot' }).click()
  const saved = await saving
  t.regex(saved.suggestedFilename(), /^trend-2026-11-\d\d\.png$/)
  const bytes = readFileSync(await saved.path())
  t.is(bytes.subarray(1, 4).toString(), 'PNG')
  t.true(bytes.readUInt32BE(16) > 600 && bytes.length > 5000, `${bytes.readUInt32BE(16)} pixels, ${bytes.length} bytes`)
  t.deepEqual(complaints, [])
})

for (const [name, javaScriptEnabled] of [
  ['with script', true],
  ['without script', false],
] as const) {
  test.serial(`a view is saved, opened, renamed and deleted ${name}`, async t => {
    const { chromium, box } = t.context
    const phone = { viewport: { width: 390, height: 844 }, javaScriptEnabled }
    const { page, complaints, close } = await openPage(chromium.browser, box.url, phone)
    t.teardown(close)
    await signIn(page, 'agent', PASSWORDS.agent, `${PLOT}&days=7`)
    await page.getByLabel('Save this view as').fill(`Cooling ${name}`)
    await page.getByRole('button', { name: 'Save view' }).click()
    await page.waitForURL(/days=7#saved$/)
    await page.goto('/trends')
    await page.getByRole('link', { name: `Cooling ${name}` }).click()
    await page.waitForURL(/vav-3\.zone_flow&days=7/)
    await page.getByText(`Rename or delete Cooling ${name}`).click()
    if (javaScriptEnabled) await expectClean(t, page, 'saved views', 48)
    await page.getByLabel('New name').fill(`Valve ${name}`)
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('link', { name: `Valve ${name}` }).waitFor()
    t.true(new URL(page.url()).search.includes('days=7'), 'the plot that was shown is shown still')
    await page.getByText(`Rename or delete Valve ${name}`).click()
    await page.getByRole('button', { name: 'Delete for everyone' }).click()
    await page.getByText('None yet. A view keeps').waitFor()
    t.deepEqual(complaints, [])
  })
}

test.serial('what is saved after zooming is what is seen', async t => {
  const { chromium, box } = t.context
  const { page, complaints, close } = await openPage(chromium.browser, box.url)
  t.teardown(close)
  await signIn(page, 'agent', PASSWORDS.agent, PLOT)
  const over = page.locator('#trends .u-over')
  await over.hover()
  await page.mouse.wheel(0, -200)
  await page.waitForURL(/from=/)
  const [from] = (await page.locator('#trends').getAttribute('data-shown'))!.split(',').map(Number)
  await page.locator(`#trend-words input[name=from][value="${new Date(from!).toISOString()}"]`).waitFor({ state: 'attached' })
  await page.getByLabel('Save this view as').fill('Zoomed')
  await page.getByRole('button', { name: 'Save view' }).click()
  await page.waitForURL(/#saved$/)
  await page.locator('#trends canvas').waitFor()
  t.is(Number(await page.locator('#trends').getAttribute('data-from')), from!)
  t.deepEqual(complaints, [])
})

test.serial(
  'the page of a fault has the same plot: it zooms, shades this fault alone, and its link to Trends follows',
  async t => {
    const { chromium, box } = t.context
    const { page, complaints, close } = await openPage(chromium.browser, box.url)
    t.teardown(close)
    await signIn(page, 'viewer', PASSWORDS.viewer, '/faults/f-cooling?window=week')
    const host = page.locator('#trends')
    await host.locator('canvas').waitFor()
    t.is(await host.locator('svg:visible').count(), 0)
    const faults = JSON.parse((await host.getAttribute('data-faults'))!) as { own: boolean }[]
    t.deepEqual(
      faults.map(({ own }) => own),
      [false, true],
    )
    const link = page.getByRole('link', { name: 'Open in Trends' })
    const before = await link.getAttribute('href')
    await host.locator('.u-over').hover()
    await page.mouse.wheel(0, -200)
    await page.locator(`a[data-follows]:not([href="${before}"])`).waitFor()
    const shown = (await host.getAttribute('data-shown'))!.split(',').map(Number)
    t.is(new URL(page.url()).search, '?window=week', 'the address is that of the fault')
    await host.getByText(/\d °F/).first().waitFor()
    await link.click()
    await page.locator('#trends canvas').waitFor()
    t.is(Number(await page.locator('#trends').getAttribute('data-from')), shown[0]!)
    t.deepEqual(complaints, [])
  },
)

test.serial('without script the drawing of the server stands there, and its links move through time', async t => {
  const { chromium, box } = t.context
  const { page, complaints, close } = await openPage(chromium.browser, box.url, { javaScriptEnabled: false })
  t.teardown(close)
  await signIn(page, 'viewer', PASSWORDS.viewer, '/faults/f-cooling')
  await page.getByRole('link', { name: 'Open in Trends' }).click()
  await page.waitForURL(/\/trends\?/)
  t.true(await page.locator('#trends svg.plot:visible').isVisible())
  const before = await page.locator('#trends').getAttribute('data-from')
  await page.getByRole('link', { name: 'Earlier' }).click()
  await page.waitForURL(/from=/)
  t.true(Number(await page.locator('#trends').getAttribute('data-from')) < Number(before))
  await page.getByLabel('Add points: name, role or address').fill('damper')
  await page.getByRole('button', { name: 'Search' }).last().click()
  await page.getByRole('link', { name: /^Add VAV-3 DAMPER/ }).click()
  await page.getByRole('cell', { name: 'damper position command damper', exact: true }).waitFor()
  t.deepEqual(complaints, [])
})
