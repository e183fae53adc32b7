/** Runs rules over history: a workspace's own, or a folder of CSV files. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isGateClosed } from '#shared/core/findings/finding.ts'
import { EQUIPMENT_TYPES, type EquipmentType } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { type ComparedEpisode, compareFindings } from '#shared/core/rules/report/compare-findings.ts'
import { withExplainers } from '#shared/core/rules/episodes/suppress.ts'
import { historyNeeded } from '#shared/core/rules/check/history-needed.ts'
import {
  paramOwner,
  type ParamSetting,
  settingProblem,
  unitOfParam,
  withProposed,
} from '#shared/core/rules/check/param-settings.ts'
import { runRules } from '#shared/core/rules/evaluate/run-rules.ts'
import type { Rule } from '#shared/core/rules/check/rule.ts'
import type { RunOutput, RunInput } from '#shared/core/rules/evaluate/run-types.ts'
import { DAY, HOUR } from '#shared/core/time.ts'
import { formatClock } from '#shared/central/ui/moment.ts'
import { REASON_WORDS } from '#shared/central/ui/words.ts'
import { conversion } from '#shared/core/model/unit.ts'
import { dateOf } from '#shared/core/time-zone.ts'
import { buildFrames } from '#shared/flow/fdd/build-frames.ts'
import { medianGap } from '#shared/core/series/statistics.ts'
import { openHistoryReader } from '#shared/node/historian/reader.ts'
import { openReadOnly } from '#shared/node/sqlite.ts'
import { baselineStore } from '#shared/node/store/baselines.ts'
import { modelStore } from '#shared/node/store/model.ts'
import { paramSettingStore } from '#shared/node/store/param-settings.ts'
import { ruleStateStore } from '#shared/node/store/rule-states.ts'
import { readLabelled } from './lib/labelled.ts'

type BacktestOptions = {
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
  /** For what they would be set: `site`, `type=TYPE` or `equipment=ID`. */
  scope: string
  /** The role alone for which they would be set, of rules over every role. */
  role?: string
}

type History = Pick<RunInput, 'building_id' | 'timezone' | 'equipment' | 'to' | 'resets'> & {
  settings: ParamSetting[]
  /** Rules that do not run there. */
  inactive: string[]
}
/** Limit for DuckDB while history is read. */
const READ_MEMORY_MB = 512

/**
 * @param chosen rules to report
 * @param all rules that may silence them
 * @returns lines for people: what each rule found, and what it would find with other parameters
 */
export async function backtest(chosen: Rule[], all: Rule[], options: BacktestOptions): Promise<string[]> {
  const proposed = proposedSettings(chosen, options)
  const rules = withExplainers(chosen, all)
  const histories = await load(options, historyNeeded(rules) + DAY)
  if (proposed.length > 0) refuseUnknownPlace(options.scope, histories)
  return histories.flatMap(({ settings, inactive, ...history }) => {
    const from = history.to - options.days * DAY
    const running = rules.filter(rule => chosen.includes(rule) || !inactive.includes(rule.id))
    const run = (set: ParamSetting[]) => runRules({ ...history, from, rules: running, settings: set })
    const plain = toldOf(run(settings), chosen)
    const changed = proposed.length > 0 ? toldOf(run(withProposed(settings, proposed)), chosen) : undefined
    const span = `${dateOf(from, history.timezone)} to ${dateOf(history.to - 1, history.timezone)}`
    return [`${history.building_id}, ${span}`, ...linesOf(plain, changed, history.timezone)]
  })
}

type Told = Pick<RunOutput, 'findings' | 'results' | 'failed'>

function toldOf({ findings, results, failed }: RunOutput, rules: Rule[]): Told {
  const isChosen = ({ rule_id }: { rule_id: string }) => rules.some(({ id }) => id === rule_id)
  return { findings: findings.filter(isChosen), results: results.filter(isChosen), failed: failed.filter(isChosen) }
}

function linesOf(plain: Told, changed: Told | undefined, timezone: string): string[] {
  const lines = plain.results.flatMap(result => {
    const isSame = (one: { rule_id: string; equipment_id: string }) =>
      one.rule_id === result.rule_id && one.equipment_id === result.equipment_id
    const key = `${result.equipment_id}  ${result.rule_id}`
    const other = changed?.results.find(isSame)
    if (!changed || !other) return [`${key}  ${wordsOf(result)}`]
    const [compared] = compareFindings(plain.findings.filter(isSame), changed.findings.filter(isSame))
    return [
      `${key}  ${wordsOf(result)}  ->  ${wordsOf(other)}`,
      ...(compared?.episodes ?? []).map(episode => episodeLine(episode, timezone)),
    ]
  })
  const failed = [...plain.failed, ...(changed?.failed ?? [])].map(
    ({ rule_id, equipment_id, error }) => `${equipment_id}  ${rule_id}  failed: ${error}`,
  )
  return [...lines, ...failed]
}

