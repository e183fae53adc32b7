/**
 * Three edges, a broker and a hub as processes of their own, under a random sequence of kills, cut networks, full disks and clocks
 * that are set back or ahead until certificates are not valid; meanwhile the hub renews the certificates of the edges. At each kill of the hub, and at the end, what it holds of an edge is what the edge wrote: from the first on, without a gap, once.
 *
 * PLENUM_CHAOS_SEED repeats a sequence.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { connect as connectTls } from 'node:tls'
import { setTimeout as wait } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { DAY, HOUR, MINUTE, SECOND } from '#shared/core/time.ts'
import { serialOf } from '#shared/node/pki/certificate.ts'
import type { Kit } from '#shared/node/pki/kit-read.ts'
import { writeKit } from '#shared/node/pki/kit-write.ts'
import { openReadOnly } from '#shared/node/sqlite.ts'
import { COMPILED } from '#scripts/lib-start/process.ts'
import { freePort, untilListening } from '../../scripts/lib/free-port.ts'
import { openNetwork } from '../support/cut-network.ts'
import { canMountTmpfs } from '../support/disk/mounts.ts'
import { smallDisk } from '../support/disk/small-disk.ts'
import { canFakeClock, openClock } from '../support/faked-clock.ts'
import { timesOf } from '../support/optional.ts'
import { makeAuthority, openRenewedKits, startRenewableEdge } from '../support/sites/transport-site.ts'
import { eventually, temporaryFolder } from './run-start.ts'
import { withHotRows } from '../support/sites/hot-rows.ts'

const SITES = ['A', 'B', 'C']
/** Each kind at least so often, one after the other, before the order is random. */
const ROUNDS = 2
const DISASTERS = timesOf(24, 200)
/** A disaster takes some seconds, and an edge that waits to connect again up to a minute. */
const TIME_MS = timesOf(10 * MINUTE, 3 * HOUR)
/** Pause of an edge between two messages, ms. */
const PACE_MS = 60
const DISK_MB = 64
/** A process looks at its clock once a second. */
const CLOCK_SEEN_MS = 2000
/** TLS 1.3 refuses a client after the handshake. */
const ALERT_MS = 300
/** About as long as a renewal takes, so that a disaster comes in the middle of some. */
const RENEWAL_MS = 150
/** Longer than the hub waits for an edge. */
const RENEWAL_AGAIN_MS = 6000
/** Before the certificates begin, and after they have ended. */
const CLOCK_OFFSETS = [-3 * DAY, 500 * DAY]
const MB = 2 ** 20

test('through kills, cut networks, full disks, wrong clocks and renewed certificates the hub holds what three edges wrote, once and in order', async t => {
  t.timeout(TIME_MS)
  const seed = Number(process.env['PLENUM_CHAOS_SEED'] ?? Date.now() % 1_000_000)
  t.log(`PLENUM_CHAOS_SEED=${seed}`)
  const random = randomOf(seed)
  const site = await openChaos(t)
  const some = () => SITES[Math.floor(random() * SITES.length)]!
  const disasters: Disaster[] = [
    ['broker', site.restartBroker],
    ['hub', async () => site.restartHub(() => site.assertPrefix())],
    ['edge', () => site.restartEdge(some())],
    ['network', () => site.cutNetwork(some(), 500 + random() * 2500)],
    ...whereSo(canMountTmpfs(), ['disk', () => site.fillDisk(500 + random() * 1500)]),
    ...CLOCK_OFFSETS.flatMap(offset =>
      whereSo(site.hasClocks, [`hub's clock by ${offset / DAY} days`, () => site.shiftHub(offset, 500 + random() * 2500)]),
    ),
    ...whereSo(site.hasClocks, ["edge's clock", () => site.shiftEdge(some(), CLOCK_OFFSETS[random() < 0.5 ? 0 : 1]!)]),
  ]
  const happened: string[] = []
  for (let n = 0; n < DISASTERS; n++) {
    const isRandom = n >= ROUNDS * disasters.length
    const [name, happen] = disasters[isRandom ? Math.floor(random() * disasters.length) : n % disasters.length]!
    happened.push(name)
    site.renew(some())
    await wait(random() * RENEWAL_MS)
    await happen()
    await wait(random() * SECOND)
  }
  t.log(happened.join(', '))
  const times = Map.groupBy(happened, name => name)
  t.log([...times].map(([name, all]) => `${name} ${all.length} times`).join(', '))
  await site.assertRenewals()
  await site.assertAll()
})

type Disaster = [string, () => Promise<void>]
const whereSo = (can: boolean, disaster: Disaster): Disaster[] => (can ? [disaster] : [])

/** A generator of numbers in [0, 1). @source mulberry32, Tommy Ettinger, public domain */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

