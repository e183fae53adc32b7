import test from 'ava'
import { addressWords, objectName, placeName, pointObject, readObjectName, targetName } from '#shared/core/bacnet/object-name.ts'
import { hasWords, searchWords } from '#shared/core/search/search-index.ts'

for (const [address, name] of [
  ['analog-input,4', 'AI-4'],
  ['analog-value,12', 'AV-12'],
  ['multi-state-value,3', 'MSV-3'],
  ['analog-input,4/present-value', 'AI-4'],
  ['analog-output,7/priority-array[8]', 'AO-7 priority-array[8]'],
  ['130,4', 'type 130-4'],
] as const) {
  test(`${address} is written ${name}`, t => t.is(objectName(address), name))
}

for (const [place, name] of [
  [{ device_instance: 1001 }, 'dev 1001'],
  [{ device_instance: 1007, network: 5, mac: '0c' }, 'dev 1007, net 5 mac 12'],
  [{ device_instance: 1007, network: 5, mac: 'c0a80105bac0' }, 'dev 1007, net 5 mac c0a80105bac0'],
] as const) {
  test(`a device at ${JSON.stringify(place)} is ${name}`, t => t.is(placeName(place), name))
}

const SOURCE = { protocol: 'bacnet', address: 'ahu-1/analog-input,4' } as const
const PLACED = { ...SOURCE, bacnet: { device_instance: 1001, network: 5, mac: '0c' } }

test('a point has its device where that is known, and no such name without BACnet', t => {
  t.is(pointObject(SOURCE), 'AI-4')
  t.is(pointObject(PLACED), 'AI-4 @ dev 1001, net 5 mac 12')
  t.is(pointObject({ protocol: 'modbus', address: 'meter/holding,4' }), undefined)
  t.is(pointObject({ protocol: 'csv', address: 'SA-T' }), undefined)
  t.is(targetName({ device_instance: 1001, object_type: 'analog-output', object_instance: 7 }), 'AO-7 @ dev 1001')
})

test('a search finds a point by its stored address and by what people write', t => {
  const words = searchWords('Supply air', ...addressWords(PLACED))
  for (const query of [
    'AI-4',
    'analog-input,4',
    'ahu-1/analog',
    'dev 1001',
    'ai-4 net 5',
    'mac 12',
    'AI-4 @ dev 1001, net 5 mac 12',
  ])
    t.true(hasWords(words, query), query)
  t.false(hasWords(words, 'AI-5'))
})

for (const [text, address] of [
  ['AI-4', 'analog-input,4'],
  ['msv 3', 'multi-state-value,3'],
  ['BO:12', 'binary-output,12'],
  [' av7 ', 'analog-value,7'],
  ['analog-input,4', 'analog-input,4'],
  ['XY-4', 'XY-4'],
] as const) {
  test(`"${text}" is read as ${address}`, t => t.is(readObjectName(text), address))
}