function episodeLine({ change, finding, before_secs = finding.duration_secs }: ComparedEpisode, timezone: string): string {
  const { from, role, duration_secs, suppressed_by, evidence } = finding
  const hours = before_secs === duration_secs ? hoursOf(duration_secs) : `${hoursOf(before_secs)} -> ${hoursOf(duration_secs)}`
  const about = [role, suppressed_by === undefined ? undefined : 'silenced'].filter(word => word !== undefined)
  return `  ${[change, `${dateOf(from, timezone)} ${formatClock(from, timezone)}`, hours, ...about, evidence.sentence].join('  ')}`
}

const hoursOf = (secs: number): string => `${Math.round((secs * 1000) / (HOUR / 10)) / 10} h`

function wordsOf({ status, reason, missing_roles = [], coverage, episodes, fault_secs }: RunOutput['results'][number]): string {
  if (status === 'not_evaluated') {
    const words = reason === undefined ? [] : [REASON_WORDS[reason], ...missing_roles]
    return `${isGateClosed(reason) ? 'not applicable' : 'no data'}: ${words.join(' ')}`
  }
  return status === 'pass'
    ? `pass (${Math.round(coverage * 100)} % evaluated)`
    : `${episodes} episodes, ${hoursOf(fault_secs)} in fault`
}

/** @throws Error when no chosen rule has the parameter, or one does not take the value so */
function proposedSettings(rules: Rule[], { params, scope, role }: BacktestOptions): ParamSetting[] {
  return params.flatMap(word => {
    const [param = '', text = ''] = word.split('=')
    const value = Number(text)
    const takers = rules.filter(rule => Object.hasOwn(rule.params, param))
    if (takers.length === 0 || text === '' || !Number.isFinite(value))
      throw new Error(`--param ${word}: no such parameter, or no number`)
    return takers.map((rule): ParamSetting => {
      const unit = unitOfParam(rule.params[param]!, role)
      const setting = { rule_id: rule.id, param, ...scopeOf(scope), value, unit, ...(role !== undefined && { role }) }
      const problem = settingProblem(setting, paramOwner(rule))
      if (problem !== undefined) throw new Error(`--param ${word}: ${problem}`)
      return setting
    })
  })
}

/** @returns what `site`, `type=vav` or `equipment=VAV-3` says. @throws Error for anything else */
function scopeOf(text: string): Pick<ParamSetting, 'scope' | 'scope_id'> {
  const [scope, scope_id] = text.split('=')
  if (scope === 'site' && scope_id === undefined) return { scope, scope_id: '' }
  if ((scope === 'type' || scope === 'equipment') && scope_id) return { scope, scope_id }
  throw new Error(`--scope ${text}: it is site, type=TYPE or equipment=ID`)
}

/** A scope that no equipment has would compare everything with itself. @throws Error that names what there is */
function refuseUnknownPlace(text: string, histories: History[]): void {
  const { scope, scope_id } = scopeOf(text)
  const there = histories.flatMap(({ equipment }) =>
    equipment.map(({ equipment_id, equipment_type }) => (scope === 'type' ? equipment_type : equipment_id)),
  )
  if (scope === 'site' || there.some(id => id === scope_id)) return
  throw new Error(`--scope ${text}: there is none; there are ${[...new Set(there)].join(', ')}`)
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
  return { building_id: name, timezone: 'UTC', equipment, to: (ts.at(-1) ?? 0) + 1, settings: [], inactive: [] }
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
    // What is set for the whole site has no id here, so that what is tried stands for it.
    const set = paramSettingStore(db).list({ site_id: building.site_id, building_id })
    const settings = set.map(one => (one.scope === 'site' ? { ...one, scope_id: '' } : one))
    const inactive = ruleStateStore(db)
      .list()
      .flatMap(({ rule_id, active }) => (active ? [] : rule_id))
    const { timezone } = building
    return { building_id, timezone, equipment, to, settings, inactive, resets: baselineStore(db).resets(building_id) }
  } finally {
    reader.close()
    db.close()
  }
}
