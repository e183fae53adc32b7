/** A bounded queue of readings, oldest first. */
import type { Reading } from '#shared/core/telemetry/reading.ts'

type ReadingQueue = {
  /** Appends readings. @returns how many of the oldest were dropped for them */
  push(readings: readonly Reading[]): number
  /** Puts back what `take` returned, before all others. @returns how many of the oldest were dropped */
  putBack(readings: readonly Reading[]): number
  /** Removes and returns the oldest readings, at most `limit`. */
  take(limit: number): Reading[]
  /** Removes all readings. @returns how many there were */
  clear(): number
  size(): number
}

/** @param max readings that the queue holds */
export function readingQueue(max: number): ReadingQueue {
  let batches: (readonly Reading[])[] = []
  let size = 0

  function trim(): number {
    const excess = Math.max(0, size - max)
    let left = excess
    while (left > 0) {
      const oldest = batches[0]!
      if (oldest.length <= left) batches.shift()
      else batches[0] = oldest.slice(left)
      left -= Math.min(left, oldest.length)
    }
    size -= excess
    return excess
  }
  return {
    push(readings) {
      if (readings.length) batches.push(readings)
      size += readings.length
      return trim()
    },
    putBack(readings) {
      if (readings.length) batches.unshift(readings)
      size += readings.length
      return trim()
    },
    take(limit) {
      const taken: Reading[] = []
      while (batches.length > 0 && taken.length < limit) {
        const oldest = batches[0]!
        const room = limit - taken.length
        taken.push(...oldest.slice(0, room))
        if (oldest.length <= room) batches.shift()
        else batches[0] = oldest.slice(room)
      }
      size -= taken.length
      return taken
    },
    clear() {
      const cleared = size
      batches = []
      size = 0
      return cleared
    },
    size: () => size,
  }
}
