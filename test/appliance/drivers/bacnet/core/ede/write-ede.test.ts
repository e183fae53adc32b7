/** The list of field devices as an EDE set, and back again. */
import assert from 'node:assert/strict'
import test from 'ava'
import { isId } from '#shared/core/model/model.ts'
import fc from 'fast-check'
import { writeEde } from '#appliance/drivers/bacnet/core/ede/write-ede.ts'
import type { DeviceCatalogue, DeviceEntry, PointEntry } from '#appliance/store/catalogue-schema.ts'
import { tableOfText } from '../../../../../support/packages/table-of-text.ts'
import { EMPTY, none, planEde, readEde, table } from './ede-tables.ts'

/** What EDE has words for. */
const text = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  .filter(one => one === one.trim() && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(one))
const texts = (length: number) => fc.array(text, { minLength: length, maxLength: length })
const place = (name: string) => fc.integer({ min: 0, max: 4_194_302 }).map(instance => `${name},${instance}`)
const measure = fc.constantFrom(
  { unit: 'degF' },
  { unit: 'percent' },
  { unit: 'count' },
  { unit: 'MJ', scale: 0.001 },
  { unit: 'degC', offset: -273.15 },
)
const value = fc.oneof(
  fc
    .record({ address: place('analog-value'), kind: fc.constant('number' as const) })
    .chain(one => measure.map(m => ({ ...one, ...m }))),
  fc.record({ address: place('binary-input'), kind: fc.constant('bool' as const), unit: fc.constant('bool'), states: texts(2) }),
  fc.record({
    address: place('multi-state-output'),
    kind: fc.constant('enum' as const),
    unit: fc.constant('enum'),
    states: texts(3).map(some => ['', ...some]),
  }),
  fc.record({ address: place('characterstring-value'), kind: fc.constant('string' as const), unit: fc.constant('count') }),
)
const polling = fc.oneof(
  fc.record({ poll_secs: fc.integer({ min: 1, max: 86_400 }) }),
  fc.record({ poll_secs: fc.constant(60), cov: fc.constant(true as const) }),
)
const id = fc.stringMatching(/^[A-Za-z0-9._-]{1,40}$/).filter(isId)
const catalogues: fc.Arbitrary<DeviceCatalogue> = fc
  .uniqueArray(
    fc.record({
      device_id: id,
      name: text,
      instance: fc.integer({ min: 0, max: 4_194_302 }),
      host: fc.ipV4(),
      route: fc.constantFrom({}, { network: 7, mac: '0a' }),
      points: fc.uniqueArray(fc.tuple(id, text, value, polling), { selector: ([, , { address }]) => address, maxLength: 8 }),
    }),
    { selector: ({ device_id }) => device_id, maxLength: 4 },
  )
  .map(devices => ({
    devices: devices
      .filter(({ instance }, i) => devices.findIndex(other => other.instance === instance) === i)
      .map(
        ({ device_id, name, instance, host, route, points }, d): DeviceEntry => ({
          device_id,
          name,
          enabled: true,
          protocol: 'bacnet',
          bacnet: { device_instance: instance, host, port: 47_808, ...route },
          points: points.map(
            ([point, label, said, polled], i): PointEntry => ({ point_id: `${d}.${i}${point}`, name: label, ...polled, ...said }),
          ),
        }),
      ),
  }))

const project = { name: 'Öst & West; "2"', version: '1', at: '2026-03-01' }
const again = ({ devices }: DeviceCatalogue): DeviceCatalogue => {
  const set = writeEde(devices as (DeviceEntry & { bacnet: NonNullable<DeviceEntry['bacnet']> })[], project)
  const [main, stateTexts] = set.map(({ name, text: written }) => tableOfText(name, written, ';'))
  const ede = readEde({ main: main!, ...(stateTexts && { stateTexts }) })
  return planEde(EMPTY, ede, none).catalogue
}

test('what EDE has words for comes back as it was: import(export(x)) = x', t => {
  t.notThrows(() =>
    fc.assert(
      fc.property(catalogues, catalogue => assert.deepEqual(again(catalogue), catalogue)),
      { numRuns: 200 },
    ),
  )
})

test('no cell of an export begins like a formula, and names that do come back', t => {
  const device: DeviceEntry = {
    device_id: '-d',
    name: '=HYPERLINK("http://x")',
    enabled: true,
    protocol: 'bacnet',
    bacnet: { device_instance: 1, host: '10.0.0.1', port: 47_808 },
    points: ['@SUM(A1)', "'=1", '+1', '-2'].map((name, i) => ({
      point_id: `p${i}`,
      address: `analog-input,${i}`,
      name,
      unit: 'degC',
      kind: 'number',
      poll_secs: 60,
    })),
  }
  const [main] = writeEde([device as never], project)
  const cells = main!.text.split('\r\n').flatMap(line => line.split(';'))
  t.deepEqual(
    cells.filter(cell => /^"?[=+\-@](?!\d+$)/.test(cell)),
    [],
  )
  t.deepEqual(again({ devices: [device] }), { devices: [device] })
})

test('a percent is no humidity and a fraction no power factor', t => {
  const point = { address: 'analog-input,1', name: 'P', kind: 'number', poll_secs: 60 } as const
  const points = [
    { ...point, point_id: 'percent', unit: 'percent' },
    { ...point, point_id: 'fraction', unit: 'fraction' },
  ]
  const [main] = writeEde([{ device_id: 'd', name: 'D', bacnet: { device_instance: 1, host: '10.0.0.1' }, points }], project)
  t.regex(main!.text, /^percent;(?:[^;]*;){13}98;;;60;AI-1$/m)
  t.regex(main!.text, /^# not expressible in EDE: fraction/m)
})

test('points that EDE has no words for stand in it as comments', t => {
  const point = {
    point_id: 'p',
    address: 'analog-output,1/priority-array[8]',
    name: 'P',
    unit: 'percent',
    kind: 'number',
    poll_secs: 60,
  } as const
  const other = { ...point, point_id: 'q', address: 'analog-output,1', unit: 'therm', scale: 3 } as const
  const [main] = writeEde(
    [{ device_id: 'd', name: 'D', bacnet: { device_instance: 1, host: '10.0.0.1' }, points: [point, other] }],
    project,
  )
  t.regex(main!.text, /^"?# not expressible in EDE: p \(.*\): it is not the present value/m)
  t.regex(main!.text, /^"?# not expressible in EDE: q .*therm by 3/m)
  t.deepEqual(readEde({ main: table(main!.text) }).devices[0]!.objects, [])
})
