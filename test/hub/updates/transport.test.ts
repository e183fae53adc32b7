/** An update goes to a box over its session with the broker, and the box’s status tells the hub what became of it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { boxReport } from '#hub/updates/box-reports.ts'
import { readBundle } from '#hub/updates/bundle-file.ts'
import { askForUpdate, sendUpdate } from '#hub/updates/send-update.ts'
import { folder } from '../../support/folders.ts'
import { openEdge } from '../../support/sites/priority-edge.ts'
import { joinBroker, openHub } from '../connectors/hub-site.ts'
import { bundleOf, COMPATIBLE, NEW, openBox } from './boxes.ts'

test('over the broker an update arrives whole, and a box without a system of ours knows no update', async t => {
  const hub = await openHub(t)
  const box = openBox(t, 'edge-1')
  const { service } = await openEdge(t)
  await joinBroker(t, hub, 'edge-1', service, 'A', box)
  await joinBroker(t, hub, 'edge-2', service)
  const file = join(folder(t), 'update.raucb')
  const bytes = bundleOf(NEW, COMPATIBLE, 300_000)
  writeFileSync(file, bytes)
  const bundle = await readBundle(file)
  const ask = askForUpdate(hub.edges, hub.askBroker)
  const send = (edge_id: string) =>
    sendUpdate(file, bundle, request => ask({ site_id: 'A', edge_id }, request), new AbortController().signal)
  await send('edge-1')
  box.install()
  t.true(box.received.equals(bytes))
  await t.throwsAsync(send('edge-2'), { message: /^edge-2 does not know this request/ })
  await t.throwsAsync(send('edge-3'), { message: /edge-3 of site A is gone/ })
  t.deepEqual(boxReport(hub.edges.get('A', 'edge-1')!, Date.now()).system, { compatible: COMPATIBLE, last: null })
  t.is(boxReport(hub.edges.get('A', 'edge-2')!, Date.now()).system, undefined)
})
