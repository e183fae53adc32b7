/** The appliance reads. Nothing in it, or in what it shares with the hub, can encode a service that writes. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import test from 'ava'
import { APDU_DEFAULT, firstBatch } from '#appliance/drivers/bacnet/core/batch.ts'
import { parseTarget, type Target } from '#shared/core/bacnet/object.ts'
import {
  type ServiceRequest,
  READ_PROPERTY,
  READ_PROPERTY_MULTIPLE,
  SUBSCRIBE_COV,
} from '#appliance/drivers/bacnet/core/reply.ts'
import { encodeRequest } from '#appliance/drivers/bacnet/codec.ts'
import { BacnetDriver } from '#appliance/drivers/bacnet/driver.ts'
import { importsOf } from '#scripts/closure.ts'
import { inputs, never, openTransport, patient, range } from './bacnet/harness.ts'
import { openUdpPeer } from '../../support/udp-peer.ts'
import { answer, seeded } from '../../support/wire.ts'

const sources = execFileSync('git', ['ls-files', '--', 'appliance/*.ts', 'shared/*.ts'], { encoding: 'utf8' }).trim().split('\n')

/** Names of the services and methods, in the libraries at hand, that change something in a device. */
const WRITES = [
  /write-?propert/i,
  /(?:add|remove)-?list-?element/i,
  /(?:create|delete)-?object/i,
  /atomic-?write-?file/i,
  /reinitialize-?device/i,
  /device-?communication-?control/i,
  /write(?:single|multiple)?-?(?:coil|register)/i,
  /maskWriteRegister|readWriteRegisters|customFunction/,
  /writeFC\d/,
  /pointWrite|hisWrite|invokeAction/,
]

for (const file of sources) {
  test(`${file} names no service that writes`, t => {
    const text = readFileSync(file, 'utf8')
    for (const pattern of WRITES) t.notRegex(text, pattern)
  })
}

test('of the BACnet codec only the encoders of reads are imported, and in one file', t => {
  const imports = sources.flatMap(file =>
    importsOf(readFileSync(file, 'utf8'))
      .filter(specifier => specifier.startsWith('node-bacnet'))
      .map(specifier => `${file} ${specifier}`),
  )
  const parts = [
    'apdu',
    'bvlc',
    'npdu',
    ...['read-property-multiple', 'read-property', 'subscribe-cov', 'who-is'].map(name => `services/${name}`),
  ]
  t.deepEqual(imports.toSorted(), parts.map(part => `appliance/drivers/bacnet/codec.ts node-bacnet/lib/${part}.js`).toSorted())
})

test('every request that can be encoded is a confirmed ReadProperty, ReadPropertyMultiple or SubscribeCOV', t => {
  const targets = ['analog-input,1', 'analog-output,4194302/priority-array[16]', '1023,0/4194303'].map(
    text => parseTarget(text) as Target,
  )
  const questions: ServiceRequest[] = [
    { service: READ_PROPERTY, targets: targets.slice(1, 2) },
    { service: READ_PROPERTY_MULTIPLE, targets },
    { service: SUBSCRIBE_COV, subscription: { processId: 1, object: { type: 0, instance: 1 }, lifetimeSecs: 60 } },
  ]
  for (const question of questions) {
    for (const station of [undefined, { network: 700, mac: Buffer.of(3) }]) {
      for (const segmentation of [false, true]) {
        const bytes = encodeRequest(question, 255, station, segmentation)
        const apdu = bytes.subarray(station ? 11 : 6)
        t.deepEqual([...apdu.subarray(0, 4)], [segmentation ? 0x02 : 0x00, segmentation ? 0x75 : 0x05, 255, question.service])
        t.is(bytes.readUInt16BE(2), bytes.length)
      }
    }
  }
})

