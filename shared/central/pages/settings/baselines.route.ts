/** The page of baselines, and the forms that reset one. */
import { type Static, Type } from '@sinclair/typebox'
import { chooseBuilding } from '#shared/core/lookup.ts'
import type { BaselineKey, StoredBaseline } from '#shared/core/tuning.ts'
import { type BaselinesModel, baselinesBody } from './baselines.view.ts'
import { orBlank, PAGE_ID, type Route, route, strict } from '#shared/node/http/route.ts'
import {
  BASELINE,
  baselineSubject,
  RESET_NOTE,
  resetRuleBaseline,
  resetsBySubject,
  restoreRuleBaseline,
} from '#shared/central/commands/baselines.ts'
import type { CentralParts, Reading } from '#shared/central/context.ts'
import { ruleOwner } from '#shared/central/fdd/rule-owner.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { say } from '#shared/node/http/language.ts'

/** The form sends an empty role for a baseline that has none. */
const KEY = { ...BASELINE, role: orBlank(BASELINE.role) }
const Key = strict(KEY)

export const baselinesPage = (context: CentralParts, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: '/baselines',
    auth: 'viewer',
    summary: 'The page of baselines',
    query: strict({
      building: Type.Optional(PAGE_ID),
      equipment: Type.Optional(PAGE_ID),
      q: Type.Optional(Type.String({ maxLength: 200 })),
    }),
    handle: async call => {
      const { building, equipment, q = '' } = call.query
      const person = { user: layout.userOf(call.caller), csrf: layout.csrfOf(call.caller) }
      const model = await baselinesModel({ ...context, model: layout.modelFor(call.caller) }, building, equipment)
      const here = { ...layout.here(), timezone: model.building.timezone }
      return layout.document(
        call,
        { title: say`Baselines`, current: '/params', here },
        baselinesBody({ ...model, ...person, here, q: q.trim() }),
      )
    },
  }),
  route({
    method: 'POST',
    path: '/baselines/reset',
    auth: 'operator',
    summary: 'The form that begins a baseline anew',
    takes: 'form',
    body: strict({ ...KEY, note: RESET_NOTE }),
    action: 'reset_baseline',
    handle: call => {
      const { note, ...given } = call.body
      const key = keyOf(given)
      resetRuleBaseline(context, call, { ...key, note, at: undefined })
      return call.reply.redirect(pageOf(key), 303)
    },
  }),
  route({
    method: 'POST',
    path: '/baselines/restore',
    auth: 'operator',
    summary: 'The form that takes the reset of a baseline back',
    takes: 'form',
    body: Key,
    action: 'restore_baseline',
    handle: call => {
      const key = keyOf(call.body)
      restoreRuleBaseline(context, call, key)
      return call.reply.redirect(pageOf(key), 303)
    },
  }),
]

const keyOf = ({ role, ...key }: Static<typeof Key>): BaselineKey => ({ ...key, ...(role && { role }) })

const pageOf = ({ building_id, equipment_id, rule_id }: BaselineKey): string =>
  `/baselines?${new URLSearchParams({ building: building_id, equipment: equipment_id })}#${encodeURIComponent(rule_id)}`

/** @throws Problem unknown_building */
async function baselinesModel(
  context: Reading<CentralParts>,
  building_id: string | undefined,
  asked: string | undefined,
): Promise<Omit<BaselinesModel, 'here' | 'user' | 'csrf' | 'q'>> {
  const { model, baselines } = context
  const building = chooseBuilding(model, building_id)
  const all = baselines.list({ building_id: building.building_id })
  const names = new Map(model.equipment(building.building_id).map(({ equipment_id, name }) => [equipment_id, name]))
  const resets = resetsBySubject(context, building.building_id)
  const byEquipment = Map.groupBy(all, ({ equipment_id }) => equipment_id)
  const equipment = [...byEquipment].map(([equipment_id, own]) => ({
    equipment_id,
    name: names.get(equipment_id) || equipment_id,
    baselines: own.length,
    cold: own.filter(({ cold }) => cold).length,
    reset: own.filter(one => resets.has(baselineSubject(one))).length,
  }))
  const sorted = equipment.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const chosen = asked ?? sorted[0]?.equipment_id
  const own: StoredBaseline[] = byEquipment.get(chosen ?? '') ?? []
  const rules = (await context.rules.catalogue()).byId
  const shown = own.map(baseline => {
    const { rule_id } = baseline
    return {
      baseline,
      title: (rules.get(rule_id) ?? context.definitions.get(rule_id))?.title ?? rule_id,
      reset: resets.get(baselineSubject(baseline)),
    }
  })
  return {
    building,
    buildings: model.buildings(),
    equipment: sorted,
    shown,
    chosen,
    ruleOwner: ruleOwner(context, building.building_id),
  }
}
