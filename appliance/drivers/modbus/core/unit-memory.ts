/** Knowledge of one Modbus unit, and the plan of reading its points that follows from it. */
import { accuse, type Apart, firstUnreached, isResting, sortOut } from '../../../core/poll/isolate.ts'
import { type Block, blockOf, isOnePlace, keyOfPlace, type Limits, NO_GAP, partsOf, planBlocks } from './plan.ts'
import { bytesDue } from './pdu.ts'
import type { ModbusPoint, RegisterRange, Table } from './point.ts'

export type UnitItem = { point_id: string; address: ModbusPoint }
export type UnitBlock = Block<UnitItem>

/** How the points of one read are asked for. */
type UnitPlan = {
  /** In this order; blocks that failed lately come last. */
  blocks: readonly UnitBlock[]
  /** Culprits that are due to be tried again, each place alone. */
  retried: readonly UnitBlock[]
  resting: readonly UnitItem[]
}

/** A unit has one group of points for each of its poll periods, and few of those. */
const PLANS_MAX = 32
/** Blocks that are read in parts, or were doubted once; more than any unit has, for old ones are not looked for. */
const IN_PARTS_MAX = 512
/** From so many failures in a row on a block is read in parts: a single one may have been chance. */
const SURE_FAILURES = 2
/** The golden section: multiples of it spread evenly, and neighbours in time come far apart. */
const SPREAD = 0.618034

export const placeOf = (item: UnitItem): RegisterRange => item.address.address
const keyOf = (item: UnitItem) => keyOfPlace(placeOf(item))
const firstKey = (block: UnitBlock) => keyOf(block.items[0]!)

