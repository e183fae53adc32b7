/** Invoke ids of open requests. A reply is matched by the IP address of the peer and the invoke id together. */

export type InvokeIds<T> = {
  /** @returns an id in 1..255 that is free at this address, or undefined when none is */
  open(host: string, waiting: T, nowMs: number): number | undefined
  find(host: string, invokeId: number): T | undefined
  /** Frees the id for reuse from `quietUntilMs` on; until then an answer with it matches nothing. */
  close(host: string, invokeId: number, quietUntilMs: number): void
  all(): T[]
}

/**
 * Indexed by invoke id. Arrays instead of maps, because a map that is filled and emptied all the time keeps old tables alive, and
 * with them everything that ever waited survives the garbage collections of young objects.
 */
type Slots<T> = { next: number; waiting: (T | undefined)[]; quietUntil: number[] }

/** 0 is not used: the codec treats it as absent. */
const ID_MAX = 255

/**
 * A table of open requests. Ids are assigned in turn, so that one is reused as late as possible, and by address, so that dead devices
 * do not use up the ids of others. Several devices at one address share its 255 ids.
 */
export function createInvokeIds<T>(): InvokeIds<T> {
  const peers = new Map<string, Slots<T>>()
  const slotsOf = (host: string): Slots<T> => {
    const known = peers.get(host)
    if (known) return known
    const made: Slots<T> = { next: 1, waiting: [], quietUntil: [] }
    peers.set(host, made)
    return made
  }
  return {
    open(host, waiting, nowMs) {
      const slots = slotsOf(host)
      for (let tried = 0; tried < ID_MAX; tried++) {
        const id = slots.next
        slots.next = id === ID_MAX ? 1 : id + 1
        if (slots.waiting[id] !== undefined || (slots.quietUntil[id] ?? 0) > nowMs) continue
        slots.waiting[id] = waiting
        return id
      }
      return undefined
    },
    find: (host, invokeId) => peers.get(host)?.waiting[invokeId],
    close(host, invokeId, quietUntilMs) {
      const slots = slotsOf(host)
      slots.waiting[invokeId] = undefined
      slots.quietUntil[invokeId] = quietUntilMs
    },
    all: () => [...peers.values()].flatMap(({ waiting }) => waiting.filter(one => one !== undefined)),
  }
}
