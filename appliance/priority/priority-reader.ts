/** Reads priority arrays over the BACnet transport of this process. */
import assert from 'node:assert/strict'
import { fitting } from '../drivers/bacnet/core/batch.ts'
import { identityTargets } from '../drivers/bacnet/core/identity-check.ts'
import { ReadSequence, type PointRequest } from '../drivers/bacnet/core/read-sequence.ts'
import { type DeviceMemory, createDeviceMemory } from '../drivers/bacnet/core/device-memory.ts'
import { type Target, targetKey } from '#shared/core/bacnet/object.ts'
import { formatRefusal } from '../drivers/bacnet/core/refusal.ts'
import { READ_PROPERTY, READ_PROPERTY_MULTIPLE } from '../drivers/bacnet/core/reply.ts'
import {
  type TargetAnswers,
  levelsAnswer,
  levelTargets,
  type TargetAnswer,
  wholeAnswer,
  wholeTargets,
} from '../core/priority/array-decode.ts'
import { priorityKey } from '#shared/core/priority/priority-record.ts'
import type { ArrayAnswer } from '../core/priority/array-answer.ts'
import type { PriorityObject } from '../core/priority/visit-objects.ts'
import { DeviceError } from '#shared/core/poll/device.ts'
import type { PriorityReader } from '../flow/visit-device.ts'
import { type BacnetProtocol, connectionOf } from '../drivers/bacnet/protocol.ts'
import { withFewRetries } from '../drivers/bacnet/outcome.ts'
import type { BacnetTransport } from '../drivers/bacnet/transport.ts'
import type { DeviceEntry } from '../store/catalogue-schema.ts'

type Item = { address: { target: Target } }

/** The connection to a device and what was learnt about it, both as long as its entry is in the catalogue. */
type Connection = ReturnType<typeof connectionOf> & {
  known: DeviceMemory
  /** Keys of the points whose arrays the device returns only level by level. */
  byLevel: Set<string>
  /** A property that every device answers. It shows whether the device still answers after a request without a reply. */
  witness: Item
  /** The device has answered during this visit, so a missing reply is about the request. */
  hasAnswered: boolean
}
type Session = { transport: BacnetTransport; connection: Connection; signal: AbortSignal; now: () => number }

/**
 * Polling and visits share the connection to a device and alternate by request.
 *
 * @param entryOf the device's entry in the catalogue as it is now
 */
export function priorityReader(parts: {
  bacnet: Pick<BacnetProtocol, 'borrow'>
  entryOf(device_id: string): DeviceEntry | undefined
  now: () => number
}): PriorityReader {
  const connections = new WeakMap<DeviceEntry, Connection>()
  const connectionTo = (entry: DeviceEntry): Connection => {
    const known = connections.get(entry)
    if (known) return known
    const way = connectionOf(entry)
    assert(entry.bacnet)
    const [target] = identityTargets(entry.bacnet.device_instance) as [Target]
    const connection: Connection = {
      ...way,
      known: createDeviceMemory(way.first),
      byLevel: new Set(),
      witness: { address: { target } },
      hasAnswered: false,
    }
    connections.set(entry, connection)
    return connection
  }
  const begin = async (device_id: string, signal: AbortSignal) => {
    const entry = parts.entryOf(device_id)
    if (!entry) throw new DeviceError('silent', `${device_id} has left the list of devices`)
    const { transport, release } = await parts.bacnet.borrow()
    return { session: { transport, connection: connectionTo(entry), signal, now: parts.now }, release }
  }
  return {
    async identify({ device_id, device_instance }, signal) {
      const { session, release } = await begin(device_id, signal)
      session.connection.hasAnswered = false
      try {
        const answers = await askAll(session, identityTargets(device_instance))
        return new Map([...answers].flatMap(([key, one]) => ('result' in one ? [[key, one.result] as const] : [])))
      } finally {
        await release()
      }
    },
    async *read({ device_id }, objects, signal) {
      const { session, release } = await begin(device_id, signal)
      try {
        yield* readObjects(session, objects)
      } finally {
        session.connection.hasAnswered = false
        await release()
      }
    },
  }
}

