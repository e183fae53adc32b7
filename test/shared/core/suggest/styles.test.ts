import test from 'ava'
import type { EquipmentType } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { type Asked, suggestRoles } from '#shared/core/suggest/suggest.ts'
import { STYLES } from './styles.ts'

/** From here on a suggestion counts as sure. */
const SURE = 0.85
const SUGGESTED_MIN = 0.9
const RIGHT_MIN = 0.98
const SURE_MIN = 0.85

const IDS: Partial<Record<EquipmentType, string>> = { ahu: 'AHU-1', vav: 'VAV-12', rtu: 'RTU-2', fcu: 'FCU-3', weather: 'WX' }

/** Flags come as columns of 0 and 1 without a unit; numbers with the unit of their role, or without one. */
function askedOf(type: EquipmentType, style: number, hasUnits: boolean): (Asked & { wanted: string })[] {
  return Object.entries(STYLES[type]!).map(([wanted, names]) => {
    const { kind, unit } = ROLES[wanted]!
    const equipment_id = IDS[type] ?? `${type === 'chw_plant' ? 'CHWP' : 'HWP'}-1`
    const name = names[style]!
    const values = { min: 0, max: 1, isOnOff: kind === 'bool' }
    return {
      ...{ wanted, name, point_id: wanted, kind: 'number', equipment_type: type, equipment_id },
      source: { protocol: 'csv', address: name },
      ...(kind === 'bool' ? { values } : hasUnits && { unit }),
    }
  })
}

for (const [style, habit] of ['long words', 'short capitals', 'snake case', 'camel case'].entries()) {
  for (const hasUnits of [true, false]) {
    test(`points in ${habit} ${hasUnits ? 'with' : 'without'} units: nine in ten are suggested, and what is sure is right`, t => {
      const found = (Object.keys(STYLES) as EquipmentType[]).flatMap(type => {
        const asked = askedOf(type, style, hasUnits)
        const suggestions = suggestRoles(asked)
        return asked.map(({ wanted, name, point_id }) => {
          return { text: `${type} ${name}, ${wanted}`, wanted, first: suggestions.get(point_id)![0] }
        })
      })
      const without = found.filter(({ first }) => first === undefined)
      const sure = found.filter(({ first }) => first !== undefined && first.confidence >= SURE)
      const wrong = sure.filter(({ first, wanted }) => first!.role !== wanted)
      const listed = (all: typeof found) => all.map(({ text, first }) => `${text}: ${first?.role}`).join('\n')
      t.true(without.length <= found.length * (1 - SUGGESTED_MIN), listed(without))
      t.true(sure.length >= found.length * SURE_MIN, `only ${sure.length} of ${found.length} are sure`)
      t.true(wrong.length <= sure.length * (1 - RIGHT_MIN), listed(wrong))
    })
  }
}
