/** The pages of the priority history of the appliance: the overrides, the priority array of one point, a visit on request. */
import { Type } from '@sinclair/typebox'
import { ID } from '#shared/core/model/model.ts'
import type { PriorityJournal } from '#shared/core/ports.ts'
import type { LevelMeaning } from '#shared/core/priority/priority-levels.ts'
import { groupOverrides, outOfServiceOf, overridesOf, releasedOf, writeOverrides } from '#shared/core/priority/override-rows.ts'
import type { PriorityTarget } from '#shared/core/priority/priority-record.ts'
import type { VisitSchedule } from '#shared/core/priority/visit.ts'
import { type CommandState, commandPeriods } from '#shared/core/priority/command-state.ts'
import { Problem } from '#shared/core/problem.ts'
import { equipmentHref, pointHref } from '#shared/central/ui/links.ts'
import { overridePointBody, pointEnd } from '#shared/central/ui/override-point.ts'
import { OVERRIDE_QUERY, overridesBody } from '#shared/central/ui/overrides-list.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { type Call, type Route, route, strict } from '#shared/node/http/route.ts'
import type { DeviceCatalogue } from '../store/catalogue-schema.ts'
import type { SiteSettings } from '../store/site.ts'
import type { CommandStates } from './command-states.ts'
import { listedPointWords } from './overrides-words.ts'
import { say } from '#shared/node/http/language.ts'

type OverridesPages = {
  journal: PriorityJournal
  schedule: VisitSchedule
  catalogue: () => DeviceCatalogue
  site: SiteSettings
  levels: () => LevelMeaning[]
  layout: PageLayout
  commandStates: CommandStates
}
type AnyCall = Pick<Call<unknown, unknown, unknown>, 'caller' | 'reply'>

const PATH = '/overrides'
/** Visits on one page of a point: three weeks of hourly visits. */
const VISITS_PER_PAGE = 500
const INSTANCE = Type.String({ pattern: String.raw`^\d{1,7}$` })
function hrefOf(target: PriorityTarget, more: Record<string, string> = {}): string {
  const { end, query } = pointEnd(target)
  const all = new URLSearchParams({ ...query, ...more })
  return `${PATH}${end}${all.size > 0 ? `?${all}` : ''}`
}

/** The function is long because it is a list of routes. */
export function overridesPages(pages: OverridesPages): Route[] {
  const { commandStates, schedule, layout, levels } = pages
  const words = () => {
    const wordsOf = listedPointWords(pages.catalogue(), pages.site)
    return ({ latest }: CommandState) => wordsOf(latest)
  }
  const { building_id } = pages.site.building
  return [
    route({
      method: 'GET',
      path: PATH,
      auth: 'viewer',
      summary: 'The Overrides page',
      query: strict(OVERRIDE_QUERY),
      handle: async call => {
        const here = layout.here()
        const commands = await commandStates.current()
        const body = overridesBody({
          here,
          path: PATH,
          hrefOf,
          equipmentHrefOf: equipment_id => equipmentHref({ building_id, equipment_id }),
          overrides: overridesOf(commands, levels(), words(), here.now),
          shown: call.query,
          outOfService: outOfServiceOf(commands, words()),
          released: releasedOf(commands, levels(), words(), here.now),
          seen: commands.length,
          beforeAll: say`present at first visit`,
          card: scannerCard(pages, call),
        })
        return layout.document(call, { title: say`Overrides`, current: PATH }, body)
      },
    }),
    route({
      method: 'GET',
      path: `${PATH}.csv`,
      auth: 'viewer',
      summary: 'The overrides as CSV',
      query: strict(OVERRIDE_QUERY),
      handle: async ({ query, reply }) => {
        const { now } = layout.here()
        const all = overridesOf(await commandStates.current(), levels(), words(), now)
        reply.type('text/csv; charset=utf-8').header('content-disposition', 'attachment; filename="overrides.csv"')
        return reply.send(writeOverrides(groupOverrides(all, query, now)))
      },
    }),
    pointRoute(pages),
    route({
      method: 'POST',
      path: `${PATH}/visit`,
      auth: 'operator',
      summary: 'Visits the next device',
      takes: 'form',
      action: 'priority_trigger',
      body: strict({}),
      problems: ['visit_in_progress', 'scanner_disabled'],
      handle: ({ reply, audit }) => {
        const { visit_id, device_instance } = schedule.trigger()
        audit({ subject: `device ${device_instance}`, after: { visit_id } })
        return reply.redirect(`${PATH}#scanner`, 303)
      },
    }),
  ]
}

function scannerCard({ schedule, journal, layout }: OverridesPages, { caller }: AnyCall) {
  const { first, last, ...state } = journal.state()
  return {
    scanner: schedule.state(),
    journal: { ...state, records: Math.max(0, last - first + 1) },
    place: say`this box`,
    action: `${PATH}/visit`,
    user: layout.userOf(caller),
    csrf: layout.csrfOf(caller),
  }
}

function pointRoute(pages: OverridesPages): Route {
  const { journal, layout, commandStates, levels } = pages
  return route({
    method: 'GET',
    path: `${PATH}/:device_instance/:object_type/:object_instance`,
    auth: 'viewer',
    summary: 'The page of one priority array',
    params: strict({
      device_instance: INSTANCE,
      object_type: Type.String({ pattern: '^[a-z0-9-]{1,64}$' }),
      object_instance: INSTANCE,
    }),
    query: strict({ device_id: Type.Optional(ID), before: Type.Optional(Type.Integer({ minimum: 1 })) }),
    problems: ['not_found'],
    handle: async call => {
      const { device_instance, object_type, object_instance } = call.params
      const { device_id, before } = call.query
      const command = (await commandStates.current()).find(
        ({ latest: { target } }) =>
          target.device_instance === Number(device_instance) &&
          target.object_type === object_type &&
          target.object_instance === Number(object_instance) &&
          (device_id === undefined || target.device_id === device_id),
      )
      if (!command)
        throw new Problem('not_found', `No visit to ${object_type},${object_instance} of device ${device_instance} is recorded`)
      const { target } = command.latest
      const { building_id } = pages.site.building
      const { records, more } = journal.page({ target, limit: VISITS_PER_PAGE, ...(before !== undefined && { before }) })
      const point = listedPointWords(pages.catalogue(), pages.site)(command.latest)
      const body = overridePointBody({
        here: layout.here(),
        listPath: PATH,
        path: hrefOf(target),
        point,
        ...(point.point_id !== undefined && { pointPage: pointHref({ building_id, point_id: point.point_id }) }),
        latest: command.latest,
        meanings: levels(),
        stretches: commandPeriods(records),
        olderHref: more ? hrefOf(target, { before: String(records.at(-1)!.seq) }) : undefined,
      })
      return layout.document(call, { title: point.name, current: PATH }, body)
    },
  })
}
