/** Changes to a building's points when the metadata of their edge lists other points than before. */
import type { Point } from './model.ts'

/** Points of imported files are no field points, so no list of an edge removes them. */
const FIELD: readonly Point['source']['protocol'][] = ['bacnet', 'modbus', 'haystack']

/**
 * Points that an edge does not measure any more. They stay in the model, because their history does, but without a role: no rule waits
 * for them, and another point may have their place.
 *
 * @param held points of one building
 * @param listed ids of those that the edge measures now
 * @param by who says so. `adopts`: points that nobody has spoken for are its own; `now`: ms since 1970 UTC
 * @returns those that leave with this list, as they are from now on
 */
export function pointsThatLeave(
  held: readonly Point[],
  listed: ReadonlySet<string>,
  by: { edge_id: string; adopts: boolean; now: number },
): Point[] {
  const isOwn = ({ edge_id, source }: Point) =>
    FIELD.includes(source.protocol) && (edge_id === undefined ? by.adopts : edge_id === by.edge_id)
  return held
    .filter(point => !point.gone && !listed.has(point.point_id) && isOwn(point))
    .map(({ role, ...point }) => ({ ...point, edge_id: by.edge_id, gone: { at: by.now, ...(role !== undefined && { role }) } }))
}

/**
 * A point that returns has the role that it had, unless another has its place by now.
 *
 * @param leaving those that leave at the same time; their places are free
 * @returns `held` with the roles that points would have if they were measured again
 */
export function withRolesBack(held: readonly Point[], leaving: readonly Point[]): Point[] {
  const goes = new Set(leaving.map(({ point_id }) => point_id))
  const taken = new Set(held.filter(({ point_id }) => !goes.has(point_id)).flatMap(placeOf))
  return held.map(point => {
    if (point.role !== undefined || point.gone?.role === undefined) return point
    const back = { ...point, role: point.gone.role }
    return placeOf(back).some(place => taken.has(place)) ? point : back
  })
}

const placeOf = ({ equipment_id, role }: Point): string[] => (role === undefined ? [] : [`${equipment_id ?? ''} ${role}`])