async function openChaos(t: ExecutionContext) {
  const dir = await temporaryFolder(t)
  const [certs, disk, port] = [join(dir, 'pki'), openDisk(t, join(dir, 'disk')), await freePort()]
  const pki = await makeAuthority(certs)
  const networks = new Map<string, Awaited<ReturnType<typeof openNetwork>>>()
  const written = new Map<string, number>()
  /** Serials that the edge of a site had from the hub. */
  const renewed = new Map<string, string[]>(SITES.map(site_id => [site_id, []]))
  let asked = 0
  for (const site_id of SITES) {
    const network = await openNetwork(t, port)
    const kit = await pki.kit({ site_id, edge_id: 'e1', broker_host: '127.0.0.1', broker_port: network.port })
    await writeKit(kit, join(dir, `kit-${site_id}`))
    networks.set(site_id, network)
    written.set(site_id, 0)
  }
  const hasClocks = canFakeClock()
  const clocks = new Map(['hub', ...SITES].map(machine => [machine, openClock(join(dir, `clock-${machine}`))]))
  const clockOf = (machine: string) => (hasClocks ? clocks.get(machine)!.env : {})
  const passer = await pki.kit({ site_id: 'A', edge_id: 'passer', broker_host: '127.0.0.1', broker_port: port })
  const outboxOf = (site_id: string) => join(dir, `outbox-${site_id}`)

  const startBroker = async () => {
    const env = { SERVICE_MQTT_BIND: '127.0.0.1', SERVICE_MQTT_PORT: String(port), SERVICE_MQTT_CERT_DIR: certs }
    const broker = startProcess(t, 'hub/mqtt/main.ts', [], { ...env, ...clockOf('hub'), SERVICE_LOG_LEVEL: 'error' })
    t.true(await untilListening(port, 60_000), 'the broker listens')
    return broker
  }
  const startHub = () => {
    const hub = startProcess(t, 'test/hub/broker/hub-process.ts', [certs, disk.workspace, String(port)], clockOf('hub'))
    hub.onLine(line => {
      const [site_id, serial] = line.split(' ') as [string, string]
      renewed.get(site_id)!.push(serial)
    })
    return hub
  }
  const startEdgeProcess = (site_id: string) => {
    const from = written.get(site_id)!
    const args = [join(dir, `kit-${site_id}`), outboxOf(site_id), String(from), String(PACE_MS)]
    const edge = startProcess(t, 'test/appliance/services/edge-process.ts', args, clockOf(site_id))
    edge.onLine(line => void written.set(site_id, Number(line)))
    return edge
  }

  let [broker, hub] = [await startBroker(), startHub()]
  const edges = new Map(SITES.map(site_id => [site_id, startEdgeProcess(site_id)]))
  await eventually('each edge has written', 120_000, async () => [...written.values()].every(count => count > 3) || undefined)

  const stored = (site_id: string): number[] => {
    const db = openReadOnly(join(disk.workspace, 'plenum.db'))
    try {
      const values = withHotRows(db).prepare(
        'SELECT value FROM hot_rows JOIN history_buildings USING (building) WHERE building_id = ? ORDER BY ts',
      )
      return values.pluck().all(`building-${site_id}`) as number[]
    } finally {
      db.close()
    }
  }
  const assertPrefixOf = (site_id: string): number[] => {
    const values = stored(site_id)
    t.deepEqual(
      values,
      Array.from({ length: values.length }, (_, i) => i + 1),
      `what the hub holds of ${site_id} has no gap`,
    )
    return values
  }
  return {
    restartBroker: async () => {
      await broker.kill()
      broker = await startBroker()
    },
    restartHub: async (meanwhile: () => void) => {
      await hub.kill()
      meanwhile()
      hub = startHub()
    },
    restartEdge: async (site_id: string) => {
      await edges.get(site_id)!.kill()
      edges.set(site_id, startEdgeProcess(site_id))
    },
    cutNetwork: async (site_id: string, ms: number) => {
      networks.get(site_id)!.cut()
      await wait(ms)
      networks.get(site_id)!.mend()
    },
    hasClocks,
    /** The broker refuses every certificate meanwhile. */
    shiftHub: async (offsetMs: number, ms: number) => {
      const { set } = clocks.get('hub')!
      set(offsetMs)
      await eventually('the broker refuses', 60_000, async () => !(await isAdmitted(passer, port)) || undefined)
      await wait(ms)
      set(0)
      await eventually('the broker admits', 60_000, async () => (await isAdmitted(passer, port)) || undefined)
    },
    /** The edge connects again with a wrong clock. */
    shiftEdge: async (site_id: string, offsetMs: number) => {
      const { set } = clocks.get(site_id)!
      set(offsetMs)
      await wait(CLOCK_SEEN_MS)
      networks.get(site_id)!.cut()
      networks.get(site_id)!.mend()
      await wait(CLOCK_SEEN_MS)
      set(0)
    },
    fillDisk: async (ms: number) => {
      disk.fill()
      await wait(ms)
      disk.free()
    },
    /** Asks the hub, which may be away, to renew the certificate of an edge, and waits for nothing. */
    renew: (site_id: string) => {
      asked++
      hub.write(site_id)
    },
    /** Each edge has a certificate that works, since another one is renewed by its session. */
    assertRenewals: async () => {
      const done = [...renewed.values()].flat().length
      t.log(`${done} of ${asked} renewals came to their end`)
      for (const site_id of SITES) {
        const before = renewed.get(site_id)!.length
        await eventually(`the certificate of ${site_id} is renewed`, 180_000, async () => {
          if (renewed.get(site_id)!.length > before) return true
          hub.write(site_id)
          await wait(RENEWAL_AGAIN_MS)
          return undefined
        })
      }
    },
    assertPrefix: () => SITES.forEach(assertPrefixOf),
    /** Ends the edges, sends what is left, and compares. */
    assertAll: async () => {
      for (const site_id of SITES) {
        await edges.get(site_id)!.kill()
        const kits = await openRenewedKits(join(dir, `kit-${site_id}`), outboxOf(site_id))
        const serial = serialOf(new X509Certificate(kits.current().cert_pem).serialNumber)
        t.true(renewed.get(site_id)!.includes(serial), `the newest certificate of ${site_id} is from the hub`)
        const edge = await startRenewableEdge(kits, outboxOf(site_id))
        t.teardown(edge.stop)
        const acknowledged = async () => (edge.state().backlog === 0 && edge.state().last_ack_at !== null) || undefined
        await eventually(`everything of ${site_id} is acknowledged`, 180_000, acknowledged)
        t.like(edge.state(), { dropped: 0, thinned: 0, rejected: 0 })
        const { last } = edge.outbox.reader('hub').span()
        const values = assertPrefixOf(site_id)
        // A message that was on the disk when its edge was killed is written again, under the same time.
        t.true(values.length >= written.get(site_id)!, `${values.length} of ${written.get(site_id)} of ${site_id}`)
        t.true(values.length <= last)
        t.deepEqual(marksOf(disk.workspace, site_id), [last], `the mark of ${site_id} is its last message`)
        t.log(`${site_id}: ${values.length} readings stored once, of ${last} messages`)
      }
    },
  }
}

