/**
 * One read of the points of one unit. Every block is asked for once. Then what failed is looked into, in smaller and
 * smaller parts, and at last known culprits are tried again. `appliance/core/poll/isolate.ts` says why in this way.
 */
import { ILLEGAL_ADDRESS, isAboutAddress } from './core/pdu.ts'
import { hasGap } from './core/plan.ts'
import { placeOf, type UnitBlock, type UnitItem } from './core/unit-memory.ts'
import { endPart, type SplitRequest, createFailure, FAILURES_MAX, isResting, RETRIES_MAX } from '../../core/poll/isolate.ts'
import {
  type UnitAnswer,
  requestRange,
  hasValues,
  doesUnitAnswer,
  assertUnitAnswers,
  type LostAnswer,
  type UnitRead,
  addReadings,
  type ModbusUnit,
} from './unit-round.ts'

/** Blocks that may be lost before the search begins, so that it gets on in each read. */
const LOST_BLOCKS_MAX = FAILURES_MAX / 2
/** Culprits that do not answer take one part in so many of the time: other units share the bus. */
const RETRY_SHARE = 10
const TOO_MANY = 'not asked for in this read, for too many others failed'

type Failed = { block: UnitBlock; answer: Exclude<UnitAnswer, { state: 'data' }> }
type Part = { block: UnitBlock; within: SplitRequest | undefined }
type Search = { unit: ModbusUnit; round: UnitRead; askedFor: Map<SplitRequest, Failed> }

/** @throws DeviceError when nothing of the unit answers, or when the caller gives up */
export async function readUnit(unit: ModbusUnit, round: UnitRead): Promise<void> {
  const plan = unit.memory.plan(round.items, unit.now())
  if (unit.failures > 0 || plan.blocks.length === 0) await assertUnitAnswers(unit, round)
  const failed = await askBlocks(unit, round, plan.blocks)
  if (!round.gone && failed.length > 0) await search({ unit, round, askedFor: new Map() }, failed)
  if (!round.gone && plan.retried.length > 0) await retry(unit, round, plan.retried)
}

/** Asks for every block once. @returns those that failed, while the unit is there */
async function askBlocks(unit: ModbusUnit, round: UnitRead, blocks: readonly UnitBlock[]): Promise<Failed[]> {
  const { memory, retryPolicy } = unit
  const failed: Failed[] = []
  const queue = [...blocks]
  const asked: UnitBlock[] = []
  for (let block = queue.shift(); block; block = queue.shift()) {
    asked.push(block)
    const answer = await requestRange(unit, round, block, memory.isDoubted(block) ? 0 : retryPolicy.retries)
    if (answer.state === 'data') {
      addReadings(unit, round, block, answer)
      continue
    }
    // The unit has holes: none of its gaps is read along any more, which saves looking for each.
    if (answer.state === 'declined' && answer.code === ILLEGAL_ADDRESS && hasGap(block, placeOf)) {
      memory.forgoGaps()
      queue.unshift(...memory.smaller(block, unit.now()))
      continue
    }
    note(round, block, answer.reason)
    failed.push({ block, answer })
    if (answer.state === 'declined') continue
    if (!(await doesUnitAnswer(unit, round, block, answer))) {
      if (!round.hasAnswered) throw answer.error
      endRound(unit, round, answer, [block])
    }
    if (round.gone || ++round.losses >= LOST_BLOCKS_MAX) break
  }
  memory.noteReached(asked, queue)
  return failed
}

/** Finds the points that spoiled the blocks, and reads the others. */
async function search(search: Search, failed: readonly Failed[]): Promise<void> {
  const { unit, round } = search
  const isSure = ({ answer }: Failed) => answer.state === 'declined' && isAboutAddress(answer.code)
  const areAllSure = failed.every(isSure)
  const sought = areAllSure || (await hasValues(unit, round)) ? failed : failed.filter(isSure)
  for (const one of sought) {
    const parts = narrow(search, { ...one, within: undefined })
    for (let part = parts.shift(); part; part = parts.shift()) {
      if (round.losses >= FAILURES_MAX) return
      const { block, within } = part
      const answer = await requestRange(unit, round, block, 0)
      if (answer.state === 'data') {
        addReadings(unit, round, block, answer)
        settle(search, endPart(within, block.count))
        continue
      }
      note(round, block, answer.reason)
      if (answer.state === 'lost') {
        round.losses++
        if (!(await doesUnitAnswer(unit, round, block, answer))) return endRound(unit, round, answer, [one.block, block])
      }
      parts.unshift(...narrow(search, { block, answer, within }))
    }
  }
}

/** @returns what to ask for instead of a block that failed; nothing when it is one place, which is then the culprit */
function narrow({ unit, askedFor, ...search }: Search, { block, answer, within }: Failed & Part): Part[] {
  const smaller = unit.memory.smaller(block, unit.now())
  if (smaller.length === 0) {
    unit.memory.noteBadRange(placeOf(block.items[0]!), answer.reason, unit.now())
    settle({ unit, askedFor, ...search }, endPart(within, 'culprit'))
    return []
  }
  const record = createFailure(block.count, smaller.length, within)
  askedFor.set(record, { block, answer })
  return smaller.map(part => ({ block: part, within: record }))
}

/** Learns from a block that failed although all its parts were answered. */
function settle({ unit, askedFor }: Search, unexplained: SplitRequest | undefined): void {
  const failed = unexplained && askedFor.get(unexplained)
  if (failed) unit.memory.readInParts(failed.block, failed.answer.reason, unit.now(), failed.answer.state === 'declined')
}

/** Tries culprits again, each alone, until some fail once more. */
async function retry(unit: ModbusUnit, round: UnitRead, culprits: readonly UnitBlock[]): Promise<void> {
  if (isResting({ retryAt: unit.retryFrom }, unit.now())) return
  let declined = 0
  for (const block of culprits) {
    const sentAt = unit.now()
    const answer = await requestRange(unit, round, block, 0)
    if (answer.state === 'data') {
      addReadings(unit, round, block, answer)
      continue
    }
    note(round, block, answer.reason)
    unit.memory.noteBadRange(block, answer.reason, unit.now())
    if (answer.state === 'lost') {
      unit.retryFrom = unit.now() + RETRY_SHARE * (unit.now() - sentAt)
      return
    }
    if (++declined >= RETRIES_MAX) return
  }
}

function note(round: UnitRead, { items }: UnitBlock, reason: string): void {
  for (const item of items) round.reasons.set(item, reason)
}

/** The unit answered and does no more. Who it was is not told by once, so that nobody is blamed for an outage. */
function endRound(unit: ModbusUnit, round: UnitRead, lost: LostAnswer, blocks: readonly UnitBlock[]): void {
  round.gone = lost
  for (const block of new Set(blocks)) unit.memory.noteGoneAfter(block, lost.reason, unit.now())
}

/** Why a point has no value after a read. */
export const reasonFor = ({ memory }: ModbusUnit, { reasons, gone }: UnitRead, item: UnitItem): string =>
  reasons.get(item) ?? memory.reasonOf(item) ?? gone?.reason ?? TOO_MANY
