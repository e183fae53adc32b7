/**
 * Chooses the requests of one read from the answers and failures so far. Several requests may be open at a time once the device
 * has answered one; only one while a test request is open.
 *
 * `appliance/core/poll/isolate.ts` describes the search for bad points.
 */
import {
  isolate,
  splitEvenly,
  endPart,
  type SplitRequest,
  createFailure,
  FAILURES_MAX,
  RETRIES_MAX,
  splitPart,
} from '../../../core/poll/isolate.ts'
import { afterAnswer, afterTooLarge, deniesService, deniesSize, fitting, sizeOf, withoutMultiple } from './batch.ts'
import {
  answerBytes,
  type Chunk,
  firstChunks,
  type TargetItem,
  keyOf,
  type DeviceMemory,
  reasonOf,
  type RequestRole,
  targetOf,
} from './device-memory.ts'
import { formatRefusal } from './refusal.ts'
import type { PropertyResult, RequestRefusal } from './reply.ts'
import { createProbes, type FailedRequest, type Probes } from './probe.ts'

const ALONE: ReadonlySet<RequestRole> = new Set(['loner', 'retried', 'leaf', 'declined', 'witness'])
const HASTY: ReadonlySet<RequestRole> = new Set(['part', 'trial', 'retried'])

/** One request: ReadProperty with one item when `isAlone`, otherwise ReadPropertyMultiple. */
export type PointRequest<I> = {
  items: I[]
  isAlone: boolean
  /** It is likely to fail, so it gets few retries. */
  isHasty: boolean
  /** A probe of whether the device answers: its value is not used. */
  isWitness: boolean
  role: RequestRole
  /** The failed request that this one is part of. */
  of: SplitRequest | undefined
}

/** A point without a value that was not declined, and the reason. */
type Unread<I> = { item: I; reason: string }

/** Points that return a value alone but not with others, after which ReadPropertyMultiple is no longer used: those of two searches. */
const ONLY_ALONE = 5
/** Refusals in a row of ReadPropertyMultiple itself, after which it is no longer used with a device that has answered it. */
const DENIALS_MAX = 3
/** Parts of a failed request: a timeout costs more than a few answers, a refusal no more than one answer. */
const PARTS = { unanswered: 4, declined: 2 }

export class ReadSequence<I extends TargetItem> {
  readonly #memory: DeviceMemory
  readonly #items: readonly I[]
  readonly #now: number
  readonly #todo: Chunk<I>[]
  /** Isolated points that are tried again at the end. */
  readonly #last: Chunk<I>[]
  /** Parts of failed requests, the latest first. */
  readonly #search: Chunk<I>[] = []
  readonly #unread: Unread<I>[]
  readonly #probes: Probes<I, PointRequest<I>>
  /** Conclusions about points. They count once the device has answered a request of many: one that declines everything has no bad points. */
  readonly #conclusions: (() => void)[] = []
  /** The points of a failure that were then requested alone. When no bad point explains the failure, they stay alone from then on. */
  readonly #singlesOf = new WeakMap<SplitRequest, readonly I[]>()
  #isThere: boolean
  #hasValue = false
  #hasTogether = false
  #denials = 0
  #failures = 0
  #failedRetries = 0
  #isOver = false

  /**
   * @param memory knowledge about the device; updated by the read
   * @param hasAnswered the device answered a moment ago, so a missing answer concerns the request
   * @param now ms since 1970
   * @param probe a property that the device always answers, such as its device object; without it one of the items is used
   */
  constructor(memory: DeviceMemory, items: readonly I[], hasAnswered: boolean, now: number, probe?: I) {
    const { todo, last, resting } = firstChunks(memory, items, now)
    this.#memory = memory
    this.#items = items
    this.#now = now
    this.#todo = todo
    this.#last = last
    this.#unread = resting.map(item => ({ item, reason: reasonOf(memory, item) }))
    this.#probes = createProbes(memory, items, probe)
    this.#isThere = hasAnswered
  }

