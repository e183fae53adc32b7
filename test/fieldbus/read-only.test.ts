/** The appliance reads. Nothing in it, or in what it shares with the hub, can encode a service that writes. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import test from 'ava'
import { parseTarget, type Target } from '#shared/core/bacnet/object.ts'
import { type Question, READ_PROPERTY, READ_PROPERTY_MULTIPLE, SUBSCRIBE_COV } from '#shared/core/bacnet/reply.ts'
import { encodeRequest } from '../../appliance/drivers/bacnet/codec.ts'
import { importsOf } from '../../scripts/closure.ts'

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
  const questions: Question[] = [
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
