/** Packages of air handlers with ten points each, every five minutes, as `svc_package_v1`. */
import { MINUTE } from '#shared/core/time.ts'
import { zipPackage } from '#scripts/lib/package.ts'

export const STEP_MS = 5 * MINUTE
/** Role and unit of each column. */
const COLUMNS: readonly (readonly [string, string])[] = [
  ['sa_t', 'degC'],
  ['ra_t', 'degC'],
  ['ma_t', 'degC'],
  ['oa_t', 'degC'],
  ['sa_t_sp', 'degC'],
  ['clg_valve', 'percent'],
  ['htg_valve', 'percent'],
  ['oa_damper', 'percent'],
  ['duct_static', 'Pa'],
  ['fan_status', 'bool'],
]
const HEADER = ['timestamp_utc', ...COLUMNS.map(([role]) => role)].join(',')

/** Columns in the order of `valuesAt`. */
export const COLUMN_NAMES = COLUMNS.map(([role]) => role)

/**
 * Values that move as those of a plant do, so that no column is constant, in hundredths as controllers send them.
 *
 * @param i steps since the first; `seed` tells air handlers apart
 */
export function valuesAt(i: number, seed = 0): number[] {
  const day = Math.sin((i + 37 * seed) / 46)
  const noise = ((i * 7919 + seed * 104_729) % 1000) / 1000
  const valve = 50 + 40 * day
  const all = [13 + noise, 22 + day, 17 + 3 * day, 12 + 9 * day, 13, valve, 90 - valve, 20 + 30 * noise, 240 + 20 * noise]
  return [...all.map(value => Number(value.toFixed(2))), i % 288 < 200 ? 1 : 0]
}

/** A table of `rows` rows from an instant. */
export function tableOf(rows: number, from: number, seed = 0): string {
  const lines = [HEADER]
  for (let i = 0; i < rows; i++) {
    lines.push(`${new Date(from + i * STEP_MS).toISOString()},${valuesAt(i, seed).join(',')}`)
  }
  return `${lines.join('\n')}\n`
}

export type Tables = { equipment_id: string; csv: string }[]
export const tablesOf = (equipment: number, rows: number, from: number): Tables =>
  Array.from({ length: equipment }, (_, i) => ({ equipment_id: `AHU-${i + 1}`, csv: tableOf(rows, from, i) }))

/** The tables as a package, ready to be uploaded. */
export async function uploadOf(building_id: string, tables: Tables): Promise<FormData> {
  const points = Object.fromEntries(COLUMNS.map(([role]) => [role, role]))
  const units = Object.fromEntries(COLUMNS)
  const equipment = tables.map(({ equipment_id, csv }) => ({
    ...{ equipment_id, equipment_type: 'ahu', points, units },
    tables: [{ name: 'history_wide.csv', text: csv }],
  }))
  const zip = await zipPackage({ building_id, timezone: 'UTC', grid_minutes: STEP_MS / MINUTE, equipment })
  const form = new FormData()
  form.append('package', new Blob([new Uint8Array(zip)]), 'package.zip')
  return form
}
