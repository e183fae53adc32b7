/** Facts about a device from earlier reads, and the order of the next read. */
import { type IsolatedItems, type SplitRequest, unreachedFirst, planRetries } from '../../../core/poll/isolate.ts'
import { type Batch, type BatchLearning, sizeOf, startLearning } from './batch.ts'
import { type Target, targetKey } from '#shared/core/bacnet/object.ts'

/**
 * Updated by each read. A loner makes a request of many fail and is requested alone in each read; a culprit returns nothing alone
 * either and is retried at growing intervals.
 */
export type DeviceMemory = {
  learnt: BatchLearning
  loners: IsolatedItems
  culprits: IsolatedItems
  /** Points that the last read did not reach. */
  unreached: Set<string>
  /** A point that was answered lately. */
  witness: Target | undefined
  /** Number of witnesses chosen at random; each time another point is chosen. */
  turn: number
  /** Points in a row that returned a value alone but not with others. */
  onlyAlone: number
}

export const createDeviceMemory = (first: Batch): DeviceMemory => ({
  learnt: startLearning(first),
  loners: new Map(),
  culprits: new Map(),
  unreached: new Set(),
  witness: undefined,
  turn: 0,
  onlyAlone: 0,
})

export type TargetItem = { address: { target: Target } }

/**
 * `many`: first request of these points in this read. `part`: of a failed request. `trial`: loners together with others again.
 * `loner`: a known loner alone. `retried`: a known culprit alone. `leaf`: alone at the end of a search. `declined`: alone by
 * ReadProperty, after ReadPropertyMultiple with it alone was declined. `witness`: shows only whether the device is up.
 */
export type RequestRole = 'many' | 'part' | 'trial' | 'loner' | 'retried' | 'leaf' | 'declined' | 'witness'
export type Chunk<I> = { items: readonly I[]; role: RequestRole; of?: SplitRequest }

export const targetOf = ({ address }: TargetItem): Target => address.target
export const keyOf = (item: TargetItem): string => targetKey(targetOf(item))
export const answerBytes = (items: readonly TargetItem[]): number => sizeOf(items.map(targetOf)).bytes
export const reasonOf = ({ culprits }: DeviceMemory, item: TargetItem): string => culprits.get(keyOf(item))?.reason ?? 'not asked'

/** @returns the requests of a read: `last` are culprits that are tried again, `resting` are not requested */
export function firstChunks<I extends TargetItem>(known: DeviceMemory, items: readonly I[], now: number) {
  const { together, retried, resting } = planRetries(known.culprits, items, keyOf, now)
  const { together: others, retried: trial, resting: alone } = planRetries(known.loners, together, keyOf, now)
  const many = unreachedFirst(known.unreached, others, keyOf)
  // Loners that are due are tried together with one other point.
  const company = trial.length > 0 ? 1 : 0
  const todo: Chunk<I>[] = [
    { items: many.slice(company), role: 'many' },
    { items: alone, role: 'loner' },
    { items: [...many.slice(0, company), ...trial], role: 'trial' },
  ]
  const last: Chunk<I>[] = [{ items: retried, role: 'retried' }]
  return { todo: todo.filter(isFilled), last: last.filter(isFilled), resting }
}

const isFilled = ({ items }: { items: readonly unknown[] }): boolean => items.length > 0
