/** The energy that several faults waste together, without counting anything twice. */
import type { Finding } from '#shared/core/findings/finding.ts'
import { type EnergyUse, type Range } from './impact.ts'
import { CARRIERS, type Carrier } from './kinds.ts'
import { exactRange, addRanges } from './range.ts'

type Costed = Pick<Finding, 'building_id' | 'equipment_id' | 'from' | 'to' | 'impact'>
/** kWh per ms between two instants. */
type Flow = { from: number; to: number; rate: Range }

/**
 * Energy that faults wasted within `[from, to)`, kWh by building and carrier.
 *
 * Of faults of the same equipment that waste the same carrier at the same time only the largest counts: a leaking valve and
 * the simultaneous heating that it causes are one waste. The energy of a fault is taken as spread evenly over its time, of
 * which only that within the span counts. Comfort has no energy and is ignored.
 *
 * @param findings without suppressed ones; open ones last until `to`
 */
export function combinedEnergy(findings: Costed[], { from, to }: { from: number; to: number }): Map<string, EnergyUse[]> {
  const groups = Map.groupBy(
    findings.filter(({ impact }) => impact !== undefined && impact.energy.length > 0),
    ({ building_id, equipment_id }) => JSON.stringify([building_id, equipment_id]),
  )
  const sums = new Map<string, EnergyUse[]>()
  for (const group of groups.values()) {
    const { building_id } = group[0]!
    const known = sums.get(building_id) ?? []
    sums.set(building_id, joined([...known, ...CARRIERS.flatMap(carrier => wastedBy(group, carrier, from, to))]))
  }
  return sums
}

function joined(uses: EnergyUse[]): EnergyUse[] {
  return CARRIERS.flatMap(carrier => {
    const alike = uses.filter(one => one.carrier === carrier)
    return alike.length > 0 ? [{ carrier, ...alike.map(rangeOf).reduce(addRanges) }] : []
  })
}
const rangeOf = ({ low, mid, high }: Range): Range => ({ low, mid, high })

function wastedBy(group: Costed[], carrier: Carrier, from: number, to: number): EnergyUse[] {
  const flows = group.flatMap(({ from: began, to: ended, impact }): Flow[] => {
    const use = impact!.energy.find(one => one.carrier === carrier)
    const until = ended ?? to
    const ms = until - began
    if (!use || !(ms > 0)) return []
    const rate = { low: use.low / ms, mid: use.mid / ms, high: use.high / ms }
    return [{ from: Math.max(began, from), to: Math.min(until, to), rate }]
  })
  const within = flows.filter(flow => flow.from < flow.to)
  return within.length > 0 ? [{ carrier, ...dearest(within) }] : []
}

/** Sums the largest flow between any two instants at which a fault begins or ends. */
function dearest(flows: Flow[]): Range {
  const cuts = [...new Set(flows.flatMap(flow => [flow.from, flow.to]))].toSorted((a, b) => a - b)
  let sum = exactRange(0)
  for (const [i, start] of cuts.entries()) {
    const ms = (cuts[i + 1] ?? start) - start
    const at = flows.filter(flow => flow.from <= start && flow.to > start)
    if (at.length === 0) continue
    const { rate } = at.reduce((most, one) => (one.rate.mid > most.rate.mid ? one : most))
    sum = addRanges(sum, { low: rate.low * ms, mid: rate.mid * ms, high: rate.high * ms })
  }
  return sum
}
