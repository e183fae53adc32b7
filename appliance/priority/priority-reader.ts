/** Reads priority arrays over the BACnet transport of this process, request by request in the device's own lane. */
import assert from 'node:assert/strict'
import { fitting } from '../drivers/bacnet/core/batch.ts'
import { identityTargets } from '../drivers/bacnet/core/identity.ts'
import { openInquiry, type Request } from '../drivers/bacnet/core/inquiry.ts'
import { type Known, startKnowing } from '../drivers/bacnet/core/known.ts'
import { type Target, targetKey } from '#shared/core/bacnet/object.ts'
import { formatRefusal } from '../drivers/bacnet/core/refusal.ts'
import { READ_PROPERTY, READ_PROPERTY_MULTIPLE } from '../drivers/bacnet/core/reply.ts'
import { type AllSaid, levelsAnswer, levelTargets, type Said, wholeAnswer, wholeTargets } from '../core/priority/array-decode.ts'
import { priorityKey } from '#shared/core/priority/priority-record.ts'
import type { ArrayAnswer } from '../core/priority/array-answer.ts'
import type { PriorityObject } from '../core/priority/visit-objects.ts'
import { DeviceError } from '#shared/core/poll/device.ts'
import type { PriorityReader } from '../flow/visit-device.ts'
import { type BacnetProtocol, wayTo } from '../drivers/bacnet/protocol.ts'
import { hasty } from '../drivers/bacnet/peer.ts'
import type { BacnetTransport } from '../drivers/bacnet/transport.ts'
import type { DeviceEntry } from '../store/catalogue-schema.ts'

type Item = { address: { target: Target } }

/** A device, and what it has taught; both last as long as its entry in the catalogue. */
type Talk = ReturnType<typeof wayTo> & {
  known: Known
  /** Points, by `priorityKey`, that gave levels where they did not give the whole array. */
  byLevel: Set<string>
  /** What the device always answers: it tells whether the device is there when an object has silenced it. */
  witness: Item
  /** It answered since the last visit began, so silence is about what was asked. */
  hasAnswered: boolean
}
type Asking = { transport: BacnetTransport; talk: Talk; signal: AbortSignal; now: () => number }

/**
 * Polling and a visit share the device's lane: between two requests of the one, the other has its turn.
 *
 * @param entryOf the device's entry in the catalogue as it is now
 */
export function priorityReader(parts: {
  bacnet: Pick<BacnetProtocol, 'borrow'>
  entryOf(device_id: string): DeviceEntry | undefined
  now: () => number
}): PriorityReader {
  const talks = new WeakMap<DeviceEntry, Talk>()
  const talkTo = (entry: DeviceEntry): Talk => {
    const known = talks.get(entry)
    if (known) return known
    const way = wayTo(entry)
    assert(entry.bacnet)
    const [target] = identityTargets(entry.bacnet.device_instance) as [Target]
    const talk: Talk = {
      ...way,
      known: startKnowing(way.first),
      byLevel: new Set(),
      witness: { address: { target } },
      hasAnswered: false,
    }
    talks.set(entry, talk)
    return talk
  }
  const begin = async (device_id: string, signal: AbortSignal) => {
    const entry = parts.entryOf(device_id)
    if (!entry) throw new DeviceError('silent', `${device_id} has left the list of devices`)
    const { transport, release } = await parts.bacnet.borrow()
    return { asking: { transport, talk: talkTo(entry), signal, now: parts.now }, release }
  }
  return {
    async identify({ device_id, device_instance }, signal) {
      const { asking, release } = await begin(device_id, signal)
      asking.talk.hasAnswered = false
      try {
        const said = await askAll(asking, identityTargets(device_instance))
        return new Map([...said].flatMap(([key, one]) => ('result' in one ? [[key, one.result] as const] : [])))
      } finally {
        await release()
      }
    },
    async *read({ device_id }, objects, signal) {
      const { asking, release } = await begin(device_id, signal)
      try {
        yield* readObjects(asking, objects)
      } finally {
        asking.talk.hasAnswered = false
        await release()
      }
    },
  }
}