/** @param limits of the blocks as long as nothing is known */
export function createUnitMemory(limits: Limits) {
  /** Places that spoil every block that they are in. */
  const apart: Apart = new Map()
  /** Blocks that fail although their parts are answered, or after which the unit was gone. */
  const inParts: Apart = new Map()
  let gap = limits.gap
  /** What was planned while nothing spoils a read: each poll asks for the same points again. */
  let plans: { items: readonly UnitItem[]; plan: UnitPlan }[] = []
  /** Places that the last read left out. */
  const unreached = new Set<string>()
  let witness: UnitBlock | undefined
  let turn = 0

  function plan(items: readonly UnitItem[], now: number): UnitPlan {
    if (apart.size > 0 || inParts.size > 0) return planAround(items, now)
    const known = plans.find(one => isSame(one.items, items))
    const planned = known?.plan ?? { blocks: planBlocks(items, placeOf, { ...limits, gap }), retried: [], resting: [] }
    if (!known) plans = [...plans.slice(1 - PLANS_MAX), { items, plan: planned }]
    if (unreached.size === 0) return planned
    return { ...planned, blocks: firstUnreached(unreached, planned.blocks, firstKey) }
  }

  function planAround(items: readonly UnitItem[], now: number): UnitPlan {
    const { together, retried, resting } = sortOut(apart, items, keyOf, now)
    const spoilers = Array.from(apart.keys(), placeOfKey)
    const blocks = planBlocks(together, placeOf, { ...limits, gap, spoilers }).flatMap(block => whole(block, now))
    const ordered = firstUnreached(unreached, blocks, firstKey)
    const isDoubted = (block: UnitBlock) => inParts.has(keyOfPlace(block))
    return {
      blocks: [...ordered.filter(block => !isDoubted(block)), ...ordered.filter(isDoubted)],
      retried: Array.from(Map.groupBy(retried, keyOf).values(), same => blockOf(same, placeOf)),
      resting,
    }
  }

  /** @returns the block itself, or what is read in its stead for now */
  function whole(block: UnitBlock, now: number): UnitBlock[] {
    const known = inParts.get(keyOfPlace(block))
    if (!known || known.failures < SURE_FAILURES || !isResting(known, now)) return [block]
    const parts = partsOf(block, placeOf)
    return parts.length === 0 ? [block] : parts.flatMap(part => whole(part, now))
  }

  function doubt(block: UnitBlock, reason: string, now: number): number {
    const key = keyOfPlace(block)
    accuse(inParts, key, reason, now)
    if (inParts.size > IN_PARTS_MAX) inParts.delete(inParts.keys().next().value!)
    return inParts.get(key)!.failures
  }

  /** A place of the block that answered last, one whose answer cannot be taken for that to `failed`. */
  function witnessPlaces(failed: RegisterRange | undefined): RegisterRange[] {
    if (!witness) return []
    const places = [placeOf(witness.items[0]!), witness]
    const unlike = places.find(place => !failed || place.table !== failed.table || bytesDue(place) !== bytesDue(failed))
    return [unlike ?? places[0]!]
  }

  return {
    plan,
    /** Whether a block failed lately, so that one attempt at it is enough. */
    isDoubted: (block: UnitBlock): boolean => inParts.size > 0 && inParts.has(keyOfPlace(block)),
    /** Parts to ask for instead of a block that failed; none for a single place. */
    smaller: (block: UnitBlock, now: number): UnitBlock[] => partsOf(block, placeOf).flatMap(part => whole(part, now)),
    answered(block: UnitBlock): void {
      witness = block
      if (inParts.size > 0) inParts.delete(keyOfPlace(block))
      if (apart.size > 0) apart.delete(keyOfPlace(block))
    },
    /** A place that failed alone. */
    blame(place: RegisterRange, reason: string, now: number): void {
      accuse(apart, keyOfPlace(place), reason, now)
    },
    /**
     * A block failed and every part of it was answered: it is too long for the unit, or a gap in it is not there.
     *
     * @param isSure the unit said so itself; else it may have been chance
     */
    readInParts(block: UnitBlock, reason: string, now: number, isSure: boolean): void {
      const failures = doubt(block, reason, now)
      if (isSure && failures < SURE_FAILURES) doubt(block, reason, now)
    },
    /** After this block the unit was gone. When that comes twice the block itself is looked into, and always last. */
    wasGoneAfter(block: UnitBlock, reason: string, now: number): void {
      const failures = doubt(block, reason, now)
      if (failures >= SURE_FAILURES && isOnePlace(block, placeOf)) accuse(apart, keyOfPlace(block), reason, now)
    },
    /** From now on nothing is read along. */
    forgoGaps(): void {
      gap = NO_GAP
      plans = []
    },
    /** Notes which of the blocks of a read were not asked for: the next one begins with them. */
    noteReached(asked: readonly UnitBlock[], left: readonly UnitBlock[]): void {
      if (unreached.size > 0) for (const { items } of asked) for (const item of items) unreached.delete(keyOf(item))
      for (const { items } of left) for (const item of items) unreached.add(keyOf(item))
    },
    /** Why a point is kept apart. */
    reasonOf: (item: UnitItem): string | undefined => apart.get(keyOf(item))?.reason,
    /**
     * Places to ask for when it is in doubt whether the unit answers at all: one that answered lately, then places
     * far from each other, others each time.
     *
     * @param failed what was not answered
     */
    witnesses(items: readonly UnitItem[], failed: RegisterRange | undefined, most: number): RegisterRange[] {
      const others = items.filter(item => !apart.has(keyOf(item)))
      const places = (others.length > 0 ? others : items).map(placeOf)
      const spread = Array.from({ length: most }, () => places[Math.floor(((turn++ * SPREAD) % 1) * places.length)]!)
      const unlike = [...witnessPlaces(failed), ...spread].filter(place => !failed || keyOfPlace(place) !== keyOfPlace(failed))
      return Array.from(new Map(unlike.map(place => [keyOfPlace(place), place])).values()).slice(0, most)
    },
  }
}

export type UnitMemory = ReturnType<typeof createUnitMemory>

/** Whether two reads ask for the same points; their lists may be made anew each time. */
const isSame = (a: readonly UnitItem[], b: readonly UnitItem[]): boolean =>
  a.length === b.length && a.every((item, i) => item.point_id === b[i]!.point_id && item.address === b[i]!.address)

function placeOfKey(key: string): RegisterRange {
  const [table, address, count] = key.split(':')
  return { table: table as Table, address: Number(address), count: Number(count) }
}
