/** Where the visits stand, in one small file beside the journal. */
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Logger } from 'pino'
import { NO_MEMORY, type ScanMemory } from '../flow/visit-schedule.ts'
import { durableJson } from '../store/durable-json.ts'

const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()])
const instant = orNull(Type.Integer())
const Place = Type.Object({ type: Type.Integer(), instance: Type.Integer() })
const Make = Type.Object({ vendor_id: Type.Optional(Type.Integer()), model: Type.Optional(Type.String()) })
const Device = Type.Object({
  after: Type.Optional(Place),
  after_input: Type.Optional(Place),
  again: Type.Array(Type.String()),
  without: Type.Record(Type.String(), Type.Integer()),
  occupant: Type.Optional(
    Type.Object({
      make: Type.Optional(Make),
      other: Type.Optional(Type.Object({ since: Type.Integer(), reason: Type.String(), make: Make })),
    }),
  ),
})
const Memory = Type.Object({
  next_due_at: instant,
  last_started_at: instant,
  last_completed_at: instant,
  last_device_instance: instant,
  last_device_id: Type.Optional(orNull(Type.String())),
  after_device: orNull(Type.String()),
  devices: Type.Record(Type.String(), Device),
})

export type ScanState = { load(): Promise<ScanMemory>; save(memory: ScanMemory): Promise<void> }

/**
 * The file holds nothing that cannot be had again: one that is damaged costs a round of visits, is said in the log, and is
 * replaced after the next visit.
 */
export function scanState(path: string, log: Logger): ScanState {
  const file = durableJson<ScanMemory>(path)
  return {
    async load() {
      try {
        const found: unknown = (await file.read()) ?? NO_MEMORY
        if (Value.Check(Memory, found)) return found
        log.warn(`${path} is not what was written; visits to priority arrays begin anew`)
      } catch (error) {
        log.warn(`visits to priority arrays begin anew: ${(error as Error).message}`)
      }
      return NO_MEMORY
    },
    save: file.write,
  }
}
