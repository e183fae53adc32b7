/** A building with three days of history and findings on it, for tests of pages. `NOW` is a fixed instant. */
import type { Finding, FindingKind, Severity } from '#shared/core/findings/finding.ts'
import type { Building, Equipment, Point } from '#shared/core/model/model.ts'
import type { LatestResult, RunRecord } from '#shared/core/ports.ts'
import type { EdgeRecord } from '#shared/core/stores.ts'
import { DAY, HOUR, MINUTE, SECOND } from '#shared/core/time.ts'

/** Friday 20 November 2026, 14:02:10 in Chicago. */
export const NOW = Date.UTC(2026, 10, 20, 20, 2, 10)

export const BUILDING: Building = {
  building_id: 'school',
  name: 'Riverside School',
  site_id: 'riverside',
  timezone: 'America/Chicago',
  unit_system: 'us',
}
export const EQUIPMENT: Equipment[] = [
  { equipment_id: 'ahu-1', building_id: 'school', name: 'Air handler 1', equipment_type: 'ahu', feeds: ['vav-3'] },
  { equipment_id: 'vav-3', building_id: 'school', name: 'VAV 3, library', equipment_type: 'vav', parent_id: 'ahu-1' },
  { equipment_id: 'chiller-1', building_id: 'school', name: 'Chiller 1', equipment_type: 'chiller' },
]

const point = (equipment_id: string, role: string, unit: string, address: string, kind: Point['kind'] = 'number'): Point => ({
  point_id: `${equipment_id}.${role}`,
  building_id: 'school',
  equipment_id,
  name: `${equipment_id.toUpperCase()} ${role.toUpperCase()}`,
  role,
  unit,
  kind,
  source: { protocol: 'bacnet', address },
  poll_secs: 60,
})
export const POINTS: Point[] = [
  point('ahu-1', 'sa_t', 'degF', 'dev 1007 AI-12'),
  point('ahu-1', 'sa_t_sp', 'degF', 'dev 1007 AV-3'),
  point('ahu-1', 'ma_t', 'degC', 'dev 1007 AI-9'),
  point('ahu-1', 'clg_valve', 'percent', 'dev 1007 AO-4'),
  point('ahu-1', 'fan_status', 'bool', 'dev 1007 BI-1', 'bool'),
  point('vav-3', 'zone_flow', 'cfm', 'dev 1103 AI-2'),
  point('vav-3', 'damper', 'percent', 'dev 1103 AO-1'),
]

/** The rule behind `COOLING`, as a file holds it. */
export const RULE_FILE = `id: AHU-SUPPLY-WARM
title: Supply air too warm with the cooling valve wide open
kind: fault
equipment: [ahu]
roles: { sa_t: degC, sa_t_sp: degC, ma_t: degC, clg_valve: fraction, fan_status: bool }
params:
  tolerance: { default: 1.1, min: 0.5, max: 5, unit: K }
  full: { default: 0.95, min: 0.5, max: 1, unit: fraction }
let:
  too_warm: avg(sa_t - sa_t_sp, 10m)
gate: fan_status
when: too_warm > tolerance and clg_valve >= full
persistence: 60m
severity: 1
cause: { cooling_valve: 0.7, supply_air_sensor: 0.2 }
explains: Supply air was {too_warm} above its set point with the cooling valve at {clg_valve}, for {duration}.
source: ASHRAE Guideline 36-2021 5.16.14 FC13
tests:
  - name: warm for two hours
    step: 5m
    sa_t: 18x24
    sa_t_sp: 13x24
    ma_t: 24x24
    clg_valve: 1x24
    fan_status: 1x24
    status: fault
`

type Given = Pick<Finding, 'finding_id' | 'rule_id' | 'equipment_id' | 'title'> & {
  kind?: FindingKind
  severity?: Severity
  from: number
  to?: number
  inputs?: Record<string, number | null>
  sentence?: string
  suppressed_by?: string
}

