/** The checks of a package: severity, corrective action and example of each, and the report that collects them. */
import type { AgentHint, DataError } from '../problem.ts'

export const CHECK_SEVERITIES = ['error', 'warning', 'info'] as const
type CheckSeverity = (typeof CHECK_SEVERITIES)[number]
type Meaning = { severity: CheckSeverity; action: string; example: string }
const means = (severity: CheckSeverity, action: string, example: string): Meaning => ({ severity, action, example })

const MANIFEST = '{"schema_version":"svc_package_v1","building_id":"b1","grid_minutes":5,"timezone":"America/Chicago"}'
const COLUMN_MAP = '{"equipType":"ahu","equip":"AHU-1","points":{"sa_t":"Supply Temp"},"units":{"Supply Temp":"degF"}}'
const TABLE = 'timestamp_utc,Supply Temp\n2026-03-01T05:00:00Z,55.5\n'

/** By code, with the usual severity. A package with an error is not imported. */
export const CHECKS = {
  manifest_missing: means('error', 'Add manifest.json at the root of the package, or send the fields beside the file', MANIFEST),
  manifest_invalid: means('error', 'Correct manifest.json', MANIFEST),
  column_map_missing: means('error', 'Add column_map.json to the folder of the equipment', COLUMN_MAP),
  column_map_invalid: means('error', 'Correct column_map.json', COLUMN_MAP),
  quality_invalid: means(
    'error',
    'Correct quality.json, or leave it out: without it all data is trusted',
    '{"trusted_windows":[{"from":"2026-03-01T00:00:00Z","to":"2026-03-04T00:00:00Z"}]}',
  ),
  quality_applied: means('info', 'No action needed: data outside the trusted windows is stored, and rules do not use it', TABLE),
  quality_unread: means(
    'info',
    'No action needed: quality.json has no trusted_windows, so all data is trusted',
    '{"trusted_windows":[{"from":"2026-03-01T00:00:00Z","to":"2026-03-04T00:00:00Z"}]}',
  ),
  columns_invalid: means(
    'error',
    'Correct these rows of columns.csv, or leave the file out: column_map.json can say the same',
    'column,point_role,point_name,units\nsat_f,discharge-air-temp,Supply Temp,degF',
  ),
  equipment_type_unknown: means('error', 'Name a known type in equipType', '"equipType":"vav"'),
  id_invalid: means('error', 'Use 1 to 128 letters, digits, dots, dashes and underscores', '"equip":"VAV-3"'),
  link_unknown: means('error', 'Name equipment of the package or of the building in parent and feeds', '"parent":"AHU-1"'),
  link_circular: means(
    'error',
    'Remove one of the entries: equipment cannot serve itself, not even through other equipment',
    '"parent":"AHU-1"',
  ),
  link_missing: means(
    'warning',
    'Name the equipment that serves it as parent in column_map.json, or as parent_id in POST /api/model/equipment after the import',
    '"parent":"AHU-1"',
  ),
  timezone_missing: means(
    'error',
    'State the time zone in manifest.json, or write timestamp_utc',
    '"timezone":"America/Chicago"',
  ),
  header_duplicate: means('error', 'Give every column a unique header', 'timestamp_utc,Supply Temp,Supply Temp 2'),
  header_too_long: means('error', 'Shorten the header to the name of the point', 'timestamp_utc,Supply Temp'),
  columns_too_many: means(
    'error',
    'Split the table: equipment may have several tables',
    'AHU-1/history_wide.csv and AHU-1/history_more.csv',
  ),
  row_unreadable: means('error', 'Close the quotes and keep one record on one line', '2026-03-01T05:00:00Z,"closed, by hand"'),
  no_numeric_columns: means('error', 'Send at least one column that holds numbers or state texts', TABLE),
  unit_unknown: means('error', 'Write a unit that is listed in GET /api/ingest/contract', '"units":{"Supply Temp":"degF"}'),
  unit_mismatch: means('error', 'State a unit that fits the quantity of the role', '"units":{"Supply Temp":"degF"}'),
  unit_conflict: means(
    'error',
    'State a unit that can be converted to the unit of the stored history, or use another header',
    '"units":{"Supply Temp":"degF"}',
  ),
  no_rows: means('warning', 'Add at least one row with a readable timestamp: a package without rows is refused', TABLE),
  column_missing: means('warning', 'Remove the entry from column_map.json or add the column', '"points":{"sa_t":"Supply Temp"}'),
  column_empty: means('warning', 'Check the export: the column has no values', TABLE),
  column_unmapped: means(
    'warning',
    'Name the role in column_map.json, or assign it after the import',
    '"points":{"sa_t":"Supply Temp"}',
  ),
  column_ambiguous: means('warning', 'Map one column to each role of an equipment', '"points":{"sa_t":"Supply Temp"}'),
  unit_missing: means('warning', 'State the unit in column_map.json', '"units":{"Supply Temp":"degF"}'),
  unit_implausible: means('warning', 'Check the unit in column_map.json', '"units":{"Supply Temp":"degF"}'),
  timestamp_unreadable: means('warning', 'Write timestamps in ISO 8601', '2026-03-01T05:00:00Z'),
  timestamp_ambiguous: means('warning', 'Write UTC timestamps, or an offset with each timestamp', '2026-11-01T01:30:00-05:00'),
  timestamp_skipped: means(
    'warning',
    'Check the time zone: this hour is skipped there when clocks change',
    '"timezone":"America/Chicago"',
  ),
  timestamp_misdated: means(
    'warning',
    'Check the clock that wrote these rows, the time zone and date_order',
    '2026-03-01T05:00:00Z',
  ),
  timestamp_duplicate: means('warning', 'No action needed: of rows with the same timestamp the last one is stored', TABLE),
  timestamp_out_of_order: means('warning', 'No action needed: rows are sorted by time', TABLE),
  timestamp_gap: means('info', 'No action needed: gaps are not filled', TABLE),
  row_width: means('warning', 'Give every row as many cells as the header', TABLE),
  row_truncated: means('warning', 'Export the file again: its last row is cut off', TABLE),
  value_unreadable: means(
    'warning',
    'Write numbers with a decimal point: texts in a numeric column are stored as missing',
    '21.5',
  ),
  text_states: means('info', 'No action needed: the texts are stored as states', 'On'),
  states_order_unknown: means(
    'error',
    'Send 0 and 1, or texts such as Off and On, Closed and Open, Unoccupied and Occupied',
    '1',
  ),
  states_too_many: means('warning', 'Free text is not stored: send numbers or at most 32 state texts', 'On'),
  grid_differs: means('info', 'No action needed: the interval found in the data is used, not grid_minutes', '"grid_minutes":5'),
  unit_from_header: means('info', 'No action needed: the unit is taken from the header', 'Supply Temp (°F)'),
  long_table: means('info', 'No action needed if the columns of the report are right', TABLE),
  columns_left_out: means('warning', 'Remove rows whose values are not to be trusted: what else a row says is not read', TABLE),
  unit_from_cells: means('info', 'No action needed: the units are taken from the cells', '21.5 °C'),
  encoding_guessed: means('info', 'Write UTF-8', TABLE),
  delimiter_guessed: means('info', 'No action needed if the columns of the report are right', TABLE),
  header_found: means('info', 'No action needed if the columns of the report are right', TABLE),
  time_found: means('info', 'No action needed if they are date and time of day; else state time_columns', TABLE),
  file_ignored: means(
    'info',
    'Only manifest.json, column_map.json, columns.csv, quality.json and tables are read',
    'AHU-1/history_wide.csv',
  ),
} as const satisfies Record<string, Meaning>

