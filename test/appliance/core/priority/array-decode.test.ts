/** Decoding the answers of a device for the priority array of a point. */
import test from 'ava'
import { PRESENT_VALUE, PRIORITY_ARRAY, RELINQUISH_DEFAULT, OUT_OF_SERVICE, targetKey } from '#shared/core/bacnet/object.ts'
import type { BacnetValue } from '#appliance/drivers/bacnet/core/tag.ts'
import {
  levelsAnswer,
  levelTargets,
  type TargetAnswer,
  wholeAnswer,
  wholeTargets,
} from '#appliance/core/priority/array-decode.ts'
import { visitedObjects } from '#appliance/core/priority/visit-objects.ts'

const [object] = visitedObjects({ device_id: 'ahu', device_instance: 7 }, [{ address: 'analog-value,5', name: 'Set point' }])
const of = object!
const NULL: BacnetValue = { type: 'null' }
const nulls = (): BacnetValue[] => Array.from({ length: 16 }, () => NULL)
const values = (...list: BacnetValue[]): TargetAnswer => ({ result: { values: list }, at: 5 })
const error = (errorCode: number): TargetAnswer => ({ result: { error: { errorClass: 2, errorCode } }, at: 5 })
const declined: TargetAnswer = { reason: 'abort buffer-overflow', declined: true, at: 5 }
const silent: TargetAnswer = { reason: 'no answer', declined: false, at: 5 }
const key = (property: number, index?: number) =>
  targetKey({ type: of.type, instance: of.instance, property, ...(index !== undefined && { index }) })
const whole = (said: TargetAnswer | undefined, ...more: [string, TargetAnswer][]) =>
  wholeAnswer(of, new Map([...(said ? [[key(PRIORITY_ARRAY), said] as const] : []), ...more]))
const levels = (at: (level: number) => TargetAnswer) =>
  levelsAnswer(of, new Map(Array.from({ length: 16 }, (_, i) => [key(PRIORITY_ARRAY, i + 1), at(i + 1)])))

test('array, relinquish default, present value and out-of-service of an object are read', t => {
  t.deepEqual(
    wholeTargets(of).map(({ property }) => property),
    [87, 104, 85, 81],
  )
  t.deepEqual(
    levelTargets(of).map(({ property, index }) => [property, index]),
    [...Array.from({ length: 16 }, (_, i) => [87, i + 1]), [104, undefined], [85, undefined], [81, undefined]],
  )
})

const [input] = visitedObjects({ device_id: 'ahu', device_instance: 7 }, [{ address: 'analog-input,5', name: 'Zone' }])
const inputKey = (property: number) => targetKey({ type: 0, instance: 5, property })
const REAL = values({ type: 'real', value: 20 })
const TRUE = values({ type: 'boolean', value: true })
const FALSE = values({ type: 'boolean', value: false })

test('present value and out-of-service of an input are read, and its levels are empty', t => {
  t.deepEqual(
    wholeTargets(input!).map(({ property }) => property),
    [PRESENT_VALUE, OUT_OF_SERVICE],
  )
  const answer = wholeAnswer(
    input!,
    new Map([
      [inputKey(PRESENT_VALUE), REAL],
      [inputKey(OUT_OF_SERVICE), TRUE],
    ]),
  )
  t.like(answer, { state: 'read', present_value: 20, out_of_service: true, observed_at: 5 })
  t.true(answer?.state === 'read' && answer.slots.length === 16 && answer.slots.every(({ state }) => state === 'null'))
})

for (const [what, said, expected] of [
  ['what it measures in service is no news', FALSE, { state: 'read', out_of_service: false, present_value: undefined }],
  ['without the property it cannot be out of service', error(32), { state: 'not_commandable' }],
  ['another error is a failure', error(31), { state: 'failed' }],
  ['a refusal is a failure, and is not asked for level by level', declined, { state: 'failed', reason: 'abort buffer-overflow' }],
  ['silence is a failure', silent, { state: 'failed', reason: 'no answer' }],
  ['what was not asked is a failure', undefined, { state: 'failed' }],
  ['a figure where yes or no is due is a failure', REAL, { state: 'failed' }],
] as const) {
  test(`of an input: ${what}`, t => {
    const all = new Map([[inputKey(PRESENT_VALUE), REAL], ...(said ? [[inputKey(OUT_OF_SERVICE), said] as const] : [])])
    const answer = wholeAnswer(input!, all)
    t.like(answer, expected)
    t.is(answer?.state === 'read' ? answer.present_value : undefined, undefined)
  })
}

