/** Commandable points of a building, visit after visit: most as before, some with another command at P8. */
import { LEVELS, type PriorityReading, type Slot } from '#shared/core/priority/priority-record.ts'

export const DEVICES = 50
export const POINTS_PER_DEVICE = 20
/** One in so many readings differs from the one before. */
const CHANGED = 20

/** @returns the n-th visit: one device, all its points */
export function visit(n: number): PriorityReading[] {
  const device_instance = 1000 + (n % DEVICES)
  return Array.from({ length: POINTS_PER_DEVICE }, (_, point) => {
    const round = Math.floor(n / DEVICES)
    const command = Math.floor((round + point) / CHANGED)
    const slots = Array.from({ length: LEVELS }, (_, i): Slot => {
      const level = i + 1
      if (level === 8 && command % 2 === 1) return { level, state: 'value', type: 'real', value: 20 + command }
      return level === 16 ? { level, state: 'value', type: 'real', value: 21.5 } : { level, state: 'null' }
    })
    const held = slots.find(slot => slot.state === 'value')!
    return {
      observed_at: Date.UTC(2026, 0, 1) + n * 72_000,
      target: { device_instance, object_type: 'analog-output', object_instance: point },
      label: `Air handler ${n % DEVICES} output ${point}`,
      slots,
      active_level: held.level,
      present_value: held.state === 'value' ? held.value : 0,
      relinquish_default: 20,
      out_of_service: false,
      source: 'scheduled',
    }
  })
}
