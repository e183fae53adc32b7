import anyTest, { type TestFn } from 'ava'
import { HOUR } from '#shared/core/time.ts'
import { FINDINGS, finding, NOW } from '../../../../support/page-fixture.ts'
import { signedIn } from '../../../../support/signed-in.ts'
import { openSite, PASSWORDS, type TestSite } from '../../../../support/sites/page-site.ts'

const MANY = Array.from({ length: 130 }, (_, i) =>
  finding({ finding_id: `m-${i}`, rule_id: `R-${i}`, equipment_id: 'vav-3', title: `Fault ${i}`, severity: 3, from: NOW - HOUR }),
)
const test = anyTest as TestFn<{ site: TestSite; agent: Awaited<ReturnType<typeof signedIn>> }>
test.before(async t => {
  const site = await openSite({ product: 'appliance', findings: [...FINDINGS, ...MANY] })
  t.context = { site, agent: await signedIn(site.url, 'agent', PASSWORDS.agent) }
})
test.after.always(t => t.context.site.close())

const chosen = (...ids: string[]) => Object.fromEntries(ids.map(id => [`fault-${id}`, id]))
const BACK = '/faults?priority=2'

test.serial('several faults are acknowledged at once; the page says how many were new, and takes it back', async t => {
  const { site, agent } = t.context
  const { notes, audit } = site.context
  const send = (fields: Record<string, string>) => agent.post('/faults/bulk', '/faults', { back: BACK, ...fields })
  await send({ action: 'ack', ...chosen('f-flow') })
  const answer = await send({ action: 'ack', ...chosen('f-cooling', 'f-flow') })
  t.is(answer.status, 303)
  t.is(answer.headers.get('location'), '/faults?priority=2&done=ack&count=1&undo=f-cooling')
  t.deepEqual(
    ['f-cooling', 'f-flow'].map(id => notes.get(id).ack),
    ['acked', 'acked'],
  )
  const page = await (await agent.get(answer.headers.get('location')!)).text()
  t.regex(page, /class="toast" role="status"><p>1 fault acknowledged\./)
  t.regex(page, /name="fault-f-cooling" value="f-cooling"><button name="action" value="unack">Undo/)
  await send({ action: 'unack', ...chosen('f-cooling') })
  t.deepEqual(
    ['f-cooling', 'f-flow'].map(id => notes.get(id).ack),
    ['unacked', 'acked'],
  )
  t.is(audit.list({ limit: 20 }).filter(({ action }) => action === 'finding_bulk').length, 3)
})

test.serial('a snooze that replaces another one, and an assignee, are not offered to be taken back', async t => {
  const { site, agent } = t.context
  const send = (fields: Record<string, string>) => agent.post('/faults/bulk', '/faults', fields)
  const undo = (answer: Response) => new URL(answer.headers.get('location')!, site.url).searchParams.get('undo')
  t.is(undo(await send({ action: 'snooze', hours: '4', ...chosen('m-1', 'm-2') })), 'm-1,m-2')
  const until = (id: string) => site.context.notes.of(site.context.findings.get(id)!, NOW).snoozed_until
  t.is(until('m-1'), NOW + 4 * HOUR)
  t.is(undo(await send({ action: 'snooze', hours: '24', ...chosen('m-1', 'm-3') })), 'm-3')
  t.is(undo(await send({ action: 'assign', assignee: ' Kim ', ...chosen('m-4') })), 'm-4')
  t.is(undo(await send({ action: 'assign', assignee: 'Lee', ...chosen('m-4') })), '')
  t.is(site.context.notes.get('m-4').assignee, 'Lee')
  t.regex(await (await agent.get('/faults?rule=R-4')).text(), /<\/svg> Open, Lee</)
})

test.serial('what cannot be done changes nothing and is refused with the reason', async t => {
  const { site, agent } = t.context
  const send = (fields: Record<string, string>) => agent.post('/faults/bulk', '/faults', fields)
  const many = chosen(...MANY.slice(0, 101).map(one => one.finding_id))
  for (const [fields, status, why] of [
    [{ action: 'ack' }, 400, /No fault is chosen/],
    [{ action: 'ack', ...many }, 400, /At most 100 faults/],
    [{ action: 'ack', ...chosen('m-9', 'nothing') }, 404, /no finding nothing/],
    [{ action: 'assign', assignee: ' ', ...chosen('m-9') }, 400, /whom the faults are assigned to/],
    [{ action: 'erase', ...chosen('m-9') }, 400, /./],
  ] as [Record<string, string>, number, RegExp][]) {
    const answer = await send(fields)
    t.is(answer.status, status)
    t.regex(await answer.text(), why)
  }
  t.is(site.context.notes.get('m-9').ack, 'unacked')
  const away = await send({ action: 'ack', back: 'https://elsewhere.example/', ...chosen('m-9') })
  t.regex(away.headers.get('location')!, /^\/\?/)
  const viewer = await signedIn(site.url, 'viewer', PASSWORDS.viewer)
  t.is((await viewer.post('/faults/bulk', '/faults', { action: 'ack', ...chosen('m-8') })).status, 403)
  t.notRegex(await (await viewer.get('/faults')).text(), /type="checkbox"/)
})

test.serial('a long list has pages, and its filter is in words with the way out of each part', async t => {
  const { agent } = t.context
  const first = await (await agent.get('/faults')).text()
  t.is(first.match(/class="what"/g)?.length, 100)
  t.regex(first, /Page 1 of 2<.*href="\/faults\?page=2">Next/s)
  const beyond = await (await agent.get('/faults?page=900')).text()
  t.regex(beyond, /Page 2 of 2/)
  const filtered = await (await agent.get('/faults?minutes=240&equipment=vav-3&rule=VAV-LOW-FLOW&page=2')).text()
  t.is(filtered.match(/class="what"/g)?.length, 1)
  for (const [text, href] of [
    ['VAV 3, library', '/faults?rule=VAV-LOW-FLOW&amp;minutes=240'],
    ['Air flow below its set point at a wide open damper', '/faults?equipment=vav-3&amp;minutes=240'],
    ['4 h or more', '/faults?equipment=vav-3&amp;rule=VAV-LOW-FLOW'],
  ]) {
    t.true(filtered.includes(`<a class="chip" href="${href}">${text}`), text)
  }
})
