/** The pages that set a building up step by step, and their forms. */
import { addressWords } from '#shared/core/bacnet/object-name.ts'
import { type Static, Type } from '@sinclair/typebox'
import { chooseBuilding } from '#shared/core/lookup.ts'
import { type Building, EQUIPMENT_TYPES, ID } from '#shared/core/model/model.ts'
import { Problem, PROBLEMS } from '#shared/core/problem.ts'
import { freeId } from '#shared/core/model/free-id.ts'
import { type Call, oneOf, orBlank, PAGE_ID, type Route, route, strict } from '#shared/node/http/route.ts'
import { ASSIGNMENTS_MAX, ROLE, saveAssignments } from '#shared/central/commands/assignments.ts'
import { saveEquipment, savePoints } from '#shared/central/commands/model.ts'
import type { CentralParts } from '#shared/central/context.ts'
import { ruleOwner } from '#shared/central/fdd/rule-owner.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { COMMISSION_PATH, commissionBody, commissionHref } from './commission.view.ts'
import { commissionModel, livePoints, suggestedPoints } from './commission-model.ts'
import { placeBody, ROWS_SHOWN } from './equipment-choice.view.ts'
import { rolesBody } from './roles.view.ts'
import { sheetRoutes } from './sheet.route.ts'
import { unitsBody } from './units.view.ts'
import { say, sayMade } from '#shared/node/http/language.ts'

type AnyCall = Pick<Call<unknown, unknown, unknown>, 'caller' | 'reply'>
const BUILDING = strict({ building: Type.Optional(PAGE_ID) })
/** A form with a field for each point of a large building. */
const FORM_MAX = 4 * 2 ** 20
const FILTER = { q: Type.Optional(Type.String({ maxLength: 200 })), which: Type.Optional(oneOf(['unplaced', 'all'])) }
const POINT_FIELD = String.raw`^point-\d+$`
const PLACE = Type.Object(
  {
    building: ID,
    ...FILTER,
    equipment: orBlank(ID),
    new_name: Type.String({ maxLength: 200 }),
    new_type: oneOf(EQUIPMENT_TYPES),
    rest: Type.Optional(Type.Literal('yes')),
  },
  { additionalProperties: false, patternProperties: { [POINT_FIELD]: ID }, maxProperties: ASSIGNMENTS_MAX },
)
const ROLE_FIELD = /^role\.(.+)$/
const ROLES_FORM = Type.Object(
  { building: ID },
  { additionalProperties: false, patternProperties: { [ROLE_FIELD.source]: ROLE }, maxProperties: ASSIGNMENTS_MAX },
)

export const commissionPages = (context: CentralParts, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: COMMISSION_PATH,
    auth: 'viewer',
    summary: 'The path from points to the first faults',
    query: BUILDING,
    handle: async call => {
      const building = chooseBuilding(context.model, call.query.building)
      const { building_id, timezone } = building
      const here = { ...layout.here(), timezone }
      const body = commissionBody({
        building,
        buildings: context.model.buildings(),
        ...(await commissionModel(context, building)),
        ruleOwner: ruleOwner(context, building_id),
        here,
        ...whoOf(layout, call),
      })
      return layout.document(call, { title: say`Commission`, current: COMMISSION_PATH, here }, body)
    },
  }),
  ...equipmentRoutes(context, layout),
  ...roleRoutes(context, layout),
  ...unitRoutes(context, layout),
  ...sheetRoutes(context, layout),
]

const whoOf = (layout: PageLayout, { caller }: AnyCall) => ({ user: layout.userOf(caller), csrf: layout.csrfOf(caller) })
const shell = (layout: PageLayout, call: AnyCall, title: string, body: Parameters<PageLayout['document']>[2]) =>
  layout.document(call, { title, current: COMMISSION_PATH }, body)

