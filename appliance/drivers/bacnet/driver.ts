/** Reads the points of one BACnet/IP device: in batches, smaller ones where it declines, and nothing that writes. */
import { afterRefusal, type Batch } from '#shared/core/bacnet/batch.ts'
import { formatTarget, targetKey } from '#shared/core/bacnet/object.ts'
import { type BacnetPoint, pointValue } from '#shared/core/bacnet/point.ts'
import { formatRefusal } from '#shared/core/bacnet/refusal.ts'
import { READ_PROPERTY, READ_PROPERTY_MULTIPLE } from '#shared/core/bacnet/reply.ts'
import { DeviceError, type FieldDriver, RTTS_MAX } from '#shared/core/poll/device.ts'
import type { Reading } from '#shared/core/reading.ts'
import { serial } from '../serial.ts'
import type { BacnetTransport, Outcome, Patience, Peer } from './transport.ts'

type Item = { point_id: string; address: BacnetPoint }

/**
 * @param first the batch to start with; what the device teaches is remembered while the driver lives
 * @param now stamps readings that are bad because no answer came
 */
export function bacnetDriver(
  transport: BacnetTransport,
  peer: Peer,
  patience: Patience,
  first: Batch,
  now: () => number,
): FieldDriver<BacnetPoint> {
  const inTurn = serial()
  const rtts: number[] = []
  let batch = first
  let pointError: string | null = null

  function bad({ point_id, address }: Item, reason: string, t: number): Reading {
    pointError = `${formatTarget(address.target)}: ${reason}`
    return { id: point_id, t, v: null, q: 'bad' }
  }

  async function ask(items: Item[], signal: AbortSignal): Promise<Outcome> {
    const targets = [...new Map(items.map(({ address: { target } }) => [targetKey(target), target])).values()]
    const service = batch.multiple ? READ_PROPERTY_MULTIPLE : READ_PROPERTY
    const outcome = await transport.request(peer, { service, targets }, patience, signal)
    if (outcome.state !== 'results') return outcome
    const byKey = new Map(targets.map((target, i) => [targetKey(target), outcome.results[i]!]))
    return { ...outcome, results: items.map(({ address }) => byKey.get(targetKey(address.target))!) }
  }

  function take(items: Item[], { results, at }: Extract<Outcome, { state: 'results' }>): Reading[] {
    return items.map((item, i) => {
      const found = pointValue(results[i]!, item.address.conversion)
      return 'value' in found ? { id: item.point_id, t: at, v: found.value, q: 'good' } : bad(item, found.reason, at)
    })
  }

  async function read(items: Item[], signal: AbortSignal): Promise<Reading[]> {
    const readings: Reading[] = []
    const todo = items.length ? [items] : []
    let hasAnswered = false
    pointError = null
    for (let chunk = todo.shift(); chunk; chunk = todo.shift()) {
      const asked = chunk.slice(0, batch.size)
      if (asked.length < chunk.length) todo.unshift(chunk.slice(asked.length))
      const outcome = await ask(asked, signal)
      if ('reason' in outcome) {
        if (!hasAnswered) throw new DeviceError(outcome.state === 'garbled' ? 'fault' : 'silent', outcome.reason)
        return [...readings, ...[asked, ...todo].flat().map(item => bad(item, outcome.reason, now()))]
      }
      hasAnswered = true
      rtts.push(outcome.rttMs)
      if (rtts.length > RTTS_MAX) rtts.shift()
      if (outcome.state === 'results') {
        readings.push(...take(asked, outcome))
        continue
      }
      const learnt = afterRefusal(batch, asked.length, outcome.refusal)
      if (learnt) {
        batch = learnt
        todo.unshift(asked)
      } else if (asked.length > 1) {
        // Some devices decline a whole request for one bad point in it: the halves tell which.
        todo.unshift(...halves(asked))
      } else {
        readings.push(bad(asked[0]!, formatRefusal(outcome.refusal), outcome.at))
      }
    }
    return readings
  }

  return {
    read: (items, signal) => inTurn(() => read(items, signal)),
    report: () => ({ rtts: [...rtts], batch_size: batch.size, point_error: pointError }),
    close: async () => undefined,
  }
}

function halves(items: Item[]): Item[][] {
  const middle = Math.ceil(items.length / 2)
  return [items.slice(0, middle), items.slice(middle)]
}
