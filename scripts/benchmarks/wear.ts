/**
 * `scripts/bench wear`: bytes that the appliance writes to its disk in a day at 1,000 points a minute, as the file system counts
 * them, its own journal included. The peer in the same run is SQLite as a careful program uses it: one transaction a minute, in a
 * write-ahead log, durable at each commit. Runs as root, because it mounts a file system for each.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { nodeFlags } from '#image/recipes/node-flags.ts'
import { freePort } from '../lib/free-port.ts'
import { openHubClient } from '../lib-start/hub-client.ts'
import { COMPILED } from '../lib-start/process.ts'
import { startMeasured } from './lib-footprint/measured-process.ts'
import { prepareAppliance } from './lib-footprint/prepare-appliance.ts'
import { openPoints, POINT_COUNT } from './lib-footprint/points.ts'
import { openDisk } from './lib-wear/counted-disk.ts'

const POLL_SECS = 60
const MINUTE_MS = 60_000
const MAIN = 'appliance/main.ts'
const MINUTES_A_DAY = 1440
/** A reading as small as it can be: the instant and the value. */
const READING_BYTES = 16
const GOAL = { times_payload: 10 }
/** First files, certificates and the first poll. */
const WARM_UP_MS = 90_000

const mb = (bytes: number): number => round(bytes / 2 ** 20)
const round = (value: number): number => Math.round(value * 100) / 100

type PollStatus = { points_ok: number; cycles: number }

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '60' }, json: { type: 'boolean' } } })
const minutes = Number(values.minutes)
if (!(minutes >= 5 && minutes <= 2880)) {
  process.stderr.write('usage: scripts/bench wear [--minutes N, 5 to 2880] [--json]\n')
  process.exit(2)
}
const say = (line: string) => values.json || process.stdout.write(`${line}\n`)

const dir = await mkdtemp(join(tmpdir(), 'plenum-wear-'))
const points = await openPoints(POLL_SECS)
const [ours, peer] = [openDisk(dir, 'ours'), openDisk(dir, 'peer')]
try {
  process.stdout.write(`${JSON.stringify(await bench())}\n`)
} finally {
  await points.close()
  for (const disk of [ours, peer]) disk.close()
  await rm(dir, { recursive: true, force: true })
}

async function bench() {
  const port = await freePort()
  const password = 'viewer-of-the-bench'
  const url = `http://127.0.0.1:${port}`
  const env = {
    ...(await prepareAppliance(join(ours.path, 'workspace'), points, { port, password })),
    SERVICE_EDGE_STORE_DIR: join(ours.path, 'edge'),
    SERVICE_RULE_RESULTS_DIR: join(ours.path, 'results'),
  }
  const appliance = await startMeasured([...nodeFlags(MAIN), MAIN], { ...COMPILED, ...env }, `${url}/api/health`)
  const database = openPeer(join(peer.path, 'readings.db'))
  try {
    await wait(WARM_UP_MS)
    const [begun, beside] = [ours.written(), peer.written()]
    for (let minute = 0; minute < minutes; minute++) {
      await wait(MINUTE_MS)
      database.store(minute)
    }
    const [written, writtenBeside] = [ours.written() - begun, peer.written() - beside]
    const viewer = await openHubClient(url, password)
    const status = await viewer.get<PollStatus>('/api/bacnet/poll/status')
    if (status.points_ok !== POINT_COUNT) throw new Error(`${status.points_ok} of ${POINT_COUNT} points were read`)
    const payload = POINT_COUNT * minutes * READING_BYTES
    say(`${mb(written)} MB in ${minutes} min, of readings ${mb(payload)} MB; SQLite ${mb(writtenBeside)} MB`)
    return {
      bench: 'wear',
      ours: perDay(written),
      peer: perDay(writtenBeside),
      peer_name: 'SQLite, one durable transaction a minute',
      ratio: round(written / writtenBeside),
      unit: 'MB a day',
      rows: POINT_COUNT * minutes,
      minutes,
      times_payload: round(written / payload),
      peer_times_payload: round(writtenBeside / payload),
      goal: GOAL,
      goal_met: written <= GOAL.times_payload * payload,
    }
  } finally {
    database.close()
    await appliance.stop()
  }
}

/** One row a reading, found by point and time. */
function openPeer(file: string) {
  const database = new Database(file)
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  database.exec('CREATE TABLE readings (point INTEGER, t INTEGER, v REAL, PRIMARY KEY (point, t)) WITHOUT ROWID')
  const insert = database.prepare('INSERT INTO readings VALUES (?, ?, ?)')
  const store = database.transaction((minute: number) => {
    for (let point = 0; point < POINT_COUNT; point++) {
      insert.run(point, Date.now(), 20 + 5 * Math.sin(minute / 60 + point))
    }
  })
  return { store, close: () => database.close() }
}

function perDay(bytes: number): number {
  return Math.round((bytes * MINUTES_A_DAY) / minutes / 2 ** 20)
}
