import type { FieldDriver } from '#shared/core/poll/device.ts'
import type { Complaint } from '../store/config-error.ts'
import type { DeviceEntry } from '../store/catalogue-schema.ts'

/** How long the first attempt of a request waits, ms, and how many further attempts there are, unless an entry says. */
export const TIMEOUT_MS = 3000
export const RETRIES = 2

/** A driver for one device and what it needs to read each point. */
export type DeviceLink = { driver: FieldDriver<unknown>; addresses: Map<string, unknown> }

/** One way to reach field devices. A main passes those that its process speaks. */
export type FieldProtocol = {
  readonly name: DeviceEntry['protocol']
  /** What is wrong with an entry beyond its schema, seen among all entries; pointers are relative to the entry. */
  check(entry: DeviceEntry, all: readonly DeviceEntry[]): Complaint[]
  /** Opens what the devices share. @throws Error with the reason, for example a port that is taken */
  start(): Promise<void>
  /** Only after `start`, and only with an entry that `check` passes. Sends nothing. */
  link(entry: DeviceEntry): DeviceLink
  stop(): Promise<void>
}
