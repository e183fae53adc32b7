/** Answers that are wrong in themselves: another's name, wrong lengths, odd values, refusals. */
import { contextId, enclosed, enumerated, nothing, real, encodeText, unsigned } from '../bacnet/wire.ts'
import {
  ackOf,
  ackWith,
  type FaultyRequest,
  type AskedTarget,
  heldBy,
  type Misbehaviour,
  poison,
  READ_PROPERTY,
  resultOf,
  unknownObject,
} from './exchange.ts'

const answer =
  (make: (asked: FaultyRequest) => Buffer): Misbehaviour =>
  ({ asked, reply }) =>
    reply(make(asked))

/** Every target's value stands as these bytes. */
const value = (content: Buffer): Misbehaviour => answer(asked => ackOf(asked, content))
const renamed = (rename: (target: AskedTarget) => AskedTarget): Misbehaviour => answer(asked => ackOf(asked, poison(), rename))
const bytes = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex')

const IDENTITY: Record<string, Misbehaviour> = {
  wrong_invoke_id: answer(asked => ackOf({ ...asked, invokeId: asked.invokeId ^ 0x80 }, poison())),
  wrong_service: answer(asked =>
    ackWith({ ...asked, service: asked.service ^ 2 }, Buffer.from(ackOf(asked, poison()).subarray(3))),
  ),
  wrong_object: renamed(target => ({ ...target, instance: target.instance + 1000 })),
  wrong_object_type: renamed(target => ({ ...target, type: 2 })),
  wrong_property: renamed(target => ({ ...target, property: 104 })),
  wrong_index: renamed(target => ({ ...target, index: 3 })),
}

const SHAPE: Record<string, Misbehaviour> = {
  truncated_everywhere: ({ asked, reply }) => {
    const whole = ackOf(asked, poison())
    for (let length = 1; length < whole.length; length++) reply(whole.subarray(0, length))
  },
  truncated_but_long: ({ asked, reply, send }) => {
    reply(ackOf(asked, poison()).subarray(0, -4))
    send(bytes('810a 0400 0100 30').subarray(0, 7))
  },
  bytes_left_over: answer(asked => Buffer.concat([ackOf(asked, poison()), bytes('0000')])),
  empty_answer: answer(asked => ackWith(asked, Buffer.alloc(0))),
  simple_ack: ({ asked, reply }) => reply(Buffer.of(0x20, asked.invokeId, asked.service)),
  closing_tag_missing: answer(asked => ackOf(asked, poison()).subarray(0, -1)),
  closing_tag_of_another: answer(asked => Buffer.concat([ackOf(asked, poison()).subarray(0, -1), bytes('6f')])),
  opening_tag_missing: answer(asked => {
    const whole = ackOf(asked, poison())
    return Buffer.concat([whole.subarray(0, 8), whole.subarray(9)])
  }),
  nested_deep: answer(asked => ackOf(asked, Buffer.concat([Buffer.alloc(60, 0x6e), Buffer.alloc(60, 0x6f)]))),
  results_doubled: answer(asked => Buffer.concat([ackOf(asked, poison()), ackOf(asked, poison()).subarray(3)])),
  results_missing: answer(asked =>
    ackWith(asked, Buffer.concat(asked.targets.slice(1).map(one => resultOf(asked, one, poison())))),
  ),
  one_result_twice: answer(asked => {
    const [first, second = { ...first!, instance: first!.instance + 1 }] = asked.targets
    const named = (one: AskedTarget) => (one === first ? second : one)
    return ackWith(asked, Buffer.concat(asked.targets.map(one => resultOf(asked, named(one), poison()))))
  }),
  stranger_among_results: answer(asked => {
    const name = (one: AskedTarget, i: number) => (i === 0 ? { ...one, instance: one.instance + 5000 } : one)
    return ackWith(asked, Buffer.concat(asked.targets.map((one, i) => resultOf(asked, name(one, i), poison()))))
  }),
  other_order: answer(asked => {
    const results = asked.targets.map(one => resultOf(asked, one, real(heldBy(one.instance))))
    return ackWith(asked, Buffer.concat(results.toReversed()))
  }),
}

