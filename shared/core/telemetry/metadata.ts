/** `svc_metadata_v1`: what an edge says of itself, so that the hub knows its building and points (contract §8). */
import { crc32 } from 'node:zlib'
import type { BacnetPlace } from '../bacnet/object.ts'
import { readConnectorUrl } from '../connector-url.ts'
import { type Building, type Equipment, EQUIPMENT_TYPES, type Point, POINT_KINDS, PROTOCOLS } from '#shared/core/model/model.ts'
import { isZone } from '#shared/core/time-zone.ts'
import type { Decoded } from './body.ts'
import {
  asId,
  asText,
  choice,
  decodeWith,
  type Fields,
  fields,
  id,
  integer,
  list,
  number,
  optional,
  text,
  unfit,
} from './read.ts'

const METADATA_SCHEMA = 'svc_metadata_v1'
/** Most equipment and points of one edge: more than the largest appliance polls. */
const EQUIPMENT_MAX = 2_000
const EDGE_POINTS_MAX = 10_000
const STATES_MAX = 256

export type EdgeModel = {
  name: string
  version: string
  /** Address at which the hub reaches the appliance's API, if there is one. */
  connector_url?: string
  building: Building
  equipment: Equipment[]
  points: Point[]
}
export type Metadata = EdgeModel & {
  site_id: string
  edge_id: string
  /** A number that differs when the content does. */
  revision: number
}

/** @returns the body, ready for `packBody` */
export function writeMetadata(site_id: string, edge_id: string, model: EdgeModel): { revision: number } {
  const content = { schema: METADATA_SCHEMA, site_id, edge_id, ...model }
  return { ...content, revision: crc32(JSON.stringify(content)) }
}

export function readMetadata(body: Record<string, unknown>): Decoded<Metadata> {
  return decodeWith(() => {
    const from = fields(body, '')
    choice(from, 'schema', [METADATA_SCHEMA])
    const building = readBuilding(fields(body.building, 'building'))
    const { building_id } = building
    const equipment = list(from, 'equipment', EQUIPMENT_MAX, (value, path) => readEquipment(fields(value, path), building_id))
    const known = new Set(equipment.map(({ equipment_id }) => equipment_id))
    return {
      site_id: id(from, 'site_id'),
      edge_id: id(from, 'edge_id'),
      revision: integer(from, 'revision', 0),
      name: text(from, 'name'),
      version: text(from, 'version', 64),
      ...optional(from, 'connector_url', connectorUrl),
      building,
      equipment,
      points: list(from, 'points', EDGE_POINTS_MAX, (value, path) => readPoint(fields(value, path), building_id, known)),
    }
  })
}

function connectorUrl(from: Fields, name: 'connector_url'): string {
  const read = readConnectorUrl(text(from, name))
  return read.ok ? read.url : unfit(name, `an address that the hub can take: this one ${read.reason}`, from.body[name])
}

function readBuilding(from: Fields): Building {
  const timezone = text(from, 'timezone', 64)
  if (!isZone(timezone)) unfit('building.timezone', 'an IANA zone', timezone)
  return {
    building_id: id(from, 'building_id'),
    name: text(from, 'name'),
    site_id: id(from, 'site_id'),
    timezone,
    unit_system: choice(from, 'unit_system', ['us', 'si'] as const),
    ...optional(from, 'lat', (place, name) => number(place, name, -90, 90)),
    ...optional(from, 'lon', (place, name) => number(place, name, -180, 180)),
  }
}

function readEquipment(from: Fields, building_id: string): Equipment {
  return {
    equipment_id: id(from, 'equipment_id'),
    building_id,
    name: text(from, 'name'),
    equipment_type: choice(from, 'equipment_type', EQUIPMENT_TYPES),
    ...optional(from, 'parent_id', id),
    ...optional(from, 'feeds', ids),
  }
}

const ids = (from: Fields, name: string): string[] => list(from, name, EQUIPMENT_MAX, asId)

const readPlace = (from: Fields): BacnetPlace => ({
  device_instance: integer(from, 'device_instance', 0),
  ...optional(from, 'network', (place, name) => integer(place, name, 1)),
  ...optional(from, 'mac', (place, name) => text(place, name, 14)),
})

const readScaling = (from: Fields) => ({ scale: number(from, 'scale'), offset: number(from, 'offset') })

function readPoint(from: Fields, building_id: string, equipment: Set<string>): Point {
  const owner = optional(from, 'equipment_id', id)
  if (owner.equipment_id !== undefined && !equipment.has(owner.equipment_id)) {
    unfit(`${from.path}.equipment_id`, 'equipment of this message', owner.equipment_id)
  }
  const source = fields(from.body.source, `${from.path}.source`)
  return {
    point_id: id(from, 'point_id'),
    building_id,
    ...owner,
    name: text(from, 'name'),
    ...optional(from, 'role', text),
    unit: text(from, 'unit', 64),
    kind: choice(from, 'kind', POINT_KINDS),
    source: {
      protocol: choice(source, 'protocol', PROTOCOLS),
      address: text(source, 'address'),
      ...(source.body.bacnet !== undefined && { bacnet: readPlace(fields(source.body.bacnet, `${source.path}.bacnet`)) }),
      ...(source.body.scaling !== undefined && { scaling: readScaling(fields(source.body.scaling, `${source.path}.scaling`)) }),
    },
    ...optional(from, 'poll_secs', (point, name) => number(point, name, 0)),
    ...optional(from, 'states', (point, name) => list(point, name, STATES_MAX, (value, path) => asText(value, path))),
  }
}
