/** What all identities together may have a broker retain: 256 MiB. What is beyond is handed on, and not retained. */
import { Readable } from 'node:stream'
import test from 'ava'
import type { Aedes, Client, PublishPacket } from 'aedes'
import { brokerPolicy } from '#hub/broker/policy.ts'

const MB = 2 ** 20
const LONGEST = 4 * MB

/** The hooks of a broker, and edges that have connected to it. */
function open() {
  const { hooks } = brokerPolicy({ sessions: new Map(), revoked: () => new Set(), warn: () => undefined })
  const enter = (cn: string): Client => {
    const certificate = { subject: { CN: cn }, serialNumber: '01', valid_to: 'Jan  1 00:00:00 2100 GMT' }
    const conn = { socket: { getPeerCertificate: () => certificate }, once: () => undefined }
    const client = { id: cn, conn } as unknown as Client
    hooks.authenticate!(client, '', Buffer.alloc(0), (error, isIn) => {
      if (error || !isIn) throw error ?? new Error('refused')
    })
    return client
  }
  const edges = Array.from({ length: 70 }, (_, i) => enter(`edge:A:e${i}`))
  return {
    /** @returns whether it is retained; the body is only as long as it says, for the policy counts and does not read */
    retain(edge: number, bytes: number, kind = 'metadata'): boolean {
      const payload = { length: bytes } as Buffer
      const packet = { cmd: 'publish', topic: `sites/A/edges/e${edge}/${kind}`, payload, qos: 1, dup: false, retain: true }
      hooks.authorizePublish!(edges[edge]!, packet as PublishPacket, error => {
        if (error) throw error
      })
      return packet.retain
    },
  }
}

test('retained messages are bounded in bytes in total; a message beyond that is forwarded and not retained', t => {
  const { retain } = open()
  for (let edge = 0; edge < 64; edge++) t.true(retain(edge, LONGEST), `edge ${edge}`)
  t.false(retain(64, LONGEST))
  t.false(retain(64, 1))
})

test('a retained message replaces the one before it, and an empty one frees its bytes', t => {
  const { retain } = open()
  for (let edge = 0; edge < 64; edge++) retain(edge, LONGEST)
  for (let again = 0; again < 5; again++) t.true(retain(3, LONGEST), 'the same topic')
  t.true(retain(3, LONGEST - 10))
  t.false(retain(64, 11), 'one byte too many')
  t.true(retain(64, 10))
  t.true(retain(5, 0))
  t.true(retain(65, LONGEST))
  t.false(retain(66, 1))
})

test('a message that is too large to be retained does not change the byte count', t => {
  const { retain } = open()
  for (let edge = 0; edge < 63; edge++) retain(edge, LONGEST)
  t.true(retain(63, LONGEST - 1000))
  t.true(retain(64, 1000))
  for (let again = 0; again < 3; again++) t.false(retain(63, LONGEST))
  t.true(retain(63, LONGEST - 1000))
  t.false(retain(65, 1))
})

test('retained messages are looked for only where a filter may cover some', t => {
  const { apply } = brokerPolicy({ sessions: new Map(), revoked: () => new Set(), warn: () => undefined })
  const looked: string[][] = []
  const createRetainedStreamCombi = (filters: string[]) => {
    looked.push(filters)
    return Readable.from([])
  }
  const broker = { mq: { emit: () => undefined }, persistence: { createRetainedStreamCombi } }
  apply(broker as unknown as Aedes)
  const own = 'sites/A/edges/e1'
  const some = [
    `${own}/metadata`,
    `${own}/status`,
    'sites/+/edges/+/metadata',
    'sites/#',
    'tenants/t/buildings/sites/+/edges/+/status',
  ]
  broker.persistence.createRetainedStreamCombi([`${own}/acks`, ...some, `${own}/requests`, `${own}/telemetry/bacnet`])
  broker.persistence.createRetainedStreamCombi([`${own}/acks`])
  t.deepEqual(looked, [some, []])
})
