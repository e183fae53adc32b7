/** Scores the shipped rules on a folder of labelled sets, through the API of a central of its own. */
import type { EquipmentType } from '#shared/core/model/model.ts'
import type { FindingKind } from '#shared/core/findings/finding.ts'
import { DAY, formatInstant, HOUR, MINUTE } from '#shared/core/time.ts'
import { degrade, type Degradation } from './degrade.ts'
import { type Label, type LabelledSet, readLabelled, readLabels } from './labelled.ts'
import type { Package } from './package.ts'
import { openSession, type RuleView, type RunReply, type Session } from './session.ts'
import { type DayReport, judge, type Score, scoreOf, type Verdict } from './verdict.ts'

export type ScoreOptions = Degradation & {
  /** Every day is judged alone, without baselines. */
  cold: boolean
  type: EquipmentType
}
export type SetScore = Score & { set: string; seconds: number; verdicts: Verdict[] }

const ID = 'unit'
/** Days are those of the wall clock as published. */
const TIMEZONE = 'UTC'

/** @returns one score for each file of `labels.csv`, in its order; only labelled days, and cases within a day, count */
export async function scoreFolder(dir: string, options: ScoreOptions): Promise<SetScore[]> {
  const labels = readLabels(dir)
  const session = await openSession()
  try {
    const rules = await session.list<RuleView>('/api/fdd-rules', 'rules')
    const kinds = new Map(rules.map(({ id, kind }) => [id, kind]))
    const scores: SetScore[] = []
    for (const set of new Set(labels.map(({ file }) => file))) {
      const started = performance.now()
      const data = degrade(readLabelled(dir, set, options.type), options)
      const own = labels.filter(({ file }) => file === set)
      const verdicts = await scoreSet(data, own, session, kinds, options)
      scores.push({ set, ...scoreOf(verdicts), seconds: (performance.now() - started) / 1000, verdicts })
    }
    return scores
  } finally {
    await session.close()
  }
}

async function scoreSet(
  data: LabelledSet,
  labels: Label[],
  session: Session,
  kinds: Kinds,
  options: ScoreOptions,
): Promise<Verdict[]> {
  const building_id = buildingIdOf(data.name)
  if (!options.cold && labels.some(({ minutes }) => !minutes))
    await session.importPackage(packageOf(data, building_id, options.type))
  const verdicts: Verdict[] = []
  for (const label of labels) {
    const from = Date.parse(`${label.date}T00:00:00Z`)
    const day = { from, to: from + DAY }
    const isAlone = options.cold || label.minutes !== undefined
    const alone = [building_id, label.date, ...(label.minutes ?? [])].join('-')
    const own = label.minutes ? held(cut(data, minutesWithin(day, label.minutes)), day) : cut(data, day)
    if (isAlone) await session.importPackage(packageOf(own, alone, options.type))
    verdicts.push(judge(label, await reportOf(isAlone ? alone : building_id, day, session, kinds)))
  }
  return verdicts
}

type Kinds = ReadonlyMap<string, FindingKind>

/** Runs all rules over one day; earlier data serves windows and baselines. */
async function reportOf(building_id: string, { from, to }: Span, session: Session, kinds: Kinds): Promise<DayReport> {
  const request = { building_id, from: formatInstant(from), to: formatInstant(to) }
  const { results, days, failed } = await session.post<RunReply>('/api/fdd/run', request)
  if (failed.length > 0) throw new Error(`${failed[0]!.rule_id} failed: ${failed[0]!.error}`)
  const day = days[0]
  const active = (day?.rule_ids ?? []).map(rule_id => ({
    rule_id,
    kind: kinds.get(rule_id) ?? 'fault',
    fault_secs: results.find(result => result.rule_id === rule_id)?.fault_secs ?? 0,
  }))
  return { active, cause: day?.cause ?? [] }
}
type Span = { from: number; to: number }

/** The building that a set becomes. */
export const buildingIdOf = (name: string): string => name.replace(/[^A-Za-z0-9._-]/g, '-')

function cut({ name, ts, columns }: LabelledSet, { from, to }: Span): LabelledSet {
  const rows = [...ts.keys()].filter(row => ts[row]! >= from && ts[row]! < to)
  const take = (values: Float64Array) => Float64Array.from(rows, row => values[row]!)
  return { name, ts: take(ts), columns: columns.map(column => ({ ...column, values: take(column.values) })) }
}

const minutesWithin = ({ from }: Span, [first, last]: [number, number]): Span => ({
  from: from + first * MINUTE,
  to: from + (last + 1) * MINUTE,
})

/** Longer than any rule of a running unit needs, and shorter than a day, after which a value that rests is a frozen sensor. */
const HELD_MS = 12 * HOUR

/** A case of a few minutes as a steady state: its rows again and again, one a minute, for some hours. */
function held({ name, ts, columns }: LabelledSet, { from }: Span): LabelledSet {
  const minutes = ts.length === 0 ? [] : Array.from({ length: HELD_MS / MINUTE }, (_, i) => i)
  const again = (values: Float64Array) => Float64Array.from(minutes, i => values[i % ts.length]!)
  const all = columns.map(column => ({ ...column, values: again(column.values) }))
  return { name, ts: Float64Array.from(minutes, i => from + i * MINUTE), columns: all }
}

/** The set as one equipment; headers are the roles themselves. */
export function packageOf({ ts, columns }: LabelledSet, building_id: string, equipment_type: EquipmentType): Package {
  const roles = columns.map(({ role }) => role)
  const cell = (value: number) => (Number.isNaN(value) ? '' : String(value))
  const lines = Array.from(ts, (ms, row) => [formatInstant(ms), ...columns.map(({ values }) => cell(values[row]!))].join(','))
  return {
    building_id,
    timezone: TIMEZONE,
    grid_minutes: 1,
    equipment: [
      {
        equipment_id: ID,
        equipment_type,
        points: Object.fromEntries(roles.map(role => [role, role])),
        units: Object.fromEntries(columns.map(({ role, unit }) => [role, unit])),
        tables: [{ name: 'history_wide.csv', text: [['timestamp_utc', ...roles].join(','), ...lines].join('\n') }],
      },
    ],
  }
}
