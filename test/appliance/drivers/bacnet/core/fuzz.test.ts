/** Mutated datagrams, half of them unasked for: nothing ends, every read does, memory stays. */
import { createSocket } from 'node:dgram'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import test from 'ava'
import { readCovNotification } from '#appliance/drivers/bacnet/core/cov-notification.ts'
import { readApdu, readFrame, readResult, readUnconfirmed } from '#appliance/drivers/bacnet/core/frame.ts'
import { readIAm } from '#appliance/drivers/bacnet/core/i-am.ts'
import { createSlotQueue } from '#appliance/drivers/bacnet/slot-queue.ts'
import { Transactions } from '#appliance/drivers/bacnet/transactions.ts'
import { testWithData, timesOf } from '../../../../support/optional.ts'
import { never, openTransport, range } from '../harness.ts'
import { HEARD, mutateReply, REPLIES } from './fuzz-seeds.ts'
import { openUdpPeer } from '../../../../support/udp-peer.ts'
import { seeded } from '../../../../support/wire.ts'

/** Fed to the gate, the decoders and the transactions themselves; the rest goes through a socket. */
const WITHOUT_SOCKET = timesOf(90_000, 270_000)
const THROUGH_SOCKET = 30_000
/** Requests that are open at a time. */
const OPEN = 64
/** Ids of cancelled requests are unused for half a minute, so there are many addresses. */
const HOSTS = 400
const BLOCK = 1000
/** Growth of what is reachable over the second half of the run. */
const GROWTH_MAX_MB = 12
/** Behind BVLC, NPCI and the PDU type of a reply; in a request behind its segmentation as well. */
const [REPLY_ID_AT, REQUEST_ID_AT] = [7, 8]

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

function reachableMb(): number {
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / 2 ** 20
}

const random = seeded(300)
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!

/** A mutated reply, mostly with the invoke id of the request that it is to answer. */
function answerTo(bytes: Buffer, invokeId: number): Buffer {
  const mutated = mutateReply(bytes, random)
  if (mutated.length > REPLY_ID_AT && random() < 0.9) mutated[REPLY_ID_AT] = invokeId
  return mutated
}

test.serial(`${WITHOUT_SOCKET} mutated datagrams end nothing, leave no request open and take no memory`, async t => {
  const ends: Record<string, number> = {}
  const count = (name: string) => (ends[name] = (ends[name] ?? 0) + 1)
  /** The request that is open at each address, by its invoke id. */
  const asked = new Map<string, { invokeId: number; bytes: Buffer }>()
  let next = { bytes: REPLIES[0]!.bytes }
  const through = {
    address: '127.0.0.1',
    send(datagram: Buffer, { host }: { host: string }) {
      const isRequest = datagram[6]! >> 4 === 0
      if (isRequest) asked.set(host, { invokeId: datagram[REQUEST_ID_AT]!, bytes: next.bytes })
    },
  }
  const network = {
    queue: createSlotQueue(),
    width: () => OPEN * 2,
    pauseMs: () => 0,
    slotMs: () => 1000,
    noteAnswer: () => undefined,
  }
  const pathTo = () => ({ through: through as never, network, device: createSlotQueue() })
  const transactions = new Transactions({ pathTo, now: () => 0, random: () => 0 })

  let [opened, settled] = [0, 0]
  function open(): void {
    const seed = pick(REPLIES)
    const host = `10.0.0.${opened++ % HOSTS}`
    next = seed
    const retryPolicy = { timeoutMs: 30, retries: 0 }
    void transactions.request({ host, port: 1 }, seed.question, retryPolicy, never).then(({ state }) => {
      settled++
      asked.delete(host)
      return count(state)
    })
  }

  function feed(host: string, bytes: Buffer): void {
    const frame = readFrame(bytes)
    if (!frame) return void count(readResult(bytes) === undefined ? 'dropped' : 'result')
    const message = readUnconfirmed(frame, { host, port: 1 })
    if (message) {
      const [iAm, notification] = [readIAm(message.payload), readCovNotification(message.payload)]
      return void count(typeof iAm === 'string' && typeof notification === 'string' ? 'useless' : 'heard')
    }
    const apdu = readApdu(frame.apdu)
    count(apdu ? transactions.take(frame.origin?.host ?? host, frame.source, apdu, 0) : 'dropped')
  }

  let halfway = 0
  for (let fed = 0; fed < WITHOUT_SOCKET; fed += BLOCK) {
    if (fed === WITHOUT_SOCKET / 2) halfway = reachableMb()
    for (let i = opened - settled; i < OPEN; i++) open()
    const waiting = [...asked]
    for (let i = 0; i < BLOCK; i++) {
      if (i % 2 || waiting.length === 0) feed(`10.0.0.${Math.floor(random() * HOSTS)}`, mutateReply(pick(HEARD), random))
      else {
        const [host, { bytes, invokeId }] = pick(waiting)
        feed(host, answerTo(bytes, invokeId))
      }
    }
    await turn()
  }
  const growth = reachableMb() - halfway
  while (settled < opened) await turn()
  t.log(ends, `${opened} requests, ${growth.toFixed(1)} MB more`)
  for (const name of ['results', 'refused', 'garbled', 'unmatched', 'taken', 'dropped', 'heard', 'useless', 'silent', 'result']) {
    t.true(ends[name]! > 0, name)
  }
  t.true(growth < GROWTH_MAX_MB, `${growth} MB`)
})

test.serial(`${THROUGH_SOCKET} mutated datagrams through a socket end nothing, and every read ends`, async t => {
  const transport = await openTransport(t)
  const stranger = createSocket('udp4')
  t.teardown(() => stranger.close())
  const ends: Record<string, number> = {}
  let sent = 0
  /** A request ends with its first answer that fits, so each has some. */
  const [PEERS, REQUESTS, ANSWERS] = [25, 120, 5]
  for (const k of range(PEERS)) {
    const seed = REPLIES[k % REPLIES.length]!
    const peer = await openUdpPeer(
      t,
      ({ invokeId }, _, send, from) => {
        for (let i = 0; i < ANSWERS; i++) {
          sent += 2
          stranger.send(mutateReply(pick(HEARD), random), from.port, from.address)
          send(answerTo(seed.bytes, invokeId))
        }
      },
      `127.0.2.${k + 1}`,
    )
    const many = { ...peer, concurrency: 255 }
    const outcomes = await Promise.all(
      range(REQUESTS).map(() => transport.request(many, seed.question, { timeoutMs: 300, retries: 0 }, never)),
    )
    for (const { state } of outcomes) ends[state] = (ends[state] ?? 0) + 1
  }
  t.is(
    Object.values(ends).reduce((sum, n) => sum + n),
    PEERS * REQUESTS,
  )
  t.true(sent > THROUGH_SOCKET * 0.9, `${sent} were sent`)
  t.log(ends, transport.counters())
})

// Without them the fuzz starts from fewer shapes, and the count says that it did.
testWithData('the fuzz starts from recorded datagrams as well', t => t.true(HEARD.length > REPLIES.length + 400))
