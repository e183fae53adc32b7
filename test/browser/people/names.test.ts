/** Names as devices and people have them: one word of 200 letters, a script from right to left, signs outside of any script. */
import anyTest, { type TestFn } from 'ava'
import { BUILDING, COOLING, EQUIPMENT, POINTS } from '../../support/page-fixture.ts'
import { openSite, PASSWORDS, type TestSite } from '../../support/sites/page-site.ts'
import { openChromium, type OpenBrowser } from '../chromium.ts'
import { looks } from '../looks.ts'
import { openPage, overflow, signIn } from '../watch.ts'

const NAMES = ['Luftvolumenstromregelgerät'.repeat(8).slice(0, 200), 'وحدة مناولة الهواء ١ (الطابق الثاني)', '🏭🔥 AHU 👩🏽‍🔧']
const PATHS = [
  '/',
  '/faults',
  '/faults/f-cooling',
  '/buildings/school',
  '/buildings/school/equipment/ahu-1',
  '/points',
  '/points?equipment=ahu-1',
  '/coverage',
  '/commission/equipment?which=all',
  '/analytics',
  '/params/AHU-SUPPLY-WARM',
  '/search?q=AHU',
]

const test = anyTest as TestFn<{ chromium: OpenBrowser; box: TestSite }>
test.before(async t => {
  const named = <T extends { name: string }>(all: readonly T[]): T[] => all.map((one, i) => ({ ...one, name: NAMES[i % 3]! }))
  t.context = {
    chromium: await openChromium(),
    box: await openSite({
      product: 'appliance',
      building: { ...BUILDING, name: NAMES[0]! },
      equipment: named(EQUIPMENT),
      points: named(POINTS),
      findings: [COOLING],
    }),
  }
})
test.after.always(async t => {
  await t.context.chromium.close()
  await t.context.box.close()
})

for (const [where, look] of looks('a desk in daylight', 'a phone in daylight')) {
  test.serial(`names of any length and script keep a page within the window through ${where}`, async t => {
    const { page, close } = await openPage(t.context.chromium.browser, t.context.box.url, look)
    t.teardown(close)
    await signIn(page, 'admin', PASSWORDS.admin)
    for (const path of PATHS) {
      await page.goto(path)
      t.is(await overflow(page), 0, path)
    }
    await page.goto('/buildings/school/equipment/ahu-1')
    t.is((await page.getByRole('heading', { level: 1 }).innerText()).trim(), NAMES[0]!)
  })
}
