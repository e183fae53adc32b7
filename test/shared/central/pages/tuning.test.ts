import anyTest, { type TestFn } from 'ava'
import { edgeHref } from '#shared/central/ui/links.ts'
import { HOUR } from '#shared/core/time.ts'
import { COOLING, NOW } from '../../../support/page-fixture.ts'
import { signedIn } from '../../../support/signed-in.ts'
import { openSite, PASSWORDS, type TestSite } from '../../../support/sites/page-site.ts'
import { BASELINES, keepBaselines } from './tuning-fixture.ts'

const test = anyTest as TestFn<{ box: TestSite; hub: TestSite }>
test.before(async t => {
  t.context = { box: await openSite({ product: 'appliance' }), hub: await openSite({ product: 'hub' }) }
  keepBaselines(t.context.box.context)
})
test.after.always(async t => {
  await t.context.box.close()
  await t.context.hub.close()
})

const RULE = '/params/AHU-SUPPLY-WARM'
const as = (site: TestSite, who: 'agent' | 'viewer' = 'agent') => signedIn(site.url, who, PASSWORDS[who])
const words = (page: string) => page.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')
const text = async (answer: Response) => words(await answer.text())
const form = (more: Record<string, string> = {}) => {
  return { building: 'school', param: 'tolerance', where: 'site', value: '2.5', note: '', days: '3', ...more }
}