/** Whether the broker leaves a connection with this certificate open. */
function isAdmitted({ ca_pem: ca, cert_pem: cert, key_pem: key }: Kit, port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connectTls({ host: '127.0.0.1', port, ca, cert, key })
    const answer = (isOpen: boolean) => {
      resolve(isOpen)
      socket.destroy()
    }
    socket.once('error', () => answer(false))
    socket.once('close', () => answer(false))
    socket.once('secureConnect', () => setTimeout(() => answer(true), ALERT_MS))
  })
}

function marksOf(workspace: string, site_id: string): number[] {
  const db = openReadOnly(join(workspace, 'plenum.db'))
  try {
    return db.prepare('SELECT seq FROM edge_marks WHERE site_id = ?').pluck().all(site_id) as number[]
  } finally {
    db.close()
  }
}

/** A program of the test that is killed at its end. */
function startProcess(t: ExecutionContext, main: string, args: string[], env: Record<string, string> = {}) {
  const { PATH = '', HOME = '' } = process.env
  const child: ChildProcess = spawn(process.execPath, [main, ...args], {
    env: { PATH, HOME, ...COMPILED, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const lines = createInterface({ input: child.stdout! })
  child.stdin!.on('error', () => undefined) // Of a process that was just killed.
  let isKilled = false
  const kill = async () => {
    isKilled = true
    child.kill('SIGKILL')
    await ended
  }
  child.on('exit', (code, signal) => isKilled || t.fail(`${main} ended by itself with ${code ?? signal}`))
  t.teardown(kill)
  return {
    kill,
    write: (line: string) => void child.stdin!.write(`${line}\n`),
    onLine: (listener: (line: string) => void) => void lines.on('line', listener),
  }
}

/** The disk of the hub: small where one can be mounted, so that it can be filled; elsewhere nobody fills it. */
function openDisk(t: ExecutionContext, dir: string) {
  mkdirSync(dir)
  const disk = canMountTmpfs() ? smallDisk(t, dir, DISK_MB * MB) : undefined
  const workspace = join(dir, 'hub')
  mkdirSync(workspace)
  return { workspace, fill: () => disk!.fill(), free: () => disk!.free() }
}
