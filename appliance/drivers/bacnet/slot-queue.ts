/** Who may ask now. A lane lets so many in at a time; the others wait in the order they came. */

/** A place in a lane or in the queue before it. */
export type Slot = {
  /** Lets the next one in. Leaving twice does nothing more. */
  leave(): void
}

export type SlotQueue = {
  /**
   * Calls `go` as soon as fewer than `width` are in: before this returns, or while another leaves.
   *
   * @param width 1 and more; each says its own
   */
  enter(width: number, go: () => void): Slot
}

type Waiting = { width: number; go: () => void; state: 'waiting' | 'in' | 'gone' }

export function createSlotQueue(): SlotQueue {
  let inside = 0
  let isMoving = false
  const queue: Waiting[] = []

  /** A loop instead of recursion: whoever is let in may leave at once. */
  function move(): void {
    if (isMoving) return
    isMoving = true
    for (let next = queue[0]; next && inside < next.width; next = queue[0]) {
      queue.shift()
      next.state = 'in'
      inside++
      next.go()
    }
    isMoving = false
  }

  function leave(own: Waiting): void {
    const { state } = own
    if (state === 'gone') return
    own.state = 'gone'
    if (state === 'in') inside--
    else queue.splice(queue.indexOf(own), 1)
    move()
  }

  return {
    enter(width, go) {
      const own: Waiting = { width, go, state: 'waiting' }
      queue.push(own)
      move()
      return { leave: () => leave(own) }
    },
  }
}
