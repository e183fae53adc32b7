/** What polling needs to know of a device, whatever its protocol. */
import type { Driver } from '../ports.ts'

export type DevicePlan = {
  device_id: string
  enabled: boolean
  points: { point_id: string; poll_secs: number }[]
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

/** What a field driver tells about its device beside the readings. */
export type DriverReport = {
  /** Times from request to answer of the latest requests, ms; at most `RTTS_MAX`. */
  rtts: readonly number[]
  /** Points that go into one request now; null where the protocol has no such thing. */
  batch_size: number | null
  /** Why the latest bad point is bad; null when the last read gave no bad point. */
  point_error: string | null
}

/** How many request times a driver keeps for the percentiles. */
export const RTTS_MAX = 64

export interface FieldDriver<Address> extends Driver<Address> {
  report(): DriverReport
}
