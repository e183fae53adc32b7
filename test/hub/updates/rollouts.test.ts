/** A hub rolls an update out over boxes whose update port is real; only what their system does with it is played. */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { readBundle } from '#hub/updates/bundle-file.ts'
import { openRollouts } from '#hub/updates/rollouts.ts'
import { sendUpdate } from '#hub/updates/send-update.ts'
import { updateRoutes } from '#hub/updates/updates.route.ts'
import { updatesBody } from '#hub/updates/updates.view.ts'
import type { UpdateRequest } from '#shared/core/update/update-wire.ts'
import { wallClock } from '#shared/node/clock.ts'
import { folder, until } from '../../support/folders.ts'
import { signedIn } from '../../support/signed-in.ts'
import { openSite, PASSWORDS } from '../../support/sites/page-site.ts'
import { silent } from '../../support/sites/priority-edge.ts'
import { bundleOf, COMPATIBLE, NEW, OLD, openBox, openFleet } from './boxes.ts'

test('an update reaches every box whole, and the roll-out ends', async t => {
  const boxes = ['e1', 'e2', 'e3'].map(id => openBox(t, id))
  const { rollouts, begin } = openFleet(t, boxes)
  await rollouts.service.start()
  const bytes = bundleOf()
  await begin(bytes)
  await t.throwsAsync(begin(bytes), { message: /stop it first/ })
  await until(() => rollouts.current()?.state === 'finished', 'finished')
  for (const box of boxes) t.true(box.received.equals(bytes), box.edge_id)
  t.deepEqual(
    boxes.map(({ pieces }) => pieces),
    [3, 3, 3],
  )
})

test('a first box that goes back stops the roll-out: the others keep their version, and the reason is stored', async t => {
  const boxes = [openBox(t, 'e1', 'rolled_back'), openBox(t, 'e2'), openBox(t, 'e3')]
  const { rollouts, begin, path, reports } = openFleet(t, boxes)
  await rollouts.service.start()
  await begin(bundleOf())
  await until(() => rollouts.current()?.state === 'stopped', 'stopped')
  t.regex(rollouts.current()!.reason, /^A\/e1: it went back to the version before: no page for 25 min/)
  t.deepEqual(
    boxes.map(box => [box.version(), box.pieces]),
    [
      [OLD, 3],
      [OLD, 0],
      [OLD, 0],
    ],
  )
  await rollouts.service.stop()
  const again = openRollouts({ folder: path, reports, ask: () => Promise.reject(), clock: wallClock, log: silent })
  t.is(again.current()?.state, 'stopped')
  t.regex(again.current()!.reason, /no page for 25 min/)
})

test('a connection that breaks goes on where the box has the end of the file, and another file begins anew', async t => {
  const box = openBox(t, 'e1')
  const file = join(folder(t), 'update.raucb')
  const bytes = bundleOf()
  writeFileSync(file, bytes)
  const bundle = await readBundle(file)
  t.like(bundle, { version: NEW, compatible: COMPATIBLE, bytes: bytes.length })
  let asked = 0
  const breaking = async (request: UpdateRequest) => {
    if (++asked > 2) throw new Error('the line is down')
    return box.answer(request)
  }
  const signal = new AbortController().signal
  await t.throwsAsync(sendUpdate(file, bundle, breaking, signal), { message: 'the line is down' })
  t.is((await box.answer({ ...bundle, version: undefined, compatible: undefined } as never)).received, 65_536)
  // A piece that comes twice, or out of order, is not taken.
  const piece = Buffer.alloc(10).toString('base64')
  t.is((await box.answer({ sha256: bundle.sha256, bytes: bytes.length, offset: 0, piece })).received, 65_536)
  await t.throwsAsync(box.answer({ sha256: bundle.sha256, bytes: 65_540, offset: 65_536, piece }), { message: /has 65540/ })
  await sendUpdate(file, bundle, box.answer, signal)
  box.install()
  t.true(box.received.equals(bytes))
  const other = 'f'.repeat(64)
  await box.answer({ sha256: other, bytes: 20, offset: 0, piece })
  await box.answer({ sha256: 'e'.repeat(64), bytes: 20, offset: 0, piece })
  t.deepEqual(readdirSync(box.path).toSorted(), [`hub-${'e'.repeat(64)}.part`, 'state.json'])
})

test('a file that is whole and has another hash is thrown away, and the sender gives up', async t => {
  const box = openBox(t, 'e1')
  const file = join(folder(t), 'update.raucb')
  writeFileSync(file, bundleOf(NEW, COMPATIBLE, 100))
  const wrong = { sha256: '0'.repeat(64), bytes: (await readBundle(file)).bytes }
  await t.throwsAsync(sendUpdate(file, wrong, box.answer, new AbortController().signal), { message: /gets no further/ })
  t.deepEqual(readdirSync(box.path), [])
})

