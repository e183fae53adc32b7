/** The page of points, and the form that gives them roles. */
import { type Static, Type } from '@sinclair/typebox'
import { ID } from '#shared/core/model/model.ts'
import { chooseBuilding } from '#shared/core/lookup.ts'
import { Problem, PROBLEMS } from '#shared/core/problem.ts'
import type { Assignment } from '#shared/core/stores.ts'
import { type PointsModel, pointsBody } from './points.view.ts'
import { isOpen, suggestFor } from '#shared/flow/commission.ts'
import { type Call, PAGE_ID, type Route, route, strict } from '#shared/node/http/route.ts'
import { ASSIGNMENTS_MAX, ROLE, saveAssignments } from '#shared/central/commands/assignments.ts'
import type { CentralParts } from '#shared/central/context.ts'
import type { PageLayout } from './layout.ts'

const CHOICE = { building: Type.Optional(PAGE_ID), equipment: Type.Optional(PAGE_ID) }
/** `role.` and the id of a point, for each point of the form; empty leaves it as it is. */
const ROLE_FIELD = /^role\.(.+)$/
const SAVE = Type.Object(
  { building: ID, equipment: ID },
  { additionalProperties: false, patternProperties: { [ROLE_FIELD.source]: ROLE }, maxProperties: ASSIGNMENTS_MAX },
)
type AnyCall = Pick<Call<unknown, unknown, unknown>, 'caller' | 'reply'>
type Shown = Pick<PointsModel, 'filled'> & {
  building: string | undefined
  equipment: string | undefined
  refusal?: PointsModel['refusal']
}

export const pointsPage = (context: CentralParts, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: '/points',
    auth: 'viewer',
    summary: 'The page of points and what they seem to be',
    query: strict({ ...CHOICE, fill: Type.Optional(Type.Boolean()) }),
    handle: call => {
      const { building, equipment, fill = false } = call.query
      return showPoints(context, layout, call, { building, equipment, filled: fill })
    },
  }),
  route({
    method: 'POST',
    path: '/points/save',
    auth: 'operator',
    summary: 'The form that gives points their roles',
    takes: 'form',
    body: SAVE,
    action: 'assign_points',
    handle: call => {
      const { building, equipment } = call.body
      try {
        saveAssignments(context, call, { building_id: building, assignments: changesOf(call.body, context), mode: 'merge' })
        const query = new URLSearchParams({ building, equipment })
        return call.reply.redirect(`/points?${query}`, 303)
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        call.reply.code(PROBLEMS[error.code].status)
        const refusal = { message: error.message, roles: rolesOf(call.body) }
        return showPoints(context, layout, call, { building, equipment, filled: false, refusal })
      }
    },
  }),
]

/** By point, as the form sends them. */
function rolesOf({ building: _building, equipment: _equipment, ...fields }: Static<typeof SAVE>): Map<string, string> {
  const given = Object.entries(fields as Record<string, string>)
  return new Map(given.map(([field, role]) => [ROLE_FIELD.exec(field)?.[1] ?? '', role]))
}

/** Points to which the form gives another role. */
function changesOf(body: Static<typeof SAVE>, { model }: CentralParts): Assignment[] {
  const { building, equipment: equipment_id } = body
  const stored = new Map(model.points(building).map(point => [point.point_id, point]))
  return [...rolesOf(body)].flatMap(([point_id, role]) =>
    role === '' || stored.get(point_id)?.role === role ? [] : [{ point_id, equipment_id, role }],
  )
}

function showPoints(context: CentralParts, layout: PageLayout, call: AnyCall, { refusal, ...shown }: Shown) {
  const { model } = context
  const building = chooseBuilding(context.model, shown.building)
  const equipment = model.equipment(building.building_id)
  const points = suggestFor(model.points(building.building_id), equipment)
  const byEquipment = Map.groupBy(points, ({ equipment_id }) => equipment_id ?? '')
  const list = equipment
    .filter(({ equipment_id }) => byEquipment.has(equipment_id))
    .map(({ equipment_id, name }) => {
      const own = byEquipment.get(equipment_id)!
      return { equipment_id, name, points: own.filter(({ gone }) => !gone).length, open: own.filter(isOpen).length }
    })
  const chosen = shown.equipment ?? (list.find(({ open }) => open > 0) ?? list[0])?.equipment_id
  const body = pointsBody({
    building,
    buildings: model.buildings(),
    equipment: list,
    chosen,
    points: byEquipment.get(chosen ?? '') ?? [],
    filled: shown.filled,
    refusal,
    here: layout.here(),
    user: layout.userOf(call.caller),
    csrf: layout.csrfOf(call.caller),
  })
  return layout.document(call, { title: 'Points', current: '/points' }, body)
}
