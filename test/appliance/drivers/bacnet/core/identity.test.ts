/** Whether what answers at an address is the device that is listed there. */
import test from 'ava'
import { type DeviceMake, identityTargets, judgeIdentity } from '#appliance/drivers/bacnet/core/identity-check.ts'
import { targetKey } from '#shared/core/bacnet/object.ts'
import type { PropertyResult } from '#appliance/drivers/bacnet/core/reply.ts'
import type { BacnetValue } from '#appliance/drivers/bacnet/core/tag.ts'

const INSTANCE = 4001
const object = (instance: number, type = 8): BacnetValue => ({ type: 'object', object: { type, instance } })
const id = (instance: number, type = 8): PropertyResult => ({ values: [object(instance, type)] })
const vendor = (value: number): PropertyResult => ({ values: [{ type: 'unsigned', value }] })
const model = (value: string): PropertyResult => ({ values: [{ type: 'text', value }] })
const error = (errorCode: number): PropertyResult => ({ error: { errorClass: 1, errorCode } })

type Case = [what: string, results: (PropertyResult | undefined)[], known: DeviceMake, expected: object]
const CASES: Case[] = [
  ['the listed device', [id(4001), vendor(5), model('X')], {}, { state: 'same', make: { vendor_id: 5, model: 'X' } }],
  ['a device of another number', [id(4002), vendor(5), model('X')], {}, { state: 'other' }],
  ['an object that is no device', [id(4001, 0)], {}, { state: 'other' }],
  ['a device without this device object', [error(31), error(31), error(31)], {}, { state: 'other' }],
  ['a device that answers only the last with unknown-object', [undefined, undefined, error(31)], {}, { state: 'other' }],
  ['a device that refuses to say', [error(27), error(27), error(27)], {}, { state: 'unknown' }],
  ['a device that does not say, and has the make from before', [error(27), vendor(5)], { vendor_id: 5 }, { state: 'unknown' }],
  ['no answer', [], { vendor_id: 5, model: 'X' }, { state: 'unknown', make: {} }],
  ['a device that says two numbers', [{ values: [object(4001), object(4002)] }], {}, { state: 'unknown' }],
  ['the same make as before', [id(4001), vendor(5), model('X')], { vendor_id: 5, model: 'X' }, { state: 'same' }],
  ['another vendor than before', [id(4001), vendor(6), model('X')], { vendor_id: 5, model: 'X' }, { state: 'other' }],
  ['another model than before', [id(4001), vendor(5), model('Y')], { vendor_id: 5, model: 'X' }, { state: 'other' }],
  ['another vendor that does not say its number', [error(27), vendor(6)], { vendor_id: 5 }, { state: 'other' }],
  ['a make that was not known before', [id(4001), vendor(6), model('Y')], { model: 'Y' }, { state: 'same' }],
  ['a device whose model is of no object, and that says its number', [id(4001), vendor(5), error(31)], {}, { state: 'same' }],
  ['a device that says its make no more', [id(4001), error(32), error(32)], { vendor_id: 5, model: 'X' }, { state: 'same' }],
]

for (const [what, results, known, expected] of CASES) {
  test(`${what} is ${(expected as { state: string }).state}`, t => {
    const answers = new Map(
      identityTargets(INSTANCE).flatMap((target, i) => (results[i] ? [[targetKey(target), results[i]] as const] : [])),
    )
    const verdict = judgeIdentity(INSTANCE, answers, known)
    t.like(verdict, expected)
    if (verdict.state === 'other') t.regex(verdict.reason, /^another device answers at this address: /)
  })
}
