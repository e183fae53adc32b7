/** Gathers what the page of one building says beside the list of its equipment. */
import { stretchesOf } from '#shared/core/findings/fault-time.ts'
import type { Finding } from '#shared/core/findings/finding.ts'
import { combinedEnergy } from '#shared/core/impact/combined-energy.ts'
import type { Building, Equipment } from '#shared/core/model/model.ts'
import { clipSpans, mergeSpans, type Span, totalLength } from '#shared/core/series/spans.ts'
import { dayStart, nextDay } from '#shared/core/time-zone.ts'
import { DAY } from '#shared/core/time.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { laneOf, type Named } from '#shared/central/pages/faults/fault-list.ts'
import type { Together } from '#shared/central/ui/cost-words.ts'

type Stores = Pick<CentralContext, 'findings' | 'notes' | 'prices'>

/** Days of the map. */
export const MAP_DAYS = 30
/** Episodes of a building in thirty days that the map counts, the newest first. */
const EPISODES_MAX = 1000

/** Time in fault of one equipment: by day of the map, each from 0 to 1, and in all. */
type EquipmentDays = { equipment: Equipment; shares: number[]; inFaultMs: number; daysInFault: number }
export type BuildingHistory = {
  days: Span[]
  /** Equipment that was in fault, the longest first. */
  rows: EquipmentDays[]
  /** Set when only the newest episodes were counted. */
  cut: number | undefined
  /** Open overrides, the oldest first. */
  overrides: Finding[]
  /** What the open faults wasted in the last day, and the equipment that did. */
  waste: Together | undefined
  wasters: Equipment[]
}

/** @param until the present, or when the building's data ended */
export function buildingHistory(
  { findings, notes, prices }: Stores,
  building: Building,
  equipment: readonly Equipment[],
  until: number,
  now: number,
): BuildingHistory {
  const { building_id, timezone } = building
  const days = daysUntil(until, timezone)
  const span = { from: days[0]!.from, to: until + 1 }
  const listed = findings.list({ building_id, ...span, limit: EPISODES_MAX })
  const items = listed.map((finding): Named => ({ finding, note: notes.of(finding, now) }))
  const inLane = Map.groupBy(items, item => laneOf(item, now))
  const faults = (inLane.get('faults') ?? []).map(({ finding }) => finding)
  const open = faults.filter(({ state }) => state === 'active')
  const energy = combinedEnergy(open, { from: until - DAY, to: until }).get(building_id) ?? []
  const wasting = new Set(open.filter(({ impact }) => (impact?.energy.length ?? 0) > 0).map(one => one.equipment_id))
  const known = new Map(equipment.map(one => [one.equipment_id, one]))
  const rows = [...Map.groupBy(faults, one => one.equipment_id)].flatMap(([equipment_id, own]) => {
    const one = known.get(equipment_id)
    return one ? [daysOf(one, own, days, until)] : []
  })
  return {
    days,
    rows: rows.filter(({ inFaultMs }) => inFaultMs > 0).toSorted((a, b) => b.inFaultMs - a.inFaultMs),
    cut: listed.length === EPISODES_MAX ? EPISODES_MAX : undefined,
    overrides: (inLane.get('overrides') ?? [])
      .map(({ finding }) => finding)
      .filter(({ state }) => state === 'active')
      .toSorted((a, b) => a.from - b.from),
    waste: energy.length > 0 ? { building, energy, prices: prices.get(building_id) } : undefined,
    wasters: equipment.filter(one => wasting.has(one.equipment_id)),
  }
}

/** The last building days, the oldest first; the last ends when its day does. */
function daysUntil(until: number, timezone: string): Span[] {
  const days: Span[] = []
  for (let from = dayStart(until, timezone); days.length < MAP_DAYS; from = dayStart(from - 1, timezone))
    days.unshift({ from, to: nextDay(from, timezone) })
  return days
}

function daysOf(equipment: Equipment, findings: readonly Finding[], days: readonly Span[], until: number): EquipmentDays {
  const spans = mergeSpans(findings.flatMap(finding => stretchesOf(finding, until).map(([from, to]) => ({ from, to }))))
  const lengths = days.map(({ from, to }) => totalLength(clipSpans(spans, from, to)))
  return {
    equipment,
    shares: lengths.map((ms, i) => ms / (days[i]!.to - days[i]!.from)),
    inFaultMs: lengths.reduce((sum, ms) => sum + ms, 0),
    daysInFault: lengths.filter(ms => ms > 0).length,
  }
}
