/** What the hub knows of the systems of its boxes, from their status messages. */
import { Value } from '@sinclair/typebox/value'
import type { EdgeRecord } from '#shared/core/stores.ts'
import type { BoxReport } from '#shared/core/update/rollout.ts'
import { SystemReport } from '#shared/core/update/update-wire.ts'
import { healthOf } from '../pages/fleet-status.ts'

/** @param now ms */
export const boxReport = (edge: EdgeRecord, now: number): BoxReport => ({
  site_id: edge.site_id,
  edge_id: edge.edge_id,
  version: versionOf(edge),
  online: edge.online,
  is_healthy: healthOf(edge, now).status === 'operational',
  system: systemOf(edge.status_body),
})

/** The status is sent each minute, metadata only when they have changed. */
function versionOf({ status_body, version }: EdgeRecord): string {
  const told = status_body['version']
  return typeof told === 'string' ? told : (version ?? '')
}

/** A status message is untrusted. */
function systemOf({ system }: Record<string, unknown>): SystemReport | undefined {
  return Value.Check(SystemReport, system) ? system : undefined
}
