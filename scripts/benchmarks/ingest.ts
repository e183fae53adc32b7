/**
 * `scripts/bench ingest`: 20 edges send a backlog to the hub over MQTTS, each point counted once it is stored and acknowledged.
 * Beside it, in the same run: the transport alone (the embedded broker and a receiver that stores nothing), mosquitto with the
 * same receiver, and a PostgreSQL table that the same points are copied into. `ratio` is our points a second over those of the
 * transport alone.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { toMosquittoAcl } from '#shared/core/topic/rule.ts'
import { formatInstant, MINUTE } from '#shared/core/time.ts'
import { readCentralFiles } from '#hub/broker/files.ts'
import type { Kit } from '#shared/node/pki/kit-read.ts'
import { openReadOnly } from '#shared/node/sqlite.ts'
import { freePort, untilListening } from '#scripts/lib/free-port.ts'
import { startMosquitto } from '#scripts/lib/servers/mosquitto.ts'
import { hasPostgres, startPostgres } from '#scripts/lib/servers/postgres.ts'
import { waitForHealth } from '../lib-start/hub-client.ts'
import { startPart } from '../lib-start/process.ts'
import { makeCertificates } from './lib-ingest/certificates.ts'
import { EDGES, MESSAGES, benchReadings, SAMPLES } from './lib-ingest/load.ts'
import type { EdgesOrder, EdgesReport } from './lib-ingest/edges.ts'
import type { NothingOrder } from './lib-ingest/nothing.ts'

const ROUNDS = 3
const START_MS = 60_000
const GOAL = { ratio: 0.6, points_per_s: 120_000, hub_mb: 300 }

const { values } = parseArgs({ options: { json: { type: 'boolean' } } })
const say = (line: string) => values.json || process.stdout.write(`${line}\n`)
say(`load before the start: ${loadavg()[0]!.toFixed(2)}`)

const folder = mkdtempSync(join(tmpdir(), 'plenum-bench-ingest-'))
try {
  process.stdout.write(`${JSON.stringify(await bench())}\n`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function bench() {
  const certs = join(folder, 'certs')
  const kits = await makeCertificates(certs, EDGES)
  const rates = { ours: [] as number[], transport: [] as number[], mosquitto: [] as number[], postgres: [] as number[] }
  let hub_mb = 0
  for (let round = 0; round < ROUNDS; round++) {
    const until = Date.now() - MINUTE
    const hub = await withHub(certs, round, port => sendAll({ kits, port, until }))
    hub_mb = Math.max(hub_mb, hub.peak_mb)
    rates.ours.push(hub.rate)
    rates.transport.push(await withBroker(certs, port => withNothing(certs, port, () => sendAll({ kits, port, until }))))
    rates.mosquitto.push(await withMosquitto(certs, kits, port => withNothing(certs, port, () => sendAll({ kits, port, until }))))
    rates.postgres.push(await copyIntoPostgres(until))
    say(
      Object.entries(rates)
        .map(([name, all]) => `${name} ${Math.round(all.at(-1)!)}`)
        .join(', ') + ' points/s',
    )
  }
  const [ours, transport, mosquitto, postgres] = Object.values(rates).map(all => Math.round(middleOf(all))) as number[]
  return {
    bench: 'ingest',
    ours,
    peer: transport,
    peer_name: 'the same broker with a receiver that stores nothing',
    ratio: Number((ours! / transport!).toFixed(2)),
    unit: 'points/s',
    goal: GOAL,
    ...{ mosquitto, postgres, hub_mb, edges: EDGES, points: SAMPLES },
  }
}

function middleOf(all: number[]): number {
  return all.toSorted((a, b) => a - b)[all.length >> 1]!
}

/** The edges in a process of their own. @returns points a second until the last is acknowledged */
async function sendAll(order: EdgesOrder): Promise<number> {
  const child = fork(new URL('lib-ingest/edges.ts', import.meta.url))
  child.send(order)
  const report = Promise.race([
    once(child, 'message').then(([value]) => value as EdgesReport),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`the edges ended with ${code}`))),
  ])
  return SAMPLES / ((await report).ms / 1000)
}

