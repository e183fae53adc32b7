/** One part of `scripts/bench fdd-incremental`, in a process of its own, so that its memory is its own. */
import { join } from 'node:path'
import type { Finding } from '#shared/core/findings/finding.ts'
import type { PointRows } from '#shared/core/ports.ts'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { openRuleCache } from '#shared/node/rules/rule-cache.ts'
import { AIR_HANDLER_ROLES, airHandlerRows, MINUTES, YEAR_START } from './air-handler.ts'
import { createStopwatch } from './ask.ts'
import { building_id, openBox, placesIn, pointOf, sizeOf } from './box.ts'
import { POINT_OF } from './sides.ts'

export type Order = {
  folder: string
  /**
   * `begin`: writes the year, and runs all but its last day. `catch-up`: that day, as a process does that has just begun.
   * `hours`: the next days, hour by hour. `batch`: the year at once. `again`: year and days at once.
   */
  what: 'begin' | 'catch-up' | 'hours' | 'batch' | 'again'
}
export type Reply = {
  /** One for each run; `cpu` of the process, which a busy machine does not lengthen. */
  seconds: number[]
  cpu: number[]
  rss_mb: number
  states: { files: number; bytes: number }
  /** Those of the last three days. */
  findings: Finding[]
  notes: string[]
}

const REPEATS = 3
const YEAR_END = YEAR_START + MINUTES * MINUTE
/** Days hour by hour, after which a process is warm. */
const DAYS = 8
const DAYS_END = YEAR_END + DAYS * DAY

process.once('message', (order: Order) => {
  void reply(order).then(answer => process.send!(answer, () => process.disconnect()))
})

async function reply({ folder, what }: Order): Promise<Reply> {
  const equipment = [{ building_id, equipment_id: 'ahu', name: 'AHU', equipment_type: 'ahu' as const }]
  const points = AIR_HANDLER_ROLES.map(role => pointOf('ahu', role))
  const { rules } = await openRuleCache(join(folder, 'rules.parsed'), 'bench').load(['rules'])
  const box = await openBox(folder, { equipment, points }, rules)
  const { seconds, cpu, timed: measured } = createStopwatch()
  const notes: string[] = []
  const timed = async <T extends { notes: string[] }>(work: () => Promise<T>): Promise<T> => {
    const done = await measured(work)
    notes.push(...done.notes)
    return done
  }
  const parts: Record<Order['what'], () => Promise<Finding[]>> = {
    async begin() {
      const { added } = await box.historian.load(
        building_id,
        Object.values(POINT_OF),
        'replace',
        airHandlerRows(POINT_OF, MINUTES),
      )
      if (added !== MINUTES * AIR_HANDLER_ROLES.length) throw new Error(`${added} samples were added`)
      const { findings } = await timed(() => box.evaluate({ from: YEAR_START, to: YEAR_END - DAY }, true))
      return findings
    },
    async 'catch-up'() {
      await timed(() => box.run(YEAR_END))
      return box.findings.list({ building_id, limit: 1e6 })
    },
    async hours() {
      const days = await daysAfter()
      for (let hour = 0; hour < DAYS * 24; hour++) {
        const from = YEAR_END + hour * HOUR
        const samples = days.flatMap(hourOf(hour))
        await timed(async () => {
          await box.historian.append(building_id, samples)
          // The last hour is still that of the day.
          return box.run(from + HOUR - 1)
        })
      }
      return box.findings.list({ building_id, limit: 1e6 })
    },
    async batch() {
      for (let i = 0; i < REPEATS; i++) await timed(() => box.evaluate({ from: YEAR_START, to: YEAR_END }, false))
      return []
    },
    async again() {
      const { findings } = await timed(() => box.evaluate({ from: YEAR_START, to: DAYS_END - 1 }, false))
      return findings
    },
  }
  const findings = await parts[what]()
  await box.close()
  const rss_mb = Math.round(process.resourceUsage().maxRSS / 1024)
  return { seconds, cpu, rss_mb, states: sizeOf(placesIn(folder).states), findings: findings.filter(isLate), notes }
}

const isLate = ({ to }: Finding) => to === null || to >= DAYS_END - 3 * DAY

/** Minutes of the days after the year. */
async function daysAfter(): Promise<PointRows[]> {
  const days: PointRows[] = []
  for await (const { point_id, series } of airHandlerRows(POINT_OF, MINUTES + (DAYS * DAY) / MINUTE)) {
    days.push({ point_id, series: { ts: series.ts.slice(MINUTES), values: series.values.slice(MINUTES) } })
  }
  return days
}

const HOUR_MINUTES = HOUR / MINUTE

const hourOf =
  (hour: number) =>
  ({ point_id, series }: PointRows): { id: string; t: number; v: number }[] =>
    Array.from({ length: HOUR_MINUTES }, (_, i) => {
      const at = hour * HOUR_MINUTES + i
      return { id: point_id, t: series.ts[at]!, v: series.values[at]! }
    })
