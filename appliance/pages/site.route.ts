/** The page and the API of the building that this box serves. */
import { type Static, Type } from '@sinclair/typebox'
import type { CentralContext } from '#shared/central/context.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { ID } from '#shared/core/model/model.ts'
import { Problem, PROBLEMS } from '#shared/core/problem.ts'
import { type Call, oneOf, type Route, route, strict } from '#shared/node/http/route.ts'
import type { DeviceCatalogue } from '../store/catalogue-schema.ts'
import { changeBuilding, waitsForStart } from '../store/change-building.ts'
import type { SettingsFile } from '../store/settings-file.ts'
import type { SiteSettings } from '../store/site.ts'
import { FIRST_STEPS_PATH } from './first-steps.view.ts'
import { siteBody } from './site.view.ts'
import { say, sayMade } from '#shared/node/http/language.ts'

const SITE_PATH = '/site'

const BUILDING = {
  building_id: ID,
  name: Type.String({ minLength: 1, maxLength: 200 }),
  timezone: Type.String({ minLength: 1, maxLength: 64 }),
  unit_system: oneOf(['us', 'si']),
}
const Body = strict(BUILDING)
const Reply = Type.Object({
  ok: Type.Literal(true),
  site_id: Type.String(),
  edge_id: Type.String(),
  building: Type.Object(BUILDING, { additionalProperties: true }),
  waits_for_start: Type.Boolean(),
})

export type SiteParts = {
  file: SettingsFile<SiteSettings>
  /** With which this process runs. */
  running: SiteSettings
  model: Pick<CentralContext['model'], 'points'>
  catalogue: () => DeviceCatalogue
}
type AnyCall = Pick<Call<unknown, unknown, unknown>, 'caller' | 'reply'>

export function siteRoutes({ file, running, model, catalogue }: SiteParts, layout: PageLayout): Route[] {
  const isUsed = (building_id: string) => catalogue().devices.length > 0 || model.points(building_id).length > 0
  const answer = () => {
    const { site_id, edge_id, building } = file.current()
    return { ok: true as const, site_id, edge_id, building, waits_for_start: waitsForStart(file.current(), running) }
  }
  const show = (call: AnyCall, typed?: Static<typeof Body>, refusal?: string) => {
    const { site_id, building } = file.current()
    const isNew = !isUsed(building.building_id)
    const body = siteBody({ building: typed ?? building, site_id, isNew, refusal, csrf: layout.csrfOf(call.caller) })
    return layout.document(call, { title: say`Building and time zone`, current: FIRST_STEPS_PATH }, body)
  }
  const common = { auth: 'admin', action: 'change_building', body: Body, problems: ['conflict', 'invalid'] } as const
  return [
    route({
      method: 'GET',
      path: SITE_PATH,
      auth: 'admin',
      summary: 'The page of building and time zone',
      handle: call => show(call),
    }),
    route({
      ...common,
      method: 'POST',
      path: SITE_PATH,
      summary: 'The form of building and time zone',
      takes: 'form',
      handle: async call => {
        try {
          await changeBuilding({ file, isUsed, audit: call.audit }, call.body)
          return call.reply.redirect(FIRST_STEPS_PATH, 303)
        } catch (error) {
          if (!(error instanceof Problem)) throw error
          call.reply.code(PROBLEMS[error.code].status)
          return show(call, call.body, say`${sayMade(error.message)}. Nothing was saved.`)
        }
      },
    }),
    route({
      method: 'GET',
      path: '/api/site',
      auth: 'viewer',
      summary: 'Site, edge and building of this box, and whether a change waits for the next start',
      reply: Reply,
      handle: answer,
    }),
    route({
      ...common,
      method: 'PUT',
      path: '/api/site',
      summary: 'Changes the building of this box, from the next start',
      reply: Reply,
      handle: async ({ body, audit }) => {
        await changeBuilding({ file, isUsed, audit }, body)
        return answer()
      },
    }),
  ]
}
