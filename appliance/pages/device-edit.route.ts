/** The routes of the forms that correct the entry of a device. */
import { Type } from '@sinclair/typebox'
import { ID } from '#shared/core/model/model.ts'
import { Problem } from '#shared/core/problem.ts'
import { type Route, route, strict } from '#shared/node/http/route.ts'
import { driverOf, sectionOf } from '../drivers/list.ts'
import type { DeviceEntry, PointEntry } from '../store/catalogue-schema.ts'
import { changeCatalogue, deviceOf, entrySummary, withDevice } from '../services/catalogue-edit.ts'
import type { FieldCatalogue } from '../services/field-catalogue.ts'

const BY_ID = strict({ device_id: ID })
const TEXT = Type.Optional(Type.String({ maxLength: 260 }))

export const editRoutes = (catalogue: FieldCatalogue): Route[] => [
  route({
    method: 'POST',
    path: '/devices/:device_id/edit',
    auth: 'operator',
    summary: 'The form that corrects name and address of a device',
    takes: 'form',
    params: BY_ID,
    body: strict({ name: Type.String({ maxLength: 200 }), address: TEXT }),
    action: 'device_put',
    problems: ['unknown_device', 'invalid', 'conflict'],
    handle: async ({ params: { device_id }, body, reply, audit }) => {
      const edit = (device: DeviceEntry) => withAddress({ ...device, name: body.name.trim() }, body.address)
      const before = deviceOf(catalogue.current(), device_id)
      await changeCatalogue(catalogue, held => withDevice(held, edit(deviceOf(held, device_id))))
      audit({ subject: device_id, before: entrySummary(before), after: entrySummary(deviceOf(catalogue.current(), device_id)) })
      return reply.redirect(pageOf(device_id), 303)
    },
  }),
  route({
    method: 'POST',
    path: '/devices/:device_id/tuning',
    auth: 'operator',
    summary: 'The form that says how long and how much at a time a device is asked',
    takes: 'form',
    params: BY_ID,
    body: strict({ timeout_ms: TEXT, retries: TEXT, concurrency: TEXT, rpm_max: TEXT }),
    action: 'device_put',
    problems: ['unknown_device', 'invalid', 'conflict'],
    handle: async ({ params: { device_id }, body, reply, audit }) => {
      const before = deviceOf(catalogue.current(), device_id)
      await changeCatalogue(catalogue, held => withDevice(held, withTuning(deviceOf(held, device_id), body)))
      const after = deviceOf(catalogue.current(), device_id)
      audit({ subject: device_id, before: tuningOf(before), after: tuningOf(after) })
      return reply.redirect(pageOf(device_id), 303)
    },
  }),
  route({
    method: 'POST',
    path: '/devices/:device_id/point',
    auth: 'operator',
    summary: 'The form that corrects a point of a device',
    takes: 'form',
    params: BY_ID,
    body: strict({ point_id: ID, name: TEXT, unit: TEXT, poll_secs: TEXT }),
    action: 'device_put',
    problems: ['unknown_device', 'unknown_point', 'invalid', 'conflict'],
    handle: async ({ params: { device_id }, body, reply, audit }) => {
      const before = pointOf(deviceOf(catalogue.current(), device_id), body.point_id)
      const edit = (point: PointEntry): PointEntry => ({
        ...point,
        ...(body.name?.trim() && { name: body.name.trim() }),
        ...(body.unit && { unit: body.unit }),
        ...(body.poll_secs?.trim() && { poll_secs: Number(body.poll_secs) }),
      })
      await changeCatalogue(catalogue, held => {
        const device = deviceOf(held, device_id)
        const point = pointOf(device, body.point_id)
        return withDevice(held, { ...device, points: device.points.map(one => (one === point ? edit(point) : one)) })
      })
      audit({ subject: `${device_id} ${body.point_id}`, before, after: edit(before) })
      return reply.redirect(pageOf(device_id), 303)
    },
  }),
]

type Tuning = Partial<Record<'timeout_ms' | 'retries' | 'concurrency' | 'rpm_max', number>>

const tuningOf = ({ timeout_ms, retries, concurrency, bacnet }: DeviceEntry): Tuning =>
  definedOf({ timeout_ms, retries, concurrency, rpm_max: bacnet?.rpm_max })

/** @param given texts of the form; a blank one leaves the field out, so that its default counts */
function withTuning(device: DeviceEntry, given: Partial<Record<keyof Tuning, string>>): DeviceEntry {
  const { timeout_ms: _timeout, retries: _retries, concurrency: _concurrency, ...rest } = device
  const { rpm_max, ...common } = definedOf(given)
  if (!rest.bacnet) return { ...rest, ...common }
  const { rpm_max: _max, ...bacnet } = rest.bacnet
  return { ...rest, ...common, bacnet: { ...bacnet, ...(rpm_max !== undefined && { rpm_max }) } }
}

/** The fields that have a figure. A text that is none stays what it is for the check of the list: NaN, which no bound takes. */
const definedOf = (fields: Partial<Record<keyof Tuning, string | number | undefined>>): Tuning =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      value === undefined || String(value).trim() === '' ? [] : [[name, Number(value)]],
    ),
  )

const pageOf = (device_id: string): string => `/devices/${encodeURIComponent(device_id)}`

function pointOf({ device_id, points }: DeviceEntry, point_id: string): PointEntry {
  const point = points.find(one => one.point_id === point_id)
  if (!point) throw new Problem('unknown_point', `Device ${device_id} has no point ${point_id}`)
  return point
}

/** @param text undefined where the form has no address @throws Problem invalid */
function withAddress(device: DeviceEntry, text: string | undefined): DeviceEntry {
  const driver = driverOf(device)
  const { addressField } = driver
  if (text === undefined || !addressField) return device
  const section = addressField.replace(sectionOf(device, driver), text)
  const message = `"${text}" is not written like ${addressField.example}`
  if (section === undefined) throw new Problem('invalid', message, [{ pointer: '/address', message }])
  return { ...device, [driver.name]: section }
}
