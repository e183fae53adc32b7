/** How an edge's polling goes, as its status carries it and as a central shows it (contract §10). */
import type { DeviceStatus, PollState, PollStatus } from '#shared/core/poll/poll-status.ts'
import { parseInstant } from '../time.ts'
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

/** Devices that are not read, as a hub stores them with the record of an edge: a whole report has some kilobytes, and comes each minute. */
export type PollFailures = {
  running: boolean
  devices_total: number
  /** Devices that cannot be read, as many as the report names; `since` is the earliest, ms by the edge's clock. */
  failing: number
  since: number | null
  /** The first of them. */
  device_ids: string[]
}
/** Devices that are named. */
const FAILING_NAMED = 3

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

/** @returns undefined where nothing is polled, or everything is read */
export function pollFailures({ enabled, running, devices_total, devices }: PollReport): PollFailures | undefined {
  const failing = devices.filter(({ state }) => state === 'down' || state === 'fault')
  if (!enabled || (running && failing.length === 0)) return undefined
  const sinces = failing.flatMap(({ since }) => parseInstant(since) ?? [])
  const device_ids = failing.slice(0, FAILING_NAMED).map(({ device_id }) => device_id)
  return { running, devices_total, failing: failing.length, since: sinces.length > 0 ? Math.min(...sinces) : null, device_ids }
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
    ...(from.body['sent_bytes'] !== undefined && { sent_bytes: integer(from, 'sent_bytes', 0) }),
    ...(from.body['received_bytes'] !== undefined && { received_bytes: integer(from, 'received_bytes', 0) }),
    ...(from.body['conflict'] !== undefined && { conflict: text(from, 'conflict', ERROR_MAX) }),
  }
}
