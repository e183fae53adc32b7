import type { Point } from '#shared/core/model.ts'
import type { ModelStore } from '#shared/core/stores.ts'
import type { Service } from '#shared/node/service.ts'
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
 * changes. Points that leave the catalogue stay in the model, because their history does.
 */
export function modelSync(options: { model: ModelStore; site: Site; catalogue: FieldCatalogue }): Service {
  const { model, site, catalogue } = options
  const put = (next: Catalogue) => model.put(fieldModel(site, next, model.points(site.building.building_id)))
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
    source: { protocol: device.protocol, address: `${device.device_id}/${entry.address}` },
    ...(role !== undefined && { role }),
    ...(equipment_id !== undefined && { equipment_id }),
    ...(states && { states }),
  }
}