/** Errors that a person can correct are shown on the page; others are thrown on. */
function refusalOf({ reply }: AnyCall, error: unknown): string {
  if (!(error instanceof Problem)) throw error
  reply.code(PROBLEMS[error.code].status)
  return sayMade(error.message)
}

function equipmentRoutes(context: CentralParts, layout: PageLayout): Route[] {
  const show = (
    call: AnyCall,
    building: Building,
    filter: { q?: string; which?: string },
    refused?: { refusal: string; form: Static<typeof PLACE> },
  ) => {
    const { q = '', which } = filter
    const shown = which === 'all' ? 'all' : 'unplaced'
    const body = placeBody({
      building,
      equipment: context.model.equipment(building.building_id),
      points: fitting(context, building, q, shown),
      q,
      which: shown,
      unplaced: fitting(context, building, '', 'unplaced'),
      refusal: refused?.refusal,
      typed: refused && typedIn(refused.form),
      ...whoOf(layout, call),
    })
    return shell(layout, call, say`Put points into equipment`, body)
  }
  return [
    route({
      method: 'GET',
      path: `${COMMISSION_PATH}/equipment`,
      auth: 'viewer',
      summary: 'The page that puts points into equipment',
      query: strict({ building: Type.Optional(PAGE_ID), ...FILTER }),
      handle: call => show(call, chooseBuilding(context.model, call.query.building), call.query),
    }),
    route({
      method: 'POST',
      path: `${COMMISSION_PATH}/equipment`,
      auth: 'operator',
      summary: 'The form that puts points into equipment',
      takes: 'form',
      bodyMax: FORM_MAX,
      body: PLACE,
      action: 'place_points',
      handle: call => {
        const building = chooseBuilding(context.model, call.body.building)
        try {
          placePoints(context, call, building)
          return call.reply.redirect(commissionHref('/equipment', building), 303)
        } catch (error) {
          return show(call, building, call.body, { refusal: refusalOf(call, error), form: call.body })
        }
      },
    }),
  ]
}

function typedIn(form: Static<typeof PLACE>) {
  const { equipment, new_name, new_type, rest } = form
  return { equipment, new_name, new_type, rest: rest === 'yes', chosen: chosenIn(form) }
}

/** The points that a form names, by their ids. */
const chosenIn = (form: Static<typeof PLACE>): ReadonlySet<string> =>
  new Set(Object.entries(form).flatMap(([field, id]) => (field.startsWith('point-') ? [String(id)] : [])))

/** Points whose name, address or unit contains a text. */
function fitting(context: CentralParts, building: Building, q: string, which: 'unplaced' | 'all') {
  const wanted = q.trim().toLowerCase()
  return livePoints(context, building).filter(
    ({ equipment_id, name, unit, point_id, source }) =>
      (which === 'all' || equipment_id === undefined) &&
      [name, point_id, unit, ...addressWords(source)].some(text => text.toLowerCase().includes(wanted)),
  )
}

/** @throws Problem invalid when nothing is chosen, the new equipment has no name, or a role would be there twice */
function placePoints(
  context: CentralParts,
  call: Pick<Call<Static<typeof PLACE>, unknown, unknown>, 'body' | 'audit'>,
  building: Building,
): void {
  const { building: building_id, q = '', which = 'unplaced', equipment, new_name, new_type, rest } = call.body
  const chosen = chosenIn(call.body)
  const all = fitting(context, building, q, which)
  // The points that the form shows come first; those after them are taken as a whole.
  const points = all.filter((point, i) => chosen.has(point.point_id) || (rest === 'yes' && i >= ROWS_SHOWN))
  if (points.length === 0) throw new Problem('invalid', 'No point is chosen')
  const known = context.model.equipment(building_id)
  const name = new_name.trim()
  if (equipment === '' && name === '') throw new Problem('invalid', 'Choose equipment, or name the new one')
  if (equipment !== '' && !known.some(one => one.equipment_id === equipment)) {
    throw new Problem('unknown_equipment', `Building ${building_id} has no equipment ${equipment}`)
  }
  const taken = new Set(known.map(({ equipment_id }) => equipment_id))
  const equipment_id = equipment || freeId(name, taken)
  const placed = points.map(point => ({ ...point, equipment_id }))
  savePoints(context, call, placed, true)
  if (equipment === '') saveEquipment(context, call, [{ equipment_id, building_id, name, equipment_type: new_type }])
  savePoints(context, call, placed)
}