  /** @returns the next request; undefined when all are sent, or while a probe is open */
  next(): PointRequest<I> | undefined {
    if (this.#probes.isBeingAsked()) return undefined
    const item = this.#probes.take()
    if (item) return { items: [item], isAlone: true, isHasty: false, isWitness: true, role: 'witness', of: undefined }
    const queue = this.#queueNow()
    const chunk = queue.shift()
    return chunk ? this.#ask(chunk, queue) : this.#close()
  }

  answered(request: PointRequest<I>, results: readonly PropertyResult[]): void {
    this.#isThere = true
    if (request.isWitness) return this.#probes.dismiss().forEach(one => this.#blame(one))
    this.#hasValue = true
    return this.#withAnswer(request, results)
  }

  /** Takes a refusal of the whole request. @returns the points without a value; the others are requested again */
  declined(request: PointRequest<I>, refusal: RequestRefusal): I[] {
    this.#isThere = true
    if (request.isWitness) {
      this.#probes.dismiss().forEach(one => this.#blame(one))
      return []
    }
    if (request.isAlone) return this.#declinedAlone(request, refusal)
    const { items: asked, of } = request
    if (deniesService(refusal) && (this.#memory.learnt.proven === 0 || ++this.#denials >= DENIALS_MAX)) {
      this.#memory.learnt = withoutMultiple(this.#memory.learnt, this.#now)
      this.#todo.unshift({ items: asked, role: 'many', ...(of && { of }) })
    } else if (asked.length > 1) {
      // Some devices decline a whole request because of one bad point in it; the halves show which.
      this.#split(request, 'declined')
    } else {
      const key = keyOf(asked[0]!)
      this.#conclusions.push(() => isolate(this.#memory.loners, key, 'asked alone', this.#now, true))
      this.#todo.unshift({ items: asked, role: 'declined', ...(of && { of }) })
    }
    return []
  }

  /** @returns false when the device answered nothing in this read, which then ends */
  unanswered(request: PointRequest<I>, state: 'silent' | 'garbled' | 'cancelled', reason: string): boolean {
    this.#failures++
    const suspect = { request, reason }
    if (state === 'cancelled' || this.#isOver) return this.#giveUp([...this.#probes.dismiss(), suspect], reason)
    // The device is up when its answer is garbled, and another point has shown that its answers can be used.
    if (state === 'garbled' && this.#hasValue && !request.isWitness) this.#blame(suspect)
    else {
      const probe = request.isWitness ? this.#probes.failed(this.#isThere) : this.#probes.call(suspect)
      if (probe === 'gone' || (probe === 'none' && !this.#isThere)) return this.#giveUp(this.#probes.dismiss(), reason)
      if (probe === 'none') this.#probes.dismiss().forEach(one => this.#blame(one))
    }
    return this.#failures < FAILURES_MAX || this.#giveUp(this.#probes.dismiss(), reason)
  }

  /** After the last request: the points without a value that were not declined. */
  unread(): readonly Unread<I>[] {
    return this.#unread
  }

  /** Ends the read; the next read begins with the open points. @returns whether the device has answered anything */
  #giveUp(suspects: readonly FailedRequest<PointRequest<I>>[], reason: string): boolean {
    for (const { request, reason: why } of suspects) {
      if (!request.isWitness) this.#unread.push(...request.items.map(item => ({ item, reason: why })))
    }
    const open = [...this.#todo.splice(0), ...this.#search.splice(0), ...this.#last.splice(0)].flatMap(chunk => chunk.items)
    this.#unread.push(...open.map(item => ({ item, reason })))
    if (this.#isThere) for (const { item } of this.#unread) this.#memory.unreached.add(keyOf(item))
    this.#isOver = true
    return this.#isThere
  }

  /** @returns the queue of the next chunk; half of the allowed failures are reserved for the search */
  #queueNow(): Chunk<I>[] {
    if (this.#search.length > 0 && (this.#todo.length === 0 || this.#failures >= FAILURES_MAX / 2)) return this.#search
    return this.#todo.length === 0 && this.#failedRetries < RETRIES_MAX ? this.#last : this.#todo
  }

  #ask({ items: some, role, of }: Chunk<I>, queue: Chunk<I>[]): PointRequest<I> {
    const { batch, proven, growAt } = this.#memory.learnt
    const isAlone = ALONE.has(role) || !batch.multiple
    const ahead = some.slice(0, isAlone ? 1 : batch.size)
    const asked = isAlone ? ahead : ahead.slice(0, fitting(batch, ahead.map(targetOf)))
    if (asked.length < some.length) {
      splitPart(of)
      queue.unshift({ items: some.slice(asked.length), role, ...(of && { of }) })
    }
    const isGrown = growAt !== null && !isAlone && answerBytes(asked) > proven
    return { items: asked, isAlone, isHasty: isGrown || HASTY.has(role), isWitness: false, role, of }
  }

  #end(of: SplitRequest | undefined, how: number | 'culprit'): void {
    const unexplained = endPart(of, how)
    if (!unexplained) return
    const singles = this.#singlesOf.get(unexplained)
    const { proven } = this.#memory.learnt
    if (singles && (proven === 0 || unexplained.size <= proven)) {
      // It is unknown which of them fails with others; the good ones are soon requested together again.
      this.#conclusions.push(() => singles.forEach(item => isolate(this.#memory.loners, keyOf(item), 'asked alone', this.#now)))
      this.#noteAlone(singles.length)
    } else this.#memory.learnt = afterTooLarge(this.#memory.learnt, unexplained.size, unexplained.answered, this.#now)
  }

  #noteAlone(count: number): void {
    this.#memory.onlyAlone += count
    if (this.#memory.onlyAlone >= ONLY_ALONE && this.#memory.learnt.proven === 0)
      this.#memory.learnt = withoutMultiple(this.#memory.learnt, this.#now)
  }

  #split({ items: some, role, of }: PointRequest<I>, how: keyof typeof PARTS): void {
    const parts = splitEvenly(some, PARTS[how])
    const size = answerBytes(some)
    const failed = createFailure(size, parts.length, of)
    const roleOf = (part: readonly I[]) => (part.length === 1 && how === 'unanswered' ? 'leaf' : 'part')
    const chunks = parts.map((part): Chunk<I> => ({ items: part, role: roleOf(part), of: failed }))
    const singles = chunks.filter(chunk => chunk.role === 'leaf').flatMap(chunk => chunk.items)
    if (singles.length > 0) this.#singlesOf.set(failed, singles)
    // The possible size of a request is learnt before the other points are read; bad points are searched afterwards.
    const queue = size > this.#memory.learnt.proven && role !== 'trial' ? this.#todo : this.#search
    queue.unshift(...chunks)
  }

  /** Splits the request, or isolates its only point, because the device answers other requests. */
  #blame({ request, reason }: FailedRequest<PointRequest<I>>): void {
    if (!request.isAlone) return this.#split(request, 'unanswered')
    const [item] = request.items as [I]
    isolate(this.#memory.culprits, keyOf(item), reason, this.#now)
    if (request.role === 'retried') this.#failedRetries++
    this.#unread.push({ item, reason })
    return this.#end(request.of, 'culprit')
  }

  #withAnswer({ items: asked, isAlone, role, of }: PointRequest<I>, results: readonly PropertyResult[]): void {
    this.#memory.witness = targetOf(asked[0]!)
    this.#memory.learnt = afterAnswer(
      this.#memory.learnt,
      sizeOf(asked.map(targetOf)),
      isAlone ? 'single' : 'multiple',
      this.#now,
    )
    // The point was declined alone before: the device declines the service for it, not for the other points.
    if (of) this.#end(of, role === 'declined' ? 'culprit' : answerBytes(asked))
    if (role === 'retried') this.#memory.culprits.delete(keyOf(asked[0]!))
    if (role === 'trial') for (const item of asked) this.#memory.loners.delete(keyOf(item))
    if (!isAlone) {
      this.#hasTogether = true
      this.#denials = 0
      this.#memory.onlyAlone = 0
    } else if (role === 'declined' && results.some(result => 'values' in result)) this.#noteAlone(1)
  }

  #declinedAlone({ items: asked, role, of }: PointRequest<I>, refusal: RequestRefusal): I[] {
    const key = keyOf(asked[0]!)
    if (deniesSize(refusal)) this.#conclusions.push(() => isolate(this.#memory.culprits, key, formatRefusal(refusal), this.#now))
    else if (role === 'leaf') this.#conclusions.push(() => isolate(this.#memory.loners, key, formatRefusal(refusal), this.#now))
    else if (role === 'retried') this.#memory.culprits.delete(key)
    this.#end(of, 'culprit')
    return asked
  }

  #close(): undefined {
    if (this.#todo.length + this.#search.length > 0) return
    if (!this.#isOver) {
      if (this.#memory.unreached.size > 0) for (const item of this.#items) this.#memory.unreached.delete(keyOf(item))
      this.#unread.push(
        ...this.#last.splice(0).flatMap(({ items: some }) => some.map(item => ({ item, reason: reasonOf(this.#memory, item) }))),
      )
    }
    if (this.#hasTogether) for (const tell of this.#conclusions.splice(0)) tell()
  }
}
