/** Knowledge of a device that is kept from read to read, and the order of reading that follows from it. */
import { type IsolatedItems, type SplitRequest, unreachedFirst, planRetries } from '../../../core/poll/isolate.ts'
import { type Batch, type BatchLearning, sizeOf, startLearning } from './batch.ts'
import { type Target, targetKey } from '#shared/core/bacnet/object.ts'

/**
 * An inquiry changes it. A loner spoils a request of many and is asked alone in each read; a culprit gives nothing alone either
 * and is asked seldom.
 */
export type DeviceMemory = {
  learnt: BatchLearning
  loners: IsolatedItems
  culprits: IsolatedItems
  /** Points that the last read did not come to. */
  unreached: Set<string>
  /** A point that was answered lately. */
  witness: Target | undefined
  /** Witnesses that had to be chosen by chance: another point is taken each time. */
  turn: number
  /** Points in a row that had a value alone, and not in company. */
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
 * `many`: not asked in this read yet. `part`: of a request that failed. `trial`: loners in company again. `loner`, `retried`:
 * alone, as is known. `leaf`: alone, the end of a search. `declined`: alone, after it was declined by itself in a request
 * that could have held many. `witness`: says only whether the device is there.
 */
export type RequestRole = 'many' | 'part' | 'trial' | 'loner' | 'retried' | 'leaf' | 'declined' | 'witness'
export type Chunk<I> = { items: readonly I[]; role: RequestRole; of?: SplitRequest }

export const targetOf = ({ address }: TargetItem): Target => address.target
export const keyOf = (item: TargetItem): string => targetKey(targetOf(item))
export const answerBytes = (items: readonly TargetItem[]): number => sizeOf(items.map(targetOf)).bytes
export const reasonOf = ({ culprits }: DeviceMemory, item: TargetItem): string => culprits.get(keyOf(item))?.reason ?? 'not asked'

/** @returns what to ask: `last` are culprits that are tried again, `resting` are not asked */
export function firstChunks<I extends TargetItem>(known: DeviceMemory, items: readonly I[], now: number) {
  const { together, retried, resting } = planRetries(known.culprits, items, keyOf, now)
  const { together: sociable, retried: trial, resting: alone } = planRetries(known.loners, together, keyOf, now)
  const many = unreachedFirst(known.unreached, sociable, keyOf)
  // Loners that are due again need company; one of the others is enough.
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
