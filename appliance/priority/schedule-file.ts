/** `priority-scan.json` beside the journal: the state of the visit schedule. */
import { errorText } from '#shared/core/error-text.ts'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Logger } from 'pino'
import { EMPTY_MEMORY, type ScheduleMemory } from '../core/priority/visit-schedule.ts'
import { jsonFile } from '../store/json-file.ts'

const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()])
const instant = orNull(Type.Integer())
const ObjectId = Type.Object({ type: Type.Integer(), instance: Type.Integer() })
const Make = Type.Object({ vendor_id: Type.Optional(Type.Integer()), model: Type.Optional(Type.String()) })
const Device = Type.Object({
  after: Type.Optional(ObjectId),
  after_input: Type.Optional(ObjectId),
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

type ScheduleFile = { load(): Promise<ScheduleMemory>; save(memory: ScheduleMemory): Promise<void> }

/**
 * The file can always be rebuilt: a damaged one is logged and costs one round of visits, and the next visit replaces it.
 */
export function scheduleFile(path: string, log: Logger): ScheduleFile {
  const file = jsonFile<ScheduleMemory>(path)
  return {
    async load() {
      try {
        const found: unknown = (await file.read()) ?? EMPTY_MEMORY
        if (Value.Check(Memory, found)) return found
        log.warn(`visit schedule invalid: ${path} has another form; starting a new round of visits`)
      } catch (error) {
        log.warn(`visit schedule unreadable: ${errorText(error)}; starting a new round of visits`)
      }
      return EMPTY_MEMORY
    },
    save: file.write,
  }
}
