import test, { type ExecutionContext } from 'ava'
import type { Connectors } from '#shared/central/api/connectors.ts'
import { HISTORY_SCHEMA, toWireRecord, toWireScanner } from '#shared/core/priority/priority-wire.ts'
import { Problem } from '#shared/core/problem.ts'
import { hubOverrides } from '#hub/pages/overrides.route.ts'
import { EDGES } from '../../support/page-fixture.ts'
import { HISTORY, journalOf, SCANNER } from '../../support/overrides-fixture.ts'
import { signedIn } from '../../support/signed-in.ts'
import { openSite, PASSWORDS } from '../../support/sites/page-site.ts'

const [EDGE] = EDGES
const PATH = `/edges/${EDGE!.edge_id}/overrides`
const words = (text: string) => text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')

/** A stand-in for an edge that answers from a journal; its cursors are plain sequence numbers. */
function edgeOf(readings = HISTORY, given: object = {}) {
  const journal = journalOf(readings)
  const asked: string[] = []
  const ask = async (_edge_id: string, operation: string, request: any) => {
    asked.push(operation)
    if (operation === 'priority_trigger') return { ok: true, visit_id: 'v1', device_instance: 1007 }
    const { target, page_size, cursor } = request
    const { records, more } = journal.page({ target, limit: page_size, ...(cursor !== undefined && { before: Number(cursor) }) })
    const next = more && { next_cursor: String(records.at(-1)!.seq) }
    return {
      ok: true,
      schema: HISTORY_SCHEMA,
      records: records.map(toWireRecord),
      ...next,
      scanner: toWireScanner(SCANNER, journal.state()),
      ...given,
    }
  }
  return { connectors: { ask } as unknown as Connectors, asked }
}

async function open(t: ExecutionContext, connectors: Connectors, who: 'agent' | 'viewer' = 'agent') {
  const site = await openSite({ product: 'hub', more: (layout, context) => hubOverrides({ context, layout, connectors }) })
  t.teardown(site.close)
  return signedIn(site.url, who, PASSWORDS[who])
}

test('the overrides page of an edge shows its newest records and how far back they reach', async t => {
  const { connectors, asked } = edgeOf()
  const { get } = await open(t, connectors)
  const text = words(await (await get(PATH)).text())
  t.is(asked.length, 3)
  t.regex(text, /4 overrides at the newest visit of 6 points/)
  t.regex(text, /newest 300 records are evaluated, back to Wed 18 Nov/)
  t.regex(text, /Read further back/)
  t.regex(text, /or earlier/)
  t.regex(text, /1,440, on the edge only/)
  const all = words(await (await get(`${PATH}?read=30`)).text())
  t.regex(all, /newest 1,440 records are evaluated, back to Tue 10 Nov .* Older records are not kept/)
})

test('the overrides of an edge are grouped by equipment, and each link keeps what is chosen', async t => {
  const { get } = await open(t, edgeOf().connectors)
  const page = await (await get(`${PATH}?older=7&group=equipment&read=30`)).text()
  t.regex(words(page), /3 of them shown.* Of no equipment 3 /)
  const hrefs = [...page.matchAll(/href="([^"]+overrides[^"]*)"/g)].map(([, href]) => href!.replaceAll('&amp;', '&'))
  const site = EDGE!.site_id
  for (const href of [
    `${PATH}?site_id=${site}&read=30&older=1&group=equipment`,
    `${PATH}?site_id=${site}&read=30&older=7`,
    `${PATH}?site_id=${site}&read=30&group=equipment`,
    `${PATH}.csv?site_id=${site}&older=7&group=equipment`,
  ])
    t.true(hrefs.includes(href), `${href} of ${hrefs.join(' ')}`)
  const further = await (await get(`${PATH}?older=1&group=equipment`)).text()
  t.true(further.includes(`href="${PATH}?site_id=${site}&amp;older=1&amp;group=equipment&amp;read=10"`))
  t.is((await (await get(`${PATH}.csv?older=7&group=equipment`)).text()).trim().split('\r\n').length, 4)
})

