/** What faults cost, on pages: the list, the fault, and the page where quantities and prices are entered and reviewed. */
import anyTest, { type TestFn } from 'ava'
import { aboutText, costText, rangeText, togetherText } from '#shared/central/ui/cost-words.ts'
import { openCostSite } from './cost-fixture.ts'
import { signedIn } from '../../../support/signed-in.ts'
import { PASSWORDS, type TestSite } from '../../../support/sites/page-site.ts'

const test = anyTest as TestFn<{ site: TestSite }>
test.beforeEach(async t => {
  t.context.site = await openCostSite()
})
test.afterEach.always(t => t.context.site.close())

const FLOW = {
  building_id: 'school',
  equipment_id: 'ahu-1',
  property: 'designSupplyAirflow',
  numeric_value: '4',
  unit_code: 'm3/s',
  value_basis: 'TAB',
  source_type: 'report of 2024',
}
const COP = { ...FLOW, equipment_id: 'chiller-1', property: 'ratedCOP', unit_code: '1', value_basis: 'Rated' }
const FLOW_ID = 'school.ahu-1.designSupplyAirflow.TAB'
const COP_ID = 'school.chiller-1.ratedCOP.Rated'
const textOf = async (answer: Response) => (await answer.text()).replace(/\s+/g, ' ')

test('what a fault lacks is named on its page, with the way to enter it', async t => {
  const { get } = await signedIn(t.context.site.url, 'viewer', PASSWORDS.viewer)
  const fault = await textOf(await get('/faults/f-cooling'))
  t.true(fault.includes('Not priced, for want of:'))
  t.true(fault.includes('design supply air flow of Air handler 1 (designSupplyAirflow), not entered'))
  t.true(fault.includes('href="/quantities?building=school&amp;equipment=ahu-1&amp;property=designSupplyAirflow#enter"'))
  const entry = await textOf(await get('/quantities?building=school&equipment=ahu-1&property=designSupplyAirflow'))
  t.true(entry.includes('<option value="ahu-1" selected>Air handler 1'))
  t.true(entry.includes('<option value="designSupplyAirflow" selected>design supply air flow'))
  t.regex(entry, /Faults wait for these.*design supply air flow of Air handler 1/)
  t.true(entry.includes('<fieldset disabled>'), 'a viewer sees the form and cannot use it')
})

test('entered, accepted and given a price, quantities say what the fault costs', async t => {
  const { site } = t.context
  const { get, post } = await signedIn(site.url, 'agent', PASSWORDS.agent)
  t.is((await post('/quantities', '/quantities', FLOW)).status, 303)
  t.is((await post('/quantities', '/quantities', COP)).status, 303)
  t.is(site.context.quantities.get(FLOW_ID)?.review_status, 'NeedsReview')
  t.true((await textOf(await get('/faults/f-cooling'))).includes('(designSupplyAirflow), not reviewed'))
  for (const quantity_id of [FLOW_ID, COP_ID]) {
    t.is((await post('/quantities/review', '/quantities', { quantity_id, review_status: 'Reviewed' })).status, 303)
  }
  // 12 K·h × 4 m³/s × 1.2 = 57.6 kWh of heat, / 4 = 14.4 kWh
  const energy = await textOf(await get('/faults/f-cooling'))
  t.true(energy.includes('<strong>About 14 kWh</strong> so far'))
  t.true(energy.includes('price of electricity <a href="/quantities?building=school#prices">Set it</a>'))
  const prices = { building_id: 'school', currency: 'usd', electricity: '0.25', fuel: '' }
  t.is((await post('/quantities/prices', '/quantities', prices)).status, 303)
  t.deepEqual(site.context.prices.get('school'), { currency: 'USD', electricity: 0.25 })
  const money = await textOf(await get('/faults/f-cooling'))
  t.true(money.includes('<strong>About 3.6 USD</strong> so far'))
  t.true(money.includes('<li>ratedCOP of chiller-1: 4 (Rated, ±15 %)</li>'))
  t.false(money.includes('No money is said'))
  const actions = site.context.audit.list({ limit: 20 }).map(({ action, actor }) => `${action} ${actor}`)
  t.deepEqual(
    ['put_quantities agent', 'review_quantity agent', 'put_prices agent'].filter(wanted => !actions.includes(wanted)),
    [],
  )
})

test('the list has a column for cost once something costs, and the dearest can come first', async t => {
  const { site } = t.context
  const { get } = await signedIn(site.url, 'viewer', PASSWORDS.viewer)
  const text = async (path: string) => textOf(await get(path))
  // Degrees alone: 20 K·h are 36 °F·h.
  t.regex(await text('/faults'), /class="cost"><span title="[^"]+">36 °F·h/)
  t.regex(await text('/faults'), /<span class="muted" title="not priced: design supply air flow and 1 more">not priced</)
  const base = { building_id: 'school', source_type: 'report', review_status: 'Reviewed', value_basis: 'TAB' } as const
  site.context.quantities.put([
    {
      ...base,
      quantity_id: 'a',
      equipment_id: 'ahu-1',
      property: 'designSupplyAirflow',
      numeric_value: 4,
      unit_code: 'm3/s',
      quantity_kind: 'VolumeFlow',
    },
    { ...base, quantity_id: 'b', property: 'ratedCOP', numeric_value: 4, unit_code: '1', quantity_kind: 'Efficiency' },
  ])
  t.is(await site.context.pricing.reprice('school'), 1)
  const dearest = await text('/faults?sort=cost&group=fault')
  t.true(dearest.indexOf('14 kWh') > 0 && dearest.indexOf('14 kWh') < dearest.indexOf('36 °F·h'))
  t.true(dearest.includes('<option value="cost" selected>'))
  // All of its 6 h lie within the week; the room costs comfort, which is no energy.
  t.true(dearest.includes('In the last 7 days about 14 kWh of electricity.'))
  site.context.prices.put('school', { currency: 'USD', electricity: 0.25 })
  t.true((await text('/faults')).includes('about 3.6 USD, 1.9 to 6.3 USD at the outside (14 kWh of electricity)'))
  t.false((await text('/faults?state=active')).includes('What these cost together'))
})

