/** Stores the results of earlier reads of a Modbus unit and plans the next read from them. */
import { isolate, type IsolatedItems, unreachedFirst, isResting, planRetries } from '../../../core/poll/isolate.ts'
import { type Block, blockOf, isOneRange, rangeKey, type Limits, NO_GAP, splitBlock, planBlocks } from './plan.ts'
import { bytesDue } from './pdu.ts'
import type { ModbusPoint, RegisterRange, RegisterTable } from './point.ts'

export type UnitItem = { point_id: string; address: ModbusPoint }
export type UnitBlock = Block<UnitItem>

/** The requests of one read. */
type UnitPlan = {
  /** In this order; blocks that failed lately come last. */
  blocks: readonly UnitBlock[]
  /** Bad ranges that are due for a retry, each alone. */
  retried: readonly UnitBlock[]
  /** Points whose range is bad and not due for a retry. */
  resting: readonly UnitItem[]
}

/** Remembered plans. A unit has one group of points for each poll period, and few periods. */
const PLANS_MAX = 32
/** Maximum number of remembered failed blocks: more than any unit has. */
const FAILED_BLOCKS_MAX = 512
/** Failures in a row after which a block is read in parts; a single one may be accidental. */
const SURE_FAILURES = 2
/** All gaps of a unit: which registers are missing is not looked for. */
const GAPS = 'gaps'
/** The golden ratio: its multiples modulo 1 are spread evenly, and successive ones are far apart. */
const SPREAD = 0.618034

export const rangeOf = (item: UnitItem): RegisterRange => item.address.address
const keyOf = (item: UnitItem) => rangeKey(rangeOf(item))
const firstKey = (block: UnitBlock) => keyOf(block.items[0]!)

/** The state of one unit between reads. */
export class UnitMemory {
  readonly #limits: Limits
  /** Ranges that make every block that contains them fail. */
  readonly #badRanges: IsolatedItems = new Map()
  /** Blocks that fail although their parts are answered, or after which the unit did not answer any more. */
  readonly #failedBlocks: IsolatedItems = new Map()
  /** Whether the unit declined registers between the requested ones lately; they are tried again seldom. */
  readonly #declinedGaps: IsolatedItems = new Map()
  /** Plans made while no range is bad: each poll asks for the same points again. */
  #plans: { items: readonly UnitItem[]; gap: Limits['gap']; plan: UnitPlan }[] = []
  /** Ranges that the last read did not get to. */
  readonly #unreached = new Set<string>()
  #lastAnswered: UnitBlock | undefined
  #witnessTurn = 0

  /** @param limits of the blocks until more is known about the unit */
  constructor(limits: Limits) {
    this.#limits = limits
  }

