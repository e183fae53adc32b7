/**
 * One read of a device's points, request by request: what to ask next after what the device said or did not say. Several
 * requests may be open at a time once the device has answered one.
 */
import {
  afterAnswer,
  afterRefusal,
  afterSilence,
  type Asked,
  type Batch,
  fitting,
  type Learnt,
  sizeOf,
  startLearning,
  withoutMultiple,
} from './batch.ts'
import { type Target, targetKey } from './object.ts'
import type { PropertyResult, Refusal } from './reply.ts'
import { DAY } from '../time.ts'

/** What is known of a device from one read to the next. An inquiry changes it. */
export type Known = {
  learnt: Learnt
  /** Asked for many at once it never answered; whether it is there, a single point tells. */
  isSuspect: boolean
  /** Keys of targets for which whole batches are declined; they are asked alone until then, ms since 1970. */
  apart: { keys: Set<string>; until: number }
}

export const startKnowing = (first: Batch): Known => ({
  learnt: startLearning(first),
  isSuspect: false,
  apart: { keys: new Set(), until: 0 },
})

type Item = { address: { target: Target } }
/**
 * One request: by ReadProperty when `isAlone`, then of one item; else by ReadPropertyMultiple. `isDeclined`: alone because the
 * device declined it in company.
 */
export type Request<I> = { items: I[]; isAlone: boolean; isDeclined: boolean }

export type Inquiry<I> = {
  /** @returns what to ask now; undefined when all is said */
  next(): Request<I> | undefined
  answered(request: Request<I>, results: readonly PropertyResult[]): void
  /** The device declined the request as a whole. @returns what it gives no value for; the others are asked again */
  declined(request: Request<I>, refusal: Refusal): I[]
  /** @returns what is left without a value and is not asked any more; undefined when the device said nothing at all */
  unanswered(request: Request<I>, state: 'silent' | 'garbled' | 'cancelled'): I[] | undefined
}

/** Items that go together as far as they fit; `alone`: one after the other, and why. */
type Chunk<I> = { items: I[]; alone?: 'known' | 'probe' | 'declined' }

/** Points that must have a value alone, and none in company, before ReadPropertyMultiple is left for a day. */
const ONLY_ALONE = 3
const APART_MS = DAY

/**
 * @param known what is known of the device; changed by what is learnt
 * @param hasAnswered the device answered a moment ago, so silence is about the request
 * @param now ms since 1970
 */
export function openInquiry<I extends Item>(known: Known, items: readonly I[], hasAnswered: boolean, now: number): Inquiry<I> {
  const todo = firstChunks(known, items, now)
  const spoilers: string[] = []
  let isThere = hasAnswered
  let hasTogether = false
  let onlyAlone = 0
  /** What was known before requests went unanswered one after the other. */
  let before: Learnt | undefined

  function answeredAlone(isDeclined: boolean, results: readonly PropertyResult[]): void {
    if (isDeclined && results.some(result => 'values' in result)) onlyAlone++
    if (onlyAlone >= ONLY_ALONE && known.learnt.proven === 0) known.learnt = withoutMultiple(known.learnt, now)
  }

  /** A device that declines everything for a while says nothing about single points. */
  function close(): undefined {
    if (!hasTogether || spoilers.length === 0) return
    if (known.apart.keys.size === 0) known.apart.until = now + APART_MS
    for (const key of spoilers) known.apart.keys.add(key)
  }

  return {
    next() {
      const chunk = todo.shift()
      if (!chunk) return close()
      const { batch } = known.learnt
      const isAlone = chunk.alone !== undefined || !batch.multiple
      const ahead = chunk.items.slice(0, isAlone ? 1 : batch.size)
      const asked = isAlone ? ahead : ahead.slice(0, fitting(batch, ahead.map(targetOf)))
      if (asked.length < chunk.items.length) todo.unshift({ ...chunk, items: chunk.items.slice(asked.length) })
      return { items: asked, isAlone, isDeclined: chunk.alone === 'declined' }
    },
    answered({ items: asked, isAlone, isDeclined }, results) {
      isThere = true
      before = undefined
      known.learnt = afterAnswer(known.learnt, askedFor(asked), isAlone ? 'single' : 'multiple', now)
      if (isAlone) return answeredAlone(isDeclined, results)
      known.isSuspect = false
      hasTogether = true
    },
    declined({ items: asked, isAlone }, refusal) {
      isThere = true
      if (isAlone) return asked
      const next = afterRefusal(known.learnt, askedFor(asked), refusal, now)
      if (next) {
        known.learnt = next
        todo.unshift({ items: asked })
      } else if (asked.length > 1) {
        // Some devices decline a whole request for one bad point in it: the halves tell which.
        todo.unshift(...halves(asked))
      } else {
        spoilers.push(targetKey(targetOf(asked[0]!)))
        todo.unshift({ items: asked, alone: 'declined' })
      }
      return []
    },
    unanswered({ items: asked, isAlone }, state) {
      const { learnt } = known
      if (!isAlone && (isThere || state === 'garbled')) known.learnt = afterSilence(learnt, askedFor(asked), now)
      else if (!isAlone && state === 'silent') known.isSuspect = learnt.proven === 0
      if (isThere && state === 'silent' && known.learnt !== learnt) {
        before ??= learnt
        todo.unshift({ items: asked })
        return []
      }
      // Silent to a single point as well: it is gone, and its silence says nothing about sizes.
      if (isAlone && before) known.learnt = before
      close()
      return isThere ? [asked, ...todo.splice(0).map(left => left.items)].flat() : undefined
    },
  }
}

const targetOf = ({ address }: Item): Target => address.target
const askedFor = (items: readonly Item[]): Asked => sizeOf(items.map(targetOf))

function firstChunks<I extends Item>(known: Known, items: readonly I[], now: number): Chunk<I>[] {
  if (now >= known.apart.until) known.apart = { keys: new Set(), until: 0 }
  const { keys } = known.apart
  const isApart = (item: I) => keys.size > 0 && keys.has(targetKey(targetOf(item)))
  const together = items.filter(item => !isApart(item))
  const chunks: Chunk<I>[] = [{ items: together }, { items: items.filter(isApart), alone: 'known' }]
  const isProbed = known.isSuspect && known.learnt.batch.multiple && together.length > 1
  if (isProbed) chunks.unshift({ items: together.splice(0, 1), alone: 'probe' })
  return chunks.filter(chunk => chunk.items.length > 0)
}

function halves<I>(items: I[]): Chunk<I>[] {
  const middle = Math.ceil(items.length / 2)
  return [{ items: items.slice(0, middle) }, { items: items.slice(middle) }]
}
