/** A person who has chosen units reads every page in them, and types values in them; everybody else reads each building's. */
import anyTest, { type TestFn } from 'ava'
import type { Finding } from '#shared/core/findings/finding.ts'
import type { UnitSystem } from '#shared/core/model/model.ts'
import { BUILDING, COOLING, FINDINGS, POINTS, RULE_FILE } from '../../../../support/page-fixture.ts'
import { signedIn } from '../../../../support/signed-in.ts'
import { openSite, PASSWORDS, type TestSite } from '../../../../support/sites/page-site.ts'
import { openAnalyticsSite } from '../analytics-site.ts'
import { keepBaselines } from '../tuning-fixture.ts'

const test = anyTest as TestFn<{ site: TestSite; analytics: TestSite }>
const UNCOMFORTABLE: Finding = {
  ...COOLING,
  finding_id: 'f-uncomfortable',
  equipment_id: 'vav-3',
  impact: { kind: 'comfort', low: 5, mid: 10, high: 20, unit: 'K·h', basis: [], energy: [] },
}
test.before(async t => {
  const building = { ...BUILDING, unit_system: 'si' as const }
  const room = { ...POINTS[0]!, point_id: 'vav-3.zone_t', equipment_id: 'vav-3', name: 'VAV-3 ZONE_T', role: 'zone_t' }
  const given = { building, points: [...POINTS, room], findings: [...FINDINGS, UNCOMFORTABLE] }
  t.context.site = await openSite({ product: 'appliance', ...given })
  t.context.analytics = await openAnalyticsSite({ product: 'hub', screening: true })
  keepBaselines(t.context.site.context)
})
test.after.always(async t => {
  await t.context.site.close()
  await t.context.analytics.close()
})

const as = (site: TestSite, who: keyof typeof PASSWORDS) => signedIn(site.url, who, PASSWORDS[who])
const plain = (page: string) => page.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')
const choose = ({ context }: TestSite, who: string, unit_system: UnitSystem) => context.preferences.put(who, { unit_system })

const AHU = '/buildings/school/equipment/ahu-1'
const TRENDS = '/trends?building=school&points=ahu-1.sa_t,ahu-1.ma_t'
const RULE = '/params/AHU-SUPPLY-WARM'
/** What a page of a building in SI says, and what it says to a person who has chosen US units. */
const PAGES: [string, string, string[], string[]][] = [
  ['an equipment', AHU, ['25.1 °C', '16.9 °C'], ['77.1 °F', '62.5 °F']],
  ['the part of an equipment that refreshes itself', `${AHU}/now`, ['25.1 °C', '16.9 °C'], ['77.1 °F', '62.5 °F']],
  [
    'a point',
    '/buildings/school/points/ahu-1.ma_t',
    ['25.1 °C', 'From mixed air temperature ma_t , °C'],
    ['77.1 °F', 'From mixed air temperature ma_t , °F'],
  ],
  [
    'a fault',
    '/faults/f-cooling',
    ['was 4.1 K above its set point of 12.8 °C', 'sa_t 16.8 °C'],
    ['was 7.4 °F above its set point of 55.0 °F', 'sa_t 62.2 °F'],
  ],
  ['the list of faults', '/faults', ['10 K·h'], ['18 °F·h']],
  ['home', '/', ['10 K·h'], ['18 °F·h']],
  ['the part of home that refreshes itself', '/home/tiles', ['10 K·h'], ['18 °F·h']],
  ['trends', TRENDS, ['supply air temperature sa_t , °C', ' °C 10 15 '], ['supply air temperature sa_t , °F', ' °F 50 60 ']],
  ['the parameters of a rule', RULE, ['From 0.5 K to 5 K', 'Value (K)'], ['From 0.5 K (0.9 °F) to 5 K (9 °F)', 'Value (°F)']],
  ['a rule', '/fault-rules/AHU-SUPPLY-WARM', ['0.5 K to 5 K'], ['0.5 K (0.9 °F) to 5 K (9 °F)']],
  ['baselines', '/baselines?equipment=ahu-1', ['2.3 K, spread 0.3 K', '13.0 °C'], ['4.1 °F, spread 0.5 °F', '55.4 °F']],
]
/** These also name the units of points and roles. */
const OWN_UNITS = new Set(['a point', 'a fault', 'a rule'])
for (const [name, path, si, us] of PAGES) {
  test(`${name}: a reader who has chosen units reads them, and others read those of the building`, async t => {
    const { site } = t.context
    choose(site, 'viewer', 'us')
    const [chosen, other] = await Promise.all(
      (['viewer', 'admin'] as const).map(async who => plain(await (await (await as(site, who)).get(path)).text())),
    )
    for (const words of us) t.true(chosen!.includes(words), `${words} in ${chosen}`)
    for (const words of si) t.true(other!.includes(words), `${words} in ${other}`)
    if (OWN_UNITS.has(name)) return
    t.notRegex(other!, /°F/)
    t.notRegex(chosen!, /°C|K·h/)
  })
}

