/** The report of a connection test: the state of each step, and advice for the one that failed. */
import type { HaystackAuth } from './address.ts'
import { STEPS, type HaystackFailure, type Step } from './failure.ts'

type StepState = 'ok' | 'failed' | 'not_reached' | 'not_used'
type StepReport = { step: Step; state: StepState; message?: string; advice?: string }

/** One point that was read. `says`: its value, or the reason why it has none. */
export type PointReport = { address: string; says: string }

export type ConnectionReport = {
  ok: boolean
  endpoint: string
  auth: HaystackAuth
  steps: StepReport[]
  /** Null when the server was not reached; each text is null when the server does not state it. */
  server: { name: string | null; product: string | null; version: string | null; haystack: string | null } | null
  /** Media types that the server writes; null when it does not list them. */
  formats: string[] | null
  /** Whether the server has watches; null when it does not list its ops. Without watches points are read by id. */
  watches: boolean | null
  /** Null when no point could be read; then the step op or parse has failed. */
  point: PointReport | null
}

/** @param failure the error that ended the test; undefined when it passed */
export function reportSteps(endpoint: URL, auth: HaystackAuth, failure: HaystackFailure | undefined): StepReport[] {
  const failed = failure ? STEPS.indexOf(failure.step) : STEPS.length
  return STEPS.map((step, i): StepReport => {
    if (i === failed) {
      const { message, advice } = failure!
      return { step, state: 'failed', message, ...(advice !== undefined && { advice }) }
    }
    if (!isUsed(step, endpoint, auth)) return { step, state: 'not_used' }
    return { step, state: i < failed ? 'ok' : 'not_reached' }
  })
}

function isUsed(step: Step, { protocol, hostname }: URL, auth: HaystackAuth): boolean {
  if (step === 'dns') return !/^\[|^\d{1,3}(\.\d{1,3}){3}$/.test(hostname)
  if (step === 'tls') return protocol === 'https:'
  return step === 'hello' ? auth === 'scram' : true
}

const STATES: Record<StepState, string> = { ok: 'ok', failed: 'FAILED', not_reached: 'not reached', not_used: 'not used' }
const NAMES: Record<Step, string> = {
  dns: 'name',
  tcp: 'connection (TCP)',
  tls: 'encryption (TLS)',
  hello: 'login method (hello)',
  auth: 'login (auth)',
  op: 'request (op)',
  parse: 'answer (parse)',
}

/** @returns the report as lines for a terminal */
export function connectionLines({ ok, endpoint, auth, steps, server, formats, watches, point }: ConnectionReport): string[] {
  const lines = steps.flatMap(({ step, state, message, advice }) => [
    `  ${NAMES[step].padEnd(22)} ${STATES[state]}${message === undefined ? '' : `: ${message}`}`,
    ...(advice === undefined ? [] : [`  ${''.padEnd(22)} → ${advice}`]),
  ])
  const about = server && [server.product, server.version, server.name && `"${server.name}"`].filter(Boolean).join(' ')
  return [
    `${endpoint} with auth ${auth}: ${ok ? 'ok' : describeFailure(steps)}`,
    ...lines,
    ...(about ? [`  server: ${about}${server.haystack === null ? '' : `, Haystack ${server.haystack}`}`] : []),
    ...(formats ? [`  formats: ${formats.join(', ')}`] : []),
    ...(watches === null ? [] : [`  ${watches ? 'watches: yes' : 'watches: none, so points are read by id'}`]),
    ...(point ? [`  ${point.address}: ${point.says}`] : []),
  ]
}

/** A failure of the request or of its answer shows that the server was reached. */
function describeFailure(steps: readonly StepReport[]): string {
  const failed = steps.find(({ state }) => state === 'failed')?.step
  return failed === 'op' || failed === 'parse' ? 'reached, but not readable' : 'not reached'
}