for (const [value, type, written] of [
  [{ type: 'real', value: 21.5 }, 'real', 21.5],
  [{ type: 'double', value: 1e300 }, 'double', 1e300],
  [{ type: 'unsigned', value: 3 }, 'unsigned', 3],
  [{ type: 'signed', value: -3 }, 'signed', -3],
  [{ type: 'unsigned', value: 2n ** 60n }, 'unsigned', '1152921504606846976'],
  [{ type: 'enumerated', value: 1 }, 'enumerated', 1],
  [{ type: 'boolean', value: false }, 'boolean', false],
  [{ type: 'text', value: 'Occupied' }, 'character-string', 'Occupied'],
  [{ type: 'octets', value: Uint8Array.of(1, 0xab) }, 'octet-string', '01ab'],
  [{ type: 'bits', value: [true, false, true] }, 'bit-string', '101'],
  [{ type: 'object', object: { type: 17, instance: 2 } }, 'object-identifier', '17,2'],
  [{ type: 'date', value: '2026-11-28' }, 'date', '2026-11-28'],
  [{ type: 'time', value: '07:30:00.00' }, 'time', '07:30:00.00'],
  [{ type: 'opaque' }, 'other', 'not read'],
] as const) {
  test(`a level with ${type} ${written} is decoded`, t => {
    const answer = whole(values(...nulls().with(7, value as BacnetValue)))
    t.is(answer?.state, 'read')
    if (answer?.state !== 'read') return
    t.deepEqual(answer.slots[7], { level: 8, state: 'value', type, value: written })
    t.deepEqual(answer.slots[8], { level: 9, state: 'null' })
    t.is(answer.slots.length, 16)
  })
}

test('a text that does not fit into a page is cut', t => {
  const long = { type: 'text', value: 'x'.repeat(5000) } as const
  const answer = whole(values(...nulls().with(7, long)), [
    key(PRESENT_VALUE),
    values({ type: 'octets', value: new Uint8Array(5000) }),
  ])
  if (answer?.state !== 'read') return t.fail()
  t.like(answer.slots[7], { value: `${'x'.repeat(1000)}…` })
  t.is(answer.present_value, `${'0'.repeat(1000)}…`)
  return undefined
})

test('properties that the device does not return are left out', t => {
  const full = whole(
    values(...nulls()),
    [key(PRESENT_VALUE), values({ type: 'real', value: 20 })],
    [key(RELINQUISH_DEFAULT), values({ type: 'real', value: 18 })],
    [key(OUT_OF_SERVICE), values({ type: 'boolean', value: true })],
  )
  t.like(full, { present_value: 20, relinquish_default: 18, out_of_service: true, observed_at: 5 })
  const bare = whole(
    values(...nulls()),
    [key(PRESENT_VALUE), error(32)],
    [key(RELINQUISH_DEFAULT), silent],
    [key(OUT_OF_SERVICE), values({ type: 'real', value: 1 })],
  )
  t.deepEqual(Object.keys(bare ?? {}).toSorted(), ['object', 'observed_at', 'slots', 'state'])
})

for (const [what, said, expected] of [
  ['an unknown property means that nothing commands the object', error(32), 'not_commandable'],
  ['an unknown object is a failure', error(31), 'failed'],
  ['silence is a failure', silent, 'failed'],
  ['what was not asked is a failure', undefined, 'failed'],
  ['another error may be got round level by level', error(27), undefined],
  ['a refusal may be got round level by level', declined, undefined],
  ['an array that is too short may be got round level by level', values(...nulls().slice(1)), undefined],
  ['an array that is too long may be got round level by level', values(...nulls(), NULL), undefined],
] as const) {
  test(`of a whole array: ${what}`, t => {
    t.is(whole(said)?.state, expected)
  })
}

test('level by level, an error or a refusal affects only its level', t => {
  const answer = levels(level => (level === 2 ? error(27) : level === 3 ? declined : values(NULL)))
  if (answer.state !== 'read') return t.fail(answer.state)
  t.deepEqual(answer.slots.slice(0, 4), [
    { level: 1, state: 'null' },
    { level: 2, state: 'error', error: 'error read-access-denied (class 2)' },
    { level: 3, state: 'error', error: 'abort buffer-overflow' },
    { level: 4, state: 'null' },
  ])
  return undefined
})

test('two values at one level are an error of that level', t => {
  const answer = levels(level => (level === 2 ? values(NULL, NULL) : values(NULL)))
  t.like(answer, { state: 'read', slots: { 1: { level: 2, state: 'error', error: '2 values instead of one' } } })
})

for (const [what, at, expected] of [
  ['no level is a property of the object', () => error(32), { state: 'not_commandable' }],
  ['every level is refused', () => error(42), { state: 'failed', reason: 'error invalid-array-index (class 2)' }],
  ['one level was lost', (level: number) => (level === 9 ? silent : values(NULL)), { state: 'failed', reason: 'no answer' }],
] as const) {
  test(`level by level: ${what}`, t => {
    t.like(levels(at), expected)
  })
}
test('levels that were not read make the answer fail', t => {
  t.is(levelsAnswer(of, new Map()).state, 'failed')
})
