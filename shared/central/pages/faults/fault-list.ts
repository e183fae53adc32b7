/** Rows of the page of faults: the episodes of one equipment and rule together, the worst first. */
import type { ShownNote, Silence } from '#shared/core/findings/snooze.ts'
import {
  type ActiveFinding,
  type Finding,
  type FindingKind,
  type Priority,
  PRIORITY_WORDS,
  priorityOf,
} from '#shared/core/findings/finding.ts'
import type { Impact, Range } from '#shared/core/impact/impact.ts'
import { addRanges } from '#shared/core/impact/range.ts'
import { type Urgency, urgencyOf } from '#shared/core/findings/urgency.ts'
import { MINUTE } from '#shared/core/time.ts'
import { say, words } from '#shared/node/http/language.ts'

export const LANES = ['faults', 'overrides', 'data', 'silenced'] as const
export type Lane = (typeof LANES)[number]
/** `fault` gathers the rows of one rule. */
export const GROUPINGS = ['none', 'equipment', 'fault', 'building', 'priority'] as const
export type Grouping = (typeof GROUPINGS)[number]
/** `worst` is the order of `compareRows`; `cost` has the dearest first, `oldest` what lasts the longest. */
export const SORTS = ['worst', 'cost', 'oldest'] as const
export type Sort = (typeof SORTS)[number]
export const DAYS_CHOICES = [1, 7, 30, 366] as const
/** A hundred years: findings of any age. */
export const ANY_AGE_DAYS = 36_525
/** Shortest times in fault that the filter offers, minutes. */
export const MINUTES_CHOICES = [0, 60, 240, 1440] as const

/** The filter, exactly as in the page's address. */
export type FaultQuery = {
  lane: Lane
  group: Grouping
  days: number
  sort: Sort
  state?: 'active' | 'cleared'
  priority?: Priority
  urgency?: Urgency
  building?: string
  equipment?: string
  rule?: string
  /** Least time in fault within the window, minutes. */
  minutes?: number
  /** The page of a list that is longer than one, from 1. */
  page?: number
  /** Only episodes that began before it, as in the link to older ones. */
  before?: string
}
export const DEFAULT_QUERY: FaultQuery = { lane: 'faults', group: 'none', days: 7, sort: 'worst' }

/** One fault of one equipment within the window. */
export type FaultRow = {
  /** The episode that stands for the row: the one that lasts, else the latest. */
  finding: Finding
  note: ShownNote
  priority: Priority
  /** Undefined for a cleared one, and where the building's data ended. */
  urgency: Urgency | undefined
  episodes: number
  /** When the earliest of them began, and the latest ended: null while one lasts. */
  first: number
  last: number | null
  /** Time in fault over all its episodes that overlap the window, ms. */
  inFaultMs: number
  /** The cost of those episodes whose unit is that of the episode which stands for the row. */
  cost?: Cost
  /** Findings of the same cause: those that it explains, and the override that explains it. */
  parts: FaultPart[]
}
export type FaultPart = { finding: Finding; is: 'explained' | 'cause' }
type Cost = Range & { unit: string }
export type FaultGroup = { key: string; title: string; rows: FaultRow[] }
export type Named = { finding: Finding; note: ShownNote }

/** Bad sensors and missing data are listed separately from equipment faults. */
const DATA_KINDS: ReadonlySet<FindingKind> = new Set<FindingKind>(['data', 'sensor'])

/** In which of the tabs a finding is shown at `now`. */
export function laneOf({ finding, note }: { finding: Finding | ActiveFinding; note: Silence }, now: number): Lane {
  const snoozed = note.snoozed_until !== undefined && note.snoozed_until > now
  if (finding.suppressed_by !== undefined || note.not_a_fault !== undefined || snoozed) return 'silenced'
  if (finding.kind === 'override') return 'overrides'
  return DATA_KINDS.has(finding.kind) ? 'data' : 'faults'
}

