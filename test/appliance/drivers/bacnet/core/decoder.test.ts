import { readFileSync } from 'node:fs'
import test from 'ava'
import { readApdu, readFrame } from '#appliance/drivers/bacnet/core/frame.ts'
import { formatTarget, parseTarget, type Target } from '#shared/core/bacnet/object.ts'
import { type BacnetValue } from '#appliance/drivers/bacnet/core/tag.ts'
import { type PropertyError, type ServiceRequest, type RequestRefusal, readReply } from '#appliance/drivers/bacnet/core/reply.ts'
import { pointValue } from '#appliance/drivers/bacnet/core/point.ts'
import { datagram, hex, mutate, seeded } from '../../../../support/wire.ts'

type ReplyCase = {
  name: string
  targets: string[]
  apdu: string
  results?: (BacnetValue[] | PropertyError)[]
  garbled?: string
  refused?: RequestRefusal
}
const load = <T>(name: string): T => JSON.parse(readFileSync(`test/cases/bacnet/${name}.json`, 'utf8'))
const replies = load<ReplyCase[]>('replies')

const target = (text: string): Target => {
  const parsed = parseTarget(text)
  if (typeof parsed === 'string') throw new Error(parsed)
  return parsed
}
const question = (targets: string[]): ServiceRequest => ({
  service: targets.length === 1 ? 12 : 14,
  targets: targets.map(target),
})

for (const { name, targets, apdu, results, garbled, refused } of replies) {
  test(`the decoder reads ${name}`, t => {
    const frame = readFrame(datagram(hex(apdu)))
    const reply = readReply(readApdu(frame!.apdu)!, question(targets))
    if (garbled !== undefined) {
      t.is(reply.state, 'garbled')
      t.true('reason' in reply && reply.reason.includes(garbled), JSON.stringify(reply))
    } else if (refused) {
      t.deepEqual(reply, { state: 'refused', refusal: refused })
    } else {
      const wanted = results!.map(one => (Array.isArray(one) ? { values: one } : { error: one }))
      t.deepEqual(reply, { state: 'results', results: wanted })
    }
  })
}

for (const { name, hex: text, isReply } of load<{ name: string; hex: string; isReply?: true }[]>('dropped')) {
  test(`the gate stops ${name}`, t => {
    const frame = readFrame(hex(text))
    const apdu = frame && readApdu(frame.apdu)
    if (isReply) t.is(apdu && readReply(apdu, question(['analog-input,5'])).state, 'garbled')
    else t.is(apdu, undefined)
  })
}

test('the gate finds the station behind a router and the origin behind a broadcast manager', t => {
  const routed = readFrame(datagram(hex('60 01 09'), { network: 700, mac: [3] }))
  t.deepEqual(routed?.source, { network: 700, mac: Buffer.of(3) })
  const forwarded = readFrame(hex('8104 0013 c0a80107bac0 0100 60010900000000'))
  t.deepEqual(forwarded?.origin, { host: '192.168.1.7', port: 47_808 })
  const withDestination = readFrame(hex('810a 0012 0128 0001 01 07 02bc 01 03 ff 600109'))
  t.deepEqual([withDestination?.source?.network, [...withDestination!.apdu]], [700, [0x60, 1, 9]])
})

for (const [text, wanted] of [
  ['analog-input,3', { type: 0, instance: 3, property: 85 }],
  ['analog-input,3/present-value', { type: 0, instance: 3, property: 85 }],
  ['300,7/5000', { type: 300, instance: 7, property: 5000 }],
  ['analog-output,15/priority-array[8]', { type: 1, instance: 15, property: 87, index: 8 }],
] as const) {
  test(`the address ${text} is understood`, t => t.deepEqual(parseTarget(text), wanted))
}
for (const [text, wanted] of [
  ['analogg-input,3', /"analogg-input" is no object type/],
  ['analog-input 3', /not written like/],
  ['analog-input,4194303', /above 4194302/],
  ['analog-input,3/all-of-it', /no property/],
  ['analog-input,3/8', /no property/],
  ['analog-output,1/priority-array[0]', /index 0/],
  ['1024,1', /no object type/],
  ['', /not written like/],
] as const) {
  test(`the address "${text}" is refused`, t => t.regex(String(parseTarget(text)), wanted))
}
test('an address is written as it was read', t => {
  for (const text of ['analog-input,3', 'analog-output,15/priority-array[8]', '300,7/5000'])
    t.is(formatTarget(target(text)), text)
})

const number = { kind: 'number', scale: 2, offset: 1 } as const
const plain = { scale: 1, offset: 0 }
for (const [name, values, conversion, wanted] of [
  ['a REAL is scaled', [{ type: 'real', value: 10 }], number, { value: 21 }],
  ['NaN is no value', [{ type: 'real', value: Number.NaN }], number, undefined],
  ['infinity is no value', [{ type: 'real', value: Number.POSITIVE_INFINITY }], number, undefined],
  ['NULL is no value', [{ type: 'null' }], number, undefined],
  [
    'two values are no value',
    [
      { type: 'real', value: 1 },
      { type: 'real', value: 2 },
    ],
    number,
    undefined,
  ],
  ['a 64-bit UNSIGNED is a number', [{ type: 'unsigned', value: 2n ** 60n }], { ...plain, kind: 'number' }, { value: 2 ** 60 }],
  ['active is true', [{ type: 'enumerated', value: 1 }], { ...plain, kind: 'bool' }, { value: true }],
  ['state 3 is no bool', [{ type: 'enumerated', value: 3 }], { ...plain, kind: 'bool' }, undefined],
  ['state 3 is an enum', [{ type: 'unsigned', value: 3 }], { ...plain, kind: 'enum' }, { value: 3 }],
  ['a text is a string', [{ type: 'text', value: 'on' }], { ...plain, kind: 'string' }, { value: 'on' }],
  ['a text is no number', [{ type: 'text', value: '21' }], number, undefined],
] as const) {
  test(`as a point's value, ${name}`, t => {
    const found = pointValue({ values: values as readonly BacnetValue[] as BacnetValue[] }, conversion)
    if (wanted) t.deepEqual(found, wanted)
    else t.true('reason' in found)
  })
}

test('whatever bytes come, the decoder ends with a result and reads nothing beyond them', t => {
  const random = seeded(7)
  const seeds = replies.map(({ apdu, targets }) => ({ bytes: datagram(hex(apdu)), asked: question(targets) }))
  const states: Record<string, number> = {}
  for (let i = 0; i < 40_000; i++) {
    const { bytes, asked } = seeds[i % seeds.length]!
    const mutated = mutate(bytes, random)
    // Exactly as long as its content, so that a read beyond the end would give undefined and be seen.
    const frame = readFrame(new Uint8Array(mutated))
    const apdu = frame && readApdu(frame.apdu)
    const state = apdu ? readReply(apdu, asked).state : 'dropped'
    states[state] = (states[state] ?? 0) + 1
  }
  t.deepEqual(Object.keys(states).toSorted(), ['dropped', 'garbled', 'refused', 'results'])
  t.log(states)
})
