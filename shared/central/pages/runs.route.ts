/** The page of runs, the part of the page of faults that shows them, and the forms that start and end them. */
import { Type } from '@sinclair/typebox'
import { chooseBuilding } from '#shared/core/lookup.ts'
import { Problem } from '#shared/core/problem.ts'
import { isOver } from '#shared/core/runs/run-state.ts'
import type { UnconfirmedModel } from '#shared/central/pages/faults/unconfirmed-card.ts'
import { type RunPanel, runPanel } from '#shared/central/ui/run-panel.ts'
import { runsBody } from './runs.view.ts'
import { type Call, oneOf, PAGE_ID, type Route, route, strict } from '#shared/node/http/route.ts'
import { cancelRun, startMissingRuns } from '#shared/central/commands/runs.ts'
import type { CentralContext, Reading } from '#shared/central/context.ts'
import { buildingsEvaluatedHere, ruleOwner } from '#shared/central/fdd/rule-owner.ts'
import type { PageLayout } from './layout.ts'
import { say } from '#shared/node/http/language.ts'

export type RunStores = Reading<Pick<CentralContext, 'model' | 'edges' | 'runs'>>
type PageStores = RunStores & Pick<CentralContext, 'log' | 'results' | 'rules'>
/** An empty text stands for every building: that is what a form sends. */
const BUILDING = Type.Optional(PAGE_ID)

/** Runs that the page lists at one time. */
const LISTED_MAX = 50

export const runsPage = (context: PageStores, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: '/runs',
    auth: 'viewer',
    summary: 'The page of runs',
    query: strict({ building: BUILDING, after: Type.Optional(PAGE_ID) }),
    problems: ['unknown_building', 'bad_cursor'],
    handle: async call => {
      const { building: asked, after } = call.query
      const building = chooseBuilding(context.model, asked || undefined)
      const { building_id, timezone } = building
      const found = context.runs.list({ building_id, limit: LISTED_MAX + 1, ...(after !== undefined && { after }) })
      const listed = found.slice(0, LISTED_MAX)
      const here = { ...layout.here(), timezone }
      const body = runsBody({
        building,
        buildings: context.model.buildings(),
        runs: listed.filter(({ run }) => isOver(run)),
        next: found.length > LISTED_MAX ? listed.at(-1)!.run.run_id : undefined,
        ruleOwner: ruleOwner(context, building_id),
        panel: { ...panelOf(context, layout, call, building_id), here },
        brief: await briefOf(context, building_id),
        here,
      })
      return layout.document(call, { title: say`Runs`, current: '/faults', here }, body)
    },
  }),
  route({
    method: 'GET',
    path: '/faults/runs',
    auth: 'viewer',
    summary: 'The part of the page of faults that shows runs',
    query: strict({ building: BUILDING }),
    handle: call => runPanel(panelOf(context, layout, call, call.query.building || undefined)),
  }),
  route({
    method: 'POST',
    path: '/runs',
    auth: 'operator',
    summary: 'The button that runs the rules',
    takes: 'form',
    action: 'run_fdd',
    body: strict({ building: BUILDING }),
    handle: call => {
      const { building } = call.body
      startMissingRuns(context, call, building ? [building] : buildingsEvaluatedHere(context))
      return call.reply.redirect(building ? `/faults?building=${encodeURIComponent(building)}` : '/faults', 303)
    },
  }),
  route({
    method: 'POST',
    path: '/runs/:run_id/cancel',
    auth: 'operator',
    summary: 'The button that ends a run',
    takes: 'form',
    action: 'cancel_run',
    params: strict({ run_id: PAGE_ID }),
    body: strict({ back: oneOf(['/', '/faults']) }),
    handle: call => {
      try {
        cancelRun(context, call, call.params.run_id)
      } catch (error) {
        // The run may end while somebody reaches for the button.
        if (!(error instanceof Problem && error.code === 'conflict')) throw error
      }
      return call.reply.redirect(call.body.back, 303)
    },
  }),
]

/** Conditions that held too briefly to count, from the latest results of the building's rules. */
async function briefOf({ results, model, rules }: PageStores, building_id: string): Promise<UnconfirmedModel> {
  const { byId } = await rules.catalogue()
  const names = new Map(model.equipment(building_id).map(({ equipment_id, name }) => [equipment_id, name]))
  return {
    building_id,
    results: results.standing(building_id).remarkable,
    titleOf: rule_id => byId.get(rule_id)?.title ?? rule_id,
    nameOf: equipment_id => names.get(equipment_id) || equipment_id,
  }
}

/** Content of the part, for one building or for all. */
export function panelOf(
  context: RunStores,
  layout: PageLayout,
  { caller }: Pick<Call<unknown, unknown, unknown>, 'caller'>,
  building_id: string | undefined,
): RunPanel {
  const { runs } = context
  const buildings = context.model.buildings()
  const of = building_id === undefined ? {} : { building_id }
  return {
    live: runs.live().filter(({ run }) => building_id === undefined || run.building_id === building_id),
    newest: runs.list({ ...of, limit: 1 })[0]?.run ?? null,
    building_id,
    runsHere: buildingsEvaluatedHere(context).some(id => building_id === undefined || id === building_id),
    nameOf: id => buildings.find(one => one.building_id === id)?.name || id,
    here: layout.here(),
    user: layout.userOf(caller),
    csrf: layout.csrfOf(caller),
  }
}
