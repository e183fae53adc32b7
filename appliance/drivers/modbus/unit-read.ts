/**
 * Reads the points of one unit once. Every block is requested once. Then failed blocks are searched for bad registers in smaller
 * and smaller parts, and at the end known bad registers are tried again. `appliance/core/poll/isolate.ts` explains this order.
 */
import { ILLEGAL_ADDRESS, isAboutAddress } from './core/pdu.ts'
import { hasGap } from './core/plan.ts'
import { rangeOf, type UnitBlock, type UnitItem } from './core/unit-memory.ts'
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

/** Blocks without an answer after which the search begins, so that it makes progress in each read. */
const LOST_BLOCKS_MAX = FAILURES_MAX / 2
/** Retries without an answer may use one part in ten of the time, because other units share the bus. */
const RETRY_SHARE = 10
const TOO_MANY = 'not read, because too many other requests failed'

type Failed = { block: UnitBlock; answer: Exclude<UnitAnswer, { state: 'data' }> }
type Part = { block: UnitBlock; within: SplitRequest | undefined }
type Search = { unit: ModbusUnit; round: UnitRead; splitBlocks: Map<SplitRequest, Failed> }

/** @throws DeviceError when nothing of the unit answers, or when the caller cancels the read */
export async function readUnit(unit: ModbusUnit, round: UnitRead): Promise<void> {
  const plan = unit.memory.plan(round.items, unit.now())
  if (unit.failures > 0 || plan.blocks.length === 0) await assertUnitAnswers(unit, round)
  const failed = await askBlocks(unit, round, plan.blocks)
  if (!round.gone && failed.length > 0) await search({ unit, round, splitBlocks: new Map() }, failed)
  if (!round.gone && plan.retried.length > 0) await retry(unit, round, plan.retried)
}

/** Requests every block once. @returns the blocks that failed while the unit answers */
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
    // The unit lacks registers between points: unwanted registers are no longer read, so they need not be searched.
    if (answer.state === 'declined' && answer.code === ILLEGAL_ADDRESS && hasGap(block, rangeOf)) {
      memory.forgoGaps(answer.reason, unit.now())
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

/** Finds the points that made the blocks fail, and reads the others. */
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

/** @returns the parts of a failed block to request; none for a single range, which is then bad */
function narrow({ unit, splitBlocks, ...search }: Search, { block, answer, within }: Failed & Part): Part[] {
  const smaller = unit.memory.smaller(block, unit.now())
  if (smaller.length === 0) {
    unit.memory.noteBadRange(rangeOf(block.items[0]!), answer.reason, unit.now())
    settle({ unit, splitBlocks, ...search }, endPart(within, 'culprit'))
    return []
  }
  const record = createFailure(block.count, smaller.length, within)
  splitBlocks.set(record, { block, answer })
  return smaller.map(part => ({ block: part, within: record }))
}

/** Records a block that failed although all its parts were answered. */
function settle({ unit, splitBlocks }: Search, unexplained: SplitRequest | undefined): void {
  const failed = unexplained && splitBlocks.get(unexplained)
  if (failed) unit.memory.readInParts(failed.block, failed.answer.reason, unit.now(), failed.answer.state === 'declined')
}

/** Tries bad ranges again, each alone, until some fail once more. */
async function retry(unit: ModbusUnit, round: UnitRead, badRanges: readonly UnitBlock[]): Promise<void> {
  if (isResting({ retryAt: unit.retryFrom }, unit.now())) return
  let declined = 0
  for (const block of badRanges) {
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

/** Ends the read of a unit that no longer answers. A block is isolated only when this happens twice, because it may be an outage. */
function endRound(unit: ModbusUnit, round: UnitRead, lost: LostAnswer, blocks: readonly UnitBlock[]): void {
  round.gone = lost
  for (const block of new Set(blocks)) unit.memory.noteGoneAfter(block, lost.reason, unit.now())
}

/** @returns why a point has no value after a read */
export const reasonFor = ({ memory }: ModbusUnit, { reasons, gone }: UnitRead, item: UnitItem): string =>
  reasons.get(item) ?? memory.reasonOf(item) ?? gone?.reason ?? TOO_MANY
