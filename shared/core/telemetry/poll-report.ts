/** How an edge's polling goes, as its status carries it and as a central shows it (contract §10). */
import type { DeviceStatus, PollState, PollStatus } from '#shared/core/poll/poll-status.ts'
import type { Decoded } from './body.ts'
import { asText, choice, decodeWith, type Fields, fields, flag, id, integer, list, number, text } from './read.ts'

/** Most devices that a report names; those in trouble first. A status stays under its 128 KiB with them. */
export const REPORT_DEVICES_MAX = 200
/** Longest error that a report carries, characters. */
const ERROR_MAX = 200
/** The order in which devices are named. */
const WORST_FIRST = ['down', 'fault', 'stale', 'unknown', 'ok', 'disabled'] as const satisfies readonly PollState[]

type Counts = Omit<PollStatus, 'ok' | 'devices'>
export type PollReport = Counts & { devices_total: number; devices: DeviceStatus[] }
/** The report of one edge, and its time (ms since 1970 UTC). */
export type Reported = { edge_id: string; site_id: string; at: number; report: PollReport }

const COUNTS = ['cycles', 'late_cycles', 'points_ok', 'points_stale', 'points_down', 'points_fault'] as const

/** @returns the report, short enough for a status */
export function writePollReport({ ok: _ok, devices, ...counts }: PollStatus): PollReport {
  const rank = ({ state }: DeviceStatus) => WORST_FIRST.indexOf(state)
  const worst = devices.toSorted((a, b) => rank(a) - rank(b))
  const named = worst.slice(0, REPORT_DEVICES_MAX).map(device => ({
    ...device,
    last_error: device.last_error?.slice(0, ERROR_MAX) ?? null,
    ...(device.conflict !== undefined && { conflict: device.conflict.slice(0, ERROR_MAX) }),
  }))
  return { ...counts, devices_total: devices.length, devices: named }
}

/** @param body the member `poll` of a status */
export function readPollReport(body: unknown): Decoded<PollReport> {
  return decodeWith(() => {
    const from = fields(body, 'poll')
    const count = (name: string) => integer(from, name, 0)
    return {
      enabled: flag(from, 'enabled'),
      running: flag(from, 'running'),
      ...(Object.fromEntries(COUNTS.map(name => [name, count(name)])) as Pick<Counts, (typeof COUNTS)[number]>),
      devices_total: count('devices_total'),
      devices: list(from, 'devices', REPORT_DEVICES_MAX, (value, path) => readDevice(fields(value, path))),
    }
  })
}

function readDevice(from: Fields): DeviceStatus {
  const orNull = <T>(name: string, read: (from: Fields, name: string) => T): T | null =>
    from.body[name] === null ? null : read(from, name)
  return {
    device_id: id(from, 'device_id'),
    state: choice(from, 'state', WORST_FIRST),
    since: text(from, 'since', 40),
    rtt_ms_p50: orNull('rtt_ms_p50', number),
    rtt_ms_p95: orNull('rtt_ms_p95', number),
    reads: integer(from, 'reads', 0),
    errors: integer(from, 'errors', 0),
    // An earlier version does not say them.
    reads_1h: from.body['reads_1h'] === undefined ? 0 : integer(from, 'reads_1h', 0),
    errors_1h: from.body['errors_1h'] === undefined ? 0 : integer(from, 'errors_1h', 0),
    last_ok_at: orNull('last_ok_at', text),
    last_error: from.body['last_error'] === null ? null : asText(from.body['last_error'], `${from.path}.last_error`),
    next_due_at: orNull('next_due_at', text),
    batch_size: orNull('batch_size', (place, name) => integer(place, name, 0)),
    ...(from.body['conflict'] !== undefined && { conflict: text(from, 'conflict', ERROR_MAX) }),
  }
}