/** A hub with an empty workspace. @throws Error unless each point is stored exactly once */
async function withHub(certs: string, round: number, send: (port: number) => Promise<number>) {
  const [workspace, port, web, metrics] = [join(folder, `hub-${round}`), await freePort(), await freePort(), await freePort()]
  mkdirSync(workspace)
  const env = {
    SERVICE_WORKSPACE: workspace,
    SERVICE_DEV_OPEN: '1',
    SERVICE_MQTT_BIND: '127.0.0.1',
    SERVICE_MQTT_PORT: String(port),
    SERVICE_MQTT_CERT_DIR: certs,
    SERVICE_CENTRAL_BIND: '127.0.0.1',
    SERVICE_CENTRAL_PORT: String(web),
    SERVICE_METRICS_BIND: `127.0.0.1:${metrics}`,
    SERVICE_LOG_LEVEL: 'error',
  }
  const hub = startPart('hub', 'hub/main.ts', env, join(workspace, 'log'))
  try {
    if (!(await waitForHealth(`http://127.0.0.1:${web}`, START_MS, hub.hasEnded))) throw new Error(hub.lastWords().join('\n'))
    const rate = await send(port)
    const peak_mb = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${hub.pid}/status`, 'utf8'))![1]) / 1024
    const db = openReadOnly(join(workspace, 'plenum.db'))
    const stored = db.prepare(
      'SELECT (SELECT coalesce(sum(samples), 0) FROM hot_chunks) + (SELECT coalesce(sum(samples), 0) FROM part_points)',
    )
    const count = stored.pluck().get() as number
    db.close()
    if (count !== SAMPLES) throw new Error(`${count} of ${SAMPLES} points are stored`)
    return { rate, peak_mb: Math.round(peak_mb) }
  } finally {
    await hub.stop()
  }
}

async function withBroker(certs: string, send: (port: number) => Promise<number>): Promise<number> {
  const port = await freePort()
  const env = {
    SERVICE_MQTT_BIND: '127.0.0.1',
    SERVICE_MQTT_PORT: String(port),
    SERVICE_MQTT_CERT_DIR: certs,
    SERVICE_LOG_LEVEL: 'error',
  }
  const broker = startPart('mqtt', 'hub/mqtt/main.ts', env, join(folder, 'broker.log'))
  try {
    if (!(await untilListening(port, START_MS))) throw new Error(broker.lastWords().join('\n'))
    return await send(port)
  } finally {
    await broker.stop()
  }
}

async function withMosquitto(certs: string, kits: Kit[], send: (port: number) => Promise<number>): Promise<number> {
  const port = await freePort()
  const acl = [...kits.map(kit => kit.acl), toMosquittoAcl({ kind: 'central', site_id: '*' })].join('\n')
  const broker = await startMosquitto(certs, acl, port)
  try {
    return await send(port)
  } finally {
    await end(broker)
  }
}

/** A receiver that stores nothing, which connects as central as soon as the broker listens. */
async function withNothing(certs: string, port: number, send: () => Promise<number>): Promise<number> {
  const { cert_pem, key_pem, ca_pem } = await readCentralFiles(certs)
  const order: NothingOrder = { cert_pem, key_pem, ca_pem, port }
  const child = fork(new URL('lib-ingest/nothing.ts', import.meta.url))
  child.send(order)
  await once(child, 'message')
  try {
    return await send()
  } finally {
    child.disconnect()
    await once(child, 'exit')
  }
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

/** PostgreSQL with its defaults, durable, and one COPY for each message of an edge. @returns points a second; 0 where it is not installed */
async function copyIntoPostgres(until: number): Promise<number> {
  if (!hasPostgres()) return 0
  const dir = mkdtempSync(join(tmpdir(), 'plenum-bench-postgres-'))
  const { sql, kill } = await startPostgres(dir, await freePort())
  try {
    sql('CREATE TABLE samples (point text, ts timestamptz, value double precision, PRIMARY KEY (point, ts));')
    const copies: string[] = []
    for (let message = 0; message < MESSAGES; message++) {
      for (let edge = 0; edge < EDGES; edge++) {
        const rows = benchReadings(edge, message, until).map(({ id, t, v }) => `${id}\t${formatInstant(t)}\t${v}\n`)
        copies.push(`COPY samples FROM STDIN;\n${rows.join('')}\\.\n`)
      }
    }
    const text = copies.join('')
    const begun = performance.now()
    sql(text)
    return SAMPLES / ((performance.now() - begun) / 1000)
  } finally {
    await kill()
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
  }
}
