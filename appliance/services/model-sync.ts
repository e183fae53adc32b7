import type { BacnetPlace } from '#shared/core/bacnet/object.ts'
import type { Point } from '#shared/core/model/model.ts'
import { pointsThatLeave, withRolesBack } from '#shared/core/model/retired-points.ts'
import type { Clock } from '#shared/core/ports.ts'
import type { ModelStore } from '#shared/core/stores.ts'
import type { Service } from '#shared/node/service.ts'
import { FIRST_BUILDING } from '../core/system/first-site.ts'
import { driverOf } from '../drivers/list.ts'
import type { DeviceCatalogue, DeviceEntry, PointEntry } from '../store/catalogue-schema.ts'
import { type SiteSettings, siteModel } from '../store/site.ts'
import type { FieldCatalogue } from './field-catalogue.ts'

/**
 * The building model as site file and catalogue define it.
 *
 * @param known points with the roles and equipment that operators assigned; used where an entry names none
 */
export function fieldModel(site: SiteSettings, catalogue: DeviceCatalogue, known: readonly Point[] = []) {
  const { building, equipment } = siteModel(site)
  const assigned = new Map(known.map(point => [point.point_id, point]))
  const points = catalogue.devices.flatMap(device =>
    device.points.map(entry => modelPoint(building.building_id, device, entry, assigned.get(entry.point_id))),
  )
  return { building, equipment, points }
}

/**
 * Writes the building, its equipment and the points of the catalogue into the model at the start and at each change of the
 * catalogue. Points that leave the catalogue stay in the model with their history, but rules no longer use them.
 */
export function modelSync(options: { model: ModelStore; site: SiteSettings; catalogue: FieldCatalogue; clock: Clock }): Service {
  const { model, site, catalogue, clock } = options
  const { edge_id, building } = site
  const put = (next: DeviceCatalogue) => {
    const held = model.points(building.building_id)
    const listed = new Set(next.devices.flatMap(({ points }) => points.map(({ point_id }) => point_id)))
    const leaving = pointsThatLeave(held, listed, { edge_id, adopts: true, now: clock.now() })
    const { points, ...rest } = fieldModel(site, next, withRolesBack(held, leaving))
    model.put({ ...rest, points: [...points.map(point => ({ ...point, edge_id })), ...leaving] })
  }
  catalogue.onChange(put)
  return {
    name: 'model-sync',
    async start() {
      put(catalogue.current())
      if (building.building_id !== FIRST_BUILDING.building_id) model.dropEmpty(FIRST_BUILDING.building_id)
    },
    async stop() {},
  }
}

const placeOf = ({ device_instance, network, mac }: NonNullable<DeviceEntry['bacnet']>): BacnetPlace => ({
  device_instance,
  ...(network !== undefined && { network }),
  ...(mac !== undefined && { mac }),
})

/** How the model says where a point is read from. */
export const pointSource = (device: DeviceEntry, entry: PointEntry): Point['source'] => ({
  protocol: driverOf(device).telemetry,
  address: `${device.device_id}/${entry.address}`,
  ...(device.bacnet && { bacnet: placeOf(device.bacnet) }),
  // Of devices with priority arrays, whose values the hub reads as the device holds them.
  ...(device.bacnet && entry.kind === 'number' && { scaling: { scale: entry.scale ?? 1, offset: entry.offset ?? 0 } }),
})

function modelPoint(building_id: string, device: DeviceEntry, entry: PointEntry, known: Point | undefined): Point {
  const { point_id, name, unit, kind, poll_secs, states } = entry
  const role = entry.role ?? known?.role
  const equipment_id = entry.equipment_id ?? known?.equipment_id
  return {
    point_id,
    building_id,
    name,
    unit,
    kind,
    poll_secs,
    source: pointSource(device, entry),
    ...(role !== undefined && { role }),
    ...(equipment_id !== undefined && { equipment_id }),
    ...(states && { states }),
  }
}