test.serial('the page of a rule shows bounds, defaults and what counts where, in both units', async t => {
  const { get } = await as(t.context.box, 'viewer')
  const page = await text(await get(`${RULE}?building=school&equipment=ahu-1&finding=f-cooling`))
  t.regex(page, /From 0\.5 K \(0\.9 °F\) to 5 K \(9 °F\); the rule's own value is 1\.1 K \(1\.98 °F\)/)
  t.regex(page, /1\.1 K \(1\.98 °F\) the rule&#39;s default : Air handler 1/)
  t.regex(page, /0\.95 \(95 %\)/)
  t.regex(page, /Back to the fault/)
  t.regex(page, /Needs the operator role/)
  t.regex(page, /Nothing; the rule's own values count/)
})

test.serial('the list has every rule with parameters and their values by kind of equipment, and leads to them', async t => {
  const { get } = await as(t.context.box, 'viewer')
  const html = await (await get('/params?q=supply-warm')).text()
  t.regex(html, /<h2>Air handler<\/h2>/)
  t.regex(html, /<a href="\/params\/AHU-SUPPLY-WARM\?building=school">Supply air too warm/)
  t.regex(words(html), /tolerance 1\.98 °F ?, full 95 %/)
  const first = words(await (await get('/params')).text())
  t.regex(first, /Page 1 of \d+ Next/)
  t.notRegex(first, /VAV-/)
  t.regex(words(await (await get('/params?type=vav')).text()), /VAV-/)
  t.is((await get('/params/NOTHING')).status, 404)
  t.is((await get('/params?building=nowhere')).status, 404)
})

test.serial('the list is searched by title, id and parameter, and shows what people have set alone', async t => {
  const { box } = t.context
  const { get, post } = await as(box)
  const rules = async (query: string) => {
    const html = await (await get(`/params?${query}`)).text()
    return [...html.matchAll(/<a href="\/params\/([A-Z0-9-]+)\?building=school">(?!<code>)/g)].map(([, id]) => id)
  }
  t.deepEqual(await rules('q=AHU-SUPPLY-WARM'), ['AHU-SUPPLY-WARM'])
  t.deepEqual(await rules('q=supply+air+too+warm+wide+open'), ['AHU-SUPPLY-WARM'])
  t.true((await rules('q=tolerance')).length > 3)
  t.deepEqual(await rules('q=nothing+like+it'), [])
  t.deepEqual(await rules('show=set'), [])
  await post(`${RULE}/set`, RULE, form())
  t.deepEqual(await rules('show=set'), ['AHU-SUPPLY-WARM'])
  t.regex(words(await (await get('/params?show=set')).text()), /tolerance 1\.98 °F set by people ?, full/)
  await post(`${RULE}/remove`, RULE, { building: 'school', param: 'tolerance', where: 'site' })
  t.deepEqual(await rules('show=set'), [])
})

test.serial('a trial says what would be found, keeps the form, and stores nothing', async t => {
  const { box } = t.context
  const { post } = await as(box)
  const before = box.context.audit.list({ limit: 100 }).length
  const answer = await post(`${RULE}/try`, RULE, form({ where: 'equipment ahu-1', note: 'too nervous' }))
  const html = await answer.text()
  t.is(answer.status, 200, html)
  t.regex(html, /for Air handler 1<\/h2>/)
  t.regex(html, /\d+ episodes? as it is set, \d+ with this value/)
  t.regex(html, /Tried on 1 equipment/)
  const forms = [...html.matchAll(/<input type="hidden" name="param" value="([^"]+)">[^]*?<\/form>/g)]
  t.true(forms.length > 1)
  t.deepEqual([...new Set(forms.filter(([own]) => own.includes('too nervous')).map(([, param]) => param))], ['tolerance'])
  t.regex(html, /<option value="equipment ahu-1" selected>/)
  t.regex(html, /name="note"[^>]* value="too nervous"/)
  t.deepEqual(box.context.paramSettings.list(), [])
  t.is(box.context.audit.list({ limit: 100 }).length, before)
})

test.serial('a value out of bounds is said on the page and nothing is set', async t => {
  const { box } = t.context
  const { post } = await as(box)
  for (const verb of ['try', 'set']) {
    const answer = await post(`${RULE}/${verb}`, RULE, form({ value: '50' }))
    t.is(answer.status, 422)
    t.regex(await answer.text(), /role="alert">tolerance takes 0\.5 to 5\sK, not 50/)
  }
  t.deepEqual(box.context.paramSettings.list(), [])
})

test.serial('a place that is none is refused, and does not stand for the whole site', async t => {
  const { box } = t.context
  const { post } = await as(box)
  for (const where of ['nonsense', 'site school', 'type', 'equipment ', ' site']) {
    const answer = await post(`${RULE}/set`, RULE, form({ where }))
    t.is(answer.status, 400, where)
    t.regex(await answer.text(), /\/where/)
  }
  t.deepEqual(box.context.paramSettings.list(), [])
})

test.serial('a value is saved with its reason, shown with who set it, and taken away again', async t => {
  const { box } = t.context
  const { get, post } = await as(box)
  const saved = await post(`${RULE}/set`, RULE, form({ where: 'type ahu', note: 'hot climate' }))
  t.is(saved.status, 303)
  t.is(saved.headers.get('location'), `${RULE}?building=school#set`)
  const page = await text(await get(RULE))
  t.regex(page, /tolerance 2\.5 K \(4\.5 °F\) for every ahu by agent, 14:02 ?: hot climate/)
  t.regex(page, /2\.5 K \(4\.5 °F\) set for this type of equipment : Air handler 1/)
  t.regex(await text(await get('/params')), /AHU-SUPPLY-WARM tolerance 2\.5 K/)
  const [set] = box.context.audit.list({ limit: 1 })
  t.like(set, { actor: 'agent', action: 'set_param', subject: 'AHU-SUPPLY-WARM tolerance type ahu' })
  const gone = await post(`${RULE}/remove`, RULE, { building: 'school', param: 'tolerance', where: 'type ahu', role: '' })
  t.is(gone.status, 303)
  t.deepEqual(box.context.paramSettings.list(), [])
  t.like(box.context.audit.list({ limit: 1 })[0], { action: 'remove_param', before: { value: 2.5 } })
})

test.serial('a setting that does not count says why', async t => {
  const { box } = t.context
  const setting = {
    rule_id: 'AHU-SUPPLY-WARM',
    param: 'tolerance',
    scope: 'site',
    scope_id: 'riverside',
    site_id: 'riverside',
  } as const
  box.context.paramSettings.put({ ...setting, value: 9, unit: 'K', changed_by: 'kim', changed_at: NOW - HOUR })
  const { get } = await as(box)
  for (const path of ['/params', RULE])
    t.regex(await text(await get(path)), /It does not count: tolerance takes 0\.5 to 5\sK, not 9/)
  box.context.paramSettings.remove(setting)
})

test.serial('a viewer may look and not try, set or reset', async t => {
  const { post } = await as(t.context.box, 'viewer')
  const key = { building_id: 'school', equipment_id: 'ahu-1', rule_id: 'AHU-SUPPLY-WARM', role: '', name: 'usual' }
  for (const path of [`${RULE}/try`, `${RULE}/set`]) t.is((await post(path, RULE, form())).status, 403, path)
  t.is((await post('/baselines/reset', '/baselines', { ...key, note: 'x' })).status, 403)
})

const RAN_BY =
  /The rules of Riverside School run on the appliance Plant room\. Parameters, quantities, prices and baselines that you set here do not reach it/

test.serial(
  'every page of a hub on which something is set says that the appliance of the building has its own values',
  async t => {
    const { box, hub } = t.context
    const [edge] = hub.context.edges.list()
    hub.context.edges.put({ ...edge!, building_id: 'school' })
    const { get } = await as(hub)
    const own = await as(box)
    for (const path of [RULE, '/params', '/baselines', '/quantities']) {
      const page = await (await get(path)).text()
      t.regex(words(page), RAN_BY, path)
      t.true(page.includes(`<a href="${edgeHref(edge!)}">Page of Plant room</a>`), path)
      t.notRegex(await text(await own.get(path)), /run on the appliance/, path)
    }
    const saves = /formaction="[^"]*\/set"/
    t.notRegex(await (await get(RULE)).text(), saves, 'no form sets what would not count')
    t.regex(await (await own.get(RULE)).text(), saves)
    for (const path of [RULE, '/quantities'])
      t.regex(await text(await get(path)), /It would not count here: the appliance Plant room/)
  },
)

test.serial('baselines are shown in the building’s units with their days, cold and warm', async t => {
  const { get } = await as(t.context.box)
  const page = await text(await get('/baselines?equipment=ahu-1'))
  t.regex(page, /4\.1 °F, spread 0\.5 °F from 3 days/)
  t.regex(page, /2026-11-17, 2026-11-18, 2026-11-19/)
  t.regex(page, /SEN-FLAT was active: 2026-11-16/)
  t.regex(page, /55\.4 °F too few days yet/)
  t.regex(page, /1 of the 4 days that it needs, so 55\.4 °F stands in, with a tolerance of 3\.6 °F/)
  t.regex(page, /Supply air too warm with the cooling valve wide open/)
  t.regex(await text(await get('/baselines?building=school')), /Air handler 1/)
})

test.serial('a baseline is begun anew with a reason, and that is taken back', async t => {
  const { box } = t.context
  const { get, post } = await as(box)
  const key = { building_id: 'school', equipment_id: 'ahu-1', rule_id: 'AHU-SUPPLY-WARM', role: '', name: 'usual' }
  const page = '/baselines?building=school&equipment=ahu-1'
  const answer = await post('/baselines/reset', page, { ...key, note: 'new valve' })
  t.is(answer.status, 303, await answer.text())
  t.is(answer.headers.get('location'), `${page}#AHU-SUPPLY-WARM`)
  t.regex(await text(await get(page)), /Begun anew at .* by agent, .*: new valve/)
  t.like(box.context.audit.list({ limit: 1 })[0], { action: 'reset_baseline', subject: 'ahu-1 AHU-SUPPLY-WARM usual' })
  t.is((await post('/baselines/restore', page, key)).status, 303)
  t.deepEqual(box.context.baselines.resets('school'), [])
  t.is((await post('/baselines/restore', page, key)).status, 404)
})

test.serial('the page of a fault leads to its thresholds and to the past that it was compared with', async t => {
  const { box } = t.context
  const finding_id = 'f-compared'
  const [usual] = BASELINES
  box.stores.findings.put([{ ...COOLING, finding_id, evidence: { ...COOLING.evidence, baselines: [usual!] } }])
  const { get } = await as(box)
  const html = await (await get(`/faults/${finding_id}`)).text()
  t.regex(html, /href="\/params\/AHU-SUPPLY-WARM\?building=school&amp;equipment=ahu-1&amp;finding=f-compared"/)
  t.regex(html, /href="\/baselines\?building=school&amp;equipment=ahu-1"/)
  t.regex(html, /<strong>4\.1 °F, spread 0\.5 °F<\/strong>/)
  const older = { name: 'usual', value: 2.3, spread: null, days_used: 1, dates: ['2026-11-19'], left_out: [], cold: true }
  box.stores.findings.put([{ ...COOLING, finding_id, evidence: { ...COOLING.evidence, baselines: [older] } }])
  t.regex(await text(await get(`/faults/${finding_id}`)), /usual : 2\.3 , too few days yet, so the physical limit counts/)
})
