/** What a field device says about the equipment that it controls: its points, and a name and a type from its id. */
import type { EquipmentType, Point } from '#shared/core/model/model.ts'
import { equipmentTypeOf } from '#shared/core/csv/header-names.ts'

/** Words at the beginning of an id that may name a type, as `air-handling-unit-3` does. */
const WORDS_MAX = 3

/** @returns the beginning of the addresses of one device, `vav-101/`; undefined for a point that no device has, as one of a table */
function devicePrefix({ address }: Point['source']): string | undefined {
  const end = address.indexOf('/')
  return end > 0 ? address.slice(0, end + 1) : undefined
}

/** @returns the points of each device, the devices in the order of their ids; points of no device are left out */
export function pointsByDevice(points: readonly Point[]): [prefix: string, points: Point[]][] {
  const found = Map.groupBy(points, ({ source }) => devicePrefix(source))
  return [...found]
    .flatMap(([prefix, own]): [string, Point[]][] => (prefix === undefined ? [] : [[prefix, own]]))
    .toSorted(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
}

/** @returns `{ name: 'VAV 101 controller', equipment_type: 'vav' }` for `VAV-101-controller/`; no type where the id names none */
export function equipmentOfDevice(prefix: string): { name: string; equipment_type?: EquipmentType } {
  const name = prefix.slice(0, -1).replaceAll(/[-_]+/g, ' ').trim()
  const letters = name.match(/\p{L}+/gu) ?? []
  for (let n = Math.min(WORDS_MAX, letters.length); n > 0; n--) {
    const equipment_type = equipmentTypeOf(letters.slice(0, n).join(''))
    if (equipment_type) return { name, equipment_type }
  }
  return { name }
}
