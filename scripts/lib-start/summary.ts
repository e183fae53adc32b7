import { BUILDING_ID } from '../simulator/building/catalogue.ts'
import type { HubClient } from './hub-client.ts'

/** Output of `--once --json`. */
type Summary = {
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

/** Present state of the hub. */
export async function summarize(hub: HubClient, startedAt: number): Promise<Summary> {
  const findings = await hub.findings()
  const { edges, ingest_ok, ingest_duplicate } = await hub.health()
  const { points } = await hub.get<{ points: Point[] }>(`/api/model/points?building_id=${BUILDING_ID}&limit=1000`)
  let readings = 0
  for (const point of points) readings += await countReadings(hub, point)
  return {
    edges,
    points: points.length,
    readings,
    ingest_ok,
    ingest_duplicate,
    findings: findings.map(({ rule_id, equipment_id, from }) => ({ rule_id, equipment_id, from })),
    seconds: Math.round((Date.now() - startedAt) / 100) / 10,
  }
}

type Point = { point_id: string; equipment_id: string }
type SeriesReply = { series: { points: { last: number | null }[] }[] }

/** Samples with a value; ten days of minutes come as they are, more are gathered into buckets. */
async function countReadings(hub: HubClient, { point_id, equipment_id }: Point): Promise<number> {
  const query = new URLSearchParams({ building_id: BUILDING_ID, equipment_id, point_id, max_points: '20000' })
  const { series } = await hub.get<SeriesReply>(`/api/fdd/series?${query}`)
  return series.reduce((sum, { points }) => sum + points.filter(({ last }) => last !== null).length, 0)
}
