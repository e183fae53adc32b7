/** The report of a connection test: each step, and what to do about the one that fails. */
import type { HaystackAuth } from './endpoint.ts'
import { STEPS, type HaystackFailure, type Step } from './failure.ts'

type StepState = 'ok' | 'failed' | 'not_reached' | 'not_used'
type StepReport = { step: Step; state: StepState; message?: string; advice?: string }

/** One point that was read: its value, or in words why it has none. */
export type PointReport = { address: string; says: string }

export type ConnectionReport = {
  ok: boolean
  endpoint: string
  auth: HaystackAuth
  steps: StepReport[]
  /** Null when the server was not reached, or does not say. */
  server: { name: string | null; product: string | null; version: string | null; haystack: string | null } | null
  /** Media types that the server says it writes. Null when it does not say. */
  formats: string[] | null
  /** Whether changes can be watched; null when the server does not say. Where not, points are read. */
  watches: boolean | null
  /** Null when no point could be read, which is a failure of the step op or parse. */
  point: PointReport | null
}

/** @param failure what ended the test; undefined when everything went well */
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
  hello: 'kind of login (hello)',
  auth: 'login (auth)',
  op: 'question (op)',
  parse: 'answer (parse)',
}

/** The report in lines for a terminal. */
export function connectionLines({ ok, endpoint, auth, steps, server, formats, watches, point }: ConnectionReport): string[] {
  const lines = steps.flatMap(({ step, state, message, advice }) => [
    `  ${NAMES[step].padEnd(22)} ${STATES[state]}${message === undefined ? '' : `: ${message}`}`,
    ...(advice === undefined ? [] : [`  ${''.padEnd(22)} → ${advice}`]),
  ])
  const about = server && [server.product, server.version, server.name && `"${server.name}"`].filter(Boolean).join(' ')
  return [
    `${endpoint} with auth ${auth}: ${ok ? 'well' : wordFor(steps)}`,
    ...lines,
    ...(about ? [`  it is ${about}${server.haystack === null ? '' : `, Haystack ${server.haystack}`}`] : []),
    ...(formats ? [`  it writes ${formats.join(', ')}`] : []),
    ...(watches === null ? [] : [`  ${watches ? 'changes are watched' : 'it keeps no watches; points are read'}`]),
    ...(point ? [`  ${point.address}: ${point.says}`] : []),
  ]
}

/** A server that lets us in and answers nothing that can be used was reached. */
function wordFor(steps: readonly StepReport[]): string {
  const failed = steps.find(({ state }) => state === 'failed')?.step
  return failed === 'op' || failed === 'parse' ? 'reached, but not read' : 'not reached'
}
