/**
 * A clock that is set wrong in either direction does not lock a box out. A test cannot set the clock of TLS, so the certificates
 * lie before or after now: for TLS that is the same as a machine whose clock is ahead or behind.
 */
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { openEdgeKits } from '#appliance/kit/edge-kits.ts'
import { MqttPublisher } from '#appliance/services/mqtt-publisher.ts'
import { DAY } from '#shared/core/time.ts'
import { wallClock } from '#shared/node/clock.ts'
import { writeKit } from '#shared/node/pki/kit-write.ts'
import { makePki, openPki } from '#shared/node/pki/pki-files.ts'
import { folder, until } from '../../support/folders.ts'
import { edgeSelf, silent, startBroker, testOutbox } from '../../support/sites/transport-site.ts'

type Days = { issued: number; days?: number }
const at =
  ({ issued }: Days) =>
  () =>
    Date.now() + issued * DAY

/** Starts an edge whose broker and kit have certificates of these times, in days from now. */
async function openSite(t: ExecutionContext, broker: Days & { hosts?: string[] }, kit: Days) {
  const dir = folder(t)
  const [certs, own] = [join(dir, 'pki'), join(dir, 'kit')]
  await makePki(certs, { name: 'Test', now: Date.now() - 2000 * DAY })
  const { issued: _issued, hosts = ['127.0.0.1'], ...life } = broker
  await (await openPki(certs, at(broker))).broker({ hosts, ...life })
  const service = await startBroker(certs)
  t.teardown(service.stop)
  const { issued: _kitIssued, ...kitLife } = kit
  const place = { site_id: 'A', edge_id: 'e1', broker_host: '127.0.0.1', broker_port: service.port() }
  const made = await (await openPki(certs, at(kit))).kit({ ...place, ...kitLife })
  const start = async (ca_pem = made.ca_pem) => {
    await writeKit(made, own)
    const opened = await openEdgeKits({
      ...{ path: own, folder: join(dir, 'kits'), edge: place, broker: undefined, log: silent, now: Date.now() },
    })
    // The edge trusts another authority than the one that has issued its own certificate.
    Object.assign(opened.current(), { ca_pem })
    const outbox = await testOutbox(join(dir, 'store'), ['hub'])
    const publisher = new MqttPublisher({ outbox, kits: opened, edge: edgeSelf('A', 'e1'), clock: wallClock, log: silent })
    await publisher.start()
    t.teardown(async () => {
      await publisher.stop()
      await outbox.close()
    })
    return publisher
  }
  return { dir, start }
}

const isUp = (publisher: MqttPublisher) => () => publisher.state().state === 'up'
const reason = (publisher: MqttPublisher) => publisher.state().reason ?? ''

test('a clock 200 days behind: the certificate of the broker has not begun, and the box connects', async t => {
  const { start } = await openSite(t, { issued: 200 }, { issued: 0 })
  const publisher = await start()
  await until(isUp(publisher), 'the box is connected', 30_000)
  t.is(publisher.state().reason, undefined)
})

test('a clock a year ahead: the certificate of the broker has ended, and the box connects', async t => {
  const { start } = await openSite(t, { issued: -500 }, { issued: -300 })
  const publisher = await start()
  await until(isUp(publisher), 'the box is connected', 30_000)
  t.is(publisher.state().reason, undefined)
})

test('a kit whose certificate has ended by the clock of the box is no reason not to start: the broker refuses it', async t => {
  const { start } = await openSite(t, { issued: 0 }, { issued: -500 })
  const publisher = await start()
  await until(() => reason(publisher) !== '', 'a first attempt has failed', 30_000)
  t.is(publisher.state().state, 'connecting')
  t.true(publisher.state().cert_not_after! < Date.now())
})

test('a certificate of the broker that had ended before the kit was made is refused whatever the clock', async t => {
  const { start } = await openSite(t, { issued: -500 }, { issued: 0 })
  const publisher = await start()
  await until(() => /before that of this edge began/.test(reason(publisher)), 'it is refused', 30_000)
  t.is(publisher.state().state, 'connecting')
})

test('where the clock is in doubt, a broker of another name or of another authority is refused as ever', async t => {
  const named = await openSite(t, { issued: -500, hosts: ['other.example'] }, { issued: -300 })
  const first = await named.start()
  await until(() => /not for 127\.0\.0\.1/.test(reason(first)), 'the name is checked', 30_000)

  const foreign = await openSite(t, { issued: -500 }, { issued: -300 })
  await makePki(join(foreign.dir, 'other'), { name: 'Test', now: Date.now() - 2000 * DAY })
  const second = await foreign.start((await openPki(join(foreign.dir, 'other'), Date.now)).ca_pem)
  await until(() => reason(second) !== '', 'the authority is checked', 30_000)
  await new Promise(resolve => setTimeout(resolve, 3000))
  t.deepEqual([first.state().state, second.state().state], ['connecting', 'connecting'])
})