export function finding({
  kind = 'fault',
  severity = 2,
  from,
  to,
  inputs = {},
  sentence,
  suppressed_by,
  ...given
}: Given): Finding {
  const end = to ?? NOW
  return {
    ...given,
    building_id: 'school',
    kind,
    severity,
    from,
    to: to ?? null,
    confirmed_at: from + HOUR,
    duration_secs: Math.round((end - from) / SECOND),
    state: to === undefined ? 'active' : 'cleared',
    cause: [
      { component: 'cooling_valve', weight: 0.7 },
      { component: 'supply_air_sensor', weight: 0.2 },
    ],
    evidence: {
      expression: 'too_warm > tolerance and clg_valve >= full',
      terms: [
        { text: 'sa_t - sa_t_sp > tolerance', holds: true },
        { text: 'clg_valve >= full', holds: true },
        { text: 'ma_t > sa_t', holds: null },
      ],
      inputs,
      params: {
        tolerance: { value: 1.1, unit: 'K', source: 'default' },
        full: { value: 0.95, unit: 'fraction', source: 'site' },
      },
      worst_at: from + (end - from) / 2,
      sentence: sentence ?? `${given.title} for a while.`,
    },
    ...(suppressed_by !== undefined && { suppressed_by }),
  }
}

const COOLING_INPUTS = { sa_t: 16.8, sa_t_sp: 12.8, ma_t: 24.1, clg_valve: 1, fan_status: 1 }
export const COOLING = finding({
  finding_id: 'f-cooling',
  rule_id: 'AHU-SUPPLY-WARM',
  equipment_id: 'ahu-1',
  title: 'Supply air too warm with the cooling valve wide open',
  severity: 1,
  from: NOW - 6 * HOUR,
  inputs: COOLING_INPUTS,
  sentence: 'Supply air was 4.1 K above its set point of 12.8 °C with the cooling valve at 100 %, for 6 h.',
})
export const FINDINGS: Finding[] = [
  COOLING,
  {
    ...COOLING,
    ...finding({
      ...COOLING,
      finding_id: 'f-cooling-before',
      from: NOW - 30 * HOUR,
      to: NOW - 27 * HOUR,
      inputs: COOLING_INPUTS,
      suppressed_by: undefined as never,
    }),
  },
  finding({
    finding_id: 'f-flow',
    rule_id: 'VAV-LOW-FLOW',
    equipment_id: 'vav-3',
    title: 'Air flow below its set point at a wide open damper',
    from: NOW - 26 * HOUR,
    inputs: { zone_flow: 0.05, damper: 1 },
    sentence: 'Flow stayed at 106 cfm of the 420 cfm asked for.',
  }),
  finding({
    finding_id: 'f-valve',
    rule_id: 'CHW-LOW-DT',
    equipment_id: 'chiller-1',
    title: 'Chilled water comes back too cold',
    severity: 3,
    from: NOW - 50 * HOUR,
    to: NOW - 44 * HOUR,
  }),
  finding({
    finding_id: 'f-stale',
    rule_id: 'SENSOR-FLAT',
    equipment_id: 'ahu-1',
    title: 'Return air humidity rests at one value',
    kind: 'sensor',
    severity: 3,
    from: NOW - 20 * HOUR,
  }),
  finding({
    finding_id: 'f-zone',
    rule_id: 'ZONE-WARM',
    equipment_id: 'vav-3',
    title: 'Zone too warm while occupied',
    kind: 'comfort',
    from: NOW - 5 * HOUR,
    suppressed_by: 'f-cooling',
  }),
]

/** One value a minute over three days, with two hours missing yesterday night and a last silent quarter of an hour. */
export function samplesOf({ role }: Point): { ts: Float64Array; values: Float64Array } {
  const rows: [number, number][] = []
  for (let t = NOW - 3 * DAY; t < NOW; t += MINUTE) {
    const isMissing = t > NOW - 9 * HOUR && t < NOW - 7 * HOUR
    if (!isMissing && !(role === 'ma_t' && t > NOW - 15 * MINUTE)) rows.push([t, valueAt(role!, t)])
  }
  return { ts: Float64Array.from(rows, ([t]) => t), values: Float64Array.from(rows, ([, v]) => v) }
}

