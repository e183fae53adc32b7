/** API of the field catalogue: read, change, import and export the devices that are polled. */
import type { ProtocolTraffic } from '../core/poll/traffic.ts'
import { pointObject } from '#shared/core/bacnet/object-name.ts'
import { pointSource } from './model-sync.ts'
import { Type } from '@sinclair/typebox'
import { ID } from '#shared/core/model/model.ts'
import type { PollStatus, PointStatus } from '#shared/core/poll/poll-status.ts'
import { ERRORS_MAX, Problem } from '#shared/core/problem.ts'
import { formatInstant } from '#shared/core/time.ts'
import { cutPage, PAGE } from '#shared/central/api/list.ts'
import { oneOf, type Route, route, strict } from '#shared/node/http/route.ts'
import { formatLocation } from '../drivers/list.ts'
import { writePoints } from '../core/catalogue/write-points.ts'
import { zipTexts } from '#shared/node/zip.ts'
import { DEVICE_ENTRY, type DeviceCatalogue } from '../store/catalogue-schema.ts'
import { DEVICE_ANSWER, DEVICE_DELETED, DEVICE_PUT, DEVICES_ANSWER, DEVICES_IMPORTED } from '../store/device-schemas.ts'
import type { ImportPlan } from '../store/catalogue-import.ts'
import { changeCatalogue, checkCatalogue, deviceOf, entrySummary, withDevice, withoutDevice } from './catalogue-edit.ts'
import { applyImport, countImport, type ImportSource, SET_DRIVERS } from './point-import.ts'
import { readAddresses, readSource, receiveUpload, UPLOAD_MAX } from './point-upload.ts'
import type { FieldCatalogue } from './field-catalogue.ts'

/** Dependencies of the device routes and pages. */
export type DeviceRouteDeps = {
  catalogue: FieldCatalogue
  /** Poll status of this process first, then of other processes on the box that report to it. */
  pollStatus: () => PollStatus
  /** Points that this process polls. */
  pointStatus: (device_id: string) => PointStatus[]
  /** Bytes of each protocol that this process polls with. */
  traffic: () => ProtocolTraffic[]
  /** The building that the points belong to. */
  building_id: string
  /** Name and version that the exports carry. */
  project: { name: string; version: string }
  /** ms since 1970 UTC */
  now: () => number
}

/** An entry with ten thousand points has about 2 MB. */
const ENTRY_MAX = 8 * 1024 * 1024
const BY_ID = strict({ device_id: ID })
const DRY_RUN = strict({ dry_run: Type.Optional(Type.Boolean()) })

export const deviceRoutes = (deps: DeviceRouteDeps): Route[] => [
  ...readRoutes(deps),
  ...changeRoutes(deps),
  importRoute(deps),
  exportRoute(deps),
]

/** Poll status by device id; of two processes that report a device the first one counts. */
export const statusByDevice = ({ devices }: PollStatus) => new Map(devices.toReversed().map(status => [status.device_id, status]))

const readRoutes = ({ catalogue, pollStatus, pointStatus }: DeviceRouteDeps): Route[] => [
  route({
    method: 'GET',
    path: '/api/devices',
    auth: 'viewer',
    summary: 'Field devices of the catalogue with their poll status',
    query: strict(PAGE),
    reply: DEVICES_ANSWER,
    problems: ['bad_cursor'],
    handle: ({ query }) => {
      const { devices } = catalogue.current()
      const states = statusByDevice(pollStatus())
      const { items, ...rest } = cutPage(devices, query, ({ device_id }) => device_id)
      const lines = items.map(({ points, ...device }) => ({
        ...device,
        where: formatLocation(device),
        points: points.length,
        poll: states.get(device.device_id) ?? null,
      }))
      const refusal = catalogue.refusal()
      return { ok: true, devices: lines, ...(refusal && { refusal: refusal.reason }), ...rest }
    },
  }),
  route({
    method: 'GET',
    path: '/api/devices/:device_id',
    auth: 'viewer',
    summary: 'One device: its entry and the newest reading of each point',
    params: BY_ID,
    reply: DEVICE_ANSWER,
    problems: ['unknown_device'],
    handle: ({ params: { device_id } }) => {
      const device = deviceOf(catalogue.current(), device_id)
      const poll = pollStatus().devices.find(status => status.device_id === device_id) ?? null
      const points = pointStatus(device_id).map(({ point_id, state, last }) => ({
        point_id,
        state,
        v: last?.v ?? null,
        q: last?.q ?? null,
        t: last ? formatInstant(last.t) : null,
      }))
      return { ok: true, device, poll, points }
    },
  }),
]

