/** `svc_findings_v1`: findings that an edge made on the box (contract §§6, 8). */
import { STRETCHES_MAX } from '#shared/core/findings/fault-time.ts'
import {
  type FaultStretch,
  type BaselineView,
  type Ending,
  ENDINGS,
  type Evidence,
  type Finding,
  FINDING_KINDS,
  type ParamValue,
} from '#shared/core/findings/finding.ts'
import { formatInstant } from '../time.ts'
import type { Decoded } from './body.ts'
import { readGap, readImpact } from './impact.ts'
import { type Envelope, readEnvelope, writeEnvelope } from './envelope.ts'
import {
  asId,
  asText,
  choice,
  decodeWith,
  type Fields,
  fields,
  flag,
  id,
  instant,
  integer,
  list,
  number,
  optional,
  type MemberPath,
  text,
  unfit,
} from './read.ts'

const FINDINGS_SCHEMA = 'svc_findings_v1'
/** Most findings in a message. */
export const FINDINGS_MAX = 100
/** Most causes, terms, inputs, parameters or baselines of one finding: several times what a rule can have. */
const PARTS_MAX = 64
/** Days that a baseline looks back to, at most. */
const BASELINE_DATES_MAX = 366
const PARAM_SOURCES = ['default', 'site', 'type', 'equipment', 'request'] as const

/** `withdrawn`: ids of findings that a later run did not find any more. */
type FindingsMessage = Envelope & { findings: Finding[]; withdrawn?: string[] }

/** @returns the body, ready for `packBody` */
export function writeFindings({ findings, withdrawn, ...envelope }: FindingsMessage): object {
  const body = { ...writeEnvelope(FINDINGS_SCHEMA, envelope), findings: findings.map(writeFinding) }
  return { ...body, ...(withdrawn && { withdrawn }) }
}

export function readFindings(body: Record<string, unknown>): Decoded<FindingsMessage> {
  return decodeWith(() => {
    const from = fields(body, '')
    return {
      ...readEnvelope(from, FINDINGS_SCHEMA),
      findings: list(from, 'findings', FINDINGS_MAX, readFinding),
      ...optional(from, 'withdrawn', () => list(from, 'withdrawn', FINDINGS_MAX, asId)),
    }
  })
}

/** The wasted amount stays on the edge, which alone can price it again: the hub shows the edge's cost. */
const writeFinding = ({ waste: _waste, ...finding }: Finding) => ({
  ...finding,
  from: formatInstant(finding.from),
  to: finding.to === null ? null : formatInstant(finding.to),
  confirmed_at: formatInstant(finding.confirmed_at),
  ...(finding.ended && { ended: { ...finding.ended, at: formatInstant(finding.ended.at) } }),
  ...(finding.hindsight && { hindsight: { normal_from: formatInstant(finding.hindsight.normal_from) } }),
  evidence: { ...finding.evidence, worst_at: formatInstant(finding.evidence.worst_at) },
})

function readFinding(value: unknown, path: MemberPath): Finding {
  const from = fields(value, path)
  const start = instant(from, 'from')
  const end = from.body.to === null ? null : instant(from, 'to')
  if (end !== null && end < start) unfit(`${path}.to`, 'at or after from', from.body.to)
  return {
    finding_id: id(from, 'finding_id'),
    building_id: id(from, 'building_id'),
    equipment_id: id(from, 'equipment_id'),
    rule_id: id(from, 'rule_id'),
    kind: choice(from, 'kind', FINDING_KINDS),
    title: text(from, 'title'),
    severity: choice(from, 'severity', [1, 2, 3, 4] as const),
    from: start,
    to: end,
    confirmed_at: instant(from, 'confirmed_at'),
    duration_secs: number(from, 'duration_secs', 0),
    ...optional(from, 'stretches', () => list(from, 'stretches', STRETCHES_MAX, readStretch)),
    state: choice(from, 'state', ['active', 'cleared'] as const),
    // Each weight of a rule is at most 1, and those of one component add up.
    cause: list(from, 'cause', PARTS_MAX, (part, at) => {
      const cause = fields(part, at)
      return { component: text(cause, 'component'), weight: number(cause, 'weight', 0, PARTS_MAX) }
    }),
    evidence: readEvidence(fields(from.body.evidence, `${path}.evidence`)),
    ...optional(from, 'ended', (_, name) => readEnding(fields(from.body[name], `${path}.${name}`))),
    ...optional(from, 'hindsight', (_, name) => ({
      normal_from: instant(fields(from.body[name], `${path}.${name}`), 'normal_from'),
    })),
    ...optional(from, 'suppressed_by', id),
    ...optional(from, 'relabelled_by', id),
    ...optional(from, 'role', id),
    ...optional(from, 'impact', (_, name) => readImpact(fields(from.body[name], `${path}.${name}`))),
    ...optional(from, 'not_priced', () => list(from, 'not_priced', PARTS_MAX, readGap)),
  }
}

const readEnding = (from: Fields): Ending => ({ why: choice(from, 'why', ENDINGS), at: instant(from, 'at') })

/** `[from, to, time in fault within it]`, all ms: of many findings each character counts. */
function readStretch(value: unknown, path: MemberPath): FaultStretch {
  if (!Array.isArray(value) || value.length !== 3 || !value.every(Number.isFinite)) unfit(path, 'three numbers', value)
  const [from, to, trueMs] = value as [number, number, number]
  if (from >= to || trueMs < 0 || trueMs > to - from) unfit(path, 'from before to, and a time in fault that fits between', value)
  return [from, to, trueMs]
}

function readEvidence(from: Fields): Evidence {
  return {
    expression: text(from, 'expression', 4096),
    terms: list(from, 'terms', PARTS_MAX, (part, at) => {
      const term = fields(part, at)
      return { text: text(term, 'text', 4096), holds: term.body.holds === null ? null : flag(term, 'holds') }
    }),
    inputs: record(from, 'inputs', (inputs, name) => (inputs.body[name] === null ? null : number(inputs, name))),
    params: record(from, 'params', readParam),
    worst_at: instant(from, 'worst_at'),
    sentence: text(from, 'sentence', 4096),
    ...optional(from, 'baselines', () => list(from, 'baselines', PARTS_MAX, readBaseline)),
  }
}

function readBaseline(value: unknown, path: MemberPath): BaselineView {
  const from = fields(value, path)
  const figure = (name: string) => (from.body[name] === null ? null : number(from, name))
  const dates = (name: string) => list(from, name, BASELINE_DATES_MAX, (date, at) => asText(date, at))
  return {
    name: text(from, 'name'),
    value: figure('value'),
    spread: figure('spread'),
    days_used: integer(from, 'days_used', 0),
    dates: dates('dates'),
    left_out: list(from, 'left_out', BASELINE_DATES_MAX, (day, at) => {
      const left = fields(day, at)
      return { date: text(left, 'date'), why: text(left, 'why') }
    }),
    cold: flag(from, 'cold'),
  }
}

function readParam(from: Fields, name: string): ParamValue {
  const param = fields(from.body[name], `${from.path}.${name}`)
  return { value: number(param, 'value'), unit: text(param, 'unit'), source: choice(param, 'source', PARAM_SOURCES) }
}

function record<T>(from: Fields, name: string, read: (from: Fields, name: string) => T): Record<string, T> {
  const members = fields(from.body[name], `${from.path}.${name}`)
  const names = Object.keys(members.body)
  if (names.length > PARTS_MAX) unfit(members.path, `an object of at most ${PARTS_MAX} members`, `${names.length} members`)
  return Object.fromEntries(names.map(member => [member, read(members, member)]))
}
