/** How polling goes in this process and at the edges that report to it, as one answer (contract §10). */
import type { PollReport, Reported } from '../telemetry/poll-report.ts'
import { formatInstant } from '../time.ts'
import type { DeviceStatus, PollStatus } from './poll-status.ts'

/** Counts of one edge, and how old they are. */
type EdgePoll = Omit<PollReport, 'devices'> & { edge_id: string; site_id: string; reported_at: string }
/** Body of `GET /api/bacnet/poll/status` on a central: sums over all, and whose they are. */
type MergedPollStatus = Omit<PollStatus, 'devices'> & {
  /** Devices of this process have no `edge_id`. */
  devices: (DeviceStatus & { edge_id?: string })[]
  edges: EdgePoll[]
}

const SUMS = ['cycles', 'late_cycles', 'points_ok', 'points_stale', 'points_down', 'points_fault'] as const

/** @param own what this process polls itself; undefined where it has no driver */
export function mergePollStatus(own: PollStatus | undefined, reported: readonly Reported[]): MergedPollStatus {
  const parts = [...(own ? [own] : []), ...reported.map(({ report }) => report)]
  const sum = (name: (typeof SUMS)[number]) => parts.reduce((total, part) => total + part[name], 0)
  return {
    ok: true,
    enabled: parts.some(({ enabled }) => enabled),
    running: parts.some(({ running }) => running),
    ...(Object.fromEntries(SUMS.map(name => [name, sum(name)])) as Record<(typeof SUMS)[number], number>),
    devices: [
      ...(own?.devices ?? []),
      ...reported.flatMap(({ edge_id, report }) => report.devices.map(device => ({ ...device, edge_id }))),
    ],
    edges: reported.map(({ edge_id, site_id, at, report: { devices: _devices, ...counts } }) => ({
      edge_id,
      site_id,
      reported_at: formatInstant(at),
      ...counts,
    })),
  }
}
