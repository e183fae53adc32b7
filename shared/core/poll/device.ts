/** The facts about a device that polling needs, whatever its protocol. */
import type { Driver } from '../ports.ts'
import type { ByteCounts } from './traffic.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'

export type DevicePlan = {
  device_id: string
  enabled: boolean
  /** `cov`: changes of this point are subscribed to; it is polled all the same. */
  points: { point_id: string; poll_secs: number; cov?: boolean }[]
}

/**
 * How a device failed as a whole. `silent`: no answer, or no way to it. `fault`: it answers, but nothing that can be
 * used.
 */
export class DeviceError extends Error {
  override name = 'DeviceError'
  readonly kind: 'silent' | 'fault'
  constructor(kind: 'silent' | 'fault', message: string) {
    super(message)
    this.kind = kind
  }
}

/** The report of a field driver on its device, beside the readings. */
export type DriverReport = {
  /** Times from request to answer of the latest requests, ms; at most `RTTS_MAX`. */
  rtts: readonly number[]
  /** Points that go into one request now; null where the protocol has no such thing. */
  batch_size: number | null
  /** Why the latest bad point is bad; null when the last read gave no bad point. */
  point_error: string | null
  /** Bytes of its requests and their answers; absent where nobody counts them. */
  traffic?: Readonly<ByteCounts>
}

/** Number of request times from which a driver computes percentiles. */
export const RTTS_MAX = 64

/** Takes what a device says without being polled. */
export type ChangeListener = {
  /** `t` of each is the time of the notification. */
  changed(readings: Reading[]): void
  /** The device declines subscriptions for that many points, which are only polled. Reported once, until it has accepted all. */
  declined(points: number, reason: string): void
}

export interface FieldDriver<Address> extends Driver<Address> {
  report(): DriverReport
  /**
   * Subscribes to changes of `points` until `signal` aborts, as far as the device supports it. Absent where the protocol has no
   * subscriptions. It begins with the first read that is answered, and again after the device was unreachable.
   */
  watch?(points: { point_id: string; address: Address }[], listener: ChangeListener, signal: AbortSignal): Promise<void>
}
