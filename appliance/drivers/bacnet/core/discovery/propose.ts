/** Proposes a catalogue entry for a discovered device. A person reviews it before it is added. */
import type { PointKind } from '#shared/core/model/model.ts'
import { ROLES, roleOf } from '#shared/core/model/role.ts'
import { conversion } from '#shared/core/model/unit.ts'
import { APDU_MAX } from '../batch.ts'
import { type DeviceResult, type FoundObject } from './discovery.ts'
import { engineeringUnit } from '../../../../core/catalogue/engineering-units.ts'
import { formatTarget, PRESENT_VALUE } from '#shared/core/bacnet/object.ts'
import { POINT_TYPES } from '../device-scan.ts'

/** As the catalogue has it (field-devices.schema.json). */
type ProposedPoint = {
  point_id: string
  address: string
  name: string
  unit: string
  kind: PointKind
  poll_secs: number
  scale?: number
  offset?: number
  states?: string[]
}
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
  points: ProposedPoint[]
}

/** What a proposal is made of, whether the device told it or a list of points did. */
export type Told = Pick<
  DeviceResult,
  'key' | 'device_instance' | 'host' | 'port' | 'network' | 'mac' | 'max_apdu' | 'multiple' | 'name' | 'objects'
>

export type Proposal = {
  key: string
  device: ProposedDevice
  /** Roles that names stand for, by `point_id`. A guess to show: it is not part of the entry. */
  guessed_roles: Record<string, string>
  /** What the entry cannot say, in words. */
  notes: string[]
}

const ID_MAX = 128
/** Twice, with `-4194302` behind the first and `.characterstring-value-4194302` behind the second, it fits an id. */
const STEM_MAX = 40
const NAME_MAX = 200
/** A state text is as long as a name may be; the list as long as the catalogue allows. */
const STATES_MAX = 1000

/**
 * @param found everything that was found: a name that two devices have is told apart by their instances
 * @param chosen those to propose
 * @param taken ids of devices that the catalogue has already
 * @returns by instance; the same ids whenever the devices tell the same, in whatever order they answer
 */
export function deviceIds<T extends Told>(
  found: readonly T[],
  chosen: readonly T[],
  taken: ReadonlySet<string>,
): { told: T; device_id: string }[] {
  const names = Map.groupBy(found, ({ name }) => idPart(name ?? ''))
  const used = new Set([...taken, ...[...names].filter(([, some]) => some.length > 1).map(([name]) => name)])
  return chosen
    .toSorted((a, b) => a.device_instance - b.device_instance || (a.key < b.key ? -1 : 1))
    .map(told => {
      const device_id = deviceId(told, used)
      used.add(device_id)
      return { told, device_id }
    })
}

/** Proposes those that are `chosen`; as `deviceIds`. @param poll_secs how often their points are to be read */
export const proposeAll = (
  found: readonly Told[],
  chosen: readonly Told[],
  taken: ReadonlySet<string>,
  poll_secs: number,
): Proposal[] => deviceIds(found, chosen, taken).map(({ told, device_id }) => propose(told, device_id, poll_secs))

/** @param device_id of the entry, which may be one that the catalogue has already */
export function propose(result: Told, device_id: string, poll_secs: number): Proposal {
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

/** Its name where it has one that nobody else has; with its instance where the name is taken. */
function deviceId({ name, device_instance }: Told, taken: ReadonlySet<string>): string {
  const stem = idPart(name ?? '') || 'bacnet'
  const wanted = idPart(name ?? '') ? stem : `bacnet-${device_instance}`
  if (!taken.has(wanted)) return wanted
  let id = `${stem}-${device_instance}`
  for (let n = 2; taken.has(id); n++) id = `${stem}-${device_instance}-${n}`
  return id
}

/**
 * Ids of a device's points, by their names. A name that another point of the device has too tells with the address which
 * one is meant.
 */
export function pointIds(device_id: string, points: readonly { name: string; address: string }[]): string[] {
  const parts = points.map(({ name }) => idPart(name))
  const seen = Map.groupBy(parts, part => part.toLowerCase())
  const used = new Set<string>()
  return points.map(({ address }, i) => {
    const part = parts[i]!
    const place = idPart(address)
    const isShared = seen.get(part.toLowerCase())!.length > 1
    const own = part === '' ? place : isShared ? `${part}.${place}` : part
    // One may bear as its name what another is called after its address.
    const id = `${device_id}.${used.has(own) ? `${own}.${place}` : own}`.slice(0, ID_MAX)
    used.add(own)
    return id
  })
}

function proposePoint(
  object: FoundObject,
  at: Pick<ProposedPoint, 'point_id' | 'address' | 'poll_secs'>,
): { point: ProposedPoint; note: string | undefined } {
  const { name, description } = object
  const { point_id, address, poll_secs } = at
  const { note, ...value } = valueOf(object)
  return { point: { point_id, address, name: cut(name ?? description ?? address), ...value, poll_secs }, note }
}

type Measure = { kind: PointKind; unit: string; scale?: number; offset?: number; states?: string[]; note?: string }

function valueOf({ type, units, texts }: FoundObject): Measure {
  switch (POINT_TYPES.get(type)) {
    case 'binary':
      return { kind: 'bool', unit: 'bool', ...(texts && { states: texts.map(cut) }) }
    case 'multistate':
      // States count from 1, and their texts here from 0.
      return { kind: 'enum', unit: 'enum', ...(texts && { states: ['', ...texts.map(cut)].slice(0, STATES_MAX) }) }
    case 'text':
      return { kind: 'string', unit: 'count' }
    default:
      return { kind: 'number', ...measureOf(units) }
  }
}

function measureOf(units: number | undefined): Omit<Measure, 'kind'> {
  if (units === undefined) return { unit: 'count', note: 'it gives no unit' }
  const { name, ...known } = engineeringUnit(units)
  if (known.unit === undefined) return { unit: 'count', note: `${name} is no unit that is known here; it is kept without one` }
  return { ...known }
}

/** Only a name that is the role's own or one of its aliases, on a unit that fits. */
function guessRole({ name = '', description = '' }: FoundObject, { unit }: ProposedPoint): string | undefined {
  const last = name.split(/[./:]/).at(-1) ?? ''
  for (const text of [name, last, description]) {
    const role = roleOf(text) ?? roleOf(text.replaceAll(/[\s-]+/g, '_'))
    if (role !== undefined && conversion(unit, ROLES[role]!.unit)) return role
  }
  return undefined
}

/** A text as a part of an id: letters, digits, dots, dashes and underscores. */
function idPart(text: string): string {
  const plain = ASCII.test(text) ? text : text.normalize('NFKD').replaceAll(/\p{M}+/gu, '')
  return plain
    .replaceAll(/[^A-Za-z0-9._]+/g, '-')
    .slice(0, STEM_MAX)
    .replaceAll(/^[-.]+|[-.]+$/g, '')
}

/** Nothing in it has a mark to lose; most names are such, and a list has ten thousands of them. */
const ASCII = /^[\x20-\x7e]*$/

const cut = (text: string): string => text.slice(0, NAME_MAX)
