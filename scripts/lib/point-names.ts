/** Which equipment and which role a point file's name means. Common names first; a site brings its own with `--map`. */
import { readFileSync } from 'node:fs'
import { EQUIPMENT_TYPES, type EquipmentType } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'

/**
 * Patterns are regular expressions over a file's name without `.csv`, upper and lower case alike; the first that
 * matches counts. An equipment pattern names the equipment in its first group and leaves the point's name behind it.
 */
export type PointMap = {
  equipment: { pattern: string; equipment_type: EquipmentType }[]
  points: { of: EquipmentType; pattern: string; role: string; unit?: string }[]
}

const air = (pattern: string, role: string, unit?: string) => ({ of: 'ahu' as const, pattern, role, ...(unit && { unit }) })
const box = (pattern: string, role: string, unit?: string) => ({ of: 'vav' as const, pattern, role, ...(unit && { unit }) })

/** `unit` counts where the file's header states none. */
export const COMMON_NAMES: PointMap = {
  equipment: [
    { pattern: '^(VAV[-_ ]?\\d+)[-_ ]', equipment_type: 'vav' },
    { pattern: '^((?:AHU|AH|RTU|S|AC)[-_ ]?\\d+)[-_ ]', equipment_type: 'ahu' },
  ],
  points: [
    air('^(DA|SA)-?T$', 'sa_t'),
    air('^(DA|SA)-?T-?SP$', 'sa_t_sp'),
    air('^MA-?T$', 'ma_t'),
    air('^RA-?T$', 'ra_t'),
    air('^OA-?T$', 'oa_t'),
    air('^ZN-?T$', 'zone_t'),
    air('^DPR-?O$', 'oa_damper'),
    air('^MINPOS-?SP$', 'oa_damper_min'),
    air('^CLG-?O$', 'clg_valve'),
    air('^HTG-?O$', 'htg_valve'),
    air('^PH-?O$', 'preheat_valve'),
    air('^SF-?C$', 'fan_cmd'),
    air('^SF-?S$', 'fan_status'),
    air('^SF-?O$', 'fan_speed', 'percent'),
    air('^RF-?C$', 'return_fan_cmd'),
    air('^RF-?S$', 'return_fan_status'),
    air('^RF-?O$', 'return_fan_speed', 'percent'),
    air('^DA-?P$', 'duct_static', 'inwc'),
    air('^DA-?P-?SP$', 'duct_static_sp', 'inwc'),
    air('^BLDG-?P$', 'bldg_static', 'inwc'),
    air('^DA-?H$', 'sa_rh'),
    air('^[O0]CC-?[CO]$', 'occ'),
    box('^ZN-?T$', 'zone_t'),
    box('^(DA|SA)-?T$', 'discharge_t'),
    box('^SUPFLOW$', 'zone_flow'),
    box('^SUPFLOSP$', 'zone_flow_sp'),
    box('^DPR-?O$', 'damper'),
    box('^HTG-?O$', 'reheat_valve'),
    box('^ACTCLGSP$', 'zone_t_sp_cool'),
    box('^ACTHTGSP$', 'zone_t_sp_heat'),
    box('^[O0]CC-?[CO]$', 'occ'),
  ],
}

/** Reads a map file. @throws Error naming the entry that is wrong */
export function readPointMap(path: string): PointMap {
  const { equipment, points } = JSON.parse(readFileSync(path, 'utf8')) as PointMap
  if (!Array.isArray(equipment) || !Array.isArray(points)) throw new Error(`${path} needs the lists equipment and points`)
  for (const { pattern, equipment_type } of equipment) {
    if (!isPattern(pattern)) throw new Error(`${path}: ${pattern} is no regular expression`)
    if (!EQUIPMENT_TYPES.includes(equipment_type)) throw new Error(`${path}: ${equipment_type} is no equipment type`)
  }
  for (const { pattern, role } of points) {
    if (!isPattern(pattern)) throw new Error(`${path}: ${pattern} is no regular expression`)
    if (!ROLES[role]) throw new Error(`${path}: ${role} is no role`)
  }
  return { equipment, points }
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text).source.length > 0
  } catch {
    return false
  }
}

export type NamedEquipment = { equipment_id: string; equipment_type: EquipmentType; point: string }

/** @returns the equipment that a file's name begins with and what is left of it, or undefined when it names none */
export function equipmentOf(name: string, { equipment }: PointMap): NamedEquipment | undefined {
  for (const { pattern, equipment_type } of equipment) {
    const match = new RegExp(pattern, 'i').exec(name)
    if (match) return { equipment_id: match[1]!.replace(/[_ ]/g, '-'), equipment_type, point: name.slice(match[0].length) }
  }
  return undefined
}

/** @returns role and unit that a point's name means on equipment of a type, or undefined */
export function roleOfPoint(
  point: string,
  type: EquipmentType,
  { points }: PointMap,
): { role: string; unit?: string } | undefined {
  return points.find(({ of, pattern }) => of === type && new RegExp(pattern, 'i').test(point))
}
