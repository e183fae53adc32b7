/** A certificate is renewed over the session with a real broker, at every moment with a kit that works. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { X509Certificate } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import test from 'ava'
import { openEdgeKits } from '#appliance/kit/edge-kits.ts'
import { createAuthority } from '#hub/enrol/authority.ts'
import { DAY } from '#shared/core/time.ts'
import { writeKit } from '#shared/node/pki/kit-write.ts'
import type { Kit } from '#shared/node/pki/kit-read.ts'
import { serialOf } from '#shared/node/pki/certificate.ts'
import { openPki } from '#shared/node/pki/pki-files.ts'
import { until } from '../../support/folders.ts'
import { page, silent } from '../../support/sites/transport-site.ts'

import { EDGE, openRenewing } from './renewing-edge.ts'

const serial = ({ cert_pem }: Pick<Kit, 'cert_pem'>): string => serialOf(new X509Certificate(cert_pem).serialNumber)
const renewedIn = (store: string): string[] => (existsSync(join(store, 'kit')) ? readdirSync(join(store, 'kit')) : [])

test('a certificate with a third of its life left is renewed over its session with a new key, which the next start uses too', async t => {
  const { store, broker, hub, notes, renewals, openKits, connect, authority, online } = await openRenewing(t, 205)
  const kits = await openKits()
  const [before, { key_pem }] = [serial(kits.current()), kits.current()]
  const { publisher, stop } = await connect(kits)
  await until(() => online()?.status_body['cert_renewal_due'] === true, 'the edge asks', 20_000)
  await renewals.look()
  t.not(serial(kits.current()), before)
  t.not(kits.current().key_pem, key_pem)
  t.deepEqual(renewedIn(store), [`renewed-${serial(kits.current())}`])
  await until(() => publisher.state().state === 'up', 'the edge is connected again', 20_000)
  await until(() => online()?.status_body['cert_renewal_due'] === undefined, 'it asks no more', 20_000)
  t.is(online()!.online, true, 'a session that changes its certificate is not lost')
  t.true(broker.sessions().includes('edge:A:e1'))
  t.like(notes, [{ subject: 'A/e1', after: { serial: serial(kits.current()) } }])
  const [newest] = await authority.list()
  t.is(newest!.serial, serial(kits.current()))
  t.is(Math.round((newest!.not_after - newest!.issued_at) / DAY), 300, 'as long as the one before')
  await renewals.look()
  t.is((await authority.list()).length, 2, 'nothing is due any more')

  await stop()
  const again = await openKits()
  t.is(serial(again.current()), serial(kits.current()))
  t.is(publisher.state().cert_not_after, newest!.not_after - (newest!.not_after % 1000))
  t.truthy(hub.counters())
})

test('while a backlog drains an edge changes its certificate three times: all is stored once, and all that it is asked is answered', async t => {
  const { hub, renewals, openKits, connect, online, ask } = await openRenewing(t, 250)
  const kits = await openKits()
  const carriedOut: number[] = []
  const count = {
    request: Type.Object({ n: Type.Number() }),
    status: 200,
    answer: async ({ n }: { n: number }) => {
      await sleep(20)
      carriedOut.push(n)
      return { n }
    },
  }
  const { publisher, outbox } = await connect(kits, { count })
  await until(() => online()?.online === true, 'the hub knows the edge', 20_000)
  const pages = 150
  for (let i = 0; i < pages; i++) await outbox.write(page(i))
  let isChanging = true
  let asked = 0
  const asking = async () => {
    while (isChanging) {
      const n = asked++
      t.deepEqual((await ask(online()!, 'count', { n })).body, { n })
    }
  }
  const askers = [asking(), asking(), asking()]
  for (let i = 0; i < 3; i++) {
    const before = kits.current()
    await renewals.renew(online()!)
    t.not(kits.current(), before)
    await until(() => publisher.state().state === 'up', 'the edge is connected again', 20_000)
  }
  isChanging = false
  await Promise.all(askers)
  t.deepEqual(
    carriedOut.toSorted((a, b) => a - b),
    Array.from({ length: asked }, (_, n) => n),
    'each was carried out once',
  )
  await until(() => publisher.state().backlog === 0, 'everything is stored', 60_000)
  t.is(
    hub
      .samples()
      .map(({ v }) => v)
      .join(),
    Array.from({ length: pages * 500 }, (_, n) => n).join(),
  )
})

test('a certificate in the first two thirds of its life is not renewed, and an operator renews it all the same', async t => {
  const { renewals, openKits, connect, authority, online } = await openRenewing(t, 190)
  const kits = await openKits()
  await connect(kits)
  await until(() => online()?.online === true, 'the hub knows the edge', 20_000)
  await renewals.look()
  t.is((await authority.list()).length, 1)
  const renewed = await renewals.renew(online()!)
  t.is(serial(kits.current()), renewed.serial)
})

test('an edge whose newest certificate is revoked gets no other one', async t => {
  const { renewals, openKits, connect, authority, online } = await openRenewing(t, 250)
  await connect(await openKits())
  await until(() => online()?.online === true, 'the hub knows the edge', 20_000)
  const edge = online()!
  await authority.revoke(EDGE)
  const error: any = await t.throwsAsync(renewals.renew(edge))
  // The session may have ended before the answer: then the hub cannot ask at all.
  t.true(['conflict', 'edge_timeout', 'edge_unreachable'].includes(error.code), error.code)
  t.is((await authority.list()).length, 1)
})

test('a renewed certificate that the broker refuses leaves the one before, and gets no third one', async t => {
  const { certs, store, own, openKits, connect, authority, online } = await openRenewing(t, 250)
  const kits = await openKits()
  const before = serial(kits.current())
  const { csr_pem } = await kits.request()
  const bad = await authority.renew(EDGE, csr_pem, { isProven: true })
  await kits.install(bad)
  await (await openPki(certs, Date.now)).revoke(bad.serial)
  await new Promise(resolve => setTimeout(resolve, 1500)) // The broker reads its list twice a second.
  const { stop } = await connect(kits)
  t.is(serial(kits.current()), before, 'the session uses the one that works')
  t.is(renewedIn(store).length, 1, 'the other one may have been refused by mistake')
  t.is(online()?.status_body['cert_renewal_due'], undefined)
  await stop()

  // A person puts a new kit there: it is the newest, and the rest is forgotten once it has worked.
  const broker_port = kits.current().edge.broker_port
  await writeKit(await (await openPki(certs, Date.now)).kit({ ...EDGE, broker_host: '127.0.0.1', broker_port }), own)
  const fresh = await openKits()
  await connect(fresh)
  await until(() => renewedIn(store).length === 0, 'the refused certificate is deleted', 20_000)
})

test('a certificate from a hub whose clock was years ahead is refused once it is set, and does not end the renewals', async t => {
  const { certs, store, openKits, connect, authority, renewals, online } = await openRenewing(t, 250)
  const kits = await openKits()
  const before = serial(kits.current())
  const ahead = createAuthority(certs, () => Date.now() + 3650 * DAY)
  const { csr_pem } = await kits.request()
  await kits.install(await ahead.renew(EDGE, csr_pem, { isProven: true }))
  const early = serial(kits.current())
  const { publisher } = await connect(kits)
  t.is(serial(kits.current()), before, 'the session uses the one that is valid now')
  await until(() => online()?.status_body['cert_renewal_due'] === true, 'the edge asks', 20_000)
  await renewals.look()
  await until(() => ![before, early].includes(serial(kits.current())), 'it has another certificate', 20_000)
  await until(() => publisher.state().state === 'up', 'the edge is connected again', 20_000)
  t.deepEqual(renewedIn(store), [`renewed-${serial(kits.current())}`])
  t.true((await authority.list()).length >= 3)
})

test('the address of the broker is that of the settings, else of the kit that a person sees, also with a renewed certificate', async t => {
  const { own, openKits, authority } = await openRenewing(t, 250)
  const kits = await openKits()
  const first = kits.current()
  await kits.install(await authority.renew(EDGE, (await kits.request()).csr_pem, { isProven: true }))
  const corrected = { broker_host: 'hub.example', broker_port: 8884 }
  await writeKit({ ...first, edge: { ...first.edge, ...corrected } }, own)
  const after = (await openKits()).current()
  t.not(serial(after), serial(first), 'the renewed certificate is used')
  t.like(after.edge, corrected)
  const set = { broker_host: 'other.example', broker_port: 8885 }
  t.like((await openKits(set)).current().edge, set)
})

test('a crash in the middle of a renewal leaves a kit: what is not whole is not used', async t => {
  const { store, own, openKits, authority } = await openRenewing(t, 250)
  const kits = await openKits()
  const before = serial(kits.current())
  await t.throwsAsync(kits.install({ cert_pem: kits.current().cert_pem, ca_pem: kits.current().ca_pem }), {
    message: /requested no certificate/,
  })
  const { csr_pem } = await kits.request()
  t.is((await kits.request()).csr_pem, csr_pem, 'asked twice, one key')
  const answer = await authority.renew(EDGE, csr_pem, { isProven: true })
  await t.throwsAsync(kits.install({ ...answer, cert_pem: kits.current().cert_pem }), { message: /not the key/ })
  t.is(serial(kits.current()), before)

  // Killed while the folder was written, and a folder that a power cut has left empty.
  await writeKit({ ...kits.current(), ...answer }, join(store, 'kit', 'renewed-AB12.new'))
  mkdirSync(join(store, 'kit', 'renewed-CD34'))
  writeFileSync(join(store, 'kit', 'renewed-CD34', 'edge.json'), '')
  const after = await openKits()
  t.is(serial(after.current()), before)
  t.false(existsSync(join(store, 'kit', 'renewed-AB12.new')))

  // Killed after it: the new one is used, also when the folder of the first kit is gone.
  await kits.install(answer)
  t.is(serial((await openKits()).current()), answer.serial)
  const lost = await openEdgeKits({
    ...{ path: join(own, 'nowhere'), folder: join(store, 'kit'), edge: EDGE, broker: undefined },
    ...{ log: silent, now: Date.now() },
  })
  t.is(serial(lost.current()), answer.serial)
  await t.throwsAsync(
    openEdgeKits({
      ...{ path: own, folder: join(store, 'kit'), edge: { site_id: 'A', edge_id: 'e2' }, broker: undefined },
      ...{ log: silent, now: Date.now() },
    }),
    { message: /is of A\/e1, this is A\/e2/ },
  )
})