test('what cannot be is refused in words that name the field', async t => {
  const { post } = await signedIn(t.context.site.url, 'agent', PASSWORDS.agent)
  const say = async (path: string, fields: Record<string, string>) => {
    const answer = await post(path, '/quantities', fields)
    return `${answer.status} ${await textOf(answer)}`
  }
  t.regex(await say('/quantities', { ...FLOW, unit_code: 'kW' }), /^422 .*unit_code kW is no unit of designSupplyAirflow/)
  t.regex(await say('/quantities', { ...COP, numeric_value: '0' }), /^422 .*ratedCOP is above zero/)
  t.regex(await say('/quantities', { ...FLOW, equipment_id: 'ahu-9' }), /^404 .*no equipment ahu-9/)
  t.regex(await say('/quantities/review', { quantity_id: 'nothing', review_status: 'Reviewed' }), /^404 /)
  t.regex(await say('/quantities/prices', { building_id: 'school', currency: 'euros' }), /^422 .*euros is no currency/)
  t.regex(
    await say('/quantities/prices', { building_id: 'school', currency: 'EUR', fuel: '-1' }),
    /^422 .*-1 is no price per kWh of fuel/,
  )
})

test('a correction keeps its place, needs review again and changes the fault', async t => {
  const { site } = t.context
  const { get, post } = await signedIn(site.url, 'agent', PASSWORDS.agent)
  await post('/quantities', '/quantities', FLOW)
  await post('/quantities/review', '/quantities', { quantity_id: FLOW_ID, review_status: 'Reviewed' })
  t.is((await post('/quantities/review', '/quantities', { quantity_id: FLOW_ID, review_status: 'Rejected' })).status, 409)
  const form = await textOf(await get(`/quantities?quantity=${FLOW_ID}`))
  t.true(form.includes('Correct a quantity') && form.includes('value="report of 2024"'))
  await post('/quantities', '/quantities', { ...FLOW, quantity_id: FLOW_ID, numeric_value: '5' })
  t.like(site.context.quantities.get(FLOW_ID), { numeric_value: 5, review_status: 'NeedsReview' })
  t.is(site.context.quantities.list('school').length, 1)
})

test('a cost too small to show is no range from nothing to nothing', t => {
  t.is(costText({ mid: 0.001, unit: 'kWh' }, 'si'), 'next to nothing')
  t.is(rangeText({ low: 0, mid: 0.001, high: 0.004 }, 'kWh', 'si'), '')
  t.is(rangeText({ low: 0, mid: 0.1, high: 0.2 }, 'kWh', 'si'), 'at most 0.20 kWh')
  t.is(rangeText({ low: 0.1, mid: 0.15, high: 0.2 }, 'kWh', 'si'), '0.10 to 0.20 kWh')
})

test('a viewer changes nothing', async t => {
  const { site } = t.context
  const { post } = await signedIn(site.url, 'viewer', PASSWORDS.viewer)
  for (const [path, fields] of [
    ['/quantities', FLOW],
    ['/quantities/review', { quantity_id: FLOW_ID, review_status: 'Reviewed' }],
    ['/quantities/prices', { building_id: 'school', currency: 'EUR' }],
  ] as const) {
    t.is((await post(path, '/quantities', fields)).status, 403, path)
  }
  t.deepEqual(site.context.quantities.list(), [])
})

test('each form answers when everything is priced anew, not before', async t => {
  const { site } = t.context
  const { pricing } = site.context
  const { get, post } = await signedIn(site.url, 'agent', PASSWORDS.agent)
  const { reprice } = pricing
  let gate = Promise.withResolvers<void>()
  let begun = Promise.withResolvers<void>()
  pricing.reprice = async building_id => {
    begun.resolve()
    await gate.promise
    return reprice(building_id)
  }
  const prices = { building_id: 'school', currency: 'EUR', electricity: '0.2', fuel: '' }
  for (const [path, form] of [
    ['/quantities', FLOW],
    ['/quantities/review', { quantity_id: FLOW_ID, review_status: 'Reviewed' }],
    ['/quantities/prices', prices],
  ] as const) {
    ;[gate, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let answered = false
    const answer = post(path, '/quantities', form).finally(() => (answered = true))
    await begun.promise
    // An answer that does not wait would be here before those to later questions.
    for (let i = 0; i < 3; i++) await get('/quantities')
    t.false(answered, path)
    gate.resolve()
    t.is((await answer).status, 303)
  }
})

test('too little to be a figure is next to nothing, without a figure', t => {
  t.is(aboutText({ mid: 0.004, unit: 'kWh' }, 'si'), 'next to nothing')
  t.is(aboutText({ mid: 3.6, unit: 'EUR' }, 'si'), 'about 3.6 EUR')
  const building = { building_id: 'b', name: 'B', unit_system: 'si' } as const
  const energy = [{ carrier: 'electricity', low: 0, mid: 0.004, high: 0.01 }] as const
  t.is(togetherText({ building, energy: [...energy], prices: undefined }), 'next to nothing')
  const both = [...energy, { carrier: 'fuel', low: 2, mid: 3.6, high: 5 }] as const
  t.is(togetherText({ building, energy: [...both], prices: undefined }), 'about 3.6 kWh of fuel or heat')
})