test('a threshold of a rule over every role is a difference, whatever the unit of the role', async t => {
  const { site } = t.context
  const leap = { value: 10, unit: 'degC', source: 'default' as const }
  const terms = [{ text: 'abs(sa_t - before(sa_t)) > leap', holds: true }]
  const step: Finding = { ...COOLING, finding_id: 'f-step', rule_id: 'SEN-STEP', role: 'sa_t' }
  site.stores.findings.put([{ ...step, evidence: { ...COOLING.evidence, terms, params: { leap } } }])
  choose(site, 'viewer', 'us')
  const page = plain(await (await (await as(site, 'viewer')).get('/faults/f-step')).text())
  t.regex(page, /leap 18 °F true/)
  t.regex(page, /Thresholds leap 18 °F/)
})

test('what the script of a plot draws has the units of the reader', async t => {
  const { site } = t.context
  choose(site, 'viewer', 'us')
  const seriesFor = async (who: 'viewer' | 'admin', path: string) => {
    const page = await (await (await as(site, who)).get(path)).text()
    return JSON.parse(/data-series="([^"]*)"/.exec(page)![1]!.replaceAll('&quot;', '"')) as Record<string, unknown>[]
  }
  for (const path of [TRENDS, '/faults/f-cooling']) {
    const [mine] = (await seriesFor('viewer', path)).filter(({ point_id }) => point_id === 'ahu-1.ma_t')
    const [others] = (await seriesFor('admin', path)).filter(({ point_id }) => point_id === 'ahu-1.ma_t')
    t.like(mine, { unit: '°F', offset: 32 })
    t.like(others, { unit: '°C', scale: 1, offset: 0 })
  }
})

test('analytics and their CSV have the units of the reader, and the CSV says which', async t => {
  const { analytics: site } = t.context
  choose(site, 'viewer', 'si')
  const [mine, others] = [await as(site, 'viewer'), await as(site, 'admin')]
  const read = async ({ get }: typeof mine, path: string) => plain(await (await get(`/analytics/${path}`)).text())
  t.regex(await read(mine, 'economizer'), /Outdoor air above 24 °C was let in .* at least 5\.6 K apart/)
  t.regex(await read(others, 'economizer'), /Outdoor air above 75\.2 °F was let in .* at least 10\.1 °F apart/)
  t.regex(await read(mine, 'operations'), /\d\d\.\d °C/)
  t.regex(await read(others, 'operations'), /\d\d\.\d °F/)
  const meanOf = (csv: string) => {
    const [head, ...rows] = csv.trim().split(/\s*\r?\n|(?<=\S) (?=ahu,|room,|hall,)/)
    return { head, rows }
  }
  t.regex(meanOf(await read(mine, 'operations.csv')).head!, /,zone_t_mean \(°C\),/)
  t.regex(meanOf(await read(others, 'operations.csv')).head!, /,zone_t_mean \(°F\),/)
})

