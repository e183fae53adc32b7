/** The log of a box and its diagnostics on the hub's pages. */
import test, { type ExecutionContext } from 'ava'
import type { EdgeConnectors } from '#hub/connectors/connectors.ts'
import { edgeLogPages } from '#hub/pages/edge-log.route.ts'
import { Problem } from '#shared/core/problem.ts'
import { signedIn } from '../../support/signed-in.ts'
import { openAskedBox } from '../../support/sites/asked-box.ts'
import { openSite, PASSWORDS } from '../../support/sites/page-site.ts'

const EDGE = '/edges/edge-1'
const SITE = '?site_id=riverside'
const words = (text: string) => text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')

async function openHub(t: ExecutionContext, connectors: EdgeConnectors) {
  const site = await openSite({ product: 'hub', more: (layout, context) => edgeLogPages({ layout, context, connectors }) })
  t.teardown(site.close)
  return site
}

test('an admin reads the log of a box page by page, sets its level, and downloads its diagnostics', async t => {
  const { box, connectors } = await openAskedBox()
  t.teardown(box.close)
  const hub = await openHub(t, connectors)
  const { get, post } = await signedIn(hub.url, 'admin', PASSWORDS.admin)
  const page = await (await get(`${EDGE}/log${SITE}`)).text()
  t.regex(words(page), /Log of Plant room Read from the edge just now; the hub does not store it/)
  t.true(page.includes('trying again &lt;b&gt;later&lt;/b&gt;'))
  t.true(page.includes('&lt;img src=x onerror'))
  t.false(/<img/.test(page))
  t.is(page.match(/<tr>\n<td/g)!.length, 200)
  const older = /href="([^"]*before_line=[^"]*)"/.exec(page)![1]!.replaceAll('&amp;', '&')
  const rest = words(await (await get(older)).text())
  t.regex(rest, /device 52 answers again .* device 1 answers again .* Newest lines/)
  t.notRegex(rest, /device 53 answers/)
  t.notRegex(rest, /Older lines/)
  t.regex(words(await (await get(`${EDGE}/log${SITE}&level=error`)).text()), /error write queue full/)

  const set = await post(`${EDGE}/log/level${SITE}`, `${EDGE}/log${SITE}`, { level: 'debug' })
  t.deepEqual([set.status, set.headers.get('location')], [303, `${EDGE}/log${SITE}`])
  t.is(box.context.inspection.log.level, 'debug')
  const file = await post(`${EDGE}/diagnostics${SITE}`, `${EDGE}${SITE}`, {})
  t.is(file.headers.get('content-disposition'), 'attachment; filename="plenum-edge-1-diagnostics.zip"')
  t.is(Buffer.from(await file.arrayBuffer()).readUInt32LE(0), 0x04034b50, 'a ZIP archive')
  const rows = hub.context.audit.list({ limit: 10 }).map(({ actor, action, subject }) => [actor, action, subject])
  t.deepEqual(rows.slice(0, 2), [
    ['admin', 'edge_diagnostics', 'edge-1'],
    ['admin', 'edge_log_level', 'edge-1'],
  ])
})

test('an operator is offered neither, and is refused before the box is asked', async t => {
  const { box, connectors, asked } = await openAskedBox()
  t.teardown(box.close)
  const hub = await openHub(t, connectors)
  const admin = await signedIn(hub.url, 'admin', PASSWORDS.admin)
  const offered = /href="\/edges\/edge-1\/log\?site_id=riverside"[^]*Download diagnostics/
  t.regex(await (await admin.get(EDGE + SITE)).text(), offered)
  const agent = await signedIn(hub.url, 'agent', PASSWORDS.agent)
  t.notRegex(await (await agent.get(EDGE + SITE)).text(), /edge-1\/log|diagnostics/)
  t.is((await agent.get(`${EDGE}/log${SITE}`)).status, 403)
  for (const path of [`${EDGE}/log/level${SITE}`, `${EDGE}/diagnostics${SITE}`])
    t.is((await agent.post(path, '/faults', { level: 'debug' })).status, 403)
  t.deepEqual(asked, [])
})

for (const [code, status, detail] of [
  ['edge_unreachable', 502, 'edge-1 is not connected to the broker and has no HTTPS address'],
  ['edge_timeout', 504, 'edge-1 did not answer over the broker within 15 s'],
  ['edge_failed', 502, 'edge-1 does not know this request: its version is older'],
] as const) {
  test(`${code} is explained on the page of log and of diagnostics, and nothing is audited`, async t => {
    const ask = () => Promise.reject(new Problem(code, detail))
    const hub = await openHub(t, { ask, nameOf: () => '' })
    const { get, post } = await signedIn(hub.url, 'admin', PASSWORDS.admin)
    const answers = [
      [await get(`${EDGE}/log${SITE}`), /The log is stored only on the edge/],
      [await post(`${EDGE}/log/level${SITE}`, EDGE + SITE, { level: 'debug' }), /How much the edge logs is as it was/],
      [await post(`${EDGE}/diagnostics${SITE}`, EDGE + SITE, {}), /there is none until it answers/],
    ] as const
    for (const [answer, lost] of answers) {
      t.is(answer.status, status)
      const text = words(await answer.text())
      t.true(text.includes(detail), text)
      t.regex(text, lost)
      t.regex(text, /Edge session (open|closed), data (fresh|old) Version/)
      t.regex(text, /Try again/)
    }
    t.deepEqual(
      hub.context.audit.list({ limit: 10 }).filter(({ action }) => action.startsWith('edge_')),
      [],
    )
  })
}
