import test from 'ava'
import { chooseGauge, type GaugeName } from '#shared/core/impact/gauges.ts'
import type { ImpactKind, Measure } from '#shared/core/impact/kinds.ts'
import type { EquipmentType } from '#shared/core/model/model.ts'

/** What is wasted on which equipment with which points, and what the sum is weighted with. */
const CASES: [ImpactKind, Measure, EquipmentType, roles: string[], GaugeName | undefined][] = [
  ['cooling', 'kelvin', 'ahu', ['sa_flow', 'fan_speed'], 'sa_flow'],
  ['cooling', 'kelvin', 'ahu', ['fan_speed'], 'air_speed'],
  ['cooling', 'kelvin', 'ahu', [], 'air_full'],
  ['heating', 'kelvin', 'vav', ['zone_flow'], 'zone_flow'],
  ['heating', 'kelvin', 'vav', ['fan_speed'], undefined],
  ['heating', 'kelvin', 'vav', [], undefined],
  ['heating', 'share', 'ahu', ['sa_flow'], 'plain'],
  ['fan', 'share', 'fan', ['kw', 'fan_speed'], 'fan_kw'],
  ['fan', 'share', 'fan', ['fan_speed'], 'fan_speed'],
  ['fan', 'share', 'fan', [], 'fan_full'],
  // The meter of an air handler is not its fan's.
  ['fan', 'share', 'ahu', ['kw', 'fan_speed'], 'fan_speed'],
  ['pump', 'share', 'pump', ['kw'], 'pump_kw'],
  ['pump', 'share', 'pump', [], 'pump_full'],
  ['pump', 'share', 'chw_plant', ['kw', 'pump_speed'], 'pump_speed'],
  ['chiller', 'share', 'chiller', ['kw'], 'chiller_kw'],
  ['chiller', 'share', 'chiller', [], 'chiller_full'],
  ['boiler', 'share', 'boiler', ['hw_flow', 'hw_supply_t', 'hw_return_t'], 'hot_water'],
  ['boiler', 'share', 'boiler', ['hw_flow', 'hw_supply_t'], 'boiler_full'],
  ['electricity', 'kilowatt', 'rtu', [], 'plain'],
]
for (const [kind, measure, type, roles, wanted] of CASES) {
  test(`${kind} in ${measure} of ${type} with ${roles.join(' and ') || 'no point'} is weighted by ${wanted ?? 'nothing'}`, t => {
    t.is(
      chooseGauge(kind, measure, type, role => roles.includes(role)),
      wanted,
    )
  })
}