async function* readObjects(session: Session, objects: readonly PriorityObject[]): AsyncGenerator<ArrayAnswer> {
  for (let at = 0; at < objects.length; ) {
    const some = objects.slice(at, at + objectsPerRequest(session.connection, objects.slice(at)))
    at += some.length
    yield* await readSome(session, some)
  }
}

/** @returns how many objects fit into one request, at least one. The properties of an object are then read at one moment */
function objectsPerRequest(connection: Connection, objects: readonly PriorityObject[]): number {
  const { batch } = connection.known.learnt
  const targets: Target[] = []
  for (const [count, object] of objects.entries()) {
    targets.push(...targetsOf(connection, object))
    if (fitting(batch, targets) < targets.length) return Math.max(1, count)
  }
  return objects.length
}

const targetsOf = ({ byLevel }: Connection, object: PriorityObject): Target[] =>
  byLevel.has(priorityKey(object.target)) ? levelTargets(object) : wholeTargets(object)

async function readSome(session: Session, objects: readonly PriorityObject[]): Promise<ArrayAnswer[]> {
  const { byLevel } = session.connection
  const answers = await askAll(
    session,
    objects.flatMap(object => targetsOf(session.connection, object)),
  )
  const first = objects.map(object =>
    byLevel.has(priorityKey(object.target)) ? levelsAnswer(object, answers) : wholeAnswer(object, answers),
  )
  const declined = objects.filter((_, i) => !first[i])
  if (declined.length === 0) return first.filter(answer => answer !== undefined)
  const levels = await askAll(session, declined.flatMap(levelTargets))
  return objects.map((object, i) => {
    const answer = first[i] ?? levelsAnswer(object, levels)
    if (!first[i] && answer.state === 'read') byLevel.add(priorityKey(object.target))
    return answer
  })
}

/** @throws DeviceError when the device answers none of the requests */
async function askAll(session: Session, targets: Target[]): Promise<TargetAnswers> {
  const { connection, signal, now } = session
  const answers = new Map<string, TargetAnswer>()
  const items: Item[] = targets.map(target => ({ address: { target } }))
  const sequence = new ReadSequence(connection.known, items, connection.hasAnswered, now(), connection.witness)
  const note = (some: Item[], one: (i: number) => TargetAnswer) => {
    for (const [i, { address }] of some.entries()) answers.set(targetKey(address.target), one(i))
  }
  let silence: string | undefined
  let hasReply = false
  for (let request = sequence.next(); request; request = sequence.next()) {
    const outcome = await sendRequest(session, request)
    if (outcome.state === 'cancelled') throw new DeviceError('silent', outcome.reason)
    if ('reason' in outcome) {
      if (!sequence.unanswered(request, outcome.state, outcome.reason)) throw new DeviceError('silent', outcome.reason)
      silence = outcome.reason
    } else {
      connection.hasAnswered = true
      hasReply = true
      const { at } = outcome
      if (outcome.state === 'results') {
        sequence.answered(request, outcome.results)
        if (!request.isWitness) note(request.items, i => ({ result: outcome.results[i]!, at }))
      } else {
        const reason = formatRefusal(outcome.refusal)
        note(sequence.declined(request, outcome.refusal), () => ({ reason, declined: true, at }))
      }
    }
    if (signal.aborted) throw new DeviceError('silent', 'cancelled')
  }
  for (const { item, reason } of sequence.unread()) note([item], () => ({ reason, declined: false, at: now() }))
  if (!hasReply && silence !== undefined) throw new DeviceError('silent', silence)
  return answers
}

const sendRequest = ({ transport, connection, signal }: Session, { items, isAlone, isHasty }: PointRequest<Item>) =>
  transport.request(
    connection.peer,
    { service: isAlone ? READ_PROPERTY : READ_PROPERTY_MULTIPLE, targets: items.map(({ address }) => address.target) },
    isHasty ? withFewRetries(connection.retryPolicy) : connection.retryPolicy,
    signal,
  )