export type CheckCode = keyof typeof CHECKS
export type Check = { code: CheckCode; severity: CheckSeverity; message: string; count: number; examples: string[] }

/** The location of an example: `line 7: rubbish`, or `SAT, line 7: rubbish`. */
export const atLine = (line: number, text: string, column?: string): string =>
  `${column === undefined ? '' : `${column}, `}line ${line}: ${text}`
const AT_LINE = /^(?:(.*), )?line (\d+): ([^]*)$/

/** One error for each location that a check names; one for the check itself where it names none. */
export function placesOf({ code, message, examples }: Check): DataError[] {
  const hint = CHECKS[code].action
  if (examples.length === 0) return [{ message, hint }]
  return examples.map((example): DataError => {
    const [, column, row, text] = AT_LINE.exec(example) ?? []
    if (row === undefined) return { message: `${message}: ${example}`, hint }
    return { ...(column !== undefined && { column }), row: Number(row), message: `${message}: ${text}`, hint }
  })
}

/** Longest message and example, characters: they quote the package, which may hold anything. */
const TEXT_MAX = 300
/** Most examples of one check. */
const EXAMPLES_MAX = 5
/** Most checks of one report: enough for several in every file of a large package. */
const CHECKS_MAX = 1000

export type CheckReport = {
  /** @param place file or equipment: occurrences of a code are counted per place */
  add(
    code: CheckCode,
    place: string,
    message: string,
    more?: { examples?: string[]; count?: number; severity?: CheckSeverity },
  ): void
  list(): Check[]
}

/** Collects the checks of one package by code, severity and place, in the order of their first occurrence. */
export function createCheckReport(): CheckReport {
  const checks = new Map<string, Check>()
  return {
    add(code, place, message, { examples = [], count = 1, severity = CHECKS[code].severity } = {}) {
      const key = `${code} ${severity} ${place}`
      const check = checks.get(key) ?? {
        code,
        severity,
        message: `${place}: ${message}`.slice(0, TEXT_MAX),
        count: 0,
        examples: [],
      }
      if (checks.size >= CHECKS_MAX && check.count === 0) return
      check.count += count
      const room = EXAMPLES_MAX - check.examples.length
      check.examples.push(...examples.slice(0, room).map(example => example.slice(0, TEXT_MAX)))
      checks.set(key, check)
    },
    list: () => [...checks.values()],
  }
}

/** The corrective action of each error and warning, once per code. */
export function hintsFor(checks: Check[]): AgentHint[] {
  const codes = new Set(checks.filter(({ severity }) => severity !== 'info').map(({ code }) => code))
  return [...codes].map(code => ({ code, action: CHECKS[code].action, example: CHECKS[code].example }))
}

/** An empty table does not block the rest of the package; a package without rows is refused. */
export const failIfEmpty = (checks: Check[], rows: number): Check[] =>
  rows > 0 ? checks : checks.map(check => (check.code === 'no_rows' ? { ...check, severity: 'error' } : check))

export const CHECK_VERDICTS = ['pass', 'warn', 'fail'] as const
export type CheckVerdict = (typeof CHECK_VERDICTS)[number]
export function worstVerdict(checks: Check[]): CheckVerdict {
  if (checks.some(({ severity }) => severity === 'error')) return 'fail'
  return checks.some(({ severity }) => severity === 'warning') ? 'warn' : 'pass'
}
