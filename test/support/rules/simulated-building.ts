/** Reads a building of the simulator beside the project (`../shared/world`) as a run receives it, without an import. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readCell } from '#shared/core/csv/cell.ts'
import { localClock } from '#shared/core/csv/local-clock.ts'
import type { EquipmentType } from '#shared/core/model/model.ts'
import { unitCode } from '#shared/core/model/unit.ts'
import { withoutUnit } from '#shared/core/csv/header-names.ts'
import type { EquipmentData, RoleSeries } from '#shared/core/rules/compile/equipment-data.ts'
import { roleSeries } from '#shared/flow/fdd/build-frames.ts'

/** What is true of a simulated building, as it stands beside its package. */
type Truth = {
  building_id: string
  seed: number
  from: string
  to: string
  equipment: Record<string, EquipmentType>
  faulty_equipment: string[]
  /** Null in a healthy building, where `fault` is null too. */
  fault_from: string | null
  fault: string | null
  level: number
  effect?: { visible_hours: number }
}
export type SimulatedBuilding = { truth: Truth; timezone: string; equipment: EquipmentData[] }

/** @param dir the folder of packages; @param name of the building */
export function readSimulated(dir: string, name: string): SimulatedBuilding {
  const truth = readJson<Truth>(join(dir, `${name}.truth.json`))
  const { timezone } = readJson<{ timezone: string }>(join(dir, name, 'manifest.json'))
  const ids = readdirSync(join(dir, name)).filter(id => id in truth.equipment)
  return {
    truth,
    timezone,
    equipment: linked(
      ids.map(id => readEquipment(join(dir, name), id, timezone)),
      truth,
    ),
  }
}

/** @returns names of the buildings in a folder of packages, in the order of their seeds */
export const simulatedIn = (dir: string): string[] =>
  readdirSync(dir)
    .flatMap(file => (file.endsWith('.truth.json') ? [file.slice(0, -'.truth.json'.length)] : []))
    .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))

const readJson = <T>(path: string): T => JSON.parse(readFileSync(path, 'utf8')) as T

function readEquipment(folder: string, id: string, timezone: string): EquipmentData {
  const map = readJson<{ equipType: EquipmentType; points: Record<string, string>; units?: Record<string, string> }>(
    join(folder, id, 'column_map.json'),
  )
  const [header, ...lines] = readFileSync(join(folder, id, 'history_wide.csv'), 'utf8')
    .trimEnd()
    .split(/\r?\n/)
    .map(line => line.split(','))
  const instantOf = header![0] === 'timestamp_utc' ? Date.parse : localInstant(timezone)
  const times = Float64Array.from(lines, ([text]) => instantOf(text!))
  // The hour that a wall clock shows twice in autumn has no instant: an import rejects its rows.
  const isDated = (row: number): boolean => !Number.isNaN(times[row]!)
  const roles = Object.entries(map.points).map(([role, column]): [string, RoleSeries] => {
    const unit = unitCode(map.units?.[column] ?? withoutUnit(column).unit ?? 'bool')!
    const at = header!.indexOf(column)
    const kept = lines
      .flatMap((_, row) => (lines[row]![at] && isDated(row) ? [row] : []))
      .toSorted((a, b) => times[a]! - times[b]!)
    const series = {
      ts: Float64Array.from(kept, row => times[row]!),
      values: Float64Array.from(kept, row => valueOf(lines[row]![at]!)),
    }
    return [role, roleSeries({ point_id: role, role, unit, source: {} } as never, series)]
  })
  return { equipment_id: id, equipment_type: map.equipType, roles: Object.fromEntries(roles), feeds: [] }
}

function localInstant(timezone: string): (text: string) => number {
  const clock = localClock(timezone)
  return text => {
    const wallMs = Date.parse(`${text.replace(' ', 'T')}Z`)
    const meaning = clock(wallMs)
    return typeof meaning === 'number' ? meaning : Number.NaN
  }
}

function valueOf(text: string): number {
  const cell = readCell(text, false)
  if (typeof cell === 'number') return cell
  return /^on$/i.test(text) ? 1 : 0
}

/** What serves what, which a package cannot say: the simulator's own scorer links it in the same way. */
function linked(equipment: EquipmentData[], { equipment: types }: Truth): EquipmentData[] {
  const ahu = equipment.find(({ equipment_type }) => equipment_type === 'ahu')?.equipment_id
  const served = (plant: EquipmentType): string[] =>
    Object.entries(types).flatMap(([id, type]) =>
      type === 'ahu' || type === 'fcu' || (type === 'vav' && plant === 'hw_plant') ? [id] : [],
    )
  return equipment.map(each => {
    const { equipment_type } = each
    if (equipment_type === 'vav' && ahu !== undefined) return { ...each, parent_id: ahu }
    if (equipment_type === 'chw_plant' || equipment_type === 'hw_plant') return { ...each, feeds: served(equipment_type) }
    return each
  })
}
