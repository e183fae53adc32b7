/** What the forms on the page of a device do to its entry. */
import { Type } from '@sinclair/typebox'
import { ADDRESS_FORM, HOST_FORM, parseAddress, parseHostPort } from '../core/catalogue/address.ts'
import { Problem } from '#shared/core/problem.ts'
import { ID, type Route, route, strict } from '#shared/node/http/route.ts'
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
      const edit = (device: DeviceEntry) => movedTo({ ...device, name: body.name.trim() }, body.address)
      const before = deviceOf(catalogue.current(), device_id)
      await changeCatalogue(catalogue, held => withDevice(held, edit(deviceOf(held, device_id))))
      audit({ subject: device_id, before: entrySummary(before), after: entrySummary(deviceOf(catalogue.current(), device_id)) })
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

const pageOf = (device_id: string): string => `/devices/${encodeURIComponent(device_id)}`

function pointOf({ device_id, points }: DeviceEntry, point_id: string): PointEntry {
  const point = points.find(one => one.point_id === point_id)
  if (!point) throw new Problem('unknown_point', `Device ${device_id} has no point ${point_id}`)
  return point
}

/** @param text undefined where the form has no address @throws Problem invalid */
function movedTo(device: DeviceEntry, text: string | undefined): DeviceEntry {
  const { bacnet, modbus } = device
  if (text === undefined) return device
  if (bacnet) {
    const { network: _network, mac: _mac, ...kept } = bacnet
    return { ...device, bacnet: { ...kept, ...taken(parseAddress(text), text, ADDRESS_FORM) } }
  }
  if (!modbus) return device
  const { port: _port, ...kept } = modbus
  return { ...device, modbus: { ...kept, ...taken(parseHostPort(text), text, HOST_FORM) } }
}

function taken<T>(address: T | undefined, text: string, form: string): T {
  const message = `"${text}" is not written like ${form}`
  if (address === undefined) throw new Problem('invalid', message, [{ pointer: '/address', message }])
  return address
}
