/** The building model, with the names that stand on the wire, in SQL and in memory alike. */

import { Type } from '@sinclair/typebox'
import type { BacnetPlace } from '#shared/core/bacnet/object.ts'
import type { UntrustedSpan } from '#shared/core/series/untrusted-spans.ts'

export const EQUIPMENT_TYPES = [
  'ahu',
  'vav',
  'zone',
  'fcu',
  'rtu',
  'heat_pump',
  'chiller',
  'chw_plant',
  'cooling_tower',
  'boiler',
  'hw_plant',
  'pump',
  'fan',
  'meter',
  'weather',
] as const
export type EquipmentType = (typeof EQUIPMENT_TYPES)[number]

export const POINT_KINDS = ['number', 'bool', 'enum', 'string'] as const
export type PointKind = (typeof POINT_KINDS)[number]

export const PROTOCOLS = ['bacnet', 'modbus', 'haystack', 'csv'] as const
export type Protocol = (typeof PROTOCOLS)[number]

/**
 * The form of an id, everywhere (contract §5). `.` and `..` are none: in a path they name a folder, and an HTTP client takes them out
 * of an address before it asks (RFC 3986, 5.2.4).
 */
export const ID_PATTERN = '^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,128}$'
export const ID_REGEXP: RegExp = new RegExp(ID_PATTERN)

/** Schema of an id in a path, a query, a body, a message or a settings file. */
export const ID = Type.String({ pattern: ID_PATTERN })

/** @returns whether it may name a site, an edge, a building, an equipment, a device or a point */
export const isId = (id: unknown): id is string => typeof id === 'string' && ID_REGEXP.test(id)

/** Units that pages show: °C, Pa, L/s or °F, in. w.c., cfm. */
export const UNIT_SYSTEMS = ['us', 'si'] as const
export type UnitSystem = (typeof UNIT_SYSTEMS)[number]

export type Building = {
  building_id: string
  name: string
  site_id: string
  /** IANA zone, for example `America/Chicago`. Days, occupancy and reports are reckoned in it. */
  timezone: string
  unit_system: UnitSystem
  lat?: number
  lon?: number
}

export type Equipment = {
  equipment_id: string
  building_id: string
  name: string
  equipment_type: EquipmentType
  parent_id?: string
  /** Equipment that receives what this one delivers: an air handler feeds its VAV boxes. */
  feeds?: string[]
}

export type Point = {
  /** Unique within its building. */
  point_id: string
  building_id: string
  equipment_id?: string
  name: string
  /** A name of `ROLES`; a point without a role is stored and shown, but no rule reads it. */
  role?: string
  /** A code of `UNITS`. History holds values in this unit. */
  unit: string
  kind: PointKind
  source: {
    protocol: Protocol
    address: string
    /** Of a BACnet point, once its box has said it. */
    bacnet?: BacnetPlace
    /** Value of the point = value of the device × scale + offset; of a number, once its box has said it. */
    scaling?: { scale: number; offset: number }
    /** Stretches of its history that the package which brought them does not vouch for. */
    untrusted?: readonly UntrustedSpan[]
  }
  poll_secs?: number
  /** State texts of an enum or bool; index = stored number. */
  states?: string[]
  /** The edge that measures it, or did; a point of imported files has none. */
  edge_id?: string
  /** Nobody measures it any more: since when (ms since 1970 UTC), and the role that it had and has again if it returns. */
  gone?: { at: number; role?: string }
}

/** The key of an edge: an edge id is unique within its site. */
export type EdgeKey = { site_id: string; edge_id: string }
/** An edge on a broker that serves several tenants; without `tenant_id` it is one of the hub's own. */
export type EdgeAddress = EdgeKey & { tenant_id?: string | undefined }
/** `site_id/edge_id`; no id holds a slash, so no two edges share it. */
export const edgeName = ({ site_id, edge_id }: EdgeKey): string => `${site_id}/${edge_id}`

export type Edge = {
  edge_id: string
  site_id: string
  building_id: string
  name: string
  version: string
  last_seen_at: number | null
  status: 'operational' | 'reduced' | 'disconnected' | 'pending'
  connector_url?: string
}
