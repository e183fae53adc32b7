/** The page Updates and its routes for programs: one roll-out of a hub, begun, stopped, gone on with. */
import { Type } from '@sinclair/typebox'
import { SEARCH_TEXT } from '#shared/central/api/search.ts'
import { PAGE_NUMBER } from '#shared/central/ui/pager.ts'
import type { CentralContext } from '#shared/central/context.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { readUpdateForm } from '#shared/central/system/update-form.ts'
import { Problem } from '#shared/core/problem.ts'
import { formatInstant } from '#shared/core/time.ts'
import type { Rollout } from '#shared/core/update/rollout.ts'
import { BUNDLE_MAX } from '#shared/core/update/update-wire.ts'
import { type Call, type Route, route, strict } from '#shared/node/http/route.ts'
import { ROLLOUT_ANSWER, ROLLOUTS_ANSWER } from './rollout-schemas.ts'
import { boxReport } from './box-reports.ts'
import type { Rollouts } from './rollouts.ts'
import { updatesBody } from './updates.view.ts'
import { words } from '#shared/node/http/language.ts'

export const UPDATES_PATH = '/updates'
const AT = words({ title: 'Updates', current: UPDATES_PATH }, 'title')
const UPLOAD = {
  auth: 'admin',
  takes: 'upload',
  bodyMax: BUNDLE_MAX,
  action: 'roll_out',
  problems: ['conflict', 'workspace_full', 'invalid'],
} as const

type Context = Pick<CentralContext, 'edges' | 'clock' | 'auth'>
type UploadCall = Pick<Call<unknown, unknown, unknown>, 'request' | 'caller'>

export function updateRoutes(rollouts: Rollouts, context: Context, layout: PageLayout): Route[] {
  const { auth } = context
  const boxes = () =>
    context.edges
      .list()
      .map(edge => boxReport(edge, context.clock.now()))
      .filter(({ system }) => system)
  const upload = ({ request, caller }: UploadCall, check?: (fields: ReadonlyMap<string, string>) => void) =>
    readUpdateForm(
      {
        begin: rollouts.begin,
        receive: async (write, { bytes }) => void (await rollouts.receive(write, { bytes, by: caller?.subject ?? '' })),
      },
      request,
      check,
    )
  const by = ({ caller }: Pick<UploadCall, 'caller'>) => caller?.subject ?? ''
  return [
    route({
      method: 'GET',
      path: '/api/rollout',
      auth: 'viewer',
      summary: 'The roll-out of an update over the boxes of this hub, and what became of each box’s last update',
      reply: ROLLOUTS_ANSWER,
      handle: () => ({ ok: true, rollout: viewOf(rollouts.current()), boxes: boxes() }),
    }),
    route({
      ...UPLOAD,
      method: 'POST',
      path: '/api/rollout',
      summary: 'A signed update, as a form with the file; it goes to one box, then to ten, then to the rest',
      reply: ROLLOUT_ANSWER,
      handle: async call => {
        await upload(call)
        return { ok: true, rollout: viewOf(rollouts.current()) }
      },
    }),
    route({
      method: 'POST',
      path: '/api/rollout/stop',
      auth: 'admin',
      summary: 'Stops the roll-out; boxes that have the update finish it',
      reply: ROLLOUT_ANSWER,
      action: 'roll_out_stop',
      problems: ['conflict'],
      handle: async call => {
        await rollouts.stop(by(call))
        return { ok: true, rollout: viewOf(rollouts.current()) }
      },
    }),
    route({
      method: 'POST',
      path: '/api/rollout/resume',
      auth: 'admin',
      summary: 'Goes on with a roll-out that was stopped; boxes that failed are tried again',
      reply: ROLLOUT_ANSWER,
      action: 'roll_out_resume',
      problems: ['conflict'],
      handle: async () => {
        await rollouts.resume()
        return { ok: true, rollout: viewOf(rollouts.current()) }
      },
    }),
    route({
      method: 'GET',
      path: UPDATES_PATH,
      auth: 'viewer',
      summary: 'The page Updates',
      query: strict({ q: Type.Optional(SEARCH_TEXT), page: PAGE_NUMBER }),
      handle: call => {
        const isAdmin = call.caller?.role === 'admin'
        const model = {
          here: layout.here(),
          csrf: layout.csrfOf(call.caller),
          isAdmin,
          rollout: rollouts.current(),
          boxes: boxes(),
          ...{ q: call.query.q ?? '', page: call.query.page },
        }
        return layout.document(call, AT, updatesBody(model))
      },
    }),
    route({
      ...UPLOAD,
      method: 'POST',
      path: UPDATES_PATH,
      summary: 'The form that begins a roll-out',
      handle: async call => {
        await upload(call, fields => {
          if (call.caller && !auth.isFormToken(call.caller, fields.get('csrf') ?? ''))
            throw new Problem('forbidden', 'The form is not from this session; load the page again')
        })
        return call.reply.redirect(UPDATES_PATH, 303)
      },
    }),
    ...(['stop', 'resume'] as const).map(what =>
      route({
        method: 'POST',
        path: `${UPDATES_PATH}/${what}`,
        auth: 'admin',
        summary: what === 'stop' ? 'The button that stops a roll-out' : 'The button that goes on with a roll-out',
        takes: 'form',
        action: `roll_out_${what}`,
        problems: ['conflict'],
        handle: async call => {
          await rollouts[what](by(call))
          return call.reply.redirect(UPDATES_PATH, 303)
        },
      }),
    ),
  ]
}

/** Times as programs read them. */
const viewOf = (rollout: Rollout | undefined) =>
  rollout === undefined
    ? null
    : {
        ...rollout,
        started_at: formatInstant(rollout.started_at),
        boxes: rollout.boxes.map(({ site_id, edge_id, state, since, reason }) => ({
          ...{ site_id, edge_id, state, reason },
          since: formatInstant(since),
        })),
      }
