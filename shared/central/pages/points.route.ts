/** The page of points, and the form that gives them roles. */
import { addressWords } from '#shared/core/bacnet/object-name.ts'
import { type Static, Type } from '@sinclair/typebox'
import { chooseBuilding } from '#shared/core/lookup.ts'
import { Problem, PROBLEMS } from '#shared/core/problem.ts'
import { ID, type Point } from '#shared/core/model/model.ts'
import { hasWords, searchWords } from '#shared/core/search/search-index.ts'
import type { Assignment } from '#shared/core/stores.ts'
import { type PointsModel, pointsBody, pointsHref } from './points.view.ts'
import { isOpen, suggestFor } from '#shared/flow/commission.ts'
import { type Call, PAGE_ID, type Route, route, strict } from '#shared/node/http/route.ts'
import { ASSIGNMENTS_MAX, ROLE, saveAssignments } from '#shared/central/commands/assignments.ts'
import type { CentralParts } from '#shared/central/context.ts'
import { SEARCH_TEXT } from '#shared/central/api/search.ts'
import { roleWords } from '#shared/central/ui/measure.ts'
import { PAGE_NUMBER, partOf } from '#shared/central/ui/pager.ts'
import type { PageLayout } from './layout.ts'
import { say } from '#shared/node/http/language.ts'

const CHOICE = {
  building: Type.Optional(PAGE_ID),
  equipment: Type.Optional(PAGE_ID),
  q: Type.Optional(SEARCH_TEXT),
  page: PAGE_NUMBER,
}
/** Equipment on one page, and points in one form: on a phone three screens. */
const EQUIPMENT_SHOWN = 12
const POINTS_SHOWN = 8
/** Points that a search lists on one page. */
const FOUND_SHOWN = 15
/** `role.` and the id of a point, for each point of the form; empty leaves it as it is. */
const ROLE_FIELD = /^role\.(.+)$/
const SAVE = Type.Object(
  { building: ID, equipment: ID, page: PAGE_NUMBER },
  { additionalProperties: false, patternProperties: { [ROLE_FIELD.source]: ROLE }, maxProperties: ASSIGNMENTS_MAX },
)
type AnyCall = Pick<Call<unknown, unknown, unknown>, 'caller' | 'reply'>
type Shown = Pick<PointsModel, 'filled'> & {
  building?: string | undefined
  equipment?: string | undefined
  q?: string | undefined
  page?: number | undefined
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
      const { fill = false, ...asked } = call.query
      return showPoints(context, layout, call, { ...asked, filled: fill })
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
      const { building, equipment, page } = call.body
      try {
        saveAssignments(context, call, { building_id: building, assignments: changesOf(call.body, context), mode: 'merge' })
        return call.reply.redirect(pointsHref({ building, equipment, page }), 303)
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        call.reply.code(PROBLEMS[error.code].status)
        const refusal = { message: error.message, roles: rolesOf(call.body) }
        return showPoints(context, layout, call, { building, equipment, page, filled: false, refusal })
      }
    },
  }),
]

/** By point, as the form sends them. */
function rolesOf({
  building: _building,
  equipment: _equipment,
  page: _page,
  ...fields
}: Static<typeof SAVE>): Map<string, string> {
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

function showPoints(context: CentralParts, layout: PageLayout, call: AnyCall, { refusal, q = '', ...shown }: Shown) {
  const { model } = context
  const building = chooseBuilding(model, shown.building)
  const points = model.points(building.building_id)
  const byEquipment = Map.groupBy(points, ({ equipment_id }) => equipment_id ?? '')
  const equipment = model.equipment(building.building_id)
  const list = equipment
    .filter(({ equipment_id }) => byEquipment.has(equipment_id))
    .map(({ equipment_id, name }) => {
      const own = byEquipment.get(equipment_id)!
      return { equipment_id, name, points: own.filter(({ gone }) => !gone).length, open: own.filter(isOpen).length }
    })
    .toSorted((a, b) => Number(b.open > 0) - Number(a.open > 0))
  // Where there is no choice, nobody has to choose.
  const chosen = shown.equipment ?? (list.length === 1 && q === '' ? list[0]!.equipment_id : undefined)
  const names = new Map(equipment.map(({ equipment_id, name }) => [equipment_id, name]))
  const placeOf = ({ equipment_id = '' }: Point) => names.get(equipment_id) ?? equipment_id
  const own = suggestFor(byEquipment.get(chosen ?? '') ?? [], equipment)
  const found = q === '' ? [] : points.filter(point => hasWords(wordsOf(point, placeOf(point)), q))
  const body = pointsBody({
    building,
    buildings: model.buildings(),
    equipment: partOf(list, shown.page, EQUIPMENT_SHOWN),
    chosen: chosen === undefined ? undefined : { equipment_id: chosen, name: names.get(chosen) ?? chosen },
    open: list.reduce((sum, one) => sum + one.open, 0),
    all: points.filter(({ gone }) => !gone).length,
    form: partOf(
      own.filter(({ gone }) => !gone),
      shown.page,
      POINTS_SHOWN,
    ),
    gone: own.flatMap(point => (point.gone ? { ...point, gone: point.gone } : [])),
    q,
    found: partOf(found, shown.page, FOUND_SHOWN),
    placeOf,
    filled: shown.filled,
    refusal,
    here: layout.here(),
    user: layout.userOf(call.caller),
    csrf: layout.csrfOf(call.caller),
  })
  return layout.document(call, { title: say`Points`, current: '/points' }, body)
}

const wordsOf = ({ name, point_id, role, source }: Point, place: string): string =>
  searchWords(name, point_id, role, role && roleWords(role), ...addressWords(source), place)