test('of the confirmed services that a question can have, SubscribeCOV alone is no read', t => {
  const reply = readFileSync('appliance/drivers/bacnet/core/reply.ts', 'utf8')
  const services = new Set(Array.from(reply.matchAll(/typeof ([A-Z_]+)/g), ([, name]) => name))
  t.deepEqual([...services].toSorted(), ['READ_PROPERTY', 'READ_PROPERTY_MULTIPLE', 'SUBSCRIBE_COV'])
  // 135-2020 21, BACnetConfirmedServiceChoice.
  t.deepEqual([READ_PROPERTY, READ_PROPERTY_MULTIPLE, SUBSCRIBE_COV], [12, 14, 5])
})

test('requests are encoded in one place each: confirmed ones from a question, unconfirmed ones as Who-Is', t => {
  const calls = sources.flatMap(file =>
    Array.from(readFileSync(file, 'utf8').matchAll(/encode(?:Unc|C)onfirmedServiceRequest\((?!\s*$|\n)([^)]*)\)/g), ([call]) =>
      file.endsWith('.d.ts') ? [] : [`${file} ${call}`],
    ).flat(),
  )
  t.deepEqual(calls.toSorted(), [
    'appliance/drivers/bacnet/codec.ts encodeConfirmedServiceRequest(bytes, type, question.service, segments, TAKES_1476, invokeId)',
    'appliance/drivers/bacnet/codec.ts encodeUnconfirmedServiceRequest(bytes, UNCONFIRMED_REQUEST, WHO_IS)',
  ])
})

/** Object device 7, as a request names it. */
const ITSELF = Buffer.from('0c02000007', 'hex')

test('whatever a device answers, it is asked with reads, and with subscriptions that end and want no answer', async t => {
  const random = seeded(5)
  const peer = await openUdpPeer(t, (request, reply) => {
    const dice = random()
    if (peer.raw.at(-1)!.includes(ITSELF)) reply(Buffer.from([0x50, request.invokeId, request.service, 0x91, 2, 0x91, 32]))
    else if (dice < 0.1) reply(Buffer.of(0x60, request.invokeId, Math.floor(random() * 10)))
    else if (dice < 0.2) reply(Buffer.of(0x71, request.invokeId, Math.floor(random() * 12)))
    else if (dice < 0.3) reply(Buffer.from([0x50, request.invokeId, request.service, 0x91, 5, 0x91, Math.floor(random() * 50)]))
    else if (request.service === SUBSCRIBE_COV) reply(Buffer.of(0x20, request.invokeId, SUBSCRIBE_COV))
    else reply(answer(request, instance => (random() < 0.1 ? undefined : instance)))
  })
  const transport = await openTransport(t)
  const device = { device_instance: 7, lifetimeSecs: 1 }
  const stop = new AbortController()
  const watched: Promise<void>[] = []
  for (let i = 0; i < 40; i++) {
    const driver = new BacnetDriver(transport, peer, patient, firstBatch(APDU_DEFAULT), () => 0, device)
    watched.push(driver.watch!(inputs(1, 2, 3), { changed: () => undefined, declined: () => undefined }, stop.signal))
    for (let k = 0; k < 5; k++) await driver.read(inputs(...range(40)), never).catch(() => undefined)
  }
  stop.abort()
  await Promise.all(watched)
  const apdus = peer.raw.map(bytes => bytes.subarray(6))
  t.true(apdus.length > 400)
  for (const apdu of apdus) {
    t.is(apdu[0]! & 0xf0, 0)
    t.true([READ_PROPERTY, READ_PROPERTY_MULTIPLE, SUBSCRIBE_COV].includes(apdu[3] as never))
  }
  const subscriptions = apdus.filter(apdu => apdu[3] === SUBSCRIBE_COV).map(apdu => apdu.subarray(4))
  t.true(subscriptions.length > 20)
  // [0] process 8, [1] object, [2] issueConfirmedNotifications false, [3] a lifetime of one second.
  for (const body of subscriptions) t.regex(body.toString('hex'), /^09081c0000000[123]29003901$/)
})
