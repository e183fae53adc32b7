import test from 'ava'
import type { Point } from '#shared/core/model/model.ts'
import { equipmentOfDevice, pointsByDevice } from '#shared/core/suggest/device-equipment.ts'

const TYPED = [
  ['VAV-101-controller/', 'VAV 101 controller', 'vav'],
  ['Air-handler-1-controller/', 'Air handler 1 controller', 'ahu'],
  ['air_handling_unit_3/', 'air handling unit 3', 'ahu'],
  ['Lüftungsanlage-2/', 'Lüftungsanlage 2', 'ahu'],
  ['chiller-1/', 'chiller 1', 'chiller'],
  ['heat-pump-7/', 'heat pump 7', 'heat_pump'],
  ['dev-1001/', 'dev 1001', undefined],
  ['1001/', '1001', undefined],
] as const

for (const [prefix, name, type] of TYPED) {
  test(`the device ${prefix} proposes ${type ?? 'no type'}`, t => {
    t.deepEqual(equipmentOfDevice(prefix), { name, ...(type && { equipment_type: type }) })
  })
}

test('points are gathered by device in the order of numbers, those of no device are left out', t => {
  const point = (address: string): Point => ({
    point_id: address,
    building_id: 'b',
    name: address,
    unit: 'degC',
    kind: 'number',
    source: { protocol: 'bacnet', address },
  })
  const found = pointsByDevice(['vav-10/analog-input,1', 'table.csv', 'vav-9/analog-input,1', 'vav-10/analog-input,2'].map(point))
  t.deepEqual(
    found.map(([prefix, own]) => [prefix, own.length]),
    [
      ['vav-9/', 1],
      ['vav-10/', 2],
    ],
  )
})
