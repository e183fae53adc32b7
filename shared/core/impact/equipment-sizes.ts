/**
 * Looks up the sizes and ratings that price a fault: reviewed quantities of the equipment, or of the equipment that serves
 * it.
 */
import type { Equipment, EquipmentType } from '#shared/core/model/model.ts'
import { copOfEer, type Quantity, readQuantity, statedText } from '#shared/core/model/quantity.ts'
import type { PricingGap, Range } from './impact.ts'
import { withTolerance, BASIS_WIDTH, addRanges } from './range.ts'

type Property = Quantity['property']
/** A value with its source, or the missing quantity. */
export type Size = { range: Range; basis: string[] } | { gap: PricingGap }

export type EquipmentSizes = {
  /** A quantity of the equipment itself. */
  own(equipment_id: string, property: Property): Size
  /** Rated electrical power of a machine, kW; for a plant, that of all its machines of a type. */
  power(equipment_id: string, machines: EquipmentType): Size
  /**
   * Coefficient of performance of the equipment's cooling: its own, that of the equipment that serves it, of the building's
   * only plant, or of the building.
   */
  cop(equipment_id: string): Size
  /** Thermal efficiency of the equipment's heating, found in the same order. */
  efficiency(equipment_id: string): Size
}

/** Shaft power over electricity of motor and drive. @source IEC 60034-30-1 IE2 to IE4 motors of 1 to 50 kW with a drive */
const MOTOR: Range = { low: 0.8, mid: 0.88, high: 0.95 }

const COOLERS: readonly EquipmentType[] = ['chw_plant', 'chiller']
const HEATERS: readonly EquipmentType[] = ['hw_plant', 'boiler']
/** Best first: of two reviewed quantities the one with the better source counts. */
const BASES = Object.keys(BASIS_WIDTH)
/** Longest chain of equipment that feeds equipment. */
const CHAIN_MAX = 16

/**
 * @param quantities of this building, reviewed or not
 * @param equipment of this building
 */
export function createEquipmentSizes(quantities: Quantity[], equipment: Equipment[]): EquipmentSizes {
  const byHolder = Map.groupBy(quantities, ({ equipment_id }) => equipment_id)
  const known = (holder: string | undefined, property: Property) =>
    (byHolder.get(holder) ?? []).filter(one => one.property === property)
  const best = (holder: string | undefined, property: Property): Quantity | undefined =>
    known(holder, property)
      .filter(one => one.review_status === 'Reviewed' && 'value' in readQuantity(one))
      .toSorted(
        (a, b) => BASES.indexOf(a.value_basis) - BASES.indexOf(b.value_basis) || (a.quantity_id < b.quantity_id ? -1 : 1),
      )[0]
  const own = (holder: string, property: Property): Size => {
    const found = best(holder, property)
    return found ? sizeOf(found, holder) : { gap: gapOf(holder, property, known(holder, property)) }
  }
  const electric = (holder: string): Size => {
    const shaft = best(holder, 'ratedElectricalInputPower') ? undefined : best(holder, 'ratedShaftPower')
    if (!shaft) return own(holder, 'ratedElectricalInputPower')
    const { range, basis } = sizeOf(shaft, holder)
    const taken = { low: range.low / MOTOR.high, mid: range.mid / MOTOR.mid, high: range.high / MOTOR.low }
    return { range: taken, basis: [...basis, 'Motor and drive give 88 % (80 to 95 %) of their electricity to the shaft.'] }
  }
  const first = (equipment_id: string, property: Property, plants: readonly EquipmentType[]): Size => {
    const reachable = [equipment_id, ...serving(equipment_id, equipment), ...onlyPlant(equipment, plants), undefined]
    for (const holder of reachable) {
      const found = best(holder, property) ?? (property === 'ratedCOP' ? best(holder, 'ratedEER') : undefined)
      if (found) return sizeOf(found, holder)
    }
    const listed = reachable.flatMap(holder => known(holder, property))
    return { gap: gapOf(equipment_id, property, listed) }
  }
  return {
    own,
    power(equipment_id, type) {
      const machines = machinesOf(equipment_id, type, equipment)
      const sizes = (machines.length > 0 ? machines : [equipment_id]).map(electric)
      return sizes.reduce((sum, one) => ('gap' in sum ? sum : 'gap' in one ? one : both(sum, one)))
    },
    cop: equipment_id => first(equipment_id, 'ratedCOP', COOLERS),
    efficiency: equipment_id => first(equipment_id, 'ratedThermalEfficiency', HEATERS),
  }
}

const both = (a: { range: Range; basis: string[] }, b: { range: Range; basis: string[] }) => ({
  range: addRanges(a.range, b.range),
  basis: [...a.basis, ...b.basis],
})

function sizeOf(quantity: Quantity, holder: string | undefined): { range: Range; basis: string[] } {
  const { property, value_basis } = quantity
  const read = readQuantity(quantity)
  const stated = 'value' in read ? read.value : Number.NaN
  const value = property === 'ratedEER' ? copOfEer(stated) : stated
  const width = BASIS_WIDTH[value_basis]
  const of = holder === undefined ? 'the building' : holder
  return {
    range: withTolerance(value, width),
    basis: [`${property} of ${of}: ${statedText(quantity)} (${value_basis}, ±${Math.round(width * 100)} %)`],
  }
}

/** Why there is no value: none was entered, it was not reviewed, or it is impossible. */
function gapOf(equipment_id: string, name: Property, listed: Quantity[]): PricingGap {
  const reviewed = listed.find(({ review_status }) => review_status === 'Reviewed')
  const fault = reviewed && readQuantity(reviewed)
  const waiting = listed.some(({ review_status = 'NeedsReview' }) => review_status === 'NeedsReview')
  const why = fault && 'fault' in fault ? fault.fault : waiting ? 'not reviewed' : listed.length > 0 ? 'rejected' : 'not entered'
  return { what: 'quantity', name, equipment_id, why }
}

/** The equipment that feeds this one or contains it, nearest first. */
function serving(equipment_id: string, equipment: Equipment[]): string[] {
  const found: string[] = []
  let level = [equipment_id]
  for (let depth = 0; depth < CHAIN_MAX && level.length > 0; depth++) {
    const above = level.flatMap(id => {
      const parent = equipment.find(one => one.equipment_id === id)?.parent_id
      const feeders = equipment.filter(({ feeds }) => feeds?.includes(id)).map(one => one.equipment_id)
      return [...feeders.toSorted(), ...(parent === undefined ? [] : [parent])]
    })
    level = [...new Set(above)].filter(id => id !== equipment_id && !found.includes(id))
    found.push(...level)
  }
  return found
}

/** The only plant, or the only machine, of its type in the building: it serves all equipment. */
function onlyPlant(equipment: Equipment[], [plant, machine]: readonly EquipmentType[]): string[] {
  return [plant, machine].flatMap(type => {
    const found = equipment.filter(one => one.equipment_type === type)
    return found.length === 1 ? [found[0]!.equipment_id] : []
  })
}

/** The machines of a plant; none for a machine itself. */
function machinesOf(equipment_id: string, type: EquipmentType, equipment: Equipment[]): string[] {
  const own = equipment.find(one => one.equipment_id === equipment_id)
  if (!own || own.equipment_type === type) return []
  return equipment
    .filter(one => one.equipment_type === type)
    .filter(one => one.parent_id === equipment_id || own.feeds?.includes(one.equipment_id) || one.feeds?.includes(equipment_id))
    .map(one => one.equipment_id)
    .toSorted()
}
