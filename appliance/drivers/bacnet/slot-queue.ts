/** Bounds the requests in flight: callers wait for a slot in the order of their calls. */

/** A slot, or the wait for one. */
export type QueueSlot = {
  /** Releases the slot for the next caller. A second call does nothing. */
  leave(): void
}

export type SlotQueue = {
  /**
   * Calls `go` as soon as fewer than `width` slots are in use: before this returns, or when another slot is released.
   *
   * @param width 1 and more; callers may differ
   */
  enter(width: number, go: () => void): QueueSlot
}

type Waiting = { width: number; go: () => void; state: 'waiting' | 'in' | 'gone' }

export function createSlotQueue(): SlotQueue {
  let inside = 0
  let isStarting = false
  const queue: Waiting[] = []

  /** A loop instead of recursion, because a caller may release its slot at once. */
  function startWaiting(): void {
    if (isStarting) return
    isStarting = true
    for (let next = queue[0]; next && inside < next.width; next = queue[0]) {
      queue.shift()
      next.state = 'in'
      inside++
      next.go()
    }
    isStarting = false
  }

  function leave(own: Waiting): void {
    const { state } = own
    if (state === 'gone') return
    own.state = 'gone'
    if (state === 'in') inside--
    else queue.splice(queue.indexOf(own), 1)
    startWaiting()
  }

  return {
    enter(width, go) {
      const own: Waiting = { width, go, state: 'waiting' }
      queue.push(own)
      startWaiting()
      return { leave: () => leave(own) }
    },
  }
}
