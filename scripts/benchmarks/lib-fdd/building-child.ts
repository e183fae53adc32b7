/** One part of `scripts/bench fdd-building`, in a process of its own, so that its memory is its own. */
import type { Equipment, Point } from '#shared/core/model/model.ts'
import type { PointRows } from '#shared/core/ports.ts'
import { runRules } from '#shared/core/rules/evaluate/run-rules.ts'
import { DAY, MINUTE } from '#shared/core/time.ts'
import { buildFrames } from '#shared/flow/fdd/build-frames.ts'
import { openHistoryReader } from '#shared/node/historian/reader.ts'
import { loadRules } from '#shared/node/rules/rule-files.ts'
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

export type Order = { folder: string; what: 'write' | 'one by one' | 'all at once' }
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

/** Each equipment has three days of the year of its own. */
async function* rowsOf({ equipment, points }: Site): AsyncGenerator<PointRows> {
  const columns = new Map<string, Float64Array>()
  const roles = Object.fromEntries(AIR_HANDLER_ROLES.map(role => [role, role]))
  for await (const { point_id, series } of airHandlerRows(roles, MINUTES + equipment.length * (DAY / 2 / MINUTE))) {
    columns.set(point_id, series.values)
  }
  const ts = Float64Array.from({ length: MINUTES }, (_, i) => YEAR_START + i * MINUTE)
  const place = new Map(equipment.map(({ equipment_id }, i) => [equipment_id, i * (DAY / 2 / MINUTE)]))
  for (const { point_id, equipment_id, role } of points) {
    const from = place.get(equipment_id!)!
    const column = columns.get(BOX_ROLES[role!] ?? role!) ?? columns.get(role!)!
    yield { point_id, series: { ts, values: column.slice(from, from + MINUTES) } }
  }
}

async function reply({ folder, what }: Order): Promise<Reply> {
  const site = siteOf()
  const { rules } = loadRules(['rules'])
  const box = await openBox(folder, site, rules)
  const start = performance.now()
  const before = process.cpuUsage()
  let findings = 0
  if (what === 'write') {
    const ids = site.points.map(({ point_id }) => point_id)
    await box.historian.load(building_id, ids, 'replace', rowsOf(site))
  } else if (what === 'one by one') findings = (await box.evaluate(SPAN, true)).findings.length
  else {
    const { dbPath, root } = placesIn(folder)
    const reader = await openHistoryReader({ dbPath, root, memoryMb: MEMORY_MB })
    const equipment = await buildFrames(building_id, site.equipment, site.points, SPAN, reader)
    findings = runRules({ building_id, timezone: 'UTC', ...SPAN, rules, equipment }).findings.length
    reader.close()
  }
  const { user, system } = process.cpuUsage(before)
  const seconds = (performance.now() - start) / 1000
  await box.close()
  const rss_mb = Math.round(process.resourceUsage().maxRSS / 1024)
  const samples = site.points.length * MINUTES
  return { seconds, cpu: (user + system) / 1e6, rss_mb, findings, samples, equipment: site.equipment.length }
}
