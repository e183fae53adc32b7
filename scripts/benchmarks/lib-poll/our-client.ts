import pino from 'pino'
import { PRESENT_VALUE } from '#shared/core/bacnet/object.ts'
import { READ_PROPERTY, READ_PROPERTY_MULTIPLE, type ReadRequest } from '#appliance/drivers/bacnet/core/reply.ts'
import { openBacnetTransport } from '#appliance/drivers/bacnet/transport.ts'
import type { ReadBatch } from './order.ts'

const RETRY_POLICY = { timeoutMs: 3000, retries: 2 }
const never = new AbortController().signal

/** The appliance's own transport. */
export async function open(port: number): Promise<ReadBatch> {
  const transport = await openBacnetTransport({ address: '127.0.0.1', port: 0 }, Date.now, pino({ level: 'silent' }))
  const peer = { host: '127.0.0.1', port, concurrency: 255 }
  const questions = new Map<number, ReadRequest>()
  return async (first, count) => {
    let question = questions.get(first)
    if (!question) questions.set(first, (question = questionOf(first, count)))
    const outcome = await transport.request(peer, question, RETRY_POLICY, never)
    if (outcome.state !== 'results') throw new Error(JSON.stringify(outcome))
    return outcome.results.map(result => {
      const value = 'values' in result ? result.values[0] : undefined
      return value?.type === 'real' ? value.value : undefined
    })
  }
}

function questionOf(first: number, count: number): ReadRequest {
  const targets = Array.from({ length: count }, (_, i) => ({ type: 0, instance: first + i, property: PRESENT_VALUE }))
  return { service: count === 1 ? READ_PROPERTY : READ_PROPERTY_MULTIPLE, targets }
}
