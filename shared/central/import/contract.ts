import { HEADER_MAX } from '#shared/core/csv/columns.ts'
import { COLUMNS_MAX } from '#shared/core/csv/package-json.ts'
import { PACKAGE_LIMITS } from '#shared/core/csv/package-limits.ts'
import { PACKAGE_SCHEMA } from '#shared/core/csv/package-json.ts'
import { EQUIPMENT_TYPES } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { UNITS } from '#shared/core/model/unit.ts'
import { CELLS_MAX } from './append.ts'

/** The contract of packages: everything that an agent needs to write one. */
export const ingestContract = ({ uploadMax, chunkMax }: { uploadMax: number; chunkMax: number }) => ({
  contract_id: 'svc_ingest_v1',
  package_schema: PACKAGE_SCHEMA,
  required_columns: ['timestamp_utc'],
  recommended_columns: ['sa_t', 'sa_t_sp', 'oa_t', 'ma_t', 'ra_t', 'oa_damper', 'clg_valve', 'htg_valve', 'fan_status', 'zone_t'],
  manifest: {
    required: ['schema_version', 'building_id', 'grid_minutes'],
    optional: ['timezone', 'unit_system', 'date_order', 'notes'],
  },
  column_map: { required: ['equipType', 'points'], optional: ['equip', 'parent', 'feeds', 'units', 'date_order'] },
  equipment_types: EQUIPMENT_TYPES,
  timestamps: [
    'timestamp_utc: ISO 8601 in UTC; or timestamp, read in the manifest’s timezone',
    'date_order mdy or dmy where dates such as 5/7/2022 are ambiguous; never guessed',
  ],
  roles: Object.entries(ROLES).map(([role, { unit, kind, range, haystack, label }]) => ({
    role,
    unit,
    kind,
    range,
    haystack,
    // A name in the style of Brick for every role, also where Brick has none: column maps may use it.
    brick: label,
  })),
  units: Object.entries(UNITS).map(([unit, { dimension, aliases }]) => ({ unit, dimension, aliases })),
  limits: {
    upload_bytes: uploadMax,
    append_bytes: chunkMax,
    append_cells: CELLS_MAX,
    columns: COLUMNS_MAX,
    header_letters: HEADER_MAX,
    entries: PACKAGE_LIMITS.entriesMax,
    expanded_bytes: PACKAGE_LIMITS.expandedMax,
    ratio: PACKAGE_LIMITS.ratioMax,
    depth: PACKAGE_LIMITS.depthMax,
  },
  workflow: [
    'POST /api/csv/import/preflight with the package as multipart/form-data',
    'read checks and agent_hints; correct the package until can_execute is true',
    'POST /api/csv/import/execute {session_id, confirm: true}',
    'GET /api/csv/import/package/mapping?building_id=… and POST /api/model/assignments/save for columns without a role',
    'POST /api/csv/import/package/append for every later chunk',
    'POST /api/fdd/run {building_id}',
  ],
})
