/** The plot of some points: faults of their equipment shaded, overrides as lanes. */
import { stretchesOf } from '#shared/core/findings/fault-time.ts'
import type { Finding } from '#shared/core/findings/finding.ts'
import type { Building } from '#shared/core/model/model.ts'
import { overridePeriods } from '#shared/core/priority/override-periods.ts'
import type { ArraySnapshot } from '#shared/core/priority/array-snapshot.ts'
import { endedAt, type Span } from '#shared/core/series/spans.ts'
import type { Plot } from '#shared/central/ui/plot.ts'
import { type LineName, type Trace } from '#shared/central/ui/plot-trace.ts'
import type { PointValue } from './point-values.ts'

type PointsPlot = {
  building: Building
  values: readonly { value: PointValue; name: LineName }[]
  /** The same points of an earlier time, their buckets moved to the present one. */
  earlier?: readonly { value: PointValue; name: LineName }[]
  episodes: readonly Finding[]
  /** By point, ascending. */
  visits: Readonly<Record<string, ArraySnapshot[]>>
  span: Span
  now: number
  /** End of what can have data by now. */
  until: number
}

export function pointsPlot({ building, values, earlier = [], episodes, visits, span, now, until }: PointsPlot): Plot {
  const endOf = (at: number | null, nominalMs: number) => {
    const ended_at = endedAt(at, nominalMs, until)
    return ended_at === undefined ? {} : { ended_at }
  }
  const tracesOf = (some: typeof values): (Trace | undefined)[] =>
    some.map(({ value: { point, buckets, nominalMs, at }, name }) =>
      buckets.count.some(count => count > 0)
        ? {
            role: point.role ?? '',
            buckets,
            nominalMs,
            ...endOf(at, nominalMs),
            point: { unit: point.unit, kind: point.kind, name },
          }
        : undefined,
    )
  const present = tracesOf(values)
  const shown = present.filter(trace => trace !== undefined)
  const before = tracesOf(earlier).flatMap((trace, i): Trace[] => {
    const at = shown.indexOf(present[i]!)
    if (!trace) return []
    const { ended_at: _ofThePresent, ...rest } = trace
    return [{ ...rest, ...(at >= 0 && { earlierOf: at }) }]
  })
  const traces = [...shown, ...before]
  const overrides = values.flatMap(({ value: { point }, name }) => {
    const held = overridePeriods(visits[point.point_id] ?? [])
    return held.length > 0 ? [{ name, held }] : []
  })
  return {
    ...span,
    now,
    until: Math.min(span.to, until),
    timezone: building.timezone,
    system: building.unit_system,
    traces,
    others: episodes.map(one => ({ from: one.from, to: one.to ?? until, stretches: stretchesOf(one, until) })),
    overrides,
  }
}
