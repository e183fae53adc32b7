/**
 * The endpoints of the service specification, each with a request that it must answer. The rows stand in an order in which
 * each can be asked: a package is imported before its building is read.
 */
import { airHandler, rows, table, zipForm, zipOf } from '../support/packages/packages.ts'
import { warmRule } from '../support/rule-texts.ts'
import { PASSWORDS } from '../support/sites/central-site.ts'

/** What a caller needs; `key` is the key of the older API. */
type Need = 'public' | 'viewer' | 'operator' | 'admin' | 'key'
/** Answers of the rows before, by `METHOD path`. */
export type Past = ReadonlyMap<string, any>
type Endpoint = {
  section: 'Authentication and health' | 'Data and model' | 'Older configuration API'
  method: string
  /** As the specification writes it. */
  path: string
  /** The least caller that the specification lets in; where it says only "JWT", the least that the contract does. */
  need: Need
  /** Values for the parameters of the path, and the query. */
  at?: { params?: Record<string, string>; query?: Record<string, string> }
  /** A body: JSON, or a form or a text as it is. */
  body?: (past: Past) => unknown
  type?: string
  status?: number
  /** Fields that the answer must have. */
  fields: string[]
}

const START = Date.UTC(2026, 2, 1, 6)
const LAST = START + 287 * 300_000
const BUILDING = { building_id: 'b1' }
const DAY = { from: new Date(START).toISOString(), to: new Date(LAST).toISOString() }

const AUTHENTICATION: Omit<Endpoint, 'section'>[] = [
  {
    method: 'POST',
    path: '/api/auth/login',
    need: 'public',
    body: () => ({ username: 'viewer', password: PASSWORDS.viewer }),
    fields: ['token'],
  },
  { method: 'POST', path: '/api/auth/agent-token', need: 'admin', body: () => ({ ttl_secs: 60 }), fields: ['token'] },
  { method: 'GET', path: '/api/auth/status', need: 'public', fields: ['auth_required', 'agent_login_configured'] },
  { method: 'GET', path: '/api/auth/me', need: 'viewer', fields: ['username', 'role', 'active_tenant_id'] },
  {
    method: 'GET',
    path: '/api/health',
    need: 'public',
    fields: ['version', 'multi_tenant', 'historian_prefix', 'active_tenant_id', 'tenant_budgets', 'edges', 'ingest_ok'],
  },
  { method: 'GET', path: '/health', need: 'public', fields: ['version'] },
  { method: 'GET', path: '/api/building/snapshot', need: 'public', fields: ['ok'] },
  { method: 'GET', path: '/api/dashboard/summary', need: 'public', fields: ['ok'] },
]

const DATA: Omit<Endpoint, 'section'>[] = [
  {
    method: 'POST',
    path: '/api/csv/import/preflight',
    need: 'operator',
    body: async () => zipForm(await zipOf(airHandler(table(rows(288, START))))),
    fields: ['session_id', 'verdict', 'can_execute', 'agent_hints'],
  },
  { method: 'GET', path: '/api/ingest/contract', need: 'viewer', fields: ['required_columns'] },
  {
    method: 'POST',
    path: '/api/csv/import/execute',
    need: 'operator',
    body: past => ({ session_id: past.get('POST /api/csv/import/preflight').session_id, confirm: true }),
    fields: ['building_id', 'rows_written'],
  },
  {
    method: 'POST',
    path: '/api/csv/import/package/append',
    need: 'operator',
    body: () => ({ confirm: true, ...BUILDING, equipment_id: 'AHU-1', csv: table(rows(12, LAST + 300_000)) }),
    fields: ['rows_added'],
  },
  {
    method: 'GET',
    path: '/api/csv/import/package/mapping',
    need: 'viewer',
    at: { query: BUILDING },
    fields: ['columns'],
  },
  {
    method: 'POST',
    path: '/api/model/assignments/save',
    need: 'operator',
    body: () => ({ confirm: true, ...BUILDING, assignments: [{ point_id: 'AHU-1.SAT', equipment_id: 'AHU-1', role: 'sa_t' }] }),
    fields: ['saved', 'unchanged'],
  },
  {
    method: 'POST',
    path: '/api/rules/batch',
    need: 'operator',
    body: () => ({ confirm: true, rules: [{ filename: 'warm.yaml', yaml: warmRule('TEST-WARM', 50) }] }),
    fields: ['ok'],
  },
  {
    method: 'POST',
    path: '/api/fdd-rules/{id}/activate',
    need: 'operator',
    at: { params: { id: 'TEST-WARM' } },
    fields: ['ok'],
  },
  {
    method: 'POST',
    path: '/api/fdd/run',
    need: 'operator',
    body: () => ({ ...BUILDING, rule_ids: ['TEST-WARM'], ...DAY }),
    fields: ['rules_succeeded'],
  },
  {
    method: 'GET',
    path: '/api/fdd/series',
    need: 'viewer',
    at: { query: { ...BUILDING, equipment_id: 'AHU-1', roles: 'sa_t' } },
    fields: ['series'],
  },
  { method: 'GET', path: '/api/fdd/equipment', need: 'viewer', at: { query: BUILDING }, fields: ['equipment', 'count'] },
  {
    method: 'POST',
    path: '/api/analytics/economizer',
    need: 'viewer',
    body: () => ({ ...BUILDING, ...DAY }),
    fields: ['from', 'to', 'equipment'],
  },
  { method: 'GET', path: '/api/analytics/sql-anomaly/status', need: 'viewer', fields: ['enabled'] },
  { method: 'GET', path: '/api/bacnet/poll/status', need: 'viewer', fields: ['ok'] },
  { method: 'GET', path: '/api/mqtt/monitor/stream', need: 'viewer', fields: [] },
]

const OLDER: Omit<Endpoint, 'section'>[] = [
  { method: 'GET', path: '/config', need: 'key', fields: ['rules_dir', 'rule_interval_hours', 'lookback_days'] },
  {
    method: 'PUT',
    path: '/config',
    need: 'key',
    body: past => {
      const { rules_dir } = past.get('GET /config')
      return { rules_dir, rule_interval_hours: 2, lookback_days: 3 }
    },
    fields: ['rule_interval_hours'],
  },
  { method: 'GET', path: '/rules', need: 'key', fields: ['files'] },
  {
    method: 'PUT',
    path: '/rules/{file}',
    need: 'key',
    at: { params: { file: 'hot.yaml' } },
    body: () => warmRule('TEST-HOT', 80),
    type: 'application/yaml',
    fields: ['ok'],
  },
  { method: 'GET', path: '/rules/{file}', need: 'key', at: { params: { file: 'hot.yaml' } }, fields: [] },
  { method: 'DELETE', path: '/rules/{file}', need: 'key', at: { params: { file: 'hot.yaml' } }, fields: ['ok'] },
  { method: 'POST', path: '/rules/sync-definitions', need: 'key', fields: ['ok'] },
  { method: 'POST', path: '/run-fdd', need: 'key', status: 202, fields: ['ok'] },
]

const inSection = (section: Endpoint['section'], endpoints: readonly Omit<Endpoint, 'section'>[]): Endpoint[] =>
  endpoints.map(endpoint => ({ section, ...endpoint }))

export const ENDPOINTS: Endpoint[] = [
  ...inSection('Authentication and health', AUTHENTICATION),
  ...inSection('Data and model', DATA),
  ...inSection('Older configuration API', OLDER),
]
