import test from 'ava'
import type { Point } from '#shared/core/model/model.ts'
import { openSite, PASSWORDS } from '../../../../support/sites/page-site.ts'
import { signedIn } from '../../../../support/signed-in.ts'

const PATH = '/commission/equipment'
const point = (device: string, n: number): Point => ({
  point_id: `${device}.p${n}`,
  building_id: 'school',
  name: `Value ${n}`,
  unit: 'degC',
  kind: 'number',
  source: { protocol: 'bacnet', address: `${device}/analog-input,${n}` },
})
const words = (page: string) => page.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')

async function open(t: import('ava').ExecutionContext) {
  const site = await openSite({ product: 'appliance', api: true, equipment: [], points: [], findings: [], empty: true })
  t.teardown(site.close)
  const { model } = site.context
  model.put({ points: ['VAV-101-ctl', 'AHU-1'].flatMap(device => [1, 2].map(n => point(device, n))) })
  return { model, ...(await signedIn(site.url, 'agent', PASSWORDS.agent)) }
}

test('each device with points in no equipment is a choice, and proposes a name and a type', async t => {
  const { get } = await open(t)
  const all = await (await get(PATH)).text()
  t.regex(words(all), /Points of one device AHU-1 \(2\) VAV-101-ctl \(2\)/)
  t.regex(all, /name="new_name"[^>]* value=""/)
  const href = /href="([^"]+)">VAV-101-ctl/.exec(all)![1]!.replaceAll('&amp;', '&')
  const one = await (await get(href)).text()
  t.regex(words(one), /2 points Choose/)
  t.regex(one, /name="new_name"[^>]* value="VAV 101 ctl"/)
  t.regex(one, /<option value="vav" selected>VAV box<\/option>/)
})

test('a refused form keeps what was chosen and typed', async t => {
  const { model, post } = await open(t)
  const fields = { building: 'school', q: '', which: 'unplaced', new_type: 'rtu', 'point-1': 'AHU-1.p2' }
  const refused = await post(PATH, PATH, { ...fields, equipment: '', new_name: ' ' })
  t.is(refused.status, 422)
  const page = await refused.text()
  t.deepEqual(
    [...page.matchAll(/class="pick"[^>]* value="([^"]+)"[^>]* checked/g)].map(([, id]) => id),
    ['AHU-1.p2'],
  )
  t.regex(page, /<option value="rtu" selected>Rooftop unit/)
  t.is((await post(PATH, PATH, { ...fields, equipment: '', new_name: 'Roof' })).status, 303)
  t.deepEqual(
    model.points('school').flatMap(({ point_id, equipment_id }) => (equipment_id ? [[point_id, equipment_id]] : [])),
    [['AHU-1.p2', 'roof']],
  )
})
