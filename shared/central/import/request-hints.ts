/** Hints to an agent whose request for packages was refused, with an example of a correct request. */
import { type AgentHint, PROBLEMS, type Problem, type ProblemCode } from '#shared/core/problem.ts'

/** Examples of requests, which fit together; a test imports them. */
const EXAMPLES = {
  preflight:
    'curl -X POST {base_url}/api/csv/import/preflight -H "Authorization: Bearer {token}" -F "package=@package.zip"; ' +
    'package.zip holds manifest.json, AHU-1/column_map.json and AHU-1/history_wide.csv',
  execute: '{"session_id":"00000000-0000-4000-8000-000000000000","confirm":true,"mode":"merge"}',
  append:
    '{"confirm":true,"building_id":"b1","equipment_id":"AHU-1","csv":"timestamp_utc,Supply Temp\\n2026-03-01T06:00:00Z,55.5\\n"}',
  mapping: 'GET /api/csv/import/package/mapping?building_id=b1&equipment_id=AHU-1',
} as const

const ACTIONS: Partial<Record<ProblemCode, string>> = {
  bad_request: 'Correct what `detail` and `errors` name; fields are not converted, and unknown ones are refused',
  unsupported_media_type: 'Send the body as in the example',
  append_takes_json: 'Send one chunk of CSV text as JSON; a ZIP goes to POST /api/csv/import/preflight',
  confirm_required: 'Send "confirm":true when the data may be changed',
  too_large: 'Pack the files into a ZIP, or split the data into several requests',
  package_invalid: 'Correct what `detail` and `errors` name; GET /api/ingest/contract describes a package',
  unknown_session:
    'Send the package to POST /api/csv/import/preflight again and use the session_id of its reply before it expires',
  unknown_building: 'Import a package of this building first, or name one of GET /api/model/buildings',
  unknown_equipment: 'Import a package with this equipment first, or name one of GET /api/model/equipment',
  mapping_empty:
    'Import a package with a column_map.json that maps its columns, or assign roles with POST /api/model/assignments/save',
  conflict: 'Send the same request again; if it fails again, see `detail`',
}

/** @returns one hint for each problem that a caller can correct */
export const hintsOf =
  (request: keyof typeof EXAMPLES) =>
  ({ code }: Problem): AgentHint[] => {
    const action = ACTIONS[code]
    return action === undefined || PROBLEMS[code].status >= 500 ? [] : [{ code, action, example: EXAMPLES[request] }]
  }
