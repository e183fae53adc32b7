/** Sessions come from outside: a client that connects again and again is a line a minute. */
import { join } from 'node:path'
import test from 'ava'
import { Writable } from 'node:stream'
import pino from 'pino'
import { createSessionLog } from '#hub/broker/session-log.ts'
import { folder, until } from '../../support/folders.ts'
import { makeAuthority, startBroker } from '../../support/sites/transport-site.ts'
import { enter } from '../../support/raw-client.ts'

function open() {
  const lines: string[] = []
  const clock = { now: 0 }
  const say = (fields: { cn: string; sessions?: number }, text: string) =>
    void lines.push([fields.cn, ...(fields.sessions === undefined ? [] : [fields.sessions]), text].join(' '))
  const log = createSessionLog({ info: say, warn: say } as never, () => clock.now)
  const loop = (sessions: number) => {
    for (let i = 0; i < sessions; i++) {
      log.connected('a')
      log.disconnected('a')
    }
  }
  return { lines, clock, log, loop }
}

test('a client that connects now and then is logged each time', t => {
  const { lines, clock, log, loop } = open()
  for (let i = 0; i < 10; i++) {
    loop(1)
    clock.now += 60_000
    log.write()
  }
  t.deepEqual(lines, Array.from({ length: 10 }, () => ['a connected', 'a disconnected']).flat())
})

test('a client that connects again and again is announced once and then counted, until it has been quiet for a minute', t => {
  const { lines, clock, log, loop } = open()
  loop(1000)
  const each = ['a connected', 'a disconnected']
  const announced = 'a connects again and again: its sessions are counted, and logged once a minute'
  t.deepEqual(lines.splice(0), [...each, ...each, ...each, announced])
  clock.now = 60_000
  log.write()
  loop(499)
  log.connected('a')
  t.deepEqual(lines.splice(0), ['a 1000 disconnected: its sessions of the last minute'])
  clock.now = 120_000
  log.write()
  clock.now = 180_000
  log.write()
  t.deepEqual(lines.splice(0), [
    'a 500 connected: its sessions of the last minute',
    'a 0 connected: its sessions of the last minute',
  ])
  log.disconnected('a')
  log.connected('b')
  t.deepEqual(lines.splice(0), ['a disconnected', 'b connected'])
})

test('a broker whose client connects again and again logs a few of its sessions', async t => {
  const dir = folder(t)
  const pki = await makeAuthority(join(dir, 'pki'))
  const texts: string[] = []
  const into = new Writable({
    write(line, _encoding, done) {
      texts.push(JSON.parse(String(line)).msg)
      done()
    },
  })
  const broker = await startBroker(join(dir, 'pki'), 0, pino(into))
  t.teardown(broker.stop)
  const kit = await pki.kit({ site_id: 'A', edge_id: 'e1', broker_host: '127.0.0.1', broker_port: broker.port() })
  for (let i = 0; i < 12; i++) (await enter(t, { ...kit, port: broker.port(), cn: 'edge:A:e1' })).destroy()
  await until(() => broker.sessions().length === 0, 'all have ended')
  t.is(texts.filter(text => text === 'connected').length, 3)
  t.is(texts.filter(text => text.startsWith('connects again and again')).length, 1)
})
