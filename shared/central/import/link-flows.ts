/** Reads flows of boxes and fan states of air handlers from the tables of a package, to find which handler serves which box. */
import { type BoxFlow, evidenceByFlow, type FanState } from '#shared/core/csv/links/link-flows.ts'
import { best, type LinkProposal, SURE_FROM } from '#shared/core/csv/links/link-names.ts'
import { localClock } from '#shared/core/csv/local-clock.ts'
import { rowInstant, createRowReader, type TablePlan } from '#shared/core/csv/row-reader.ts'
import type { Point } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import type { LinkWait } from '#shared/core/rules/report/link-waits.ts'
import { MACROS } from '#shared/core/rules/language/macros.ts'
import { appendSeries, EMPTY_SERIES, type Series } from '#shared/core/series/series.ts'
import { conversion } from '#shared/core/model/unit.ts'
import { readTable } from './read-table.ts'

/** Maximum number of rows read from a table: a month at five minutes. */
const ROWS_MAX = 10_000
/** Maximum number of samples in memory, as in a run of rules: 64 MB. */
const SAMPLES_MAX = 4_000_000
const FLOW_ROLE = 'zone_flow'

type Package = { points: Point[]; tables: TablePlan[]; fileOf: ReadonlyMap<string, string> }

/** Adds evidence from history to proposals that names leave open. @returns the proposals with it */
export async function addFlowEvidence(waits: LinkWait[], proposals: LinkProposal[], given: Package): Promise<LinkProposal[]> {
  const byBox = new Map(proposals.map(one => [one.equipment_id, one]))
  for (const { equipment_type, equipment_ids, server_ids } of waits) {
    const open = equipment_ids.filter(id => !((byBox.get(id)?.confidence ?? 0) >= SURE_FROM))
    const fanPoints = server_ids.flatMap(id => fanPointOf(id, given.points) ?? [])
    const flowPoints = given.points.filter(({ equipment_id, role }) => role === FLOW_ROLE && open.includes(equipment_id ?? ''))
    // A handler without a known fan cannot be excluded.
    if (equipment_type !== 'vav' || flowPoints.length === 0 || fanPoints.length < Math.max(2, server_ids.length)) continue
    const series = await readSeries([...fanPoints.map(({ point }) => point), ...flowPoints], given)
    const of = ({ point_id }: Point): Series => series.get(point_id) ?? EMPTY_SERIES
    const fans = fanPoints.map(({ point, above }): FanState => {
      const { scale, offset } = conversion(point.unit, ROLES[point.role!]!.unit)!
      const { ts, values } = of(point)
      return { equipment_id: point.equipment_id!, on: { ts, values: values.map(value => value * scale + offset - above) } }
    })
    const boxes = flowPoints.map((point): BoxFlow => ({ equipment_id: point.equipment_id!, flow: of(point) }))
    for (const [id, evidence] of evidenceByFlow(boxes, fans)) {
      const known = byBox.get(id)
      const named = known ? known.why.map(why => ({ parent_id: known.parent_id, confidence: known.confidence, why })) : []
      const found = best(id, [evidence, ...named])
      if (found) byBox.set(id, found)
      else byBox.delete(id)
    }
  }
  return [...byBox.values()]
}

function fanPointOf(equipment_id: string, points: Point[]): { point: Point; above: number } | undefined {
  for (const { role, above } of MACROS['fan_on']!.proofs) {
    const point = points.find(one => one.equipment_id === equipment_id && one.role === role)
    if (point && conversion(point.unit, ROLES[role]!.unit)) return { point, above }
  }
  return undefined
}

/** The first rows of the tables with these points; a table with several of them is read once. */
async function readSeries(points: Point[], { tables, fileOf }: Package): Promise<Map<string, Series>> {
  const wanted = new Set(points.map(({ point_id }) => point_id))
  const rowsMax = Math.min(ROWS_MAX, Math.floor(SAMPLES_MAX / points.length))
  const series = new Map<string, Series>()
  for (const plan of tables) {
    const table = { ...plan, columns: plan.columns.filter(({ point_id }) => wanted.has(point_id)) }
    if (table.columns.length === 0) continue
    for (const { point_id, rows } of await readRows(table, fileOf.get(plan.path)!, rowsMax)) {
      const before = series.get(point_id) ?? EMPTY_SERIES
      const isLater = before.ts.length === 0 || (rows.ts.length > 0 && rows.ts[0]! > before.ts.at(-1)!)
      // The first of overlapping tables is enough for a comparison.
      if (isLater) series.set(point_id, appendSeries(before, rows))
    }
  }
  return series
}

async function readRows(table: TablePlan, file: string, rowsMax: number): Promise<{ point_id: string; rows: Series }[]> {
  const reader = createRowReader(table)
  const local = table.timezone === undefined ? undefined : localClock(table.timezone)
  const blocks = []
  let lines = 0
  for await (const records of readTable(file, table)) {
    for (const record of records.slice(0, rowsMax - lines)) {
      if (lines++ === 0) continue
      const instant = rowInstant(record, table, local)
      if (typeof instant === 'number') blocks.push(...reader.row(instant, record))
    }
    if (lines >= rowsMax) break
  }
  blocks.push(...reader.end())
  return blocks.map(({ point_id, series }) => ({ point_id, rows: series }))
}