function roleRoutes(context: CentralParts, layout: PageLayout): Route[] {
  const show = (call: AnyCall, building: Building, refusal?: string) =>
    shell(
      layout,
      call,
      say`Accept suggested roles`,
      rolesBody({ building, open: suggestedPoints(context, building), refusal, ...whoOf(layout, call) }),
    )
  return [
    route({
      method: 'GET',
      path: `${COMMISSION_PATH}/roles`,
      auth: 'viewer',
      summary: 'The page that accepts suggested roles in bulk',
      query: BUILDING,
      handle: call => show(call, chooseBuilding(context.model, call.query.building)),
    }),
    route({
      method: 'POST',
      path: `${COMMISSION_PATH}/roles`,
      auth: 'operator',
      summary: 'The form that gives the chosen points their suggested roles',
      takes: 'form',
      bodyMax: FORM_MAX,
      body: ROLES_FORM,
      action: 'assign_points',
      handle: call => {
        const { building: building_id, ...fields } = call.body
        const building = chooseBuilding(context.model, building_id)
        const byId = new Map(livePoints(context, building).map(point => [point.point_id, point]))
        const assignments = Object.entries(fields as Record<string, string>).map(([field, role]) => {
          const point_id = ROLE_FIELD.exec(field)?.[1] ?? ''
          return { point_id, equipment_id: byId.get(point_id)?.equipment_id ?? '', role }
        })
        try {
          if (assignments.length === 0) throw new Problem('invalid', 'No suggestion is chosen')
          saveAssignments(context, call, { building_id, assignments, mode: 'merge' })
          return call.reply.redirect(commissionHref('/roles', building), 303)
        } catch (error) {
          return show(call, building, refusalOf(call, error))
        }
      },
    }),
  ]
}

function unitRoutes(context: CentralParts, layout: PageLayout): Route[] {
  const show = async (call: AnyCall, building: Building, refusal?: string) => {
    const checked = livePoints(context, building).filter(({ role, kind }) => role !== undefined && kind === 'number').length
    const doubtful = await context.unitDoubts(building.building_id)
    return shell(layout, call, say`Check units`, unitsBody({ building, doubtful, checked, refusal, ...whoOf(layout, call) }))
  }
  return [
    route({
      method: 'GET',
      path: `${COMMISSION_PATH}/units`,
      auth: 'viewer',
      summary: 'The page of points whose values do not fit their unit',
      query: BUILDING,
      handle: call => show(call, chooseBuilding(context.model, call.query.building)),
    }),
    route({
      method: 'POST',
      path: `${COMMISSION_PATH}/units`,
      auth: 'operator',
      summary: 'The form that declares the unit of a point',
      takes: 'form',
      body: strict({ building: ID, point: ID, unit: Type.String({ maxLength: 64 }) }),
      action: 'assign_points',
      handle: call => {
        const { building: building_id, point: point_id, unit } = call.body
        const building = chooseBuilding(context.model, building_id)
        const known = livePoints(context, building).find(point => point.point_id === point_id)
        try {
          const assignment = { point_id, equipment_id: known?.equipment_id ?? '', role: known?.role ?? '', unit }
          saveAssignments(context, call, { building_id, assignments: [assignment], mode: 'merge' })
          return call.reply.redirect(commissionHref('/units', building), 303)
        } catch (error) {
          return show(call, building, refusalOf(call, error))
        }
      },
    }),
  ]
}
