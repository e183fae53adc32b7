/** What the fuzz runs start from: replies with the questions they answer, and what devices say unasked. */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { parseTarget, type Target } from '#shared/core/bacnet/object.ts'
import type { ServiceRequest } from '#appliance/drivers/bacnet/core/reply.ts'
import { dataPath, NEEDS_DATA } from '../../../../support/optional.ts'
import { datagram, hex, mutate } from '../../../../support/wire.ts'

/** A run without the recordings has the other seeds. */
const RECORDED = dataPath('bacnet/frames.jsonl.gz')

type ReplyCase = { targets: string[]; apdu: string }
type Seed = { bytes: Buffer; question: ServiceRequest }

/** Replies, right and wrong ones, each with what was asked. */
export const REPLIES: readonly Seed[] = (
  JSON.parse(readFileSync('test/cases/bacnet/replies.json', 'utf8')) as ReplyCase[]
).flatMap(({ targets, apdu }) => {
  const service = targets.length === 1 ? 12 : 14
  const question: ServiceRequest = { service, targets: targets.map(text => parseTarget(text) as Target) }
  const whole = hex(apdu)
  const parts = [
    Buffer.concat([Buffer.of(0x3c, 1, 0, 2, service), whole.subarray(3, 12)]),
    Buffer.of(0x38, 1, 1, 2, service, 0x3f),
  ]
  return [whole, ...parts].map(bytes => ({ bytes: datagram(bytes), question }))
})

const GENERATED = [
  '810b 0014 0100 1000 c402000001 2205c4 9103 2103 00',
  '810b 001f 0108 02bc 01 03 1000 c402000001 2205c4 9103 21ff 0000000000',
  '810a 0027 0100 1002 0912 1c02000001 2c00000005 393c 4e 0955 2e 44 41a80000 2f 096f 2e 82 0400 2f 4f',
  '8104 001a c0a80107 bac0 0100 1000 c402000001 2205c4 9103 2103',
  '8100 0006 0030',
  '810a 0008 0100 1008',
  '810a 0009 0100 400800',
  '810a 0011 0104 0005 01 0c 0c00000005 1955',
].map(text => {
  const bytes = hex(text)
  bytes.writeUInt16BE(bytes.length, 2)
  return bytes
})

/** Datagrams of all kinds that a client may hear. */
export const HEARD: readonly Buffer[] = [...REPLIES.map(({ bytes }) => bytes), ...GENERATED, ...recorded()]

function recorded(): Buffer[] {
  if (!NEEDS_DATA) return []
  const lines = gunzipSync(readFileSync(RECORDED)).toString().trim().split('\n')
  return lines.map(line => hex((JSON.parse(line) as { hex: string }).hex))
}

/** BVLC 4 and NPCI 2, as most datagrams have them. */
const APDU_AT = 6
/** Tags that open and close, lengths that are extended, and the ends of what a byte holds. */
const TELLING = [0x00, 0xff, 0x0e, 0x0f, 0x1e, 0x1f, 0x2e, 0x2f, 0x3e, 0x3f, 0x4e, 0x4f, 0x5e, 0x75, 0x65, 0xfe, 0x80, 0x7f]

/**
 * One to three changes, mostly behind the gate: there bits turn, and bytes are set, left out, put in or said again. The
 * length in the header is right then, so that the decoders see what was changed.
 */
export function mutateReply(bytes: Buffer, random: () => number): Buffer {
  if (bytes.length <= APDU_AT + 3 || random() < 0.25) return mutate(bytes, random)
  let apdu = [...bytes.subarray(APDU_AT)]
  const below = (count: number) => Math.floor(random() * count)
  for (let n = 1 + below(3); n > 0; n--) {
    const at = below(apdu.length)
    const kind = below(6)
    if (kind === 0) apdu[at]! ^= 1 << below(8)
    else if (kind === 1) apdu[at] = below(256)
    else if (kind === 2) apdu[at] = TELLING[below(TELLING.length)]!
    else if (kind === 3) apdu.splice(at, 1 + below(4))
    else if (kind === 4) apdu.splice(at, 0, TELLING[below(TELLING.length)]!)
    else apdu = [...apdu.slice(0, at), ...apdu.slice(below(at + 1))]
  }
  const changed = Buffer.from([...bytes.subarray(0, APDU_AT), ...apdu])
  changed.writeUInt16BE(changed.length & 0xffff, 2)
  return changed
}
