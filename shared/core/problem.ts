/** Every failure that a caller can receive, by code. The API answers with application/problem+json (RFC 9457). */
export const PROBLEMS = {
  bad_request: { status: 400, title: 'The request does not match its schema' },
  bad_cursor: { status: 400, title: 'The cursor is not valid' },
  unauthenticated: { status: 401, title: 'A valid token is required' },
  forbidden: { status: 403, title: 'The role does not allow this' },
  apply_refused_over_https: { status: 403, title: 'Only a dry run is made over the network' },
  password_change_required: { status: 403, title: 'Choose a password first' },
  action_tools_disabled: { status: 403, title: 'Action tools are switched off' },
  not_found: { status: 404, title: 'Not found' },
  unknown_building: { status: 404, title: 'No such building' },
  unknown_equipment: { status: 404, title: 'No such equipment' },
  unknown_point: { status: 404, title: 'No such point' },
  unknown_rule: { status: 404, title: 'No such rule' },
  unknown_finding: { status: 404, title: 'No such finding' },
  unknown_session: { status: 404, title: 'No such import session' },
  unknown_run: { status: 404, title: 'No such run' },
  unknown_token: { status: 404, title: 'No such token' },
  unknown_user: { status: 404, title: 'No such user' },
  unknown_tenant: { status: 404, title: 'No such tenant' },
  unknown_box: { status: 404, title: 'No such box waits' },
  unknown_edge: { status: 404, title: 'No such edge' },
  unknown_device: { status: 404, title: 'No such device' },
  unknown_visit: { status: 404, title: 'No such visit' },
  unknown_section: { status: 404, title: 'No such section' },
  unknown_task: { status: 404, title: 'No playbook for this task' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  request_timeout: { status: 408, title: 'The request did not arrive in time' },
  conflict: { status: 409, title: 'Conflict with the current state' },
  ambiguous_edge: { status: 409, title: 'Several sites have an edge with this id' },
  rule_inactive: { status: 409, title: 'The rule is deactivated' },
  no_authority: { status: 409, title: 'This hub issues no certificates' },
  tenants_disabled: { status: 409, title: 'This process serves one tenant' },
  run_in_progress: { status: 409, title: 'A run is already in progress' },
  ran_by_appliance: { status: 409, title: 'The rules of this building run on its own appliance' },
  run_cancelled: { status: 409, title: 'The run was cancelled' },
  discovery_in_progress: { status: 409, title: 'A discovery is already running' },
  discovery_disabled: { status: 409, title: 'Discovery is switched off' },
  visit_in_progress: { status: 409, title: 'A visit is already in progress' },
  backup_in_progress: { status: 409, title: 'A backup is already being sent' },
  screening_disabled: { status: 409, title: 'Anomaly screening is switched off' },
  scanner_disabled: { status: 409, title: 'The priority scanner is switched off' },
  cursor_expired: { status: 410, title: 'The cursor has expired' },
  too_large: { status: 413, title: 'Request body too large' },
  unsupported_media_type: { status: 415, title: 'Media type not supported' },
  append_takes_json: { status: 415, title: 'Append needs JSON with confirm, building_id, equipment_id and csv' },
  invalid: { status: 422, title: 'The request is not valid' },
  confirm_required: { status: 422, title: 'confirm: true is required' },
  mapping_empty: { status: 422, title: 'The mapping is empty' },
  package_invalid: { status: 422, title: 'The package fails validation' },
  rule_invalid: { status: 422, title: 'The rule is not valid' },
  rule_tests_failed: { status: 422, title: 'The rule fails its own tests' },
  login_throttled: { status: 429, title: 'Too many failed logins' },
  too_many_requests: { status: 429, title: 'Too many requests in this minute' },
  too_many_boxes: { status: 429, title: 'Too many boxes wait' },
  headers_too_large: { status: 431, title: 'Request header too large' },
  device_failed: { status: 502, title: 'The device gave no usable answer' },
  edge_failed: { status: 502, title: 'The edge gave no usable answer' },
  edge_unreachable: { status: 502, title: 'The edge cannot be reached' },
  central_unreachable: { status: 502, title: 'Central cannot be reached' },
  not_ready: { status: 503, title: 'Not ready' },
  index_unavailable: { status: 503, title: 'The index of documents cannot be used' },
  query_failed: { status: 503, title: 'The query process ended before it answered' },
  history_damaged: { status: 503, title: 'Stored history cannot be read' },
  edge_timeout: { status: 504, title: 'The edge did not answer in time' },
  central_timeout: { status: 504, title: 'Central did not answer in time' },
  workspace_full: { status: 507, title: 'The workspace is full' },
  tenant_over_budget: { status: 507, title: 'The budget of the tenant is used up' },
  internal: { status: 500, title: 'Internal error' },
} as const

export type ProblemCode = keyof typeof PROBLEMS

/** One place where data is wrong; an answer lists up to 100. */
export type DataError = { pointer?: string; row?: number; column?: string; message: string; hint?: string }

/** Advice for an agent after a failure, with a correct example. */
export type AgentHint = { code: string; action: string; example: string }

/** An operating error: expected, typed, shown to the caller. Programmer errors use node:assert instead. */
export class Problem extends Error {
  override name = 'Problem'
  readonly code: ProblemCode
  readonly errors: DataError[]
  readonly hints: AgentHint[]
  constructor(code: ProblemCode, detail: string, errors: DataError[] = [], hints: AgentHint[] = []) {
    super(detail)
    this.code = code
    this.errors = errors
    this.hints = hints
  }
}

/** A refusal that ends by itself; the answer carries `Retry-After`. */
export class ThrottledProblem extends Problem {
  readonly retryAfterSecs: number
  constructor(code: ProblemCode, detail: string, retryAfterSecs: number) {
    super(code, detail)
    this.retryAfterSecs = retryAfterSecs
  }
}

/** Most data errors that one answer lists; `errors_total` is their full number. */
export const ERRORS_MAX = 100

/** @param hints those of the problem unless others are given. @returns the RFC 9457 body, ready to serialise */
export function toProblemJson(problem: Problem, at: { instance: string; request_id: string }, hints = problem.hints) {
  const { status, title } = PROBLEMS[problem.code]
  const body = { type: `urn:plenum:problem:${problem.code}`, title, status, detail: problem.message, ...at }
  const listed = problem.errors.length ? { errors: problem.errors.slice(0, ERRORS_MAX), errors_total: problem.errors.length } : {}
  return {
    ...body,
    ok: false as const,
    error: problem.message,
    code: problem.code,
    ...listed,
    ...(hints.length && { agent_hints: hints }),
  }
}
