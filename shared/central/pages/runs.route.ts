/** The page of runs, the part of the page of faults that shows them, and the forms that start and end them. */
import { Type } from '@sinclair/typebox'
import { Problem } from '#shared/core/problem.ts'
import { isOver } from '#shared/core/runs/run-state.ts'
import type { BriefModel } from '#shared/central/pages/faults/brief-card.ts'
import { type RunPanel, runPanel } from '#shared/central/ui/run-panel.ts'
import { runsBody } from './runs.view.ts'
import { type Call, oneOf, type Route, route, strict } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { judgedHere, ranBy } from '#shared/central/fdd/rule-owner.ts'
import { startRun } from '#shared/central/fdd/start-run.ts'
import { chosenBuilding } from '#shared/central/pages/settings/params.route.ts'
import type { Shell } from './shell.ts'

export type RunStores = Pick<CentralContext, 'model' | 'edges' | 'runs'>
type PageStores = RunStores & Pick<CentralContext, 'log' | 'results' | 'rules'>
const ID = Type.String({ maxLength: 128 })
/** An empty text stands for every building: that is what a form sends. */
const BUILDING = Type.Optional(ID)

/** Runs that the page lists at one time. */
const LISTED_MAX = 50

export const runPageRoutes = (context: PageStores, shell: Shell): Route[] => [
  route({
    method: 'GET',
    path: '/runs',
    auth: 'viewer',
    summary: 'The page of runs',
    query: strict({ building: BUILDING, after: Type.Optional(ID) }),
    problems: ['unknown_building', 'bad_cursor'],
    handle: async call => {
      const { building: asked, after } = call.query
      const building = chosenBuilding(context, asked || undefined)
      const { building_id, timezone } = building
      const found = context.runs.list({ building_id, limit: LISTED_MAX + 1, ...(after !== undefined && { after }) })
      const listed = found.slice(0, LISTED_MAX)
      const here = { ...shell.here(), timezone }
      const body = runsBody({
        building,
        buildings: context.model.buildings(),
        runs: listed.filter(({ run }) => isOver(run)),
        next: found.length > LISTED_MAX ? listed.at(-1)!.run.run_id : undefined,
        ranBy: ranBy(context, building_id),
        panel: { ...panelOf(context, shell, call, building_id), here },
        brief: await briefOf(context, building_id),
        here,
      })
      return shell.document(call, { title: 'Runs', current: '/faults', here }, body)
    },
  }),
  route({
    method: 'GET',
    path: '/faults/runs',
    auth: 'viewer',
    summary: 'The part of the page of faults that shows runs',
    query: strict({ building: BUILDING }),
    handle: call => runPanel(panelOf(context, shell, call, call.query.building || undefined)),
  }),
  route({
    method: 'POST',
    path: '/runs',
    auth: 'operator',
    summary: 'The button that runs the rules',
    takes: 'form',
    action: 'run_fdd',
    body: strict({ building: BUILDING }),
    handle: ({ body: { building }, reply, audit }) => {
      for (const building_id of building ? [building] : judgedHere(context)) {
        const run_id = startUnlessRunning(context, building_id)
        if (run_id) audit({ subject: building_id, after: { run_id } })
      }
      return reply.redirect(building ? `/faults?building=${encodeURIComponent(building)}` : '/faults', 303)
    },
  }),
  route({
    method: 'POST',
    path: '/runs/:run_id/cancel',
    auth: 'operator',
    summary: 'The button that ends a run',
    takes: 'form',
    action: 'cancel_run',
    params: strict({ run_id: ID }),
    body: strict({ back: oneOf(['/', '/faults']) }),
    handle: ({ params: { run_id }, body: { back }, caller, reply, audit }) => {
      const before = context.runs.get(run_id)?.run
      if (cancelUnlessOver(context, run_id, caller!.subject)) {
        audit({ subject: before!.building_id, before: { run_id, state: before!.state }, after: { run_id, state: 'cancelled' } })
      }
      return reply.redirect(back, 303)
    },
  }),
]

/** What held too briefly to count, in the newest words of the building's rules. */
async function briefOf({ results, model, rules }: PageStores, building_id: string): Promise<BriefModel> {
  const { byId } = await rules.catalogue()
  const names = new Map(model.equipment(building_id).map(({ equipment_id, name }) => [equipment_id, name]))
  return {
    results: results.latest(building_id),
    titleOf: rule_id => byId.get(rule_id)?.title ?? rule_id,
    nameOf: equipment_id => names.get(equipment_id) || equipment_id,
  }
}

/** What the part shows, of one building or of all. */
export function panelOf(
  context: RunStores,
  shell: Shell,
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
    runsHere: judgedHere(context).some(id => building_id === undefined || id === building_id),
    nameOf: id => buildings.find(one => one.building_id === id)?.name || id,
    here: shell.here(),
    user: shell.userOf(caller),
    csrf: shell.csrfOf(caller),
  }
}

/** The page does not wait for the run. @returns its id; undefined when one is under way, which serves as well */
export function startUnlessRunning(context: Pick<CentralContext, 'runs' | 'log'>, building_id: string): string | undefined {
  try {
    return startRun(context, { building_id })
  } catch (error) {
    if (error instanceof Problem && error.code === 'run_in_progress') return undefined
    throw error
  }
}

/** A run may end while somebody reaches for the button. @returns whether it was ended so */
function cancelUnlessOver({ runs }: RunStores, run_id: string, by: string): boolean {
  try {
    runs.cancel(run_id, by)
    return true
  } catch (error) {
    if (error instanceof Problem && error.code === 'conflict') return false
    throw error
  }
}
