import test, { type ExecutionContext } from 'ava'
import { parse } from 'csv-parse/sync'
import { FINDINGS, finding, NOW } from '../../../../support/page-fixture.ts'
import { signedIn } from '../../../../support/signed-in.ts'
import { openSite, PASSWORDS } from '../../../../support/sites/page-site.ts'
import { HOUR } from '#shared/core/time.ts'

const BESIDE = finding({
  finding_id: 'beside',
  rule_id: 'BESIDE',
  title: 'Beside it',
  equipment_id: 'ahu-1',
  severity: 3,
  from: NOW - HOUR,
})

async function opened(t: ExecutionContext) {
  const site = await openSite({ product: 'appliance', findings: [...FINDINGS, BESIDE] })
  t.teardown(site.close)
  return { site, agent: await signedIn(site.url, 'agent', PASSWORDS.agent) }
}

const FORM = { hours: '24', scope: 'equipment', reason: 'coil <b>' }

test('an equipment that is snoozed is silent as a whole, and one place says who, why and until when', async t => {
  const { agent } = await opened(t)
  t.is((await agent.post('/faults/f-cooling/snooze', '/faults/f-cooling', FORM)).status, 303)
  const faults = await (await agent.get('/faults')).text()
  t.false(faults.includes('Beside it'))
  const silenced = await (await agent.get('/faults?lane=silenced')).text()
  t.regex(silenced, /Snoozed now <span class="count">1</)
  const list = silenced.slice(silenced.indexOf('id="snoozes"'), silenced.indexOf('</section>', silenced.indexOf('id="snoozes"')))
  for (const one of ['All faults of', '/equipment/ahu-1', 'coil &lt;b&gt;', 'agent', 'End the snooze'])
    t.true(list.includes(one), one)
  t.regex(silenced, /class="state">.*Open.* <span class="muted">snoozed until Sat/)
  const page = await (await agent.get('/faults/beside')).text()
  t.regex(page, /class="notice">Snoozed until .*all faults of the equipment\): coil &lt;b&gt;/)
  t.regex(
    page,
    /<strong>agent<\/strong>: snoozed until [^<]*\(all faults of the equipment\): coil &lt;b&gt;</,
    'also who did what',
  )
  const equipment = await (await agent.get('/buildings/school/equipment/ahu-1')).text()
  t.regex(equipment, /All faults of this equipment are snoozed until/)
  const lines: Record<string, string>[] = parse(await (await agent.get('/faults.csv?lane=silenced')).text(), { columns: true })
  t.like(
    lines.find(({ finding_id }) => finding_id === 'beside'),
    {
      snooze_scope: 'equipment',
      snooze_reason: 'coil <b>',
      snoozed_by: 'agent',
    },
  )
})

test('a snooze that is ended on the list is taken up again by Undo; a viewer only reads', async t => {
  const { site, agent } = await opened(t)
  await agent.post('/faults/f-cooling/snooze', '/faults/f-cooling', FORM)
  const [snooze] = site.context.snoozes.list(NOW, 10)
  const { snooze_id } = snooze!
  const answer = await agent.post('/faults/snoozes/end', '/faults', { snooze_id, back: '/faults?lane=silenced&days=30' })
  const back = answer.headers.get('location')!
  t.is(back, `/faults?lane=silenced&days=30&ended=${snooze_id}`)
  t.deepEqual(site.context.snoozes.list(NOW, 10), [])
  const page = await (await agent.get(back)).text()
  t.regex(page, /class="toast" role="status"><p>The snooze is ended\./)
  t.regex(page, /action="\/faults\/snoozes\/restore"/)
  await agent.post('/faults/snoozes/restore', '/faults', { snooze_id, back })
  t.deepEqual(site.context.snoozes.list(NOW, 10), [snooze])
  const onFault = await agent.post('/faults/snoozes/end', '/faults', { snooze_id, back: '/faults/beside' })
  t.regex(await (await agent.get(onFault.headers.get('location')!)).text(), /The snooze is ended/)
  const viewer = await signedIn(site.url, 'viewer', PASSWORDS.viewer)
  t.is((await viewer.post('/faults/snoozes/end', '/faults', { snooze_id })).status, 403)
  await agent.post('/faults/snoozes/restore', '/faults', { snooze_id })
  t.regex(await (await viewer.get('/faults?lane=silenced')).text(), /<button disabled>End the snooze/)
})

test('several faults of one equipment are one snooze, which Undo of the list ends', async t => {
  const { site, agent } = await opened(t)
  const chosen = { 'fault-f-cooling': 'f-cooling', 'fault-beside': 'beside' }
  const answer = await agent.post('/faults/bulk', '/faults', { action: 'snooze', ...FORM, ...chosen })
  const back = answer.headers.get('location')!
  t.is(back, '/faults?done=snooze&count=2&undo=f-cooling&scope=equipment')
  t.like(site.context.snoozes.list(NOW, 10), [{ equipment_id: 'ahu-1', until: NOW + 24 * HOUR, reason: 'coil <b>' }])
  t.regex(await (await agent.get(back)).text(), /name="scope" value="equipment"><input type="hidden" name="fault-f-cooling"/)
  await agent.post('/faults/bulk', '/faults', { action: 'wake', scope: 'equipment', 'fault-f-cooling': 'f-cooling' })
  t.deepEqual(site.context.snoozes.list(NOW, 10), [])
  const refused = await agent.post('/faults/bulk', '/faults', { action: 'snooze', hours: '4', scope: 'rule', ...chosen })
  t.is(refused.status, 422)
  t.deepEqual(site.context.snoozes.list(NOW, 10), [])
})