test('a file that is no update is refused, also one for another kind of machine, and nothing is left of it', async t => {
  const { begin, path, rollouts } = openFleet(t, [openBox(t, 'e1')])
  const cases: [Buffer, RegExp][] = [
    [Buffer.alloc(3), /too short/],
    [Buffer.alloc(1000, 0xff), /does not end with a signature/],
    [Buffer.alloc(1000), /does not end with a signature/],
    [bundleOf('1.0 ; rm'), /names no version/],
    [bundleOf(NEW, 'plenum-riscv'), /No box of this hub .* plenum-riscv/],
  ]
  for (const [bytes, message] of cases) await t.throwsAsync(begin(bytes), { message })
  t.deepEqual(readdirSync(path), [])
  t.is(rollouts.current(), undefined)
})

test('the page begins a roll-out, stops it and goes on, for admins only, and shows reasons as text', async t => {
  const boxes = [openBox(t, 'e1', 'rolled_back')]
  const { rollouts } = openFleet(t, boxes)
  await rollouts.service.start()
  const site = await openSite({ product: 'hub', more: (layout, context) => updateRoutes(rollouts, context, layout) })
  t.teardown(site.close)
  const admin = await signedIn(site.url, 'admin', PASSWORDS.admin)
  const first = await (await admin.get('/updates')).text()
  t.regex(first, /No update has been rolled out/)
  const csrf = /name="csrf" value="([^"]+)"/.exec(first)![1]!
  const form = (token: string) => {
    const data = new FormData()
    data.append('csrf', token)
    data.append('file', new Blob([bundleOf() as Uint8Array<ArrayBuffer>]), 'x.raucb')
    return data
  }
  t.is((await admin.send('/updates', form('x'))).status, 403)
  t.is((await admin.send('/updates', form(csrf))).status, 303)
  await until(() => rollouts.current()?.state === 'stopped', 'stopped')
  const stopped = await (await admin.get('/updates')).text()
  t.regex(stopped, /has stopped: 0 of 1 box done/)
  t.regex(stopped, /A\/e1: it went back to the version before: no page for 25 min/)
  const viewer = await signedIn(site.url, 'viewer', PASSWORDS.viewer)
  t.notRegex(await (await viewer.get('/updates')).text(), /<form[^>]*action="\/updates/)
  t.is((await viewer.post('/updates/resume', '/updates')).status, 403)
  t.is((await admin.post('/updates/resume', '/updates')).status, 303)
  t.is((await admin.post('/updates/resume', '/updates')).status, 409)
})

test('a box that went back shows the end of the log of the version that was left, as text', async t => {
  const box = openBox(t, 'e1', 'rolled_back')
  const { rollouts, begin, reports } = openFleet(t, [box])
  await rollouts.service.start()
  await begin(bundleOf())
  await until(() => rollouts.current()?.state === 'stopped', 'stopped')
  const here = { now: Date.now(), timezone: 'Etc/UTC' }
  const page = String(
    updatesBody({ here, csrf: '', isAdmin: false, rollout: rollouts.current(), boxes: reports(), q: '', page: 1 }),
  )
  t.true(page.includes('cannot open &lt;page&gt;\nthe end</pre>'), page)
})

test('a long list of boxes is shown in parts, those that failed first, and searched', t => {
  const boxes = Array.from({ length: 120 }, (_, n) => ({
    ...{ site_id: n < 60 ? 'north' : 'south', edge_id: `box-${n}`, version: OLD, online: true, is_healthy: true },
    system: openBox(t, `box-${n}`).report(),
  }))
  const part = (n: number, state: 'failed' | 'done') => ({
    ...{ site_id: n < 60 ? 'north' : 'south', edge_id: `box-${n}`, state, since: 0, reason: '', before: null },
  })
  const head = { version: NEW, compatible: COMPATIBLE, bytes: 1, sha256: '', started_at: 0, started_by: 'admin', reason: '' }
  const rollout = { ...head, state: 'stopped' as const, boxes: [part(3, 'done'), part(119, 'failed')] }
  const here = { now: Date.now(), timezone: 'Etc/UTC' }
  const page = (q: string, one: number) => String(updatesBody({ here, csrf: '', isAdmin: true, rollout, boxes, q, page: one }))
  const listed = (text: string) => [...text.matchAll(/<strong>(box-\d+)<\/strong>/g)].map(([, id]) => id!)

  const first = page('', 1)
  t.deepEqual([listed(first).length, ...listed(first).slice(0, 2)], [50, 'box-119', 'box-3'])
  t.is(new Set([first, page('', 2), page('', 3)].flatMap(listed)).size, 120)
  t.regex(first, /Page 1 of 3.*href="\/updates\?page=2"/)
  t.is(listed(page('south', 2)).length, 10)
  t.regex(page('nowhere', 1), /No box contains “nowhere”\./)
})
