/** Good bodies, to be spoilt by tests. */
import type { Finding } from '#shared/core/findings/finding.ts'

export const STREAM = '6f1c2a34-0d0a-4f5e-9b7e-000000000001'
export const MESSAGE_ID = '6f1c2a34-0d0a-4f5e-9b7e-0000000000aa'
export const NOON = Date.UTC(2026, 2, 1, 12)

export const envelope = (seq = 1) => ({ message_id: MESSAGE_ID, stream: STREAM, seq, sent_at: NOON, site_id: 'A', edge_id: 'e1' })

export const finding: Finding = {
  finding_id: 'f-1',
  building_id: 'building-A',
  equipment_id: 'ahu-1',
  rule_id: 'AHU-FC13',
  kind: 'fault',
  title: 'Supply air too warm',
  severity: 2,
  from: NOON,
  to: null,
  confirmed_at: NOON + 3_600_000,
  duration_secs: 3600,
  state: 'active',
  cause: [{ component: 'cooling_valve', weight: 0.7 }],
  evidence: {
    expression: 'sat > sat_sp + tolerance',
    terms: [{ text: 'sat > sat_sp + tolerance', holds: null }],
    inputs: { sat: 18.5, sat_sp: null },
    params: { tolerance: { value: 1.1, unit: 'K', source: 'default' } },
    worst_at: NOON + 60_000,
    sentence: 'Supply air was 5.5 K too warm.',
  },
  suppressed_by: 'f-0',
}
