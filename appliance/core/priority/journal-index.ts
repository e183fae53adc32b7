/** Finds the records of each point within the retention: a ring buffer over the newest sequences, 16 bytes a record. */

/** Filter of `find`: points by key, records observed at or after `since`, records with a lower sequence than `before`. */
type IndexQuery = {
  keys?: readonly string[] | undefined
  since?: number | undefined
  before?: number | undefined
  limit: number
}
type Bounds = { since: number; before: number; limit: number }

export class JournalIndex {
  readonly #capacity: number
  /** By slot of the ring: the id of the point, and when it was observed. */
  readonly #points: Uint32Array
  readonly #times: Float64Array
  /** By slot: distance to the record before of the same point, in sequences; 0 when there is none in the ring. */
  readonly #steps: Uint32Array
  readonly #ids = new Map<string, number>()
  /** By id of a point: its key and its newest sequence. */
  readonly #keys: string[] = []
  readonly #newest: number[] = []
  readonly #freeIds: number[] = []
  #first = 1
  #last = 0

  /** @param capacity most records, > 0 */
  constructor(capacity: number) {
    this.#capacity = capacity
    this.#points = new Uint32Array(capacity)
    this.#times = new Float64Array(capacity)
    this.#steps = new Uint32Array(capacity)
  }

  /**
   * Adds the next record. When the ring is full, the oldest record is removed.
   *
   * @returns the key of the point that has no record left because of that
   */
  add(seq: number, key: string, observed_at: number): string | undefined {
    if (this.#last < this.#first) [this.#first, this.#last] = [seq, seq - 1]
    const gone = this.#last - this.#first + 1 === this.#capacity ? this.#removeOldest() : undefined
    const id = this.#idOf(key)
    const slot = seq % this.#capacity
    this.#points[slot] = id
    this.#times[slot] = observed_at
    this.#steps[slot] = this.#newest[id]! >= this.#first ? seq - this.#newest[id]! : 0
    this.#newest[id] = seq
    this.#last = seq
    return gone === key ? undefined : gone
  }

  /** Sequences, newest first, at most `limit`: of the points of `keys`, or of all. Reads nothing but the index. */
  find({ keys, since = -Infinity, before = Infinity, limit }: IndexQuery): number[] {
    if (this.#last < this.#first) return []
    const bounds = { since, before, limit }
    if (!keys) return this.#walk(Math.min(this.#last, before - 1), false, bounds)
    const known = keys.flatMap(key => this.#ids.get(key) ?? [])
    const found = known.flatMap(id => this.#walk(this.#newest[id]!, true, bounds))
    return known.length > 1 ? found.toSorted((a, b) => b - a).slice(0, limit) : found
  }

  /** Keys of the points that have records. */
  keys(): Iterable<string> {
    return this.#ids.keys()
  }

  /** The newest sequence of every point. */
  newest(): { key: string; seq: number }[] {
    return [...this.#ids].map(([key, id]) => ({ key, seq: this.#newest[id]! }))
  }

  /** Oldest and newest sequence within the retention; `last < first` when there is none. */
  range(): { first: number; last: number } {
    return { first: this.#first, last: this.#last }
  }

  #removeOldest(): string | undefined {
    const id = this.#points[this.#first % this.#capacity]!
    if (this.#newest[id] !== this.#first++) return undefined
    this.#freeIds.push(id)
    this.#ids.delete(this.#keys[id]!)
    return this.#keys[id]
  }

  #idOf(key: string): number {
    const known = this.#ids.get(key)
    if (known !== undefined) return known
    const id = this.#freeIds.pop() ?? this.#keys.length
    this.#ids.set(key, id)
    this.#keys[id] = key
    this.#newest[id] = 0
    return id
  }

  #walk(from: number, isOnePoint: boolean, { since, before, limit }: Bounds): number[] {
    const found: number[] = []
    for (let seq = from; seq >= this.#first && found.length < limit; seq = this.#older(seq, isOnePoint)) {
      if (seq < before && this.#times[seq % this.#capacity]! >= since) found.push(seq)
    }
    return found
  }

  /** @returns the next older sequence, of the same point or of any; 0 when there is none */
  #older(seq: number, isOnePoint: boolean): number {
    const step = isOnePoint ? this.#steps[seq % this.#capacity]! : 1
    return step === 0 || seq - step < this.#first ? 0 : seq - step
  }
}