test('levels have the names of the site, and count as it says, where the edge tells them', async t => {
  const priority_levels = [
    { level: 8, name: 'Caretaker' },
    { level: 1, override: false },
  ]
  const { get } = await open(t, edgeOf(HISTORY, { priority_levels }).connectors)
  const text = words(await (await get(PATH)).text())
  t.regex(text, /P8 Caretaker/)
  t.notRegex(text, /P1 Manual life safety/)
  t.regex(await (await get(`${PATH}.csv`)).text(), /,8,Caretaker,/)
  t.regex(words(await (await get(`${PATH}/1007/analog-value/3`)).text()), /P8 Caretaker 60 \(commands\)/)
})

test('the page of one point shows its slots, and links to older visits with a cursor', async t => {
  const { connectors } = edgeOf()
  const { get } = await open(t, connectors)
  const first = await (await get(`${PATH}/1007/analog-value/3`)).text()
  t.regex(words(first), /P8 Manual operator 60 \(commands\)/)
  const older = /href="([^"]+cursor=\d+)"/.exec(first)![1]!.replaceAll('&amp;', '&')
  t.regex(words(await (await get(older)).text()), /seen from .* 100 visits/)
  t.is((await get(`${PATH}/1007/analog-value/99`)).status, 404)
})

test('an operator triggers a visit; for a viewer no request is sent to the edge', async t => {
  const { connectors, asked } = edgeOf()
  const { post } = await open(t, connectors)
  t.is((await post(`${PATH}/visit`, PATH)).status, 303)
  t.true(asked.includes('priority_trigger'))
  const viewer = edgeOf()
  const visitor = await open(t, viewer.connectors, 'viewer')
  t.is((await visitor.post(`${PATH}/visit`, PATH)).status, 403)
  t.false(viewer.asked.includes('priority_trigger'))
})

for (const [code, status] of [
  ['edge_timeout', 504],
  ['edge_unreachable', 502],
  ['edge_failed', 502],
] as const) {
  test(`${code} is shown on a page with the last known state of the edge`, async t => {
    const ask = async () => {
      throw new Problem(code, 'nothing came within 15 s')
    }
    const { get } = await open(t, { ask } as unknown as Connectors)
    const answer = await get(PATH)
    t.is(answer.status, status)
    const text = words(await answer.text())
    t.regex(text, /nothing came within 15 s/)
    t.regex(text, /cannot be shown until the edge answers/)
    t.regex(text, /session (open|closed), data (fresh|old)/)
  })
}

test('an unknown edge is 404, and the CSV file is read from the edge', async t => {
  const { connectors } = edgeOf()
  const { get } = await open(t, connectors)
  t.is((await get('/edges/nobody/overrides')).status, 404)
  const csv = await get(`${PATH}.csv`)
  t.regex(csv.headers.get('content-disposition')!, /filename="overrides\.csv"/)
  t.is((await csv.text()).trim().split('\r\n').length, 5)
})

test('the name of a CSV file with part of the history states how far back it reaches', async t => {
  const { connectors } = edgeOf([...HISTORY, ...HISTORY, ...HISTORY])
  const { get } = await open(t, connectors)
  const name = (await get(`${PATH}.csv`)).headers.get('content-disposition')!
  t.regex(name, /filename="overrides-seen-since-2026-11-\d\dT\d{6}Z\.csv"/)
})

test('a number of the device is shown as its point scales it, and as it stands where the box does not say how', async t => {
  const page = async (scaling?: { scale: number; offset: number }) => {
    const site = await openSite({
      product: 'hub',
      more: (layout, context) => hubOverrides({ context, layout, connectors: edgeOf().connectors }),
    })
    t.teardown(site.close)
    const source = { protocol: 'bacnet', address: 'ahu-1/analog-value,3', ...(scaling && { scaling }) } as const
    const own = {
      point_id: 'held',
      building_id: EDGE!.building_id,
      name: 'analog-value,3',
      unit: 'degC',
      kind: 'number',
      source,
    } as const
    site.stores.model.put({ points: [own] })
    return words(await (await (await signedIn(site.url, 'agent', PASSWORDS.agent)).get(`${PATH}/1007/analog-value/3`)).text())
  }
  t.regex(await page({ scale: 0.1, offset: 15 }), /P8 Manual operator 21(\.0)? °C \(commands\)/)
  t.regex(await page({ scale: 1, offset: 0 }), /P8 Manual operator 60 °C \(commands\)/)
  t.regex(await page(), /P8 Manual operator 60 \(commands\)/)
})
