/** What rules would have said of history: a workspace's own, or a folder of CSV files. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { EQUIPMENT_TYPES, type EquipmentType } from '#shared/core/model.ts'
import { ROLES } from '#shared/core/role.ts'
import { historyNeeded } from '#shared/core/rules/needs.ts'
import { runRules } from '#shared/core/rules/run-rules.ts'
import type { Rule, RunInput, RunOutput } from '#shared/core/rules/types.ts'
import { DAY, HOUR } from '#shared/core/time.ts'
import { conversion } from '#shared/core/unit.ts'
import { dateOf } from '#shared/core/zone.ts'
import { buildFrames, medianGap } from '#shared/flow/build-frames.ts'
import { openHistoryReader } from '#shared/node/historian/reader.ts'
import { openReadOnly } from '#shared/node/sqlite.ts'
import { modelStore } from '#shared/node/store/model.ts'
import { readLabelled } from './lib/labelled.ts'

export type BacktestOptions = {
  /** A folder of wide CSV files, one for each equipment. */
  data?: string
  /** Equipment type of those files. */
  type: string
  /** A workspace, and the building in it. */
  workspace?: string
  building?: string
  days: number
  /** `name=value`, for every chosen rule that has the parameter. */
  params: string[]
}

type History = Pick<RunInput, 'building_id' | 'timezone' | 'equipment' | 'to'>
/** Limit for DuckDB while history is read. */
const READ_MEMORY_MB = 512

/** @returns lines for people: what each rule found, and what it would find with other parameters */
export async function backtest(rules: Rule[], options: BacktestOptions): Promise<string[]> {
  const params = paramsOf(rules, options.params)
  const histories = await load(options, historyNeeded(rules) + DAY)
  return histories.flatMap(history => {
    const from = history.to - options.days * DAY
    const plain = runRules({ ...history, from, rules })
    const changed = options.params.length > 0 ? runRules({ ...history, from, rules, params }) : undefined
    const span = `${dateOf(from, history.timezone)} to ${dateOf(history.to - 1, history.timezone)}`
    return [`${history.building_id}, ${span}`, ...linesOf(plain, changed)]
  })
}

function linesOf(plain: RunOutput, changed: RunOutput | undefined): string[] {
  const lines = plain.results.map(result => {
    const key = `${result.equipment_id}  ${result.rule_id}`
    const other = changed?.results.find(
      ({ rule_id, equipment_id }) => rule_id === result.rule_id && equipment_id === result.equipment_id,
    )
    return other ? `${key}  ${wordsOf(result)}  ->  ${wordsOf(other)}` : `${key}  ${wordsOf(result)}`
  })
  const failed = [...plain.failed, ...(changed?.failed ?? [])].map(
    ({ rule_id, equipment_id, error }) => `${equipment_id}  ${rule_id}  failed: ${error}`,
  )
  return [...lines, ...failed]
}

function wordsOf({ status, reason, missing_roles = [], coverage, episodes, fault_secs }: RunOutput['results'][number]): string {
  if (status === 'not_evaluated') return ['not evaluated:', reason, ...missing_roles].filter(Boolean).join(' ')
  const hours = Math.round((fault_secs * 1000) / (HOUR / 10)) / 10
  return status === 'pass' ? `pass (${Math.round(coverage * 100)} % evaluated)` : `${episodes} episodes, ${hours} h in fault`
}

/** @throws Error when no chosen rule has the parameter, or the value is no number */
function paramsOf(rules: Rule[], words: string[]): Record<string, Record<string, number>> {
  const params: Record<string, Record<string, number>> = {}
  for (const word of words) {
    const [name = '', text = ''] = word.split('=')
    const takers = rules.filter(rule => Object.hasOwn(rule.params, name))
    if (takers.length === 0 || text === '' || !Number.isFinite(Number(text)))
      throw new Error(`--param ${word}: no such parameter, or no number`)
    for (const { id } of takers) params[id] = { ...params[id], [name]: Number(text) }
  }
  return params
}

// ---- history

async function load(options: BacktestOptions, beforeMs: number): Promise<History[]> {
  if (options.data !== undefined) return loadFolder(options.data, options.type)
  if (options.workspace !== undefined && options.building !== undefined) {
    return [await loadWorkspace(options.workspace, options.building, options.days * DAY + beforeMs)]
  }
  throw new Error('backtest needs --data DIR, or --workspace DIR and --building B')
}

/** Wide CSV files by the same reader that scores labelled sets; each is a building of its own, its wall clock counts as UTC. */
function loadFolder(dir: string, type: string): History[] {
  const equipment_type = EQUIPMENT_TYPES.find(known => known === type)
  if (!equipment_type) throw new Error(`--type ${type} is none of ${EQUIPMENT_TYPES.join(', ')}`)
  const names = readdirSync(dir).flatMap(file => (file === 'labels.csv' ? [] : (/^(.+)\.csv(?:\.gz)?$/.exec(file)?.[1] ?? [])))
  if (names.length === 0) throw new Error(`${dir} holds no CSV files`)
  return names.toSorted().map(name => loadFile(dir, name, equipment_type))
}

function loadFile(dir: string, name: string, equipment_type: EquipmentType): History {
  const { ts, columns } = readLabelled(dir, name, equipment_type)
  const nominalMs = medianGap(ts)
  const roles = columns.map(({ role, unit, values }) => {
    const { scale, offset } = conversion(unit, ROLES[role]!.unit)!
    return [role, { point_id: role, ts, values: values.map(value => value * scale + offset), nominalMs }] as const
  })
  const equipment = [{ equipment_id: name, equipment_type, feeds: [], roles: Object.fromEntries(roles) }]
  return { building_id: name, timezone: 'UTC', equipment, to: (ts.at(-1) ?? 0) + 1 }
}

async function loadWorkspace(workspace: string, building_id: string, spanMs: number): Promise<History> {
  const dbPath = join(workspace, 'plenum.db')
  const db = openReadOnly(dbPath)
  const reader = await openHistoryReader({ dbPath, root: join(workspace, '.cache', 'parquet'), memoryMb: READ_MEMORY_MB })
  try {
    const model = modelStore(db)
    const building = model.building(building_id)
    if (!building)
      throw new Error(
        `there is no building ${building_id} (${model
          .buildings()
          .map(known => known.building_id)
          .join(', ')})`,
      )
    const spans = await reader.spans(building_id)
    const to = Math.max(0, ...spans.map(({ last }) => last)) + 1
    const points = model.points(building_id)
    const equipment = await buildFrames(building_id, model.equipment(building_id), points, { from: to - spanMs, to }, reader)
    return { building_id, timezone: building.timezone, equipment, to }
  } finally {
    reader.close()
    db.close()
  }
}
