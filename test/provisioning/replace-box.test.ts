/** The playbook "Replace a failed box", step by step: real commands, a real broker and hub, and the stick as the box takes it. */
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import pino from 'pino'
import { firstSite } from '#appliance/prepare/identity.ts'
import { takeStick } from '#appliance/prepare/stick.ts'
import { runCommand } from '#provisioning/commands.ts'
import { readKit } from '#shared/node/pki/kit-read.ts'
import { openPki } from '#shared/node/pki/pki-files.ts'
import { folder, until } from '../support/folders.ts'
import { page, startBroker, startEdge, startHub } from '../support/sites/transport-site.ts'

async function done(t: ExecutionContext, argv: string[]): Promise<string> {
  const { exit, text } = await runCommand(argv, Date.now)
  t.is(exit, 0, `${argv.join(' ')}: ${text}`)
  return text
}

test('a failed box is replaced under its edge id with a new certificate: the hub goes on with its history, and the old box is shut out', async t => {
  const dir = folder(t)
  const pki = join(dir, 'pki')
  await done(t, ['ca', '--dir', pki])
  await done(t, ['broker', '--dir', pki, '--hosts', '127.0.0.1'])
  await done(t, ['central', '--dir', pki])
  const events: string[] = []
  const log = pino({}, { write: line => void events.push(JSON.parse(line).msg) })
  const broker = await startBroker(pki, 0, log)
  t.teardown(broker.stop)
  const hub = await startHub(pki, join(dir, 'hub'), broker.port())
  t.teardown(hub.stop)
  const place = ['--site', 'A', '--edge', 'e1', '--broker-host', '127.0.0.1', '--broker-port', String(broker.port())]

  await done(t, ['kit', '--dir', pki, ...place, '--out', join(dir, 'old')])
  const oldKit = await readKit(join(dir, 'old'), Date.now())
  const old = await startEdge(oldKit, join(dir, 'old-box'), undefined, 'boot-of-old')
  await old.outbox.write(page(0))
  await until(() => hub.samples().length === 500, 'the history of the old box')
  await old.stop()

  // 1. and 2. Its certificate is found by its name and revoked.
  const list = await done(t, ['list', '--dir', pki])
  const [, serial] = /^(\S+) {2}edge:A:e1 {2}until/m.exec(list)!
  await done(t, ['revoke', serial!, '--dir', pki])
  // 3. A stick for the new box.
  const stick = join(dir, 'stick')
  await done(t, ['pack-usb', '--dir', pki, ...place, '--out', stick])
  // 4. The new box takes it.
  const places = {
    stick,
    system: join(dir, 'system'),
    kit: join(dir, 'kit'),
    workspace: join(dir, 'workspace'),
    settings: join(dir, 'settings.env'),
    updates: join(dir, 'updates'),
  }
  for (const path of [places.system, places.updates]) mkdirSync(path)
  await firstSite(places, 'plenum-zz99')
  t.like(await takeStick(places, 'plenum-zz99', { now: Date.now(), isSynced: true, notBefore: 0 }), {
    lines: ['kit.zip: this box is A/e1 and sends to 127.0.0.1'],
    wish: 'restart',
  })
  t.like(JSON.parse(readFileSync(join(places.workspace, 'config/site.json'), 'utf8')), { site_id: 'A', edge_id: 'e1' })

  // 5. It sends under the same id, with an outbox of its own.
  const newKit = await readKit(places.kit, Date.now())
  t.not(newKit.cert_pem, oldKit.cert_pem)
  const box = await startEdge(newKit, join(dir, 'new-box'), undefined, 'boot-of-new')
  t.teardown(box.stop)
  await box.outbox.write(page(1))
  await until(() => hub.samples().length === 1000, 'the readings of the new box')
  t.deepEqual(
    hub.samples().map(({ v }) => v),
    Array.from({ length: 1000 }, (_, n) => n),
  )
  t.deepEqual(
    hub.edges.list().map(({ site_id, edge_id }) => `${site_id}/${edge_id}`),
    ['A/e1'],
  )

  // 6. The list of certificates has one that is valid, and the old box does not come back.
  const issued = await (await openPki(pki, Date.now)).list()
  t.deepEqual(
    issued
      .filter(({ cn }) => cn === 'edge:A:e1')
      .map(({ revoked_at }) => revoked_at === null)
      .toSorted(),
    [false, true],
  )
  await until(() => events.some(event => event.startsWith('list of revoked')), 'the broker has read the list')
  const again = await startEdge(oldKit, join(dir, 'old-box'), undefined, 'boot-of-old')
  t.teardown(again.stop)
  await until(() => again.state().reason !== undefined, 'a reason for which the old box is refused')
  t.is(again.state().state, 'connecting')
  t.deepEqual(broker.sessions().toSorted(), ['central:*', 'edge:A:e1'])
  t.is(box.state().state, 'up')
})
