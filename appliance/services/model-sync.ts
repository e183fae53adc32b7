import type { Point } from '#shared/core/model/model.ts'
import { pointsThatLeave, withRolesBack } from '#shared/core/model/retired-points.ts'
import type { Clock } from '#shared/core/ports.ts'
import type { ModelStore } from '#shared/core/stores.ts'
import type { Service } from '#shared/node/service.ts'
import { driverOf } from '../drivers/list.ts'
import type { Catalogue, DeviceEntry, PointEntry } from '../store/catalogue-schema.ts'
import { type Site, siteModel } from '../store/site.ts'
import type { FieldCatalogue } from './field-catalogue.ts'

/**
 * What site and catalogue say of the building.
 *
 * @param known where an entry names no role or equipment, what an operator assigned to such a point stays
 */
export function fieldModel(site: Site, catalogue: Catalogue, known: readonly Point[] = []) {
  const { building, equipment } = siteModel(site)
  const assigned = new Map(known.map(point => [point.point_id, point]))
  const points = catalogue.devices.flatMap(device =>
    device.points.map(entry => modelPoint(building.building_id, device, entry, assigned.get(entry.point_id))),
  )
  return { building, equipment, points }
}

/**
 * Puts the building, its equipment and the catalogue's points into the model when the process starts, and when the catalogue
 * changes. Points that leave the catalogue stay in the model, because their history does; but rules do not look at them any more.
 */
export function modelSync(options: { model: ModelStore; site: Site; catalogue: FieldCatalogue; clock: Clock }): Service {
  const { model, site, catalogue, clock } = options
  const { edge_id, building } = site
  const put = (next: Catalogue) => {
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
    },
    async stop() {},
  }
}

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
    source: { protocol: driverOf(device).telemetry, address: `${device.device_id}/${entry.address}` },
    ...(role !== undefined && { role }),
    ...(equipment_id !== undefined && { equipment_id }),
    ...(states && { states }),
  }
}
