/** Readings that wait to be kept, oldest first, with a bound. */
import type { Reading } from '../reading.ts'

export type ReadingQueue = {
  /** Puts readings at the end. @returns how many of the oldest had to go for them */
  push(readings: readonly Reading[]): number
  /** Puts back what `take` gave, before all others. @returns how many of the oldest had to go */
  putBack(readings: readonly Reading[]): number
  /** Takes the oldest out, at least `limit` when there are as many; what came together is not parted. */
  take(limit: number): Reading[]
  /** Takes all out. @returns how many there were */
  clear(): number
  size(): number
}

/** @param max readings that wait at most */
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
      let end = 0
      let count = 0
      while (end < batches.length && count < limit) count += batches[end++]!.length
      const taken = batches.slice(0, end)
      batches = batches.slice(end)
      size -= count
      return taken.flat()
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
