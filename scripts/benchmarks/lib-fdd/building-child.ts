/** One part of `scripts/bench fdd-building`, in a process of its own, so that its memory is its own. */
import { join } from 'node:path'
import type { Equipment, Point } from '#shared/core/model/model.ts'
import type { PointRows } from '#shared/core/ports.ts'
import { runRules } from '#shared/core/rules/evaluate/run-rules.ts'
import { DAY, HOUR, MINUTE, SECOND } from '#shared/core/time.ts'
import { buildFrames } from '#shared/flow/fdd/build-frames.ts'
import { openHistoryReader } from '#shared/node/historian/reader.ts'
import { openRuleCache } from '#shared/node/rules/rule-cache.ts'
import { AIR_HANDLER_ROLES, airHandlerRows, YEAR_START } from './air-handler.ts'
import { building_id, MEMORY_MB, openBox, placesIn, pointOf, type Site } from './box.ts'

const [AIR_HANDLERS, BOXES_EACH, DAYS] = [50, 10, 3]
const SPAN = { from: YEAR_START, to: YEAR_START + DAYS * DAY }
const MINUTES = (DAYS * DAY) / MINUTE
/** Points of an appliance, each with the column of the air handler that it is made from. */
const BOX_ROLES: Record<string, (typeof AIR_HANDLER_ROLES)[number]> = {
  zone_t: 'zone_t',
  discharge_t: 'sa_t',
  zone_flow: 'sa_flow',
  zone_flow_sp: 'sa_flow',
  damper: 'oa_damper',
  reheat_valve: 'htg_valve',
  zone_t_sp_cool: 'sa_t_sp',
  occ: 'occ',
}

export type Order = {
  folder: string
  /**
   * `write`: the history of the days, of which the last is not yet in sealed files, as the product keeps it.
   * `one by one`: a run over it, as the product makes its first one. `all at once`: the same with all of their history in memory.
   * `append`: the next day, minute by minute. `hour`: a run at the end of one of its hours, which reads no later samples.
   */
  what: 'write' | 'one by one' | 'all at once' | 'append' | 'hour'
  /** From 1 to 24, of the next day. */
  hour?: number
}
/** `seconds`, and `cpu` in seconds of a core, are of the process from its start. */
export type Reply = { seconds: number; cpu: number; rss_mb: number; findings: number; samples: number; equipment: number }

process.once('message', (order: Order) => {
  void reply(order).then(answer => process.send!(answer, () => process.disconnect()))
})

function siteOf(): Site {
  const equipment: Equipment[] = []
  const points: Point[] = []
  const add = (equipment_id: string, equipment_type: 'ahu' | 'vav', roles: readonly string[], parent_id?: string) => {
    equipment.push({
      building_id,
      equipment_id,
      name: equipment_id,
      equipment_type,
      ...(parent_id !== undefined && { parent_id }),
    })
    points.push(...roles.map(role => pointOf(equipment_id, role)))
  }
  for (let i = 1; i <= AIR_HANDLERS; i++) {
    add(`AHU-${i}`, 'ahu', AIR_HANDLER_ROLES)
    for (let j = 1; j <= BOXES_EACH; j++) add(`VAV-${i}-${j}`, 'vav', Object.keys(BOX_ROLES), `AHU-${i}`)
  }
  return { equipment, points }
}

/** Each equipment has a stretch of the year of its own: the three days, and the one after them. */
async function* rowsOf({ equipment, points }: Site, { from, to } = SPAN): AsyncGenerator<PointRows> {
  const columns = new Map<string, Float64Array>()
  const roles = Object.fromEntries(AIR_HANDLER_ROLES.map(role => [role, role]))
  const apart = DAY / 2 / MINUTE
  for await (const { point_id, series } of airHandlerRows(roles, MINUTES + DAY / MINUTE + equipment.length * apart)) {
    columns.set(point_id, series.values)
  }
  const minutes = (to - from) / MINUTE
  const ts = Float64Array.from({ length: minutes }, (_, i) => from + i * MINUTE)
  const place = new Map(equipment.map(({ equipment_id }, i) => [equipment_id, i * apart + (from - YEAR_START) / MINUTE]))
  for (const { point_id, equipment_id, role } of points) {
    const first = place.get(equipment_id!)!
    const column = columns.get(BOX_ROLES[role!] ?? role!) ?? columns.get(role!)!
    yield { point_id, series: { ts, values: column.slice(first, first + minutes) } }
  }
}

async function reply({ folder, what, hour = 24 }: Order): Promise<Reply> {
  const site = siteOf()
  const { rules } = await openRuleCache(join(folder, 'rules.parsed'), 'bench').load(['rules'])
  const box = await openBox(folder, site, rules)
  const append = async (from: number, to: number) => {
    const columns: PointRows[] = []
    for await (const rows of rowsOf(site, { from, to })) columns.push(rows)
    for (let minute = 0; minute < (to - from) / MINUTE; minute++) {
      const at = ({ point_id, series }: PointRows) => ({ id: point_id, t: series.ts[minute]!, v: series.values[minute]! })
      await box.historian.append(building_id, columns.map(at))
    }
  }
  const parts: Record<Order['what'], () => Promise<number>> = {
    async write() {
      const ids = site.points.map(({ point_id }) => point_id)
      const lastDay = SPAN.to - DAY
      await box.historian.load(building_id, ids, 'replace', rowsOf(site, { from: SPAN.from, to: lastDay }))
      await append(lastDay, SPAN.to)
      return 0
    },
    async 'one by one'() {
      await box.run(SPAN.to)
      return box.findings.list({ building_id, limit: 1e6 }).length
    },
    async append() {
      await append(SPAN.to, SPAN.to + DAY)
      return 0
    },
    async hour() {
      // The last hour is still that of the day.
      const { notes } = await box.run(SPAN.to + hour * HOUR - 1)
      for (const note of notes) throw new Error(note)
      return box.findings.list({ building_id, limit: 1e6 }).length
    },
    async 'all at once'() {
      const { dbPath, root } = placesIn(folder)
      const reader = await openHistoryReader({ dbPath, root, memoryMb: MEMORY_MB })
      const equipment = await buildFrames(building_id, site.equipment, site.points, SPAN, reader)
      const { findings } = runRules({ building_id, timezone: 'UTC', ...SPAN, rules, equipment })
      reader.close()
      return findings.length
    },
  }
  const findings = await parts[what]()
  await box.close()
  const rss_mb = Math.round(process.resourceUsage().maxRSS / 1024)
  const samples = site.points.length * MINUTES
  const { user, system } = process.cpuUsage()
  const [seconds, cpu] = [performance.now() / SECOND, (user + system) / 1e6]
  return { seconds, cpu, rss_mb, findings, samples, equipment: site.equipment.length }
}