async function* readObjects(asking: Asking, objects: readonly PriorityObject[]): AsyncGenerator<ArrayAnswer> {
  for (let at = 0; at < objects.length; ) {
    const some = objects.slice(at, at + together(asking.talk, objects.slice(at)))
    at += some.length
    yield* await readSome(asking, some)
  }
}

/** @returns how many whole objects go into one request, so that what is read of one is of one moment; at least one */
function together(talk: Talk, objects: readonly PriorityObject[]): number {
  const { batch } = talk.known.learnt
  const targets: Target[] = []
  for (const [count, object] of objects.entries()) {
    targets.push(...targetsOf(talk, object))
    if (fitting(batch, targets) < targets.length) return Math.max(1, count)
  }
  return objects.length
}

const targetsOf = ({ byLevel }: Talk, object: PriorityObject): Target[] =>
  byLevel.has(priorityKey(object.target)) ? levelTargets(object) : wholeTargets(object)

async function readSome(asking: Asking, objects: readonly PriorityObject[]): Promise<ArrayAnswer[]> {
  const { byLevel } = asking.talk
  const said = await askAll(
    asking,
    objects.flatMap(object => targetsOf(asking.talk, object)),
  )
  const first = objects.map(object =>
    byLevel.has(priorityKey(object.target)) ? levelsAnswer(object, said) : wholeAnswer(object, said),
  )
  const declined = objects.filter((_, i) => !first[i])
  if (declined.length === 0) return first.filter(answer => answer !== undefined)
  const levels = await askAll(asking, declined.flatMap(levelTargets))
  return objects.map((object, i) => {
    const answer = first[i] ?? levelsAnswer(object, levels)
    if (!first[i] && answer.state === 'read') byLevel.add(priorityKey(object.target))
    return answer
  })
}

/** @throws DeviceError when the device says nothing to all of it */
async function askAll(asking: Asking, targets: Target[]): Promise<AllSaid> {
  const { talk, signal, now } = asking
  const said = new Map<string, Said>()
  const items: Item[] = targets.map(target => ({ address: { target } }))
  const inquiry = openInquiry(talk.known, items, talk.hasAnswered, now(), talk.witness)
  const note = (some: Item[], one: (i: number) => Said) => {
    for (const [i, { address }] of some.entries()) said.set(targetKey(address.target), one(i))
  }
  let silence: string | undefined
  let isHeard = false
  for (let request = inquiry.next(); request; request = inquiry.next()) {
    const outcome = await put(asking, request)
    if (outcome.state === 'cancelled') throw new DeviceError('silent', outcome.reason)
    if ('reason' in outcome) {
      if (!inquiry.unanswered(request, outcome.state, outcome.reason)) throw new DeviceError('silent', outcome.reason)
      silence = outcome.reason
    } else {
      talk.hasAnswered = true
      isHeard = true
      const { at } = outcome
      if (outcome.state === 'results') {
        inquiry.answered(request, outcome.results)
        if (!request.isWitness) note(request.items, i => ({ result: outcome.results[i]!, at }))
      } else {
        const reason = formatRefusal(outcome.refusal)
        note(inquiry.declined(request, outcome.refusal), () => ({ reason, declined: true, at }))
      }
    }
    if (signal.aborted) throw new DeviceError('silent', 'cancelled')
  }
  for (const { item, reason } of inquiry.left()) note([item], () => ({ reason, declined: false, at: now() }))
  if (!isHeard && silence !== undefined) throw new DeviceError('silent', silence)
  return said
}

const put = ({ transport, talk, signal }: Asking, { items, isAlone, isHasty }: Request<Item>) =>
  transport.request(
    talk.peer,
    { service: isAlone ? READ_PROPERTY : READ_PROPERTY_MULTIPLE, targets: items.map(({ address }) => address.target) },
    isHasty ? hasty(talk.patience) : talk.patience,
    signal,
  )
