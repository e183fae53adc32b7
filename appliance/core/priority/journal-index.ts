/** Where each point's records are within retention, in 16 bytes a record: a ring over the newest sequences. */

export type JournalIndex = {
  /** Adds the next record; the oldest falls out where the ring is full. @returns the key of a point that has none left */
  add(seq: number, key: string, observed_at: number): string | undefined
  /** Sequences, newest first, at most `limit`: of the points of `keys`, or of all. Looks at nothing but the index. */
  find(query: {
    keys?: readonly string[] | undefined
    since?: number | undefined
    before?: number | undefined
    limit: number
  }): number[]
  /** Keys of the points that have records. */
  keys(): Iterable<string>
  /** The newest sequence of every point. */
  newest(): { key: string; seq: number }[]
  /** Oldest and newest sequence within retention; `last < first` when there is none. */
  range(): { first: number; last: number }
}

/** @param capacity most records, > 0 */
export function journalIndex(capacity: number): JournalIndex {
  const points = new Uint32Array(capacity)
  const times = new Float64Array(capacity)
  /** How many sequences before it the same point's record before is; 0 when there is none in the ring. */
  const steps = new Uint32Array(capacity)
  const ids = new Map<string, number>()
  const keys: string[] = []
  const newest: number[] = []
  const free: number[] = []
  let first = 1
  let last = 0

  const evict = (): string | undefined => {
    const id = points[first % capacity]!
    if (newest[id] !== first++) return undefined
    free.push(id)
    ids.delete(keys[id]!)
    return keys[id]
  }
  const idOf = (key: string): number => {
    const known = ids.get(key)
    if (known !== undefined) return known
    const id = free.pop() ?? keys.length
    ids.set(key, id)
    keys[id] = key
    newest[id] = 0
    return id
  }
  /** @returns the next older sequence, of the same point or of any; 0 when there is none */
  const older = (seq: number, samePoint: boolean): number => {
    const step = samePoint ? steps[seq % capacity]! : 1
    return step === 0 || seq - step < first ? 0 : seq - step
  }
  type Bounds = { since: number; before: number; limit: number }
  const walk = (from: number, samePoint: boolean, { since, before, limit }: Bounds): number[] => {
    const found: number[] = []
    for (let seq = from; seq >= first && found.length < limit; seq = older(seq, samePoint)) {
      if (seq < before && times[seq % capacity]! >= since) found.push(seq)
    }
    return found
  }

  return {
    add(seq, key, observed_at) {
      if (last < first) [first, last] = [seq, seq - 1]
      const gone = last - first + 1 === capacity ? evict() : undefined
      const id = idOf(key)
      const at = seq % capacity
      points[at] = id
      times[at] = observed_at
      steps[at] = newest[id]! >= first ? seq - newest[id]! : 0
      newest[id] = seq
      last = seq
      return gone === key ? undefined : gone
    },
    find({ keys: wanted, since = -Infinity, before = Infinity, limit }) {
      if (last < first) return []
      if (!wanted) return walk(Math.min(last, before - 1), false, { since, before, limit })
      const known = wanted.flatMap(key => ids.get(key) ?? [])
      const found = known.flatMap(id => walk(newest[id]!, true, { since, before, limit }))
      return known.length > 1 ? found.toSorted((a, b) => b - a).slice(0, limit) : found
    },
    keys: () => ids.keys(),
    newest: () => [...ids].map(([key, id]) => ({ key, seq: newest[id]! })),
    range: () => ({ first, last }),
  }
}