/** Findings of one key are one row. */
export const rowKey = (
  lane: Lane,
  { building_id, equipment_id, rule_id, role }: Pick<Finding, 'building_id' | 'equipment_id' | 'rule_id' | 'role'>,
): string => JSON.stringify([lane, building_id, equipment_id, rule_id, role])

/**
 * Gathers episodes into rows, one for each lane, building, equipment and rule (and role, of a rule over every role).
 *
 * @param items episodes in any order
 * @param hasEnded whether the data of a building ended, so that nobody knows whether its faults last
 * @returns rows, worst first: active before cleared, urgent before chronic, then by priority, unacknowledged first, the longest-lasting first
 */
export function toRows(
  items: Named[],
  now: number,
  hasEnded: (building_id: string) => boolean = () => false,
): { lane: Lane; row: FaultRow }[] {
  const standing = (finding: Finding) => ({
    priority: priorityOf(finding.severity),
    urgency: hasEnded(finding.building_id) ? undefined : urgencyOf(finding, now),
  })
  const rows = new Map<string, { lane: Lane; row: FaultRow }>()
  const impacts = new Map<FaultRow, Impact[]>()
  const rowOf = new Map<string, FaultRow>()
  for (const item of items) {
    const { finding, note } = item
    const lane = laneOf(item, now)
    const key = rowKey(lane, finding)
    const known = rows.get(key)
    const inFaultMs = finding.duration_secs * 1000
    if (!known) {
      const { from: first, to: last } = finding
      const row: FaultRow = {
        finding,
        note,
        ...standing(finding),
        episodes: 1,
        first,
        last,
        inFaultMs,
        parts: [],
      }
      rows.set(key, { lane, row })
      rowOf.set(finding.finding_id, row)
      impacts.set(row, finding.impact ? [finding.impact] : [])
      continue
    }
    rowOf.set(finding.finding_id, known.row)
    if (finding.impact) impacts.get(known.row)!.push(finding.impact)
    known.row.episodes++
    known.row.inFaultMs += inFaultMs
    known.row.first = Math.min(known.row.first, finding.from)
    known.row.last = known.row.last === null || finding.to === null ? null : Math.max(known.row.last, finding.to)
    if (speaksFor(finding, known.row.finding)) Object.assign(known.row, { finding, note, ...standing(finding) })
  }
  for (const [row, each] of impacts) {
    const cost = costOf(each, row.finding.impact?.unit)
    if (cost) row.cost = cost
  }
  gatherParts(rowOf)
  return [...rows.values()].toSorted((a, b) => compareRows(a.row, b.row))
}

function costOf(impacts: Impact[], unit = impacts[0]?.unit): Cost | undefined {
  const alike = impacts.filter(one => one.unit === unit)
  return unit === undefined || alike.length === 0
    ? undefined
    : { ...alike.map(({ low, mid, high }) => ({ low, mid, high })).reduce(addRanges), unit }
}

/** Money first, then energy, then degrees; the dearest first. Findings without a known cost follow in their order. */
export const byCost = (a: FaultRow, b: FaultRow): number =>
  costRank(a.cost) - costRank(b.cost) || (b.cost?.mid ?? 0) - (a.cost?.mid ?? 0)
/** What lasts before what is over, each by its beginning: a forgotten override stands first. */
export const byAge = (a: FaultRow, b: FaultRow): number =>
  Number(a.finding.state !== 'active') - Number(b.finding.state !== 'active') || a.first - b.first

const costRank = (cost: Cost | undefined): number => (!cost ? 3 : cost.unit === 'K·h' ? 2 : cost.unit === 'kWh' ? 1 : 0)

/** Longest chain of findings, each explained by the next; a circle in another maker's data ends there too. */
const CHAIN_MAX = 8

/** Puts what one finding explains, and the override that explains one, beside the row of that finding. */
function gatherParts(rowOf: ReadonlyMap<string, FaultRow>): void {
  for (const row of new Set(rowOf.values())) {
    const { finding, note } = row
    const override = rowOf.get(finding.relabelled_by ?? '')
    if (override && override !== row) row.parts.push({ finding: override.finding, is: 'cause' })
    const root = note.not_a_fault === undefined ? rootOf(row, rowOf) : row
    if (root !== row) root.parts.push({ finding, is: 'explained' })
  }
}