function valueAt(role: string, t: number): number {
  const faulty = COOLING.from <= t || (t >= NOW - 30 * HOUR && t < NOW - 27 * HOUR)
  const wave = Math.sin(t / (40 * MINUTE))
  switch (role) {
    case 'sa_t':
      return 55 + wave + (faulty ? 6.5 : 0)
    case 'sa_t_sp':
      return 55
    case 'ma_t':
      return 24 + 2 * Math.sin(t / (5 * HOUR))
    case 'clg_valve':
      return faulty ? 100 : 45 + 20 * wave
    case 'fan_status':
      return new Date(t).getUTCHours() >= 11 ? 1 : 0
    case 'zone_flow':
      return 106 + 8 * wave
    default:
      return 100
  }
}

export const RUN: RunRecord = {
  run_id: 'run-1',
  building_id: 'school',
  started_at: NOW - 12 * MINUTE - 2300,
  finished_at: NOW - 12 * MINUTE,
  from: NOW - 3 * DAY,
  to: NOW - 12 * MINUTE,
  trigger: 'schedule',
  rule_ids: ['AHU-SUPPLY-WARM', 'VAV-LOW-FLOW', 'CHW-LOW-DT', 'SENSOR-FLAT'],
  results: [
    {
      rule_id: 'AHU-SUPPLY-WARM',
      equipment_id: 'ahu-1',
      status: 'fault',
      coverage: 0.91,
      reason: 'no_data',
      fault_secs: 32_000,
      episodes: 2,
    },
    { rule_id: 'VAV-LOW-FLOW', equipment_id: 'vav-3', status: 'fault', coverage: 1, fault_secs: 93_600, episodes: 1 },
    { rule_id: 'CHW-LOW-DT', equipment_id: 'chiller-1', status: 'pass', coverage: 1, fault_secs: 0, episodes: 0 },
    {
      rule_id: 'AHU-FC1',
      equipment_id: 'ahu-1',
      status: 'not_evaluated',
      reason: 'missing_role',
      missing_roles: ['duct_static'],
      coverage: 0,
      fault_secs: 0,
      episodes: 0,
    },
  ],
  failed: [],
}
export const LATEST: LatestResult[] = RUN.results.map(result => ({
  ...result,
  run_id: RUN.run_id,
  finished_at: RUN.finished_at,
  looked_to: RUN.to,
}))

const edge = (edge_id: string, name: string, rest: Partial<EdgeRecord>): EdgeRecord => ({
  edge_id,
  name,
  site_id: 'riverside',
  building_id: 'school',
  version: '0.1.0+d792499f00aa',
  last_seen_at: NOW - 20 * SECOND,
  status: 'operational',
  online: true,
  session_changed_at: NOW - 3 * DAY,
  last_data_at: NOW - 20 * SECOND,
  fresh_since: NOW - 6 * HOUR,
  version_since: NOW - 9 * DAY,
  metadata_revision: 3,
  status_body: {
    online: true,
    version: '0.1.0+d792499f00aa',
    clock_offset_ms: 40,
    backlog: { rows: 0, oldest_at: null },
    cert_not_after: new Date(NOW + 300 * DAY).toISOString(),
    runs_rules: true,
  },
  ...rest,
})
export const EDGES: EdgeRecord[] = [
  edge('edge-1', 'Plant room', {}),
  edge('edge-2', 'Gymnasium', {
    last_data_at: NOW - 3 * HOUR,
    status_body: {
      clock_offset_ms: -90_000,
      sent_at: NOW - 20 * SECOND,
      backlog: { rows: 4120, oldest_at: NOW - 3 * HOUR, drain_per_min: 180 },
      dropped: 12,
      cert_not_after: NOW + 20 * DAY,
    },
  }),
  edge('edge-3', 'Annex', { online: false, session_changed_at: NOW - 2 * DAY, last_data_at: NOW - 2 * DAY }),
  edge('edge-4', 'Pool', { online: false, session_changed_at: null, last_data_at: null, version: '', status_body: {} }),
]
