import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import test from 'ava'
import fc from 'fast-check'
import { isId } from '#shared/core/model/model.ts'
import { packBody, parseBody } from '#shared/core/telemetry/body.ts'
import { type MessageTopic, receiveBody, receiveMessage } from '#shared/core/telemetry/message.ts'
import { MESSAGE_POINTS_MAX, writeTelemetry } from '#shared/core/telemetry/telemetry.ts'
import { readUsual } from '#shared/core/telemetry/usual-points.ts'
import { envelope } from '../../../support/messages.ts'

const { site_id, edge_id } = envelope()
const TOPIC: MessageTopic = { site_id, edge_id, kind: 'telemetry', protocol: 'modbus' }
/** Values of which few are numbers of few digits. */
const value = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.double({ min: -1000, max: 1000 }).map(v => Math.round(v * 100) / 100),
  fc.double({ min: -100, max: 100 }).map(Math.fround),
  fc.boolean(),
  fc.constantFrom(null, 'auto', '', ',"q":"', '[1]'),
)
const reading = fc.record({
  id: fc.stringMatching(/^[A-Za-z0-9._-]{1,20}$/).filter(isId),
  t: fc.integer({ min: 0, max: 4e12 }),
  v: value,
  q: fc.constantFrom('good', 'uncertain', 'bad', 'stale'),
})
const readings = fc.array(reading, { minLength: 1, maxLength: 8 })
const textOf = (readings: Parameters<typeof writeTelemetry>[0]['readings']): string =>
  JSON.stringify(writeTelemetry({ ...envelope(), protocol: 'modbus', time_synced: true, readings }))

/** What `JSON.parse` makes of it. */
function parsed(text: string) {
  const body = parseBody(text)
  return body.ok ? receiveBody(TOPIC, body.value) : { state: 'unreadable', reason: body.reason }
}

test('a message as it is written is read as JSON.parse reads it, and its points are read from the text', t => {
  fc.assert(
    fc.property(readings, sent => {
      const text = textOf(sent)
      t.deepEqual(receiveMessage(TOPIC, Buffer.from(text)), parsed(text))
      t.is(
        readUsual(text) !== undefined,
        sent.every(({ v }) => typeof v !== 'string'),
      )
    }),
    { numRuns: 500 },
  )
})

test('a message with anything else in it is read as JSON.parse reads it', t => {
  const piece = fc.oneof(
    fc.constantFrom('"', '{', '}', '[', ']', ',', ':', '.', '-', '0', '9', 'e', 'E5', ' ', '\\', '\\u0041', 'null', ']}', 'ü'),
    fc.constantFrom(
      '"points":[',
      '"points":[],',
      ',"u":"kPa"',
      '{"id":"',
      '[[',
      '1e400',
      '-',
      '00',
      '{"a":[',
      'Z',
      '+02:00',
      '.25',
    ),
  )
  const change = fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), taken: fc.integer({ min: 0, max: 2 }), piece })
  let changed = 0
  fc.assert(
    fc.property(readings, fc.array(change, { minLength: 1, maxLength: 2 }), (sent, changes) => {
      let text = textOf(sent)
      for (const { at, taken, piece } of changes) {
        const place = 1 + Math.floor(at * (text.length - 1))
        text = text.slice(0, place) + piece + text.slice(place + taken)
      }
      const expected = parsed(text)
      if (expected.state === 'good') changed++
      t.deepEqual(receiveMessage(TOPIC, Buffer.from(text)), expected, text)
    }),
    { numRuns: 20_000 },
  )
  t.true(changed > 50, `${changed} of them are still messages`)
})

test('numbers of every form are what JSON.parse makes of them', t => {
  const digits = fc.stringMatching(/^-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?$/)
  const before = textOf([{ id: 'p', t: 0, v: 7, q: 'good' }])
  fc.assert(
    fc.property(digits, number => {
      const text = before.replace('"v":7', `"v":${number}`)
      const read = readUsual(text)?.readings[0]?.v
      const plain = JSON.parse(number) as number
      t.true(Number.isFinite(plain) ? Object.is(read, plain) : read === undefined, `${number} is read as ${read}`)
    }),
    { numRuns: 5000 },
  )
  for (const number of ['', '-', '.5', '5.', '01', '-01', '1.e5', '+1', '0x10', '1_0', 'NaN', 'Infinity', ' 1']) {
    t.is(readUsual(before.replace('"v":7', `"v":${number}`)), undefined, number)
  }
})

test('points beside others, too many and none are left to the reader of any message', t => {
  const one = { id: 'p', t: 0, v: 1, q: 'good' as const }
  const many = (count: number) => textOf(Array.from({ length: count }, () => one))
  t.is(readUsual(many(MESSAGE_POINTS_MAX))?.readings.length, MESSAGE_POINTS_MAX)
  t.is(readUsual(many(MESSAGE_POINTS_MAX + 1)), undefined)
  t.is(readUsual(many(0)), undefined)
  t.is(readUsual(`${many(1).slice(0, -1)},"more":1}`), undefined)
  t.is(readUsual('{"a":{"points":[{"id":"p","t":"2026-03-01T00:00:00Z","v":1,"q":"good"}]}'), undefined)
  t.is(readUsual(packBody({ points: [] }).toString()), undefined)
})

test('an id that is kept does not keep the text that it was read from', t => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const held = () => {
    collect()
    return process.memoryUsage().heapUsed / 2 ** 20
  }
  const id = (v: number) => `supply-air-temperature-of-air-handler-${v}`
  const message = (v: number) =>
    textOf(Array.from({ length: MESSAGE_POINTS_MAX }, () => ({ id: id(v), t: 0, v, q: 'good' as const })))
  const begun = held()
  const kept = Array.from({ length: 400 }, (_, v) => readUsual(message(v))!.readings[7]!.id)
  const grown = held() - begun
  t.deepEqual([kept.length, kept[399]], [400, id(399)])
  t.true(grown < 5, `${grown} MB for ${(400 * message(0).length) / 2 ** 20} MB of text`)
})
