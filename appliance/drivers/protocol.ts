/** The part of a driver that communicates: a process creates one for each protocol that it runs. */
import type { FieldDriver } from '#shared/core/poll/device.ts'
import type { ByteCounts } from '#shared/core/poll/traffic.ts'
import type { Complaint } from '../store/json-file.ts'
import type { DeviceEntry } from '../store/catalogue-schema.ts'

/** Timeout of the first attempt of a request, ms, and the number of further attempts, when an entry does not set them. */
export const TIMEOUT_MS = 3000
export const RETRIES = 2

/** `timeoutMs`: timeout of the first attempt; each of the `retries` further ones waits half of it longer. */
export type RetryPolicy = { timeoutMs: number; retries: number }

/** The driver of one device, and the parsed address of each of its points by `point_id`. */
type DeviceLink = { driver: FieldDriver<unknown>; addresses: Map<string, unknown> }

/** The devices of one protocol. */
export type FieldProtocol = {
  /** The name in the driver's definition. */
  readonly name: string
  /**
   * Checks what the schema cannot, for example point addresses.
   *
   * @param all the devices of the whole list, because some settings must agree
   * @returns complaints with pointers relative to the entry
   */
  check(entry: DeviceEntry, all: readonly DeviceEntry[]): Complaint[]
  /** Opens what the devices share. @throws Error with the reason, for example that a port is in use */
  start(): Promise<void>
  /** Creates the driver of one device; sends nothing. Called after `start`, with an entry that `check` accepts. */
  link(entry: DeviceEntry): DeviceLink
  stop(): Promise<void>
  /** All bytes since the process started, also of discovery and of people who ask a device. */
  traffic(): Readonly<ByteCounts>
}
