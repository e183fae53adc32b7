/** Datagrams recorded between a client and two independent devices. They are beside the project, not in it. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { gunzipSync } from 'node:zlib'
import { type Apdu, readApdu, readFrame } from '#appliance/drivers/bacnet/core/frame.ts'
import type { Target } from '#shared/core/bacnet/object.ts'
import { type PropertyResult, type ReadRequest, type BacnetReply, readReply } from '#appliance/drivers/bacnet/core/reply.ts'
import { encodeRequest } from '#appliance/drivers/bacnet/codec.ts'
import { dataPath, testWithData } from '../../../../support/optional.ts'
import { hex } from '../../../../support/wire.ts'

const FILE = dataPath('bacnet/frames.jsonl.gz')
const library = createRequire(import.meta.url)('node-bacnet/lib/services')
const WHOLE = 0xffff_ffff

type Frame = { capture: string; from: string; to: string; hex: string }
type Exchange = { device: string; request: Buffer; question: ReadRequest; apdu: Apdu; reply: BacnetReply }

/** Pairs each reply with the latest request that bears its invoke id. */
function exchanges(): { frames: number; pairs: Exchange[] } {
  const frames = gunzipSync(readFileSync(FILE)).toString().trim().split('\n')
  const open = new Map<string, { request: Buffer; question: ReadRequest }>()
  const pairs: Exchange[] = []
  for (const line of frames) {
    const { capture, from, to, hex: text } = JSON.parse(line) as Frame
    const bytes = hex(text)
    if (from === 'client') {
      const question = readQuestion(bytes)
      if (question) open.set(`${capture} ${to} ${bytes[8]}`, { request: bytes, question })
      continue
    }
    const frame = readFrame(bytes)
    const apdu = frame && readApdu(frame.apdu)
    const asked = apdu && open.get(`${capture} ${from} ${apdu.invokeId}`)
    if (asked) pairs.push({ device: from, ...asked, apdu, reply: readReply(apdu, asked.question) })
  }
  return { frames: frames.length, pairs }
}

const at = (index: number) => (index === WHOLE ? {} : { index })

/** A confirmed request, read by the library's decoder. */
function readQuestion(bytes: Buffer): ReadRequest | undefined {
  if (bytes[5] !== 4 || bytes[6]! >> 4 !== 0) return undefined
  const service = bytes[9]!
  const length = bytes.length - 10
  if (service === 12) {
    const { objectId, property } = library.readProperty.decode(bytes, 10, length)
    return { service, targets: [{ ...objectId, property: property.id, ...at(property.index) }] }
  }
  const { properties } = library.readPropertyMultiple.decode(bytes, 10, length)
  type Specification = { objectId: { type: number; instance: number }; properties: { id: number; index: number }[] }
  const targets = (properties as Specification[]).flatMap(({ objectId, properties }) =>
    properties.map(({ id, index }): Target => ({ ...objectId, property: id, ...at(index) })),
  )
  return { service: 14, targets }
}

let read: ReturnType<typeof exchanges> | undefined
/** Read by the first test that asks, so that a missing file makes the tests red by name. */
const recorded = () => (read ??= exchanges())
const resultsOf = (pairs: Exchange[]) =>
  pairs.flatMap(({ device, question, reply }) =>
    reply.state === 'results' ? reply.results.map((result, i) => ({ device, target: question.targets[i]!, result })) : [],
  )
const valueOf = (result: PropertyResult) => ('values' in result ? result.values[0] : undefined)
/** ALL and the wildcard device are answered under other names than they were asked by; no address can mean them. */
const isNamed = ({ question }: Exchange) =>
  question.targets.every(({ property, type, instance }) => property !== 8 && !(type === 8 && instance === 4_194_303))

testWithData('every recorded reply is an answer to its request', t => {
  const { frames, pairs } = recorded()
  const results = resultsOf(pairs)
  const strange = pairs.filter(pair => isNamed(pair) && pair.apdu.kind !== 'segment' && pair.reply.state === 'garbled')
  t.deepEqual(
    strange.map(({ reply }) => reply),
    [],
  )
  const segments = pairs.filter(({ apdu }) => apdu.kind === 'segment')
  t.true(segments.every(({ reply }) => reply.state === 'garbled'))
  t.log(`${frames} frames: ${pairs.length} replies, ${segments.length} of them segments, ${results.length} results`)
  t.true(results.length > 1000)
})

testWithData('recorded present values of analog inputs are what the devices held', t => {
  const inputs = resultsOf(recorded().pairs).filter(
    ({ target, result }) => target.type === 0 && target.property === 85 && 'values' in result,
  )
  for (const { device, target, result } of inputs) {
    const wanted = target.instance + 0.25 + (device === 'bacnet-stack' ? 1000 : 0)
    t.deepEqual(valueOf(result), { type: 'real', value: wanted }, `${device} ${target.instance}`)
  }
  t.log(`${inputs.length} present values`)
  t.true(inputs.length > 300)
})

testWithData('recorded slots of a priority array are right, whole and by index', t => {
  const slots = resultsOf(recorded().pairs).filter(
    ({ target }) => target.type === 1 && target.instance === 15 && target.property === 87,
  )
  for (const { target, result } of slots) {
    if (!('values' in result) || target.index === 0) continue
    const found = target.index === undefined ? [1, 8, 16].map(i => result.values[i - 1]) : [result.values[0]]
    const wanted = target.index === undefined ? [1, 8, 16] : [target.index]
    for (const [i, slot] of wanted.entries()) {
      const held = [1, 8, 16].includes(slot) ? { type: 'real', value: Math.fround(15 + slot / 100) } : { type: 'null' }
      t.deepEqual(found[i] as unknown, held, `slot ${slot}`)
    }
  }
  t.log(`${slots.length} arrays and slots`)
  t.true(slots.length > 5)
})

testWithData('our requests are the recorded ones', t => {
  const spoken = recorded().pairs.filter(pair => isNamed(pair) && pair.question.targets.every(({ index }) => index !== 0))
  let same = 0
  for (const { request, question } of spoken) {
    const objects = question.targets.map(({ type, instance }) => `${type}:${instance}`)
    if (new Set(objects).size < objects.length) continue
    const ours = encodeRequest(question, request[8]!, undefined, true)
    t.is(ours.toString('hex'), request.toString('hex'))
    same++
  }
  t.log(`${same} requests`)
  t.true(same > 50)
})
