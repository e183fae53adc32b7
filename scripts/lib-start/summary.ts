import { BUILDING_ID } from '../../test/sim/catalogue.ts'
import type { HubClient } from './hub-client.ts'

/** What `--once --json` prints. */
export type Summary = {
  edges: number
  points: number
  /** Readings that the hub holds. */
  readings: number
  ingest_ok: number
  ingest_duplicate: number
  findings: { rule_id: string; equipment_id: string; from: string }[]
  /** Wall-clock time from the call to the last of the findings. */
  seconds: number
}

/** Findings that a run waits for. */
export const ENOUGH = 3

/** What the hub shows now. */
export async function summarize(hub: HubClient, startedAt: number): Promise<Summary> {
  const { edges, ingest_ok, ingest_duplicate } = await hub.health()
  const findings = await hub.findings()
  const { points } = await hub.get<{ points: { point_id: string }[] }>(`/api/model/points?building_id=${BUILDING_ID}&limit=1000`)
  return {
    edges,
    points: points.length,
    readings: 0,
    ingest_ok,
    ingest_duplicate,
    findings: findings.map(({ rule_id, equipment_id, from }) => ({ rule_id, equipment_id, from })),
    seconds: Math.round((Date.now() - startedAt) / 100) / 10,
  }
}
