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
 * changes. Points that leave the catalogue stay in the model, because their history does; but one whose role on its equipment
 * another point has taken is no longer what rules look at.
 */
export function modelSync(options: { model: ModelStore; site: Site; catalogue: FieldCatalogue }): Service {
  const { model, site, catalogue } = options
  const put = (next: Catalogue) => {
    const known = model.points(site.building.building_id)
    const listed = fieldModel(site, next, known)
    model.put({ ...listed, points: [...listed.points, ...succeeded(known, listed.points)] })
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

/** @returns field points that are off the list, without the role that one of the list now has on the same equipment */
function succeeded(known: readonly Point[], listed: readonly Point[]): Point[] {
  const ids = new Set(listed.map(({ point_id }) => point_id))
  const taken = new Set(listed.filter(hasPlace).map(placeOf))
  return known
    .filter(
      point => !ids.has(point.point_id) && FIELD.includes(point.source.protocol) && hasPlace(point) && taken.has(placeOf(point)),
    )
    .map(({ role: _role, ...point }) => point)
}

/** What an import of files brought is no field point. */
const FIELD: readonly Point['source']['protocol'][] = ['bacnet', 'modbus', 'haystack']
const hasPlace = ({ role, equipment_id }: Point): boolean => role !== undefined && equipment_id !== undefined
const placeOf = ({ role, equipment_id }: Point): string => `${equipment_id} ${role}`

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
