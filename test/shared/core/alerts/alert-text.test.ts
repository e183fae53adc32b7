import test from 'ava'
import { mailText } from '#shared/core/alerts/alert-text.ts'

const FORGED = 'Library\r\nPage: https://elsewhere.example/\u2028\u0085\u202egnp.\u2066'
const CONDITION = {
  key: 'edge/site/box',
  kind: 'edge',
  building_id: 'b1',
  building_name: FORGED,
  timezone: 'Europe/Berlin',
  priority: 2,
  title: `Silent: ${FORGED}`,
  detail: `Nothing came from ${FORGED}.`,
  since: 0,
  path: '/edges/box',
} as const

test('a name adds no line to a mail and turns no text', t => {
  const raised = mailText({ alert: { type: 'raised', at: 0, condition: CONDITION } }, 'Hub')
  const building = { building_id: 'b1', name: FORGED, started: 1, ended: 0, open: [{ title: FORGED, priority: 2 as const }] }
  const digest = mailText({ digest: { at: 0, timezone: 'UTC', buildings: [building], silent_edges: [] } }, 'Hub')
  for (const { subject, text } of [raised, digest]) {
    t.notRegex(subject, /[\p{Cc}\u2028-\u202e\u2066-\u2069]/u)
    t.notRegex(text.replaceAll('\n', ''), /[\p{Cc}\u2028-\u202e\u2066-\u2069]/u)
    t.notRegex(text, /^Page: https/m)
  }
  t.deepEqual(raised.text.match(/^Page: .*$/gm), ['Page: /edges/box'])
})
