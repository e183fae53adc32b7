/**
 * `scripts/bench fdd`: one air handler, a year of minutes, the shipped rules. Ours: history read from Parquet and run
 * through the engine. The peer: the same rules' windows, gates, conditions and persistence as SQL in DuckDB over the same
 * files. It is given all cores and 8 GB, shares windows between its rules, and is spared the daily minimum, the clearing,
 * causes and evidence that ours has to find besides.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createGraph } from '#shared/core/rules/graph.ts'
import { compileRule, type Instance } from '#shared/core/rules/compile.ts'
import { plantOf } from '#shared/core/rules/plant.ts'
import { runRules } from '#shared/core/rules/run-rules.ts'
import { ROLES } from '#shared/core/role.ts'
import type { EquipmentData, Rule, RunOutput } from '#shared/core/rules/types.ts'
import type { Series } from '#shared/core/series.ts'
import { MINUTE } from '#shared/core/time.ts'
import { openHistorian } from '#shared/node/historian/historian.ts'
import { openManifest } from '#shared/node/historian/manifest.ts'
import { type HistoryReader, openHistoryReader } from '#shared/node/historian/reader.ts'
import { loadRules } from '#shared/node/rule-files.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { AIR_HANDLER_ROLES, MINUTES, simulateYear, YEAR_START } from './lib-bench/air-handler.ts'
import { type Found, keyOf, openPeer } from './lib-bench/peer.ts'
import { translate } from './lib-bench/rule-sql.ts'

const REPEATS = 3
const MEMORY_MB = 256
/** Least share of faulty minutes on which both sides have to agree. */
const AGREEMENT_MIN = 0.99
const building_id = 'bench'
const equipment_id = 'ahu'
const span = { from: YEAR_START, to: YEAR_START + MINUTES * MINUTE }
const pointOf = Object.fromEntries(AIR_HANDLER_ROLES.map(role => [role, `${equipment_id}.${role}`]))

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
  const { rules, instances, leftOut } = choose(loadRules(['rules']).rules)
  const peer = await openPeer(instances, pointOf)
  for (const { rule_id, why } of leftOut) say(`left out on both sides: ${rule_id}: ${why}`)

  const agreement = await compare(rules, reader, () => peer.run(files))
  const ours: number[] = []
  const theirs: number[] = []
  for (let i = 0; i < REPEATS; i++) {
    ours.push(await seconds(() => runOurs(rules, reader)))
    theirs.push(await seconds(() => peer.run(files)))
    say(`run ${i + 1}: ours ${ours.at(-1)!.toFixed(2)} s, DuckDB ${theirs.at(-1)!.toFixed(2)} s`)
  }
  reader.close()
  peer.close()
  const [own, other] = [median(ours), median(theirs)]
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
  const year = simulateYear()
  const ts = Float64Array.from({ length: MINUTES }, (_, i) => YEAR_START + i * MINUTE)
  async function* rows() {
    for (const role of AIR_HANDLER_ROLES) yield { point_id: pointOf[role]!, series: { ts, values: year[role] } }
  }
  const { added } = await historian.load(building_id, Object.values(pointOf), 'replace', rows())
  await historian.stop()
  const listed = openManifest(db).files()
  db.close()
  const bytes = listed.reduce((sum, file) => sum + file.bytes, 0)
  say(`${added} samples in ${listed.length} Parquet files, ${(bytes / added).toFixed(2)} bytes a sample`)
  return listed.map(({ file }) => join(root, file))
}

/** The rules that fit the air handler and can be said in SQL. */
function choose(all: Rule[]): { rules: Rule[]; instances: Instance[]; leftOut: { rule_id: string; why: string }[] } {
  const nothing: Series = { ts: Float64Array.of(YEAR_START), values: Float64Array.of(0) }
  const equipment = equipmentOf(AIR_HANDLER_ROLES.map(() => nothing))
  const plant = plantOf([equipment])
  const graph = createGraph()
  const chosen = { rules: [] as Rule[], instances: [] as Instance[], leftOut: [] as { rule_id: string; why: string }[] }
  for (const rule of all) {
    if (!rule.equipment.includes('any') && !rule.equipment.includes(equipment.equipment_type)) continue
    const each = rule.program.each
    const roles = each ? AIR_HANDLER_ROLES.filter(role => each.which === 'any' || !ROLES[role]!.rests) : [undefined]
    const own = roles.map(role => compileRule({ rule, equipment, role, request: {} }, plant, graph))
    if (own.some(({ missing }) => missing.length > 0)) continue
    try {
      translate(own, AIR_HANDLER_ROLES)
      chosen.rules.push(rule)
      chosen.instances.push(...own)
    } catch (error) {
      chosen.leftOut.push({ rule_id: rule.id, why: (error as Error).message })
    }
  }
  return chosen
}

function equipmentOf(series: Series[]): EquipmentData {
  const roles = AIR_HANDLER_ROLES.map((role, i) => [role, { ...series[i]!, point_id: pointOf[role]!, nominalMs: MINUTE }])
  return { equipment_id, equipment_type: 'ahu', roles: Object.fromEntries(roles), feeds: [] }
}

async function runOurs(rules: Rule[], reader: HistoryReader): Promise<RunOutput> {
  const series = await reader.read({ building_id, point_ids: Object.values(pointOf), ...span })
  return runRules({ building_id, timezone: 'UTC', ...span, rules, equipment: [equipmentOf(series)] })
}

/**
 * Both sides without daily minimum and clearing. An episode goes on while the gate is shut, so it spans more than its
 * faulty minutes: each of the SQL's has to lie in one of ours, and there have to be as many of them.
 */
async function compare(rules: Rule[], reader: HistoryReader, runPeer: () => Promise<Found>) {
  const none = { kind: 'const', value: 0 } as const
  const bare = rules.map(rule => ({ ...rule, program: { ...rule.program, daily_minimum: none, clear: none } }))
  const { findings, failed } = await runOurs(bare, reader)
  if (failed.length) throw new Error(`${failed[0]!.rule_id}: ${failed[0]!.error}`)
  const ours = Map.groupBy(findings, keyOf)
  const theirs = await runPeer()
  let [both, either] = [0, 0]
  for (const key of new Set([...ours.keys(), ...theirs.keys()])) {
    const episodes = ours.get(key) ?? []
    const stretches = theirs.get(key) ?? []
    const own = episodes.reduce((sum, { duration_secs }) => sum + duration_secs / 60, 0)
    const other = stretches.reduce((sum, { from, to }) => sum + (to - from) / MINUTE, 0)
    const within = stretches
      .filter(({ from, to }) => episodes.some(episode => episode.from <= from && to <= (episode.to ?? span.to)))
      .reduce((sum, { from, to }) => sum + (to - from) / MINUTE, 0)
    both += Math.min(own, within)
    either += Math.max(own, other)
    if (own + other > 0) say(`${key}: ${own} faulty minutes, in SQL ${other}, of them ${within} within our episodes`)
  }
  if (both < AGREEMENT_MIN * either) throw new Error(`the two sides agree on ${both} of ${either} faulty minutes: no comparison`)
  return { fault_minutes: either, agreement: Math.round((both / either) * 1e5) / 1e5 }
}

function median(all: number[]): number {
  return all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)]!
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1000
}