const changeRoutes = ({ catalogue }: DeviceRouteDeps): Route[] => [
  route({
    method: 'PUT',
    path: '/api/devices/:device_id',
    auth: 'operator',
    summary: 'Adds a device or replaces its entry; polling follows at once',
    params: BY_ID,
    body: DEVICE_ENTRY,
    query: DRY_RUN,
    bodyMax: ENTRY_MAX,
    reply: DEVICE_PUT,
    action: 'device_put',
    problems: ['invalid', 'conflict'],
    handle: async ({ params: { device_id }, body, query, audit }) => {
      if (body.device_id !== device_id) {
        const message = `is "${body.device_id}", but the path says "${device_id}"`
        throw new Problem('invalid', `device_id ${message}`, [{ pointer: '/device_id', message }])
      }
      const before = catalogue.current().devices.find(one => one.device_id === device_id)
      const result = { ok: true, device_id, created: !before }
      if (query.dry_run) {
        checkCatalogue(catalogue, withDevice(catalogue.current(), body))
        return result
      }
      await changeCatalogue(catalogue, held => withDevice(held, body))
      audit({ subject: device_id, before: entrySummary(before), after: entrySummary(body) })
      return result
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/devices/:device_id',
    auth: 'operator',
    summary: 'Removes a device from the catalogue; its history is kept',
    params: BY_ID,
    reply: DEVICE_DELETED,
    action: 'device_delete',
    problems: ['unknown_device', 'conflict'],
    handle: async ({ params: { device_id }, audit }) => {
      const before = deviceOf(catalogue.current(), device_id)
      await changeCatalogue(catalogue, held => withoutDevice(held, device_id))
      audit({ subject: device_id, before: entrySummary(before) })
      return { ok: true, device_id }
    },
  }),
]

const importRoute = ({ catalogue }: DeviceRouteDeps): Route =>
  route({
    method: 'POST',
    path: '/api/devices/import',
    auth: 'operator',
    summary: 'Imports devices and points from an EDE set or a VOLTTRON registry',
    takes: 'upload',
    query: DRY_RUN,
    bodyMax: UPLOAD_MAX,
    reply: DEVICES_IMPORTED,
    action: 'device_import',
    problems: ['invalid', 'conflict'],
    handle: async ({ request, query, audit }) => {
      const upload = await receiveUpload(request)
      const source = await readSource(upload, catalogue.current())
      const addresses = readAddresses(upload.fields.get('addresses'), source)
      if (query.dry_run) {
        const plan = await source.plan(catalogue.current(), addresses)
        checkCatalogue(catalogue, plan.catalogue)
        return importReply(plan, source)
      }
      const { plan } = await applyImport(catalogue, source, addresses)
      const reply = importReply(plan, source)
      audit({ subject: source.format, after: { ...reply.counts, devices: plan.devices.map(({ device_id }) => device_id) } })
      return reply
    },
  })

function importReply(plan: ImportPlan, source: ImportSource) {
  const { refused, notes, others } = source.complaints
  return {
    ok: true,
    counts: countImport(plan),
    devices: plan.devices.map(({ points, ...device }) => ({ ...device, points: points.length })),
    refused: refused.slice(0, ERRORS_MAX),
    refused_total: refused.length,
    notes: [
      ...notes.map(({ file, line, column, message }) => `${file}, line ${line}, ${column}: ${message}`),
      ...plan.notes,
    ].slice(0, ERRORS_MAX),
    notes_total: notes.length + plan.notes.length,
    others,
  }
}

const exportRoute = ({ catalogue, project, now }: DeviceRouteDeps): Route =>
  route({
    method: 'GET',
    path: '/api/devices/export',
    auth: 'viewer',
    summary: 'Exports the points of the catalogue: an EDE 2.3 set as ZIP, or one CSV table',
    answers: ['application/zip', 'text/csv'],
    query: strict({ format: oneOf([...SET_DRIVERS.map(({ pointSet }) => pointSet.name), 'csv']) }),
    handle: async ({ query: { format }, reply }) => {
      const send = (type: string, name: string, body: string | Buffer) =>
        reply.type(type).header('content-disposition', `attachment; filename="${name}"`).send(body)
      if (format === 'csv') return send('text/csv; charset=utf-8', 'points.csv', exportPoints(catalogue.current()))
      const driver = SET_DRIVERS.find(({ pointSet }) => pointSet.name === format)!
      const devices = catalogue.current().devices.filter(({ protocol }) => protocol === driver.name)
      const files = driver.pointSet.write(devices, { ...project, at: formatInstant(now()).slice(0, 10) })
      return send('application/zip', `${format}.zip`, await zipTexts(files))
    },
  })

/** @returns all points as CSV, one line each */
const exportPoints = ({ devices }: DeviceCatalogue): string =>
  writePoints(
    devices.flatMap(device =>
      device.points.map(point => {
        const object = pointObject(pointSource(device, point))
        return { device, where: formatLocation(device) ?? '', object, point }
      }),
    ),
  )
