/** Proposes a catalogue entry for a device. A person reviews it before it is added. */
import type { ImportedPoint } from '../../../../core/catalogue/driver-definition.ts'
import { idPart, pointIds } from '../../../../core/catalogue/point-ids.ts'
import { ROLES, roleOf } from '#shared/core/model/role.ts'
import { conversion } from '#shared/core/model/unit.ts'
import { APDU_MAX } from '../batch.ts'
import { type DeviceResult, type FoundObject } from './discovery.ts'
import { engineeringUnit, unsupportedUnit } from '../../../../core/catalogue/engineering-units.ts'
import { formatTarget, PRESENT_VALUE } from '#shared/core/bacnet/object.ts'
import { POINT_TYPES } from '../device-scan.ts'

export type ProposedDevice = {
  device_id: string
  name: string
  enabled: boolean
  protocol: 'bacnet'
  bacnet: {
    device_instance: number
    host: string
    port: number
    network?: number
    mac?: string
    max_apdu: number
    rpm_max?: number
  }
  points: ImportedPoint[]
}

/** The data of a proposal, from a discovered device or from a list of points. */
export type DeviceDescription = Pick<
  DeviceResult,
  'key' | 'device_instance' | 'host' | 'port' | 'network' | 'mac' | 'max_apdu' | 'multiple' | 'name' | 'objects'
>

export type Proposal = {
  key: string
  device: ProposedDevice
  /** Roles guessed from names, by `point_id`. They are only shown, and are not part of the entry. */
  guessed_roles: Record<string, string>
  /** Properties that the entry cannot express. */
  notes: string[]
}

/** Maximum length of names and state texts in the catalogue. */
const NAME_MAX = 200
/** Maximum number of states of a point in the catalogue. */
const POINT_STATES_MAX = 1000

/**
 * @param found all devices that were found: devices with the same name get their instance in the id
 * @param chosen devices to propose
 * @param taken ids of devices in the catalogue
 * @returns ids in the order of instances; they do not depend on the order in which the devices answered
 */
export function deviceIds<T extends DeviceDescription>(
  found: readonly T[],
  chosen: readonly T[],
  taken: ReadonlySet<string>,
): { description: T; device_id: string }[] {
  const names = Map.groupBy(found, ({ name }) => idPart(name ?? ''))
  const used = new Set([...taken, ...[...names].filter(([, some]) => some.length > 1).map(([name]) => name)])
  return chosen
    .toSorted((a, b) => a.device_instance - b.device_instance || (a.key < b.key ? -1 : 1))
    .map(description => {
      const device_id = deviceId(description, used)
      used.add(device_id)
      return { description, device_id }
    })
}

/** Proposes the chosen devices; parameters as of `deviceIds`. @param poll_secs poll period of their points */
export const proposeAll = (
  found: readonly DeviceDescription[],
  chosen: readonly DeviceDescription[],
  taken: ReadonlySet<string>,
  poll_secs: number,
): Proposal[] => deviceIds(found, chosen, taken).map(({ description, device_id }) => propose(description, device_id, poll_secs))

/** @param device_id id of the entry, new or in the catalogue */
export function propose(result: DeviceDescription, device_id: string, poll_secs: number): Proposal {
  const { device_instance, host, port, network, mac, max_apdu, multiple, key } = result
  const notes: string[] = []
  const guessed_roles: Record<string, string> = {}
  const addresses = result.objects.map(({ type, instance }) => formatTarget({ type, instance, property: PRESENT_VALUE }))
  const ids = pointIds(
    device_id,
    result.objects.map(({ name = '' }, i) => ({ name, address: addresses[i]! })),
  )
  const points = result.objects.map((object, i) => {
    const { point, note } = proposePoint(object, { point_id: ids[i]!, address: addresses[i]!, poll_secs })
    if (note !== undefined) notes.push(`${point.point_id}: ${note}`)
    const role = guessRole(object, point)
    if (role !== undefined) guessed_roles[point.point_id] = role
    return point
  })
  const device: ProposedDevice = {
    device_id,
    name: cut(result.name ?? `Device ${device_instance}`),
    enabled: true,
    protocol: 'bacnet',
    bacnet: {
      device_instance,
      host,
      port,
      ...(network !== undefined && mac !== undefined && { network, mac }),
      max_apdu: Math.min(max_apdu, APDU_MAX),
      ...(multiple === false && { rpm_max: 1 }),
    },
    points,
  }
  return { key, device, guessed_roles, notes }
}

/** @returns the name of the device when it is free, otherwise the name with its instance */
function deviceId({ name, device_instance }: DeviceDescription, taken: ReadonlySet<string>): string {
  const stem = idPart(name ?? '') || 'bacnet'
  const wanted = idPart(name ?? '') ? stem : `bacnet-${device_instance}`
  if (!taken.has(wanted)) return wanted
  let id = `${stem}-${device_instance}`
  for (let n = 2; taken.has(id); n++) id = `${stem}-${device_instance}-${n}`
  return id
}

function proposePoint(
  object: FoundObject,
  at: Pick<ImportedPoint, 'point_id' | 'address' | 'poll_secs'>,
): { point: ImportedPoint; note: string | undefined } {
  const { name, description } = object
  const { point_id, address, poll_secs } = at
  const { note, ...value } = valueOf(object)
  return { point: { point_id, address, name: cut(name ?? description ?? address), ...value, poll_secs }, note }
}

type PointValue = Pick<ImportedPoint, 'kind' | 'unit' | 'scale' | 'offset' | 'states'> & { note?: string }

function valueOf({ type, units, texts }: FoundObject): PointValue {
  switch (POINT_TYPES.get(type)) {
    case 'binary':
      return { kind: 'bool', unit: 'bool', ...(texts && { states: texts.map(cut) }) }
    case 'multistate':
      // BACnet counts states from 1, the catalogue counts texts from 0.
      return { kind: 'enum', unit: 'enum', ...(texts && { states: ['', ...texts.map(cut)].slice(0, POINT_STATES_MAX) }) }
    case 'text':
      return { kind: 'string', unit: 'count' }
    default:
      return { kind: 'number', ...unitOf(units) }
  }
}

function unitOf(units: number | undefined): Omit<PointValue, 'kind'> {
  if (units === undefined) return { unit: 'count', note: 'the object has no unit' }
  const { name, ...known } = engineeringUnit(units)
  if (known.unit === undefined) return { unit: 'count', note: unsupportedUnit(name) }
  return { ...known }
}

/** @returns the role whose name or alias is the name of the object, when the unit matches */
function guessRole({ name = '', description = '' }: FoundObject, { unit }: ImportedPoint): string | undefined {
  const last = name.split(/[./:]/).at(-1) ?? ''
  for (const text of [name, last, description]) {
    const role = roleOf(text) ?? roleOf(text.replaceAll(/[\s-]+/g, '_'))
    if (role !== undefined && conversion(unit, ROLES[role]!.unit)) return role
  }
  return undefined
}

const cut = (text: string): string => text.slice(0, NAME_MAX)
