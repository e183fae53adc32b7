import { suggestFor, type Suggested } from '#shared/flow/commission.ts'
import type { Historian, PointSpan } from '#shared/core/ports.ts'
import { needBuilding, refuseUnknownEquipment } from '#shared/core/lookup.ts'
import { Problem } from '#shared/core/problem.ts'
import type { ModelStore } from '#shared/core/stores.ts'
import { formatInstant, MINUTE } from '#shared/core/time.ts'

type Parts = { model: ModelStore; historian: Historian }

/**
 * The columns of imported packages: role, unit and sampling.
 *
 * @throws Problem unknown_building, unknown_equipment, or mapping_empty when no column has a role
 */
export async function mappingOf(query: { building_id: string; equipment_id?: string }, { model, historian }: Parts) {
  const { building_id, equipment_id } = query
  needBuilding(model, building_id)
  const all = model.equipment(building_id)
  if (equipment_id !== undefined) refuseUnknownEquipment(building_id, all, [equipment_id])
  const equipment = all.filter(one => equipment_id === undefined || one.equipment_id === equipment_id)
  const byId = new Map(equipment.map(one => [one.equipment_id, one]))
  const points = suggestFor(model.points(building_id), all).filter(
    point => point.source.protocol === 'csv' && byId.has(point.equipment_id ?? ''),
  )
  if (!points.some(({ role }) => role !== undefined)) {
    const why = points.length ? `none of its ${points.length} columns has a role` : 'no columns were imported'
    throw new Problem('mapping_empty', `The mapping of ${equipment_id ?? building_id} is empty: ${why}`)
  }
  const spans = new Map((await historian.spans(building_id)).map(span => [span.point_id, span]))
  const columns = points.map(point => columnOf(point, spans.get(point.point_id)))
  const without = (test: (column: (typeof columns)[number]) => boolean) => columns.filter(test).map(({ point_id }) => point_id)
  const [unmapped, empty] = [without(({ status }) => status === 'unmapped'), without(({ samples }) => samples === 0)]
  const idle = equipment.filter(one => points.some(point => point.equipment_id === one.equipment_id))
  const blockers = idle
    .filter(one => !points.some(point => point.equipment_id === one.equipment_id && point.role !== undefined))
    .map(one => `${one.equipment_id} has no column with a role, so no rule can read it`)
  const warnings = [
    ...(unmapped.length ? [`without a role: ${unmapped.join(', ')}`] : []),
    ...(empty.length ? [`without a sample: ${empty.join(', ')}`] : []),
  ]
  return { building_id, count: columns.length, columns, blockers, warnings }
}

function columnOf({ point_id, equipment_id, source, role, unit, kind, suggestions }: Suggested, span: PointSpan | undefined) {
  const sampling = span && span.samples > 1 ? (span.last - span.first) / (span.samples - 1) / MINUTE : null
  const [first] = suggestions
  return {
    equipment_id,
    header: source.address,
    point_id,
    role: role ?? null,
    unit,
    kind,
    status: role === undefined ? 'unmapped' : 'mapped',
    ...(first && { suggestion: first.role, confidence: first.confidence, why: first.why }),
    samples: span?.samples ?? 0,
    first_at: span ? formatInstant(span.first) : null,
    last_at: span ? formatInstant(span.last) : null,
    sampling_minutes: sampling === null ? null : Number(sampling.toFixed(2)),
  }
}
