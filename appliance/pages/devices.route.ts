/** The pages of the field catalogue: the list, one device, and an import with its preview. */
import { randomUUID } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import { hasWords, searchWords } from '#shared/core/search/search-index.ts'
import { SEARCH_TEXT } from '#shared/central/api/search.ts'
import { PAGE_NUMBER, partOf } from '#shared/central/ui/pager.ts'
import { ID } from '#shared/core/model/model.ts'
import type { CentralContext } from '#shared/central/context.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { Problem } from '#shared/core/problem.ts'
import { type State, STATES } from '#shared/central/ui/icons.ts'
import { type Call, oneOf, type Route, route, strict } from '#shared/node/http/route.ts'
import { formatLocation } from '../drivers/list.ts'
import { changeCatalogue, deviceOf, entrySummary, withDevice, withoutDevice } from '../services/catalogue-edit.ts'
import { applyImport, countImport } from '../services/point-import.ts'
import { addressesOf, readSource, receiveUpload, UPLOAD_MAX } from '../services/point-upload.ts'
import { type DeviceRouteDeps, statusByDevice } from '../services/device-routes.ts'
import { editRoutes } from './device-edit.route.ts'
import { deviceBody, type DeviceModel, devicePoints } from './device.view.ts'
import { devicesBody, type DevicesModel } from './devices.view.ts'
import { importBody, type ImportModel } from './import.view.ts'
import { PendingImports, type PendingImport } from './pending-imports.ts'
import { say } from '#shared/node/http/language.ts'

type AnyCall = Pick<Call<unknown, unknown, unknown>, 'caller' | 'reply'>
type DevicePages = {
  context: Pick<CentralContext, 'auth'>
  layout: PageLayout
  deps: DeviceRouteDeps
  /** Pages that find devices or try one, as far as this process has them. */
  links: { href: string; text: string }[]
}

/** Devices on one page, the worst first; points on one page. */
const DEVICES_PER_PAGE = 25
const POINTS_PER_PAGE = 50
const BY_ID = strict({ device_id: ID })
const PAGE = strict({ page: PAGE_NUMBER })

export const devicePages = (pages: DevicePages): Route[] => [
  ...listRoutes(pages),
  ...deviceRoutes(pages),
  ...editRoutes(pages.deps.catalogue),
  ...importRoutes(pages),
]

function listRoutes({ layout, deps, links }: DevicePages): Route[] {
  return [
    route({
      method: 'GET',
      path: '/devices',
      auth: 'viewer',
      summary: 'The page of field devices',
      query: strict({ state: Type.Optional(oneOf(STATES)), q: Type.Optional(SEARCH_TEXT), page: PAGE_NUMBER }),
      handle: call =>
        layout.document(
          call,
          { title: say`Devices`, current: '/devices' },
          devicesBody({
            ...listModel(deps, call.query),
            here: layout.here(),
            links,
            user: layout.userOf(call.caller),
            csrf: layout.csrfOf(call.caller),
          }),
        ),
    }),
  ]
}

type Asked = { state?: State; q?: string; page?: number }

function listModel({ catalogue, pollStatus, pointStatus, traffic }: DeviceRouteDeps, { state, q = '', page }: Asked) {
  const status = pollStatus()
  const states = statusByDevice(status)
  const stateOf = (device_id: string): State => states.get(device_id)?.state ?? 'unknown'
  const { devices } = catalogue.current()
  const counts = Object.fromEntries(
    STATES.map(one => [one, devices.filter(({ device_id }) => stateOf(device_id) === one).length]),
  ) as DevicesModel['counts']
  const rank = (device_id: string) => STATES.indexOf(stateOf(device_id))
  const wanted = devices
    .filter(({ device_id }) => state === undefined || stateOf(device_id) === state)
    .filter(device =>
      hasWords(searchWords(device.name, device.device_id, formatLocation(device) ?? undefined, device.protocol), q),
    )
    .toSorted((a, b) => rank(a.device_id) - rank(b.device_id))
  const part = partOf(wanted, page, DEVICES_PER_PAGE)
  const rows = part.rows.map(device => {
    const known = pointStatus(device.device_id)
    return {
      device_id: device.device_id,
      name: device.name,
      protocol: device.protocol,
      where: formatLocation(device),
      poll: states.get(device.device_id) ?? null,
      points: device.points.length,
      points_ok: known.length ? known.filter(point => point.state === 'ok').length : null,
    }
  })
  return { running: status.running, traffic: traffic(), rows, part, counts, state, q, refusal: catalogue.refusal() }
}

