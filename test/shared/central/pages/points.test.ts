/** The form of roles: its values when it is submitted unchanged, and after a refusal. */
import test from 'ava'
import type { Point } from '#shared/core/model/model.ts'
import { signedIn } from '../../../support/signed-in.ts'
import { openSite, PASSWORDS } from '../../../support/sites/page-site.ts'

const point = (point_id: string, name: string, more: Partial<Point>): Point => ({
  point_id,
  building_id: 'school',
  equipment_id: 'ahu-1',
  name,
  unit: 'degF',
  kind: 'number',
  source: { protocol: 'bacnet', address: 'analog-value,1' },
  ...more,
})
/** A schedule with numbered states, a point in a unit that its role does not measure, and two that have no role. */
const POINTS = [
  point('p-occ', 'Occupancy', { kind: 'enum', unit: 'enum', role: 'occ' }),
  point('p-odd', 'Flow', { unit: 'cfm', role: 'duct_static' }),
  point('p-a', 'Analog Value 1', {}),
  point('p-b', 'Analog Value 2', {}),
]
const FORM = '/points?equipment=ahu-1'

async function openForm(t: { teardown(end: () => Promise<void>): void }, points = POINTS) {
  const site = await openSite({ product: 'appliance', points: [] })
  t.teardown(site.close)
  const { model } = site.context
  model.put({ points })
  const roles = () => model.points('school').map(({ point_id, role = null }) => `${point_id} ${role}`)
  return { roles, ...(await signedIn(site.url, 'agent', PASSWORDS.agent)) }
}

/** What a browser sends of a page's choices: the option that is selected, else the first. */
function chosenOf(page: string): Record<string, string> {
  const selects = page.matchAll(/<select[^>]* name="(role\.[^"]+)">(.*?)<\/select>/gs)
  return Object.fromEntries(
    [...selects].map(([, name, options]) => {
      const all = [...options!.matchAll(/<option value="([^"]*)"( selected)?/g)]
      return [name!, (all.find(([, , selected]) => selected) ?? all[0])![1]!]
    }),
  )
}

test('a form of roles that is saved as it came changes nothing, whatever kind and unit the points have', async t => {
  const { get, post, roles } = await openForm(t)
  const before = roles()
  const sent = chosenOf(await (await get(FORM)).text())
  t.deepEqual(sent, { 'role.p-occ': 'occ', 'role.p-odd': 'duct_static', 'role.p-a': '', 'role.p-b': '' })
  const { status } = await post('/points/save', FORM, { building: 'school', equipment: 'ahu-1', ...sent })
  t.is(status, 303)
  t.deepEqual(roles(), before)
})

test('a form of roles that is refused keeps what was chosen', async t => {
  const { get, post, roles } = await openForm(t)
  const before = roles()
  const chosen = { ...chosenOf(await (await get(FORM)).text()), 'role.p-a': 'ra_t', 'role.p-b': 'ra_t' }
  const answer = await post('/points/save', FORM, { building: 'school', equipment: 'ahu-1', ...chosen })
  const page = await answer.text()
  t.is(answer.status, 422)
  t.regex(page, /role="alert">Nothing was saved: ra_t of ahu-1 is held by point p-a/)
  t.deepEqual(chosenOf(page), chosen)
  t.deepEqual(roles(), before)
})

test('a point that nobody measures any more is named below the form, and asks for no role', async t => {
  const site = await openSite({ product: 'appliance', points: [] })
  t.teardown(site.close)
  const { model } = site.context
  const at = Date.UTC(2026, 10, 20, 20)
  model.put({ points: [...POINTS, point('p-gone', 'Old sensor', { edge_id: 'edge-1', gone: { at, role: 'sa_t' } })] })
  const { get } = await signedIn(site.url, 'agent', PASSWORDS.agent)
  const page = await (await get(FORM)).text()
  t.false('role.p-gone' in chosenOf(page))
  t.regex(page, /Not measured any more.*Old sensor<\/a>, was <code>sa_t<\/code>/s)
  t.regex(page, /<p>4 points\. /)
})

test('suggested roles are chosen only where they are likely, and only when a person asks for it', async t => {
  const named = [point('p-sat', 'AHU-1 Supply Air Temperature', {}), point('p-number', 'Analog Value 1', {})]
  const { get, roles } = await openForm(t, named)
  const before = roles()
  const plain = chosenOf(await (await get(FORM)).text())
  const filled = chosenOf(await (await get(`${FORM}&fill=true`)).text())
  t.deepEqual(plain, { 'role.p-sat': '', 'role.p-number': '' })
  t.deepEqual(filled, { 'role.p-sat': 'sa_t', 'role.p-number': '' })
  t.deepEqual(roles(), before)
})

test('five hundred equipment and their points are listed in parts, and searched without script', async t => {
  const many = Array.from({ length: 30 }, (_, i): Point[] =>
    Array.from({ length: 12 }, (__, j) =>
      point(`box-${i}.${j}`, `Box ${i} value ${j}`, {
        equipment_id: `box-${i}`,
        source: { protocol: 'bacnet', address: `analog-input,${i * 100 + j}` },
        ...(i < 20 && { role: `${'zone_t zone_flow damper'.split(' ')[j] ?? `none_${j}`}` }),
      }),
    ),
  ).flat()
  const site = await openSite({ product: 'appliance', points: [] })
  t.teardown(site.close)
  const { model } = site.context
  model.put({
    equipment: Array.from({ length: 30 }, (_, i) => ({
      ...{ building_id: 'school', equipment_id: `box-${i}`, name: `Box ${i}`, equipment_type: 'vav' as const },
    })),
    points: many,
  })
  const { get, post } = await signedIn(site.url, 'agent', PASSWORDS.agent)
  const text = async (path: string) => (await get(path)).text()
  const equipmentOf = (page: string) => [...page.matchAll(/equipment=(box-\d+)"/g)].map(([, id]) => id!)
  const first = await text('/points')
  t.is(new Set(equipmentOf(first)).size, 12)
  t.true(
    equipmentOf(first)
      .slice(0, 10)
      .every(id => Number(id.slice(4)) >= 20),
    'what waits for a role comes first',
  )
  const rest = [2, 3].map(page => text(`/points?building=school&page=${page}`))
  const all = [first, ...(await Promise.all(rest))].flatMap(equipmentOf)
  t.is(new Set(all).size, 30)

  const found = await text('/points?q=input,2907')
  t.regex(found, /1 point with “input,2907”/)
  t.regex(found, /Box 29 value 7/)
  t.regex(await text('/points?q=box+zone_flow&page=2'), /20 points with “box zone_flow”.*Page 2 of 2/s)
  t.regex(await text('/points?q=nowhere'), /No point has “nowhere”/)

  const second = await text('/points?equipment=box-29&page=2')
  t.deepEqual(Object.keys(chosenOf(second)).length, 4)
  t.regex(second, /Page 2 of 2/)
  const saved = await post('/points/save', '/points?equipment=box-29&page=2', {
    ...{ building: 'school', equipment: 'box-29', page: '2' },
    ...chosenOf(second),
    'role.box-29.11': 'zone_t',
  })
  t.is(saved.headers.get('location'), '/points?building=school&equipment=box-29&page=2')
  t.is(model.points('school').find(({ point_id }) => point_id === 'box-29.11')?.role, 'zone_t')
})
