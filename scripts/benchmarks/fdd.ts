/**
 * `scripts/bench fdd`: one air handler, a year of minutes, the shipped rules. Ours: history read from Parquet and run
 * through the engine. The peer: the same rules' windows, gates, conditions and persistence as SQL in DuckDB over the same
 * files. It is given all cores and 8 GB, shares windows between its rules, and is spared the daily minimum, the clearing,
 * causes and evidence that ours has to find besides.
 */
import { upperMedianOf } from '#shared/core/series/statistics.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Rule } from '#shared/core/rules/check/rule.ts'
import { MINUTE } from '#shared/core/time.ts'
import { openHistorian } from '#shared/node/historian/historian.ts'
import { openManifest } from '#shared/node/historian/manifest.ts'
import { type OpenHistoryReader, openHistoryReader } from '#shared/node/historian/reader.ts'
import { loadRules } from '#shared/node/rules/rule-files.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { AIR_HANDLER_ROLES, airHandlerRows, MINUTES, YEAR_START } from './lib-fdd/air-handler.ts'
import { openPeer, type Found } from './lib-fdd/peer.ts'
import { building_id, chooseRules, compareSides, POINT_OF, runOurs } from './lib-fdd/sides.ts'

const REPEATS = 3
const MEMORY_MB = 256
/** Least share of faulty minutes on which both sides have to agree. */
const AGREEMENT_MIN = 0.99
const SPAN = { from: YEAR_START, to: YEAR_START + MINUTES * MINUTE }

const { values } = parseArgs({ options: { json: { type: 'boolean' } } })
const say = (line: string) => values.json || process.stdout.write(`${line}\n`)

const folder = await mkdtemp(join(tmpdir(), 'plenum-bench-fdd-'))
try {
  process.stdout.write(`${JSON.stringify(await bench())}\n`)
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function bench() {
  const dbPath = join(folder, 'plenum.db')
  const root = join(folder, 'parquet')
  const files = await writeYear(dbPath, root)
  const reader = await openHistoryReader({ dbPath, root, memoryMb: MEMORY_MB })
  const { rules, instances, leftOut } = chooseRules(loadRules(['rules']).rules)
  const peer = await openPeer(instances, POINT_OF)
  for (const { rule_id, why } of leftOut) say(`left out on both sides: ${rule_id}: ${why}`)

  const ours: number[] = []
  const theirs: number[] = []
  let found: Found | undefined
  for (let i = 0; i < REPEATS; i++) {
    ours.push(await seconds(() => runOurs(rules, reader, SPAN)))
    theirs.push(await seconds(async () => (found = await peer.run(files))))
    say(`run ${i + 1}: ours ${ours.at(-1)!.toFixed(2)} s, DuckDB ${theirs.at(-1)!.toFixed(2)} s`)
  }
  const agreement = await agree(rules, reader, found!)
  reader.close()
  peer.close()
  const [own, other] = [upperMedianOf(ours)!, upperMedianOf(theirs)!]
  return {
    bench: 'fdd',
    ours: own,
    peer: other,
    peer_name: 'the same rules as SQL in DuckDB',
    ratio: Math.round((other / own) * 100) / 100,
    unit: 's',
    rows: MINUTES * AIR_HANDLER_ROLES.length,
    rules: rules.length,
    instances: instances.length,
    left_out: leftOut.map(({ rule_id }) => rule_id),
    ...agreement,
    repeats: { ours, peer: theirs },
  }
}

/** @returns the sealed files */
async function writeYear(dbPath: string, root: string): Promise<string[]> {
  const db = openDatabase(dbPath)
  const historian = await openHistorian({ db, root, memoryMb: MEMORY_MB, idleMs: 1000 })
  const { added } = await historian.load(building_id, Object.values(POINT_OF), 'replace', airHandlerRows(POINT_OF, MINUTES))
  await historian.stop()
  const listed = openManifest(db).files()
  db.close()
  const bytes = listed.reduce((sum, file) => sum + file.bytes, 0)
  say(`${added} samples in ${listed.length} Parquet files, ${(bytes / added).toFixed(2)} bytes a sample`)
  return listed.map(({ file }) => join(root, file))
}

/** @throws Error when the two sides do not find the same: then their times cannot be compared */
async function agree(rules: Rule[], reader: OpenHistoryReader, found: Found) {
  let [both, either] = [0, 0]
  for (const { key, ours, theirs, within } of await compareSides(rules, reader, SPAN, found)) {
    both += Math.min(ours, within)
    either += Math.max(ours, theirs)
    if (ours + theirs > 0) say(`${key}: ${ours} faulty minutes, in SQL ${theirs}, of them ${within} within our episodes`)
  }
  if (both < AGREEMENT_MIN * either) throw new Error(`the two sides agree on ${both} of ${either} faulty minutes: no comparison`)
  return { fault_minutes: either, agreement: Math.round((both / either) * 1e5) / 1e5 }
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1000
}
