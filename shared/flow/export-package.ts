/** History of a building as a package that an import takes again, file by file. */
import { layOutPackage, type TableLayout } from '#shared/core/csv/package-layout.ts'
import { PACKAGE_LIMITS } from '#shared/core/csv/package-limits.ts'
import { csvLine } from '#shared/core/csv/write-csv.ts'
import { needBuilding, needEquipment } from '#shared/core/lookup.ts'
import type { Equipment, Point } from '#shared/core/model/model.ts'
import type { HistoryReader, PointSpan } from '#shared/core/ports.ts'
import { Problem } from '#shared/core/problem.ts'
import type { Series } from '#shared/core/series/series.ts'
import type { ModelStore } from '#shared/core/stores.ts'
import { formatInstant, HOUR, MINUTE, SECOND } from '#shared/core/time.ts'

/** `from`, `to`: `[from, to)`, ms; all there is where they are absent. */
type PackageRequest = { building_id: string; equipment_id?: string; from?: number; to?: number }
/** A file of the package, read when it is its turn. */
type ExportedFile = { path: string; chunks: () => AsyncIterable<string> }
type ExportPorts = { model: ModelStore; historian: HistoryReader }

/** Samples that are read at once, so that neither memory nor other requests feel an export. */
const SLICE_SAMPLES = 50_000
/** Lines that are written together. */
const CHUNK_LINES = 500
/** The least that a sample takes in a dense table, bytes: what is surely too much is refused before it begins. */
const SAMPLE_BYTES_MIN = 2
const GRID_DEFAULT_MINUTES = 5
const GRID_MAX_MINUTES = 1440

/**
 * The package of a building, or of one equipment of it. Each point of an equipment that has samples in the span is a column: with role,
 * unit and name, each sample at its own instant, no data as `nan`. Points of no equipment are left out.
 *
 * @throws Problem unknown_building, unknown_equipment; invalid where the span is empty or an import would refuse the package as too large
 */
export async function exportPackage(request: PackageRequest, { model, historian }: ExportPorts): Promise<ExportedFile[]> {
  const { building_id, equipment_id } = request
  const building = needBuilding(model, building_id)
  const equipment = equipment_id === undefined ? model.equipment(building_id) : [needEquipment(model, building_id, equipment_id)]
  const spans = new Map((await historian.spans(building_id)).map(span => [span.point_id, span]))
  const within = (span: PointSpan) => span.last >= (request.from ?? span.first) && span.first < (request.to ?? span.last + 1)
  const byEquipment = Map.groupBy(
    model.points(building_id).filter(({ point_id }) => spans.has(point_id) && within(spans.get(point_id)!)),
    point => point.equipment_id,
  )
  const exported = equipment.flatMap((one): { equipment: Equipment; points: Point[] }[] => {
    const points = byEquipment.get(one.equipment_id)
    return points ? [{ equipment: one, points }] : []
  })
  const held = exported.flatMap(({ points }) => points.map(({ point_id }) => spans.get(point_id)!))
  if (held.length === 0) throw new Problem('invalid', 'Nothing is stored of this time')
  const from = request.from ?? Math.min(...held.map(({ first }) => first))
  const to = request.to ?? Math.max(...held.map(({ last }) => last + 1))
  const samples = held.reduce((sum, span) => sum + samplesWithin(span, from, to), 0)
  const layout = layOutPackage(building, exported, gridOf(held, spans, exported))
  const isLarge = samples * SAMPLE_BYTES_MIN > PACKAGE_LIMITS.expandedMax
  if (isLarge || layout.texts.length + layout.tables.length > PACKAGE_LIMITS.entriesMax) throw tooLarge()
  const budget = { left: PACKAGE_LIMITS.expandedMax }
  return [
    ...layout.texts.map(({ path, text }) => ({ path, chunks: () => bounded([text], budget) })),
    ...layout.tables.map(table => ({
      path: table.path,
      chunks: () => bounded(tableChunks(table, { building_id, from, to, spans }, historian), budget),
    })),
  ]
}

const tooLarge = () =>
  new Problem('invalid', 'An import would not take so large a package: ask for a shorter time, or for one equipment')

/** The bytes of all files together are bounded as those that an import unpacks. */
async function* bounded(chunks: Iterable<string> | AsyncIterable<string>, budget: { left: number }): AsyncGenerator<string> {
  for await (const chunk of chunks) {
    budget.left -= Buffer.byteLength(chunk)
    if (budget.left < 0) throw tooLarge()
    yield chunk
  }
}

function samplesWithin({ first, last, samples }: PointSpan, from: number, to: number): number {
  const overlap = Math.min(last + 1, to) - Math.max(first, from)
  return Math.max(0, (samples * overlap) / (last + 1 - first))
}

/** The shortest usual distance between samples, minutes. */
function gridOf(
  held: readonly PointSpan[],
  spans: ReadonlyMap<string, PointSpan>,
  exported: readonly { points: readonly Point[] }[],
): number {
  const polled = exported.flatMap(({ points }) =>
    points.flatMap(({ poll_secs }) => (poll_secs ? [(poll_secs * SECOND) / MINUTE] : [])),
  )
  const usual = held.flatMap(({ point_id }) => {
    const { first, last, samples } = spans.get(point_id)!
    return samples > 1 ? [(last - first) / (samples - 1) / MINUTE] : []
  })
  const least = Math.min(...(polled.length > 0 ? polled : usual))
  if (!Number.isFinite(least)) return GRID_DEFAULT_MINUTES
  return Math.min(GRID_MAX_MINUTES, Math.max(1 / 60, Math.round(least * 60) / 60))
}

type Span = { building_id: string; from: number; to: number; spans: ReadonlyMap<string, PointSpan> }

async function* tableChunks(table: TableLayout, span: Span, historian: HistoryReader): AsyncGenerator<string> {
  const { headers, point_ids } = table
  const { building_id, to } = span
  yield csvLine(['timestamp_utc', ...headers])
  const own = point_ids.map(id => span.spans.get(id)!)
  const samples = own.reduce((sum, one) => sum + samplesWithin(one, span.from, to), 0)
  const stepMs = Math.max(HOUR, Math.ceil(((to - span.from) * SLICE_SAMPLES) / Math.max(1, samples)))
  for (let from = span.from; from < to; from += stepMs) {
    const series = await historian.read({ building_id, point_ids, from, to: Math.min(to, from + stepMs) })
    yield* rowChunks(series)
  }
}

/** One row for each instant at which any of the points has a sample. */
function* rowChunks(series: readonly Series[]): Generator<string> {
  const instants = Float64Array.from(new Set(series.flatMap(({ ts }) => Array.from(ts)))).toSorted()
  const next = new Uint32Array(series.length)
  let lines: string[] = []
  for (const instant of instants) {
    const cells = series.map(({ ts, values }, i) => {
      if (ts[next[i]!] !== instant) return null
      const value = values[next[i]!++]!
      return Number.isNaN(value) ? 'nan' : value
    })
    lines.push(csvLine([formatInstant(instant), ...cells]))
    if (lines.length < CHUNK_LINES) continue
    yield lines.join('')
    lines = []
  }
  if (lines.length > 0) yield lines.join('')
}
