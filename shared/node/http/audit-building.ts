/** The building that a change belongs to, so that the audit log can be asked by building. */
import type { FastifyRequest } from 'fastify'
import type { AuditNote, Route } from './route.ts'

/**
 * The building of an audit row: the one that the handler states, else the request's, else that of all changed records.
 *
 * @returns null for a change that belongs to none or to several
 */
export function buildingOfChange({ buildingOf }: Route, { params, query, body }: FastifyRequest, note: AuditNote): string | null {
  if (note.building_id !== undefined) return note.building_id
  const named = buildingOf?.(params as Record<string, string>)
  if (named !== undefined) return named
  const found = [params, query, body].flatMap(idsIn)
  const ids = new Set(found.length > 0 ? found : [note.before, note.after].flatMap(idsIn))
  return ids.size === 1 ? [...ids][0]! : null
}

/** Routes name it `building_id`, forms of pages also `building`. */
function idsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(idsIn)
  if (typeof value !== 'object' || value === null) return []
  const { building_id, building } = value as { building_id?: unknown; building?: unknown }
  return [building_id, building].filter((id): id is string => typeof id === 'string' && id !== '').slice(0, 1)
}
