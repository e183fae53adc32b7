/** Makes catalogue entries of the records that a Haystack server has: points, and the equipment that they belong to. */
import type { EquipmentType, PointKind } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { conversion } from '#shared/core/model/unit.ts'
import { nameTable } from '#shared/core/name-table.ts'
import { roleOfName } from '#shared/core/csv/header-names.ts'
import { pointIds } from '../../../core/catalogue/point-ids.ts'
import { EquipmentList, type ListedEquipment, markersOf, nameOf } from './equipment-list.ts'
import { type Dict, cellKind, numberOf, refOf, textOf } from './grid.ts'
import { haystackUnit } from './unit.ts'

/** A point as the catalogue has it, without how often it is read. */
type ListedPoint = {
  point_id: string
  address: string
  name: string
  unit: string
  kind: PointKind
  states?: string[]
  role?: string
  equipment_id?: string
}
type Known = {
  device_id: string
  /** Of the device. */
  addresses: ReadonlySet<string>
  /** Of the whole catalogue. */
  points: readonly Pick<ListedPoint, 'point_id' | 'equipment_id' | 'role'>[]
  equipment: readonly ListedEquipment[]
}
export type PointList = {
  /** Not known yet, with what serves them. */
  equipment: ListedEquipment[]
  points: ListedPoint[]
  /** Number of points that the catalogue has already. */
  known: number
  /** Records that cannot be read, each with the reason. */
  leftOut: { name: string; reason: string }[]
}

const KINDS = nameTable<PointKind>({
  Number: 'number',
  Bool: 'bool',
  Str: 'string',
  number: 'number',
  bool: 'bool',
  str: 'string',
})
const ADDRESS_MAX = 200

/**
 * @param records of the filter `point`, or a part of them
 * @param equips of the filter `equip`
 */
export function listPoints(records: readonly Dict[], equips: readonly Dict[], known: Known): PointList {
  const places = new EquipmentList(equips, known.equipment)
  const leftOut: PointList['leftOut'] = []
  const isLive = records.some(hasValue) ? hasValue : () => true
  const found = records.filter(isLive).flatMap(record => {
    const read = readPoint(record, places)
    if (!('reason' in read)) return [read]
    leftOut.push({ name: nameOf(record), reason: read.reason })
    return []
  })
  const fresh = withoutRivals(
    found.filter(({ address }) => !known.addresses.has(address)),
    known.points,
  )
  const taken = new Set(known.points.map(({ point_id }) => point_id))
  const points = [...Map.groupBy(fresh, ({ equipment_id = known.device_id }) => equipment_id)].flatMap(([prefix, own]) => {
    const ids = pointIds(prefix, own)
    return own.map((point, i): ListedPoint => ({ point_id: free(ids[i]!, taken), ...point }))
  })
  return { equipment: places.added(), points, known: found.length - fresh.length, leftOut }
}

/** @returns the id, with a number behind it where another point has it; it is taken from now on */
function free(id: string, taken: Set<string>): string {
  let own = id
  for (let i = 2; taken.has(own); i++) own = `${id}-${i}`
  taken.add(own)
  return own
}

/** Whether the server has a current value of the point; others have history alone. */
const hasValue = ({ cur, curVal, curStatus }: Dict): boolean =>
  [cur, curVal, curStatus].some(tag => tag !== undefined && tag !== null)

function readPoint(record: Dict, places: EquipmentList): Omit<ListedPoint, 'point_id'> | { reason: string } {
  const ref = refOf(record.id)
  if (ref === undefined) return { reason: 'it has no id' }
  const address = `@${ref}`
  if (address.length > ADDRESS_MAX) return { reason: `its id is longer than ${ADDRESS_MAX - 1} characters` }
  const states = textOf(record.enum)
    ?.split(',')
    .map(text => text.trim())
  const plain = KINDS[textOf(record.kind) ?? cellKind(record.curVal)]
  if (plain === undefined) return { reason: 'it has neither a kind nor a value' }
  const kind = plain === 'string' && states ? 'enum' : plain
  const said = kind === 'number' ? (textOf(record.unit) ?? numberOf(record.curVal)?.unit) : undefined
  const unit = said === undefined ? (kind === 'bool' ? 'bool' : kind === 'enum' ? 'enum' : 'count') : haystackUnit(said)
  if (unit === undefined) return { reason: `the unit ${said} is unknown` }
  const equipment = places.of(refOf(record.equipRef))
  const role = equipment && roleOfTags(record, equipment.equipment_type, { kind, unit })
  return {
    address,
    name: nameOf(record),
    unit,
    kind,
    ...(kind === 'enum' && { states: states! }),
    ...(role !== undefined && { role }),
    ...(equipment && { equipment_id: equipment.equipment_id }),
  }
}

/** @returns the role whose tags are the markers of the record, where kind and unit fit it */
function roleOfTags(record: Dict, type: EquipmentType, { kind, unit }: { kind: PointKind; unit: string }): string | undefined {
  const role = roleOfName(markersOf(record).join(' '), type)
  if (role === undefined) return undefined
  const { kind: wanted, unit: canonical } = ROLES[role]!
  const fits =
    wanted === 'number' ? kind === 'number' && conversion(unit, canonical) !== undefined : kind !== 'number' && kind !== 'string'
  return fits ? role : undefined
}

type Assigned = Pick<ListedPoint, 'equipment_id' | 'role'>

/** Of several points of one equipment with the same role the new ones have none: a person has to say which it is. */
function withoutRivals(fresh: Omit<ListedPoint, 'point_id'>[], known: readonly Assigned[]): Omit<ListedPoint, 'point_id'>[] {
  const keyOf = ({ equipment_id, role }: Assigned) => `${equipment_id} ${role}`
  const rivals = Map.groupBy([...fresh, ...known], keyOf)
  return fresh.map(point => {
    if (point.role === undefined || rivals.get(keyOf(point))!.length === 1) return point
    const { role: _, ...rest } = point
    return rest
  })
}
