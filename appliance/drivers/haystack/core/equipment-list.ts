/** The equipment of a Haystack server: which one a point belongs to, and what serves it. */
import { type Equipment, type EquipmentType, isId } from '#shared/core/model/model.ts'
import { freeId } from '#shared/core/model/free-id.ts'
import { equipmentTypeOf } from '#shared/core/csv/header-names.ts'
import { type Dict, cellKind, disOf, refOf, textOf } from './grid.ts'

export type ListedEquipment = Omit<Equipment, 'building_id'>

/** A fan or coil with a record of its own is a part of the unit that it is in. */
const PARTS: ReadonlySet<EquipmentType | undefined> = new Set([undefined, 'fan'])
/**
 * References to what serves an equipment, the air first.
 *
 * @source project-haystack.org/doc/lib-phIoT; ahuRef and the plants are of Haystack 3
 */
const SERVED_BY = ['airRef', 'ahuRef', 'chilledWaterRef', 'chilledWaterPlantRef', 'hotWaterRef', 'hotWaterPlantRef', 'equipRef']

export const nameOf = (record: Dict): string =>
  textOf(record.dis) ?? textOf(record.navName) ?? disOf(record.id) ?? refOf(record.id) ?? 'a record without a name'

export const markersOf = (record: Dict): string[] => Object.keys(record).filter(tag => cellKind(record[tag]) === 'marker')

/** Markers that mean a type together. @source project-haystack.org/doc/lib-phIoT: chilled-water-plant, hot-water-plant */
const TOGETHER: readonly [string[], EquipmentType][] = [
  [['chilled', 'water', 'plant'], 'chw_plant'],
  [['hot', 'water', 'plant'], 'hw_plant'],
]
/** Types that are marked as another one too: a rooftop unit is an air handler, and a heat pump with a fan is one as well. */
const SPECIAL: readonly EquipmentType[] = ['rtu', 'heat_pump']

function typeOf(record: Dict): EquipmentType | undefined {
  const markers = markersOf(record)
  const types = markers.flatMap(marker => equipmentTypeOf(marker) ?? [])
  const together = TOGETHER.find(([wanted]) => wanted.every(marker => markers.includes(marker)))?.[1]
  return together ?? SPECIAL.find(type => types.includes(type)) ?? types.find(type => !PARTS.has(type)) ?? types[0]
}

export class EquipmentList {
  readonly #records: ReadonlyMap<string, Dict>
  readonly #known: readonly ListedEquipment[]
  readonly #taken: Set<string>
  /** By reference. */
  readonly #made = new Map<string, ListedEquipment>()

  /**
   * @param records of the filter `equip`
   * @param known equipment that the site has already: one whose name or id is the name, of the same type, is the same
   */
  constructor(records: readonly Dict[], known: readonly ListedEquipment[]) {
    this.#records = new Map(records.flatMap(record => (refOf(record.id) === undefined ? [] : [[refOf(record.id)!, record]])))
    this.#known = known
    this.#taken = new Set(known.map(({ equipment_id }) => equipment_id))
  }

  /** @returns the equipment of a reference, or what it is a part of; undefined where none has a type that rules know */
  of(ref: string | undefined): ListedEquipment | undefined {
    const holder = this.#holderOf(ref)
    return holder === undefined ? undefined : this.#make(holder)
  }

  /** @returns what the site does not have yet of the equipment asked for so far and of what serves it, with its links */
  added(): ListedEquipment[] {
    const waiting = [...this.#made.keys()]
    const servers = new Map<string, string[]>()
    for (let ref = waiting.shift(); ref !== undefined; ref = waiting.shift()) {
      if (servers.has(ref)) continue
      const own = this.#serversOf(ref)
      servers.set(ref, own)
      for (const other of own) this.#make(other)
      waiting.push(...own)
    }
    const parents = new Map<string, string>()
    const fed = new Map<string, string[]>()
    for (const [ref, [first, ...others]] of servers) {
      if (first !== undefined && !isAbove(ref, first, parents)) parents.set(ref, first)
      for (const other of others) fed.set(other, [...(fed.get(other) ?? []), this.#make(ref).equipment_id])
    }
    return [...this.#made].flatMap(([ref, one]) => {
      if (this.#known.includes(one)) return []
      const [parent, feeds] = [parents.get(ref), fed.get(ref)]
      return [{ ...one, ...(parent !== undefined && { parent_id: this.#make(parent).equipment_id }), ...(feeds && { feeds }) }]
    })
  }

  #serversOf(ref: string): string[] {
    const record = this.#records.get(ref)!
    const found = SERVED_BY.flatMap(tag => this.#holderOf(refOf(record[tag])) ?? [])
    return [...new Set(found)].filter(other => other !== ref)
  }

  #holderOf(ref: string | undefined): string | undefined {
    const seen = new Set<string>()
    let part: string | undefined
    for (let at = ref; at !== undefined && !seen.has(at); ) {
      seen.add(at)
      const record: Dict | undefined = this.#records.get(at)
      const type = record && typeOf(record)
      if (!PARTS.has(type)) return at
      if (type !== undefined) part ??= at
      at = record && refOf(record.equipRef)
    }
    return part
  }

  #make(ref: string): ListedEquipment {
    const before = this.#made.get(ref)
    if (before) return before
    const record = this.#records.get(ref)!
    const name = nameOf(record)
    const equipment_type = typeOf(record)!
    const same = this.#known.find(one => [one.name, one.equipment_id].includes(name) && one.equipment_type === equipment_type)
    const equipment_id = isId(name) && !this.#taken.has(name) ? name : freeId(name, this.#taken)
    const one = same ?? { equipment_id, name, equipment_type }
    this.#taken.add(one.equipment_id)
    this.#made.set(ref, one)
    return one
  }
}

/** Whether `ref` is among what serves `other`: a link back would be a loop. */
function isAbove(ref: string, other: string, parents: ReadonlyMap<string, string>): boolean {
  for (let at: string | undefined = other; at !== undefined; at = parents.get(at)) if (at === ref) return true
  return false
}
