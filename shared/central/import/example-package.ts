/** A package to start from: an air handler over three rows, as a ZIP and as its table alone. */
import { csvLine } from '#shared/core/csv/write-csv.ts'

const MANIFEST = { schema_version: 'svc_package_v1', building_id: 'my-building', grid_minutes: 5, timezone: 'Europe/Berlin' }
/** Headers may be any: the map gives each its role and unit. */
const COLUMN_MAP = {
  equipType: 'ahu',
  equip: 'AHU-1',
  points: {
    sa_t: 'Supply air temperature',
    sa_t_sp: 'Supply air set point',
    ma_t: 'Mixed air temperature',
    ra_t: 'Return air temperature',
    oa_t: 'Outdoor air temperature',
    oa_damper: 'Outdoor air damper',
    clg_valve: 'Cooling valve',
    htg_valve: 'Heating valve',
    fan_status: 'Fan status',
  },
  units: {
    'Supply air temperature': 'degC',
    'Supply air set point': 'degC',
    'Mixed air temperature': 'degC',
    'Return air temperature': 'degC',
    'Outdoor air temperature': 'degC',
    'Outdoor air damper': 'percent',
    'Cooling valve': 'percent',
    'Heating valve': 'percent',
  },
}
const ROWS = [
  ['2026-01-15 08:00', 16.1, 16, 17.4, 21.8, 3.2, 24, 0, 12, 1],
  ['2026-01-15 08:05', 16, 16, 17.3, 21.7, 3.2, 24, 0, 13, 1],
  ['2026-01-15 08:10', 15.9, 16, 17.5, 21.9, 3.3, 23, 0, 12, 1],
]

export const exampleTable = (): string =>
  [['timestamp', ...Object.values(COLUMN_MAP.points)], ...ROWS].map(row => csvLine(row)).join('')

export const exampleFiles = (): { name: string; text: string }[] => [
  { name: 'manifest.json', text: `${JSON.stringify(MANIFEST, null, 2)}\n` },
  { name: 'AHU-1/column_map.json', text: `${JSON.stringify(COLUMN_MAP, null, 2)}\n` },
  { name: 'AHU-1/history_wide.csv', text: exampleTable() },
]
