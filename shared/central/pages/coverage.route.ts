/** The page of coverage: which rules can run on the equipment of a building. */
import { Type } from '@sinclair/typebox'
import { chooseBuilding } from '#shared/core/lookup.ts'
import { coverageBody } from './coverage.view.ts'
import { PAGE_ID, type Route, route, strict } from '#shared/node/http/route.ts'
import { countCoverage } from '#shared/central/api/commission.ts'
import type { CentralParts } from '#shared/central/context.ts'
import type { PageLayout } from './layout.ts'
import { say } from '#shared/node/http/language.ts'

const CHOICE = {
  building: Type.Optional(PAGE_ID),
  equipment: Type.Optional(PAGE_ID),
  q: Type.Optional(Type.String({ maxLength: 200 })),
}

export const coveragePage = (context: CentralParts, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: '/coverage',
    auth: 'viewer',
    summary: 'The page of coverage',
    query: strict(CHOICE),
    handle: async call => {
      const model = await coverageModel(context, call.query)
      return layout.document(call, { title: say`Coverage`, current: '/points' }, coverageBody(model))
    },
  }),
]

async function coverageModel(context: CentralParts, asked: { building?: string; equipment?: string; q?: string }) {
  const building = chooseBuilding(context.model, asked.building)
  const { lines, gains, waits } = await context.rules.coverage(building.building_id)
  const byEquipment = Map.groupBy(lines, ({ equipment_id }) => equipment_id)
  const equipment = context.model.equipment(building.building_id).map(({ equipment_id, name }) => {
    const own = byEquipment.get(equipment_id) ?? []
    return { equipment_id, name, can: countCoverage(own).can_run, all: own.length }
  })
  const chosen = asked.equipment ?? equipment[0]?.equipment_id
  return {
    building,
    buildings: context.model.buildings(),
    equipment,
    chosen,
    q: asked.q?.trim() ?? '',
    waits,
    lines: byEquipment.get(chosen ?? '') ?? [],
    gains: gains.filter(({ equipment_id }) => equipment_id === chosen),
  }
}
