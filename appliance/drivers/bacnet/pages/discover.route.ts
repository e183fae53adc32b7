/** The routes of the page of discovery. Its forms work without script. */
import { Type } from '@sinclair/typebox'
import { FILTER_MAX } from '../core/discovery/point-filter.ts'
import { FORM_FIELDS, type FormFields, formOf, readForm, type RequestError } from '../core/discovery/request.ts'
import { Problem } from '#shared/core/problem.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { type Call, type Route, route, strict } from '#shared/node/http/route.ts'
import type { DiscoveryService } from '../discovery/discovery-service.ts'
import { POLL_SECS } from '../discovery/discovery-routes.ts'
import { previewBody } from './discover-preview.view.ts'
import { type DiscoverModel, discoverBody, progress } from './discover.view.ts'
import { say } from '#shared/node/http/language.ts'

type AnyCall = Pick<Call<unknown, unknown, unknown>, 'caller' | 'reply'>
const TEXT = Type.Optional(Type.String({ maxLength: 8192 }))
const KEY = Type.String({ minLength: 1, maxLength: 80 })
const POLL = Type.Integer({ minimum: POLL_SECS.minimum, maximum: POLL_SECS.maximum })
/** Keys in one field of the form, parted by blanks. */
const KEYS = Type.String({ minLength: 1, maxLength: 200_000 })
const ONLY = Type.Optional(Type.String({ maxLength: FILTER_MAX }))

/** The function is long because it is a list of routes. */
export function discoverRoutes(service: DiscoveryService, layout: PageLayout): Route[] {
  const page = (call: AnyCall, fields = formOf(service.current()?.request), errors: RequestError[] = []) =>
    layout.document(
      call,
      { title: say`Discover`, current: '/discover' },
      discoverBody(modelOf(service, layout, call, fields, errors)),
    )
  return [
    route({
      method: 'GET',
      path: '/discover',
      auth: 'operator',
      summary: 'The page of discovery',
      handle: call => page(call),
    }),
    route({
      method: 'GET',
      path: '/discover/progress',
      auth: 'operator',
      summary: 'The part of the page of discovery that refreshes itself',
      handle: ({ caller, reply }) => {
        const discovery = service.current()
        // What comes after the end is more than this part: the browser loads the whole page again.
        if (discovery?.state !== 'running') reply.header('hx-refresh', 'true')
        if (!discovery) throw new Problem('not_found', 'No discovery has begun since this process started')
        return progress({ here: { ...layout.here(), now: service.now() }, csrf: layout.csrfOf(caller) }, discovery)
      },
    }),
    route({
      method: 'POST',
      path: '/discover',
      auth: 'operator',
      summary: 'The form that starts a discovery',
      takes: 'form',
      action: 'bacnet_discover',
      body: strict(
        Object.fromEntries(FORM_FIELDS.map(name => [name, TEXT])) as Record<(typeof FORM_FIELDS)[number], typeof TEXT>,
      ),
      handle: call => {
        const read = readForm(call.body as FormFields)
        if ('errors' in read) {
          call.reply.code(422)
          return page(call, call.body as FormFields, read.errors)
        }
        const { job_id, request } = service.begin(read.request)
        call.audit({ subject: job_id, after: request })
        return call.reply.redirect('/discover', 303)
      },
    }),
    route({
      method: 'POST',
      path: '/discover/stop',
      auth: 'operator',
      summary: 'The button that stops a discovery',
      takes: 'form',
      action: 'bacnet_discover_stop',
      body: strict({}),
      handle: ({ reply, audit }) => {
        service.halt()
        audit({ subject: service.current()?.job_id ?? 'none' })
        return reply.redirect('/discover', 303)
      },
    }),
    ...addRoutes(service, layout),
  ]
}

const addRoutes = (service: DiscoveryService, layout: PageLayout): Route[] => [
  route({
    method: 'POST',
    path: '/discover/preview',
    auth: 'operator',
    summary: 'The page of what would be added',
    takes: 'form',
    action: 'bacnet_discover_preview',
    // Each device that is chosen is a field of its own: there may be more than an address holds.
    body: Type.Object({ poll_secs: POLL, only: ONLY, devices: Type.Optional(KEYS) }, { additionalProperties: KEY }),
    handle: call => {
      const { poll_secs, only = '', devices = '', ...chosen } = call.body
      const keys = [...devices.split(' ').filter(Boolean), ...Object.values(chosen as Record<string, string>)]
      if (!keys.length) throw new Problem('invalid', 'No device is chosen; go back and choose some')
      const choice = { keys, poll_secs, only }
      const model = { preview: service.preview(choice), choice, csrf: layout.csrfOf(call.caller) }
      return layout.document(call, { title: say`Add devices`, current: '/discover' }, previewBody(model))
    },
  }),
  route({
    method: 'POST',
    path: '/discover/add',
    auth: 'operator',
    summary: 'The form that adds devices',
    takes: 'form',
    action: 'bacnet_discover_add',
    body: strict({ devices: KEYS, poll_secs: POLL, only: ONLY }),
    handle: async ({ body: { devices, poll_secs, only = '' }, reply, audit }) => {
      const { at: _at, ...added } = await service.add({ keys: devices.split(' '), poll_secs, only })
      audit({ subject: added.device_ids.join(' '), after: added })
      return reply.redirect('/discover', 303)
    },
  }),
]

function modelOf(
  service: DiscoveryService,
  layout: PageLayout,
  { caller }: AnyCall,
  fields: FormFields,
  errors: RequestError[],
): DiscoverModel {
  return {
    here: { ...layout.here(), now: service.now() },
    csrf: layout.csrfOf(caller),
    enabled: service.enabled,
    fields,
    errors,
    discovery: service.current(),
    changes: service.changes(),
    why: service.why(),
    added: service.lastAdded(),
    poll_secs: POLL_SECS.default,
  }
}