/** The function is long because it is a list of routes. */
function deviceRoutes({ layout, deps }: DevicePages): Route[] {
  const { catalogue } = deps
  const model = (call: AnyCall, device_id: string, page: number) => ({
    ...deviceModel(deps, device_id, page),
    here: layout.here(),
    user: layout.userOf(call.caller),
    csrf: layout.csrfOf(call.caller),
  })
  return [
    route({
      method: 'GET',
      path: '/devices/:device_id',
      auth: 'viewer',
      summary: 'The page of one device',
      params: BY_ID,
      query: PAGE,
      problems: ['unknown_device'],
      handle: call => {
        const body = model(call, call.params.device_id, call.query.page ?? 1)
        return layout.document(call, { title: body.device.name, current: '/devices' }, deviceBody(body))
      },
    }),
    route({
      method: 'GET',
      path: '/devices/:device_id/points',
      auth: 'viewer',
      summary: 'The part of the page of a device that refreshes itself',
      params: BY_ID,
      query: PAGE,
      problems: ['unknown_device'],
      handle: call => devicePoints(model(call, call.params.device_id, call.query.page ?? 1)),
    }),
    route({
      method: 'POST',
      path: '/devices/:device_id/enabled',
      auth: 'operator',
      summary: 'The button that switches a device off or on',
      takes: 'form',
      params: BY_ID,
      body: strict({ enabled: Type.Boolean() }),
      action: 'device_put',
      problems: ['unknown_device', 'conflict'],
      handle: async ({ params: { device_id }, body: { enabled }, reply, audit }) => {
        const before = deviceOf(catalogue.current(), device_id)
        await changeCatalogue(catalogue, held => withDevice(held, { ...deviceOf(held, device_id), enabled }))
        audit({ subject: device_id, before: entrySummary(before), after: entrySummary({ ...before, enabled }) })
        return reply.redirect(`/devices/${encodeURIComponent(device_id)}`, 303)
      },
    }),
    route({
      method: 'POST',
      path: '/devices/:device_id/remove',
      auth: 'operator',
      summary: 'The button that takes a device off the list',
      takes: 'form',
      params: BY_ID,
      body: strict({ confirm: Type.Literal(true) }),
      action: 'device_delete',
      problems: ['unknown_device', 'conflict'],
      handle: async ({ params: { device_id }, reply, audit }) => {
        const before = deviceOf(catalogue.current(), device_id)
        await changeCatalogue(catalogue, held => withoutDevice(held, device_id))
        audit({ subject: device_id, before: entrySummary(before) })
        return reply.redirect('/devices', 303)
      },
    }),
  ]
}

function deviceModel(
  { catalogue, pollStatus, pointStatus, building_id }: DeviceRouteDeps,
  device_id: string,
  wanted: number,
): Omit<DeviceModel, 'here' | 'user' | 'csrf'> {
  const device = deviceOf(catalogue.current(), device_id)
  const known = new Map(pointStatus(device_id).map(status => [status.point_id, status]))
  const { rows, page, pages } = partOf(device.points, wanted, POINTS_PER_PAGE)
  return {
    device,
    building_id,
    where: formatLocation(device),
    poll: pollStatus().devices.find(status => status.device_id === device_id) ?? null,
    points: rows.map(entry => ({ entry, status: known.get(entry.point_id) })),
    page,
    pages,
  }
}

/** The function is long because it is a list of routes that share the pending imports. */
function importRoutes({ context, layout, deps }: DevicePages): Route[] {
  const { catalogue } = deps
  const pending = new PendingImports(deps.now)
  const pathOf = (session_id: string) => `/devices/import/${session_id}`
  const BY_SESSION = strict({ session_id: Type.String({ format: 'uuid' }) })
  return [
    route({
      method: 'POST',
      path: '/devices/import',
      auth: 'operator',
      summary: 'The form that brings a list of points; shows what it would add',
      takes: 'upload',
      bodyMax: UPLOAD_MAX,
      action: 'device_import_preview',
      problems: ['invalid'],
      handle: async ({ request, caller, reply }) => {
        const upload = await receiveUpload(request)
        if (caller && !context.auth.isFormToken(caller, upload.fields.get('csrf') ?? '')) {
          throw new Problem('forbidden', 'The form is not from this session; load the page again')
        }
        const session_id = randomUUID()
        pending.add(session_id, await readSource(upload, catalogue.current()))
        return reply.redirect(pathOf(session_id), 303)
      },
    }),
    route({
      method: 'GET',
      path: '/devices/import/:session_id',
      auth: 'operator',
      summary: 'The preview of an import',
      params: BY_SESSION,
      problems: ['unknown_session'],
      handle: async call => {
        const { session_id } = call.params
        const body = await importModel(pending.get(session_id), deps, pathOf(session_id))
        const who = { user: layout.userOf(call.caller), csrf: layout.csrfOf(call.caller) }
        return layout.document(call, { title: say`Import`, current: '/devices' }, importBody({ ...body, ...who }))
      },
    }),
    route({
      method: 'POST',
      path: '/devices/import/:session_id',
      auth: 'operator',
      summary: 'The button that carries an import out',
      takes: 'form',
      params: BY_SESSION,
      body: Type.Record(Type.String({ pattern: '^address_\\d{1,7}$' }), Type.String({ maxLength: 100 }), {
        additionalProperties: false,
      }),
      action: 'device_import',
      problems: ['unknown_session', 'conflict'],
      handle: async ({ params: { session_id }, body, reply, audit }) => {
        const pendingImport = pending.get(session_id)
        pendingImport.typed = new Map(Object.entries(body).map(([name, text]) => [name.slice('address_'.length), text.trim()]))
        try {
          const { plan } = await applyImport(catalogue, pendingImport.source, typedAddresses(pendingImport))
          Object.assign(pendingImport, { done: plan, fault: undefined })
          audit({ subject: pendingImport.source.format, after: countImport(plan) })
        } catch (error) {
          if (!(error instanceof Problem)) throw error
          pendingImport.fault = error.message
        }
        return reply.redirect(pathOf(session_id), 303)
      },
    }),
  ]
}

/** @throws Problem invalid */
const typedAddresses = ({ typed, source }: PendingImport) =>
  addressesOf(
    [...typed].filter(([, text]) => text !== ''),
    source,
  )

async function importModel(
  pendingImport: PendingImport,
  { catalogue }: DeviceRouteDeps,
  path: string,
): Promise<Omit<ImportModel, 'user' | 'csrf'>> {
  const { source, typed, fault, done } = pendingImport
  const plan = done ?? (await source.plan(catalogue.current(), fault === undefined ? typedAddresses(pendingImport) : new Map()))
  const { complaints, addressFormat } = source
  const { refused, notes, others } = complaints
  const addressExample = addressFormat?.addressExample
  return { path, plan, counts: countImport(plan), refused, notes, others, typed, fault, done: done !== undefined, addressExample }
}