const LENGTHS: Record<string, Misbehaviour> = {
  length_64k: value(bytes('65 fe ffff 00')),
  length_4g: value(bytes('75 ff ffffffff 00')),
  octets_of_1_gib: value(bytes('65 ff 40000000 0102030405')),
  real_of_2_bytes: value(bytes('42 4228')),
  real_of_8_bytes: value(bytes('45 08 4084d00000000000')),
  double_of_4_bytes: value(bytes('54 4426c000')),
  unsigned_of_0_bytes: value(bytes('20')),
  /** Legal, and more than some clients can read. */
  unsigned_of_7_bytes: answer(asked => {
    const seven = (instance: number) =>
      Buffer.concat([bytes('25 07 00000000'), bytes(heldBy(instance).toString(16).padStart(6, '0'))])
    return ackWith(asked, Buffer.concat(asked.targets.map(one => resultOf(asked, one, seven(one.instance)))))
  }),
  unsigned_of_9_bytes: value(bytes('25 09 00000000000000029a')),
  signed_of_9_bytes: value(bytes('35 09 00000000000000029a')),
  enumerated_of_5_bytes: value(bytes('95 05 000000029a')),
  boolean_of_2: value(bytes('12')),
  null_with_content: value(bytes('01 ff')),
  date_of_3_bytes: value(bytes('a3 7c0101')),
  object_of_3_bytes: value(bytes('c3 000001')),
  text_without_charset: value(bytes('70')),
  bits_without_count: value(bytes('80')),
  bits_with_9_unused: value(bytes('82 09ff')),
  reserved_tag: value(bytes('d1 00')),
  application_tag_opens: value(bytes('4e 44 4426c000 4f').fill(0x46, 0, 1)),
  property_of_5_bytes: answer(asked => {
    const [{ type, instance }] = asked.targets as [AskedTarget]
    return ackWith(
      asked,
      Buffer.concat([contextId(0, type, instance), bytes('1e 2d 05 0000000055 4e'), poison(), bytes('4f 1f')]),
    )
  }),
  object_of_5_bytes: answer(asked => ackWith(asked, Buffer.concat([bytes('0d 05 0000000001 19 55 3e'), poison(), bytes('3f')]))),
}

const VALUES: Record<string, Misbehaviour> = {
  not_a_number: value(real(Number.NaN)),
  infinity: value(real(Number.POSITIVE_INFINITY)),
  minus_infinity: value(real(Number.NEGATIVE_INFINITY)),
  null_value: value(nothing()),
  text_value: value(encodeText('666')),
  no_value: value(Buffer.alloc(0)),
  two_values: value(Buffer.concat([poison(), poison()])),
  date_value: value(bytes('a4 7c0101ff')),
  constructed_value: value(enclosed(0, poison())),
  context_value: value(bytes('0c 4426c000')),
}

/** In ReadProperty an error for one is the answer as a whole. */
const errorFor = (isFaulty: (i: number) => boolean): Misbehaviour =>
  answer(asked => {
    if (asked.service === READ_PROPERTY) return Buffer.concat([Buffer.of(0x50, asked.invokeId, asked.service), unknownObject()])
    const results = asked.targets.map((target, i) =>
      isFaulty(i) ? resultOf(asked, target, unknownObject(), 5) : resultOf(asked, target, real(heldBy(target.instance))),
    )
    return ackWith(asked, Buffer.concat(results))
  })

const error = (content: Buffer): Misbehaviour =>
  answer(asked => Buffer.concat([Buffer.of(0x50, asked.invokeId, asked.service), content]))

const REFUSALS: Record<string, Misbehaviour> = {
  error_for_one: errorFor(i => i === 3),
  error_for_all: errorFor(() => true),
  error_for_the_request: error(unknownObject()),
  error_cut_short: error(enumerated(1)),
  error_empty: error(Buffer.alloc(0)),
  error_of_unsigned: error(Buffer.concat([unsigned(1), unsigned(31)])),
  error_too_long: error(Buffer.concat([unknownObject(), enumerated(666)])),
  error_of_another_service: ({ asked, reply }) =>
    reply(Buffer.concat([Buffer.of(0x50, asked.invokeId, asked.service ^ 2), unknownObject()])),
  error_within_cut_short: answer(asked => {
    if (asked.service === READ_PROPERTY) return ackWith(asked, enclosed(5, enumerated(1)))
    return ackWith(asked, Buffer.concat(asked.targets.map(one => resultOf(asked, one, enumerated(1), 5))))
  }),
  abort_too_long: ({ asked, reply }) => reply(Buffer.of(0x71, asked.invokeId, 4, 0)),
  reject_cut_short: ({ asked, reply }) => reply(Buffer.of(0x60, asked.invokeId)),
  ...Object.fromEntries(
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 64, 255].map(reason => [
      `abort_${reason}`,
      ({ asked, reply }) => reply(Buffer.of(0x71, asked.invokeId, reason)),
    ]),
  ),
  ...Object.fromEntries(
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 64, 255].map(reason => [
      `reject_${reason}`,
      ({ asked, reply }) => reply(Buffer.of(0x60, asked.invokeId, reason)),
    ]),
  ),
}

export const FAULTY_REPLIES: Record<string, Misbehaviour> = { ...IDENTITY, ...SHAPE, ...LENGTHS, ...VALUES, ...REFUSALS }