function rootOf(row: FaultRow, rowOf: ReadonlyMap<string, FaultRow>): FaultRow {
  let root = row
  for (let i = 0; i < CHAIN_MAX; i++) {
    const next = rowOf.get(root.finding.suppressed_by ?? '')
    if (!next) break
    root = next
  }
  return root
}

const speaksFor = (a: Finding, b: Finding): boolean => (a.state === b.state ? a.from > b.from : a.state === 'active')

function compareRows(a: FaultRow, b: FaultRow): number {
  const rank = ({ finding, note, priority, urgency }: FaultRow) => [
    finding.state === 'active' ? 0 : 1,
    urgency === 'urgent' ? 0 : 1,
    priority,
    note.ack === 'unacked' ? 0 : 1,
  ]
  const [ranksA, ranksB] = [rank(a), rank(b)]
  const first = ranksA.findIndex((value, i) => value !== ranksB[i])
  if (first >= 0) return ranksA[first]! - ranksB[first]!
  return b.inFaultMs - a.inFaultMs || (a.finding.finding_id < b.finding.finding_id ? -1 : 1)
}

/** Filters the rows by the query of the address. */
export const matches = ({ finding, priority, urgency, inFaultMs }: FaultRow, query: FaultQuery): boolean =>
  (query.urgency === undefined || urgency === query.urgency) &&
  (query.state === undefined || finding.state === query.state) &&
  (query.priority === undefined || priority === query.priority) &&
  (query.building === undefined || finding.building_id === query.building) &&
  (query.equipment === undefined || finding.equipment_id === query.equipment) &&
  (query.rule === undefined || finding.rule_id === query.rule) &&
  inFaultMs >= (query.minutes ?? 0) * MINUTE

/** What people call the equipment of a finding, and its building. */
type FindingNames = Record<'equipment' | 'building', (finding: Finding) => string>

/** Groups in the order of their worst row; without a grouping one group without a title. */
export function groupRows(rows: FaultRow[], by: Grouping | 'urgency', names: FindingNames): FaultGroup[] {
  const groups = new Map<string, FaultGroup>()
  for (const row of rows) {
    const { key, title } = groupOf(row, by, names)
    const group = groups.get(key) ?? { key, title, rows: [] }
    group.rows.push(row)
    groups.set(key, group)
  }
  const listed = [...groups.values()]
  return by === 'priority' ? listed.toSorted((a, b) => (a.key < b.key ? -1 : 1)) : listed
}

const URGENCY_TITLES: Record<Urgency | 'open' | 'cleared', string> = words({
  urgent: 'Urgent',
  chronic: 'Chronic',
  open: 'Open when data ended',
  cleared: 'Cleared',
})

function groupOf({ finding, priority, urgency }: FaultRow, by: Grouping | 'urgency', names: FindingNames) {
  if (by === 'none') return { key: '', title: '' }
  if (by === 'urgency') {
    const key = urgency ?? (finding.state === 'active' ? 'open' : 'cleared')
    return { key, title: URGENCY_TITLES[key] }
  }
  if (by === 'building') return { key: finding.building_id, title: names.building(finding) }
  if (by === 'fault') return { key: finding.rule_id, title: say(finding.title) }
  if (by === 'priority') return { key: String(priority), title: say`Priority ${priority}, ${say(PRIORITY_WORDS[priority])}` }
  return { key: JSON.stringify([finding.building_id, finding.equipment_id]), title: names.equipment(finding) }
}

/** @returns the page's address for a filter, without what is the default anyway */
export function faultsHref(query: FaultQuery): string {
  const entries = Object.entries(query).filter(
    ([key, value]) => value !== undefined && value !== (key === 'page' ? 1 : DEFAULT_QUERY[key as keyof FaultQuery]),
  )
  const search = new URLSearchParams(entries.map(([key, value]): [string, string] => [key, String(value)])).toString()
  return search ? `/faults?${search}` : '/faults'
}