  /** @returns the blocks of a read in the order in which they are asked for */
  plan(items: readonly UnitItem[], now: number): UnitPlan {
    if (this.#badRanges.size > 0 || this.#failedBlocks.size > 0) return this.#planAround(items, now)
    const gap = this.#gap(now)
    const plan = this.#plans.find(known => known.gap === gap && isSame(known.items, items))?.plan ?? this.#remember(items, gap)
    if (this.#unreached.size === 0) return plan
    return { ...plan, blocks: unreachedFirst(this.#unreached, plan.blocks, firstKey) }
  }

  /** Whether a block failed lately, so that one attempt at it is enough. */
  isDoubted(block: UnitBlock): boolean {
    return this.#failedBlocks.size > 0 && this.#failedBlocks.has(rangeKey(block))
  }

  /** @returns the parts to ask for instead of a block that failed; none for a single range */
  smaller(block: UnitBlock, now: number): UnitBlock[] {
    return splitBlock(block, rangeOf).flatMap(part => this.#wholeOrParts(part, now))
  }

  noteAnswered(block: UnitBlock): void {
    this.#lastAnswered = block
    if (this.#failedBlocks.size > 0) this.#failedBlocks.delete(rangeKey(block))
    if (this.#badRanges.size > 0) this.#badRanges.delete(rangeKey(block))
  }

  /** Notes a range that failed when it was asked for alone. */
  noteBadRange(range: RegisterRange, reason: string, now: number): void {
    isolate(this.#badRanges, rangeKey(range), reason, now)
  }

  /**
   * Notes a block that failed while every part of it was answered: it is too long for the unit, or contains a gap that does not
   * exist.
   *
   * @param isSure the unit stated so itself; otherwise it may have been chance
   */
  readInParts(block: UnitBlock, reason: string, now: number, isSure: boolean): void {
    const failures = this.#noteFailedBlock(block, reason, now)
    if (isSure && failures < SURE_FAILURES) this.#noteFailedBlock(block, reason, now)
  }

  /** Notes a block after which the unit did not answer. At the second time the block itself is divided, and always read last. */
  noteGoneAfter(block: UnitBlock, reason: string, now: number): void {
    const failures = this.#noteFailedBlock(block, reason, now)
    if (failures >= SURE_FAILURES && isOneRange(block, rangeOf)) isolate(this.#badRanges, rangeKey(block), reason, now)
  }

  /** Reads no registers between the requested ones for a while, longer each time. */
  forgoGaps(reason: string, now: number): void {
    if (this.#gap(now) !== NO_GAP) isolate(this.#declinedGaps, GAPS, reason, now, true)
  }

  /** Notes which blocks of a read were not asked for. The next read starts with them. */
  noteReached(asked: readonly UnitBlock[], left: readonly UnitBlock[]): void {
    if (this.#unreached.size > 0) for (const { items } of asked) for (const item of items) this.#unreached.delete(keyOf(item))
    for (const { items } of left) for (const item of items) this.#unreached.add(keyOf(item))
  }

  /** @returns why the range of a point is bad; undefined when it is not */
  reasonOf(item: UnitItem): string | undefined {
    return this.#badRanges.get(keyOf(item))?.reason
  }

  /**
   * Ranges to ask for when it is in doubt whether the unit answers at all: one that was answered lately, then ranges far from
   * each other, different ones each time.
   *
   * @param failed the range that was not answered
   */
  witnesses(items: readonly UnitItem[], failed: RegisterRange | undefined, most: number): RegisterRange[] {
    const good = items.filter(item => !this.#badRanges.has(keyOf(item)))
    const ranges = (good.length > 0 ? good : items).map(rangeOf)
    const spread = Array.from({ length: most }, () => ranges[Math.floor(((this.#witnessTurn++ * SPREAD) % 1) * ranges.length)]!)
    const others = [...this.#lastAnsweredRange(failed), ...spread].filter(
      range => !failed || rangeKey(range) !== rangeKey(failed),
    )
    return Array.from(new Map(others.map(range => [rangeKey(range), range])).values()).slice(0, most)
  }

  #gap(now: number): Limits['gap'] {
    const declined = this.#declinedGaps.get(GAPS)
    return declined && isResting(declined, now) ? NO_GAP : this.#limits.gap
  }

  #remember(items: readonly UnitItem[], gap: Limits['gap']): UnitPlan {
    const plan = { blocks: planBlocks(items, rangeOf, { ...this.#limits, gap }), retried: [], resting: [] }
    this.#plans = [...this.#plans.slice(1 - PLANS_MAX), { items, gap, plan }]
    return plan
  }

  #planAround(items: readonly UnitItem[], now: number): UnitPlan {
    const { together, retried, resting } = planRetries(this.#badRanges, items, keyOf, now)
    const badRanges = Array.from(this.#badRanges.keys(), rangeOfKey)
    const planned = planBlocks(together, rangeOf, { ...this.#limits, gap: this.#gap(now), badRanges })
    const blocks = planned.flatMap(block => this.#wholeOrParts(block, now))
    const ordered = unreachedFirst(this.#unreached, blocks, firstKey)
    return {
      blocks: [...ordered.filter(block => !this.isDoubted(block)), ...ordered.filter(block => this.isDoubted(block))],
      retried: Array.from(Map.groupBy(retried, keyOf).values(), same => blockOf(same, rangeOf)),
      resting,
    }
  }

  #wholeOrParts(block: UnitBlock, now: number): UnitBlock[] {
    const known = this.#failedBlocks.get(rangeKey(block))
    if (!known || known.failures < SURE_FAILURES || !isResting(known, now)) return [block]
    const parts = splitBlock(block, rangeOf)
    return parts.length === 0 ? [block] : parts.flatMap(part => this.#wholeOrParts(part, now))
  }

  /** @returns how often the block has failed in a row */
  #noteFailedBlock(block: UnitBlock, reason: string, now: number): number {
    const key = rangeKey(block)
    isolate(this.#failedBlocks, key, reason, now)
    if (this.#failedBlocks.size > FAILED_BLOCKS_MAX) this.#failedBlocks.delete(this.#failedBlocks.keys().next().value!)
    return this.#failedBlocks.get(key)!.failures
  }

  /** @returns a range of the last answered block whose answer cannot be mistaken for that of `failed` */
  #lastAnsweredRange(failed: RegisterRange | undefined): RegisterRange[] {
    if (!this.#lastAnswered) return []
    const ranges = [rangeOf(this.#lastAnswered.items[0]!), this.#lastAnswered]
    const distinct = ranges.find(range => !failed || range.table !== failed.table || bytesDue(range) !== bytesDue(failed))
    return [distinct ?? ranges[0]!]
  }
}

/** Whether two reads ask for the same points. Each read may have a list of its own. */
const isSame = (a: readonly UnitItem[], b: readonly UnitItem[]): boolean =>
  a.length === b.length && a.every((item, i) => item.point_id === b[i]!.point_id && item.address === b[i]!.address)

function rangeOfKey(key: string): RegisterRange {
  const [table, address, count] = key.split(':')
  return { table: table as RegisterTable, address: Number(address), count: Number(count) }
}
