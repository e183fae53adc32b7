/** The page of one point. */
import { Type } from '@sinclair/typebox'
import { oneOf, PAGE_ID, type Route, route, strict } from '#shared/node/http/route.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { BACNET_PATH, BUILDINGS_PATH } from '#shared/central/ui/links.ts'
import type { EquipmentStores } from './equipment-model.ts'
import { POINT_DAYS, pointModel } from './point-model.ts'
import { pointBody } from './point.view.ts'

const [DAYS_DEFAULT] = POINT_DAYS

export const pointPage = (context: EquipmentStores, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: `${BUILDINGS_PATH}/:building_id/points/:point_id`,
    auth: 'viewer',
    summary: 'The page of one point',
    params: strict({ building_id: PAGE_ID, point_id: PAGE_ID }),
    query: strict({ days: Type.Optional(oneOf(POINT_DAYS.map(String))) }),
    problems: ['unknown_building', 'unknown_point'],
    handle: async call => {
      const days = Number(call.query.days ?? DAYS_DEFAULT)
      const model = await pointModel(
        { ...context, model: layout.modelFor(call.caller) },
        { ...call.params, days, here: layout.here() },
      )
      const at = { title: model.now.point.name, current: BUILDINGS_PATH, here: model.here }
      // A hub has no way to a device.
      const mayRead = layout.pagesFor(call.caller).all.some(({ href }) => href === BACNET_PATH)
      return layout.document(call, at, pointBody(model, mayRead))
    },
  }),
]
