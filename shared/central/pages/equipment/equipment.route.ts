/** The page of one equipment, and the part of it that refreshes itself. */
import { type Call, oneOf, PAGE_ID, type Route, route, strict } from '#shared/node/http/route.ts'
import { Type } from '@sinclair/typebox'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { BUILDINGS_PATH } from '#shared/central/ui/links.ts'
import { type EquipmentStores, equipmentModel, equipmentNowModel, LANE_DAYS } from './equipment-model.ts'
import { equipmentBody, equipmentNow } from './equipment.view.ts'

const Params = strict({ building_id: PAGE_ID, equipment_id: PAGE_ID })
const PATH = `${BUILDINGS_PATH}/:building_id/equipment/:equipment_id`
const [DAYS_DEFAULT] = LANE_DAYS

export const equipmentPage = (context: EquipmentStores, layout: PageLayout): Route[] => {
  const shownTo = ({ caller }: Pick<Call<unknown, unknown, unknown>, 'caller'>) => ({
    ...context,
    model: layout.modelFor(caller),
  })
  return [
    route({
      method: 'GET',
      path: PATH,
      auth: 'viewer',
      summary: 'The page of one equipment',
      params: Params,
      query: strict({ days: Type.Optional(oneOf(LANE_DAYS.map(String))) }),
      problems: ['unknown_building', 'unknown_equipment'],
      handle: async call => {
        const days = Number(call.query.days ?? DAYS_DEFAULT)
        const model = await equipmentModel(shownTo(call), { ...call.params, days, here: layout.here() })
        const at = { title: model.equipment.name, current: BUILDINGS_PATH, here: model.here }
        const form = { csrf: layout.csrfOf(call.caller), mayOperate: layout.userOf(call.caller)?.mayOperate === true }
        return layout.document(call, at, equipmentBody({ ...model, ...form }))
      },
    }),
    route({
      method: 'GET',
      path: `${PATH}/now`,
      auth: 'viewer',
      summary: 'The part of the page of one equipment that refreshes itself',
      params: Params,
      problems: ['unknown_building', 'unknown_equipment'],
      handle: async call => equipmentNow(await equipmentNowModel(shownTo(call), { ...call.params, here: layout.here() })),
    }),
  ]
}