test('the figures of a building have the units of the reader', async t => {
  const { site } = t.context
  choose(site, 'viewer', 'us')
  const path = '/buildings/school/figures'
  t.regex(plain(await (await (await as(site, 'viewer')).get(path)).text()), /Mean room temperature 100\.0 °F/)
  t.regex(plain(await (await (await as(site, 'admin')).get(path)).text()), /Mean room temperature 37\.8 °C/)
})

const FORM = { building: 'school', param: 'tolerance', where: 'equipment ahu-1', note: '', days: '3' }

test.serial('a threshold that is typed in °F is stored in the unit of the parameter, and refused in °F', async t => {
  const { site } = t.context
  const { paramSettings, model } = site.context
  choose(site, 'agent', 'us')
  const { get, post } = await as(site, 'agent')
  const field =
    /name="typed_in" value="(\w+)">\s*<label>Value \(([^)]*)\) <input type="number" name="value" step="any" min="([^"]*)" max="([^"]*)" value="([^"]*)"/
  t.deepEqual(field.exec(await (await get(RULE)).text())?.slice(1), ['us', '°F', '0.9', '9', ''])
  const refused = await (await post(`${RULE}/set`, RULE, { ...FORM, typed_in: 'us', value: '9.5' })).text()
  t.regex(refused, /role="alert">tolerance takes 0\.9 to 9\s°F, not 9\.5</)
  t.is(field.exec(refused)?.[5], '9.5', 'what was typed stands in the form again')
  t.deepEqual(paramSettings.list(), [])
  const tried = await (await post(`${RULE}/try`, RULE, { ...FORM, typed_in: 'us', value: '4.5' })).text()
  t.regex(plain(tried), /tolerance at 2\.5 K \(4\.5 °F\) for Air handler 1/)
  const [, value] = /id="tried"[^]*?name="value" value="([^"]*)"/.exec(tried)!
  t.is(value, '2.5', 'the button saves what was tried, in the unit of the parameter')
  t.notRegex(/id="tried"[^]*?<\/form>/.exec(tried)![0], /typed_in/)
  t.is((await post(`${RULE}/set`, RULE, { ...FORM, typed_in: 'us', value: '4.5' })).status, 303)
  t.like(paramSettings.list()[0], { value: 2.5, unit: 'K' })
  t.regex(plain(await (await get(RULE)).text()), /2\.5 K \(4\.5 °F\) for Air handler 1 by agent/)
  t.regex(plain(await (await (await as(site, 'admin')).get(RULE)).text()), /2\.5 K for Air handler 1 by agent/)
  t.is(model.building('school')!.unit_system, 'si')
})

test.serial('a form that was opened before the reader chose other units is read in the units that it said', async t => {
  const { site } = t.context
  choose(site, 'agent', 'si')
  const { post } = await as(site, 'agent')
  await post(`${RULE}/set`, RULE, { ...FORM, typed_in: 'us', value: '1.8' })
  t.is(site.context.paramSettings.list()[0]?.value, 1)
  await post(`${RULE}/set`, RULE, { ...FORM, value: '1.8' })
  t.is(site.context.paramSettings.list()[0]?.value, 1.8, 'without it in the unit of the parameter')
})

test.serial('what the text of a rule would have found is told in the units of the reader', async t => {
  const { site } = t.context
  const fields = { yaml: RULE_FILE, file: '', rule: 'AHU-SUPPLY-WARM', sha: '', building: 'school', days: '3' }
  const triedBy = async (who: 'agent' | 'admin') => {
    const { post } = await as(site, who)
    return plain(await (await post('/rule-editor/try', '/rule-editor', fields)).text())
  }
  choose(site, 'agent', 'us')
  t.regex(await triedBy('agent'), /Supply air was [\d.]+ °F above/)
  t.regex(await triedBy('admin'), /Supply air was [\d.]+ K above/)
})
