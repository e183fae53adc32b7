/**
 * Gauges: the signals with which waste is weighted while it is summed, such as the air flow, the fan speed or a power meter.
 * For each kind of impact the first gauge is used whose points the equipment has, for the whole run.
 */
import type { EquipmentType } from '#shared/core/model/model.ts'
import type { ImpactKind, Measure } from './kinds.ts'

export type Gauge = {
  /** Roles of the equipment that it reads; all must be mapped. */
  roles: readonly string[]
  /** In the rule language, over these roles; without it the weight is 1. */
  text?: string
  /** Electrical power is proportional to this power of the weight. */
  power?: number
  /** Only on equipment of these types. */
  only?: readonly EquipmentType[]
}

/**
 * Exponent of shaft power over speed for fans and pumps. It is below 3 because systems control to a pressure set point.
 *
 * @source affinity laws with the exponent of measured variable-speed systems, 2.4 to 3 (ASHRAE Handbook HVAC Systems and
 *   Equipment 2020, chapters 21 and 44)
 */
const SPEED_POWER = 2.7

export const GAUGES = {
  sa_flow: { roles: ['sa_flow'], text: 'greatest(sa_flow, 0)' },
  zone_flow: { roles: ['zone_flow'], text: 'greatest(zone_flow, 0)' },
  /** Air flow is proportional to speed. */
  air_speed: { roles: ['fan_speed'], text: 'greatest(fan_speed, 0)', only: ['ahu', 'rtu', 'fcu', 'heat_pump', 'fan'] },
  /** Without a known speed the flow is at most the design flow. */
  air_full: { roles: [], only: ['ahu', 'rtu', 'fcu', 'heat_pump', 'fan'] },
  /** Shares of a capacity need no weight, and neither do degrees or kilowatts. */
  plain: { roles: [] },
  fan_kw: { roles: ['kw'], text: 'greatest(kw, 0)', only: ['fan'] },
  fan_speed: { roles: ['fan_speed'], text: 'greatest(fan_speed, 0)', power: SPEED_POWER },
  fan_full: { roles: [] },
  pump_kw: { roles: ['kw'], text: 'greatest(kw, 0)', only: ['pump'] },
  pump_speed: { roles: ['pump_speed'], text: 'greatest(pump_speed, 0)', power: SPEED_POWER },
  pump_full: { roles: [] },
  chiller_kw: { roles: ['kw'], text: 'greatest(kw, 0)', only: ['chiller', 'chw_plant'] },
  chiller_full: { roles: [] },
  /** Heat that the water carries, m³/s × K. */
  hot_water: {
    roles: ['hw_flow', 'hw_supply_t', 'hw_return_t'],
    text: 'greatest(hw_flow * (hw_supply_t - hw_return_t), 0)',
  },
  boiler_full: { roles: [] },
} as const satisfies Record<string, Gauge>
export type GaugeName = keyof typeof GAUGES
export const gaugeOf = (name: GaugeName): Gauge => GAUGES[name]

const AIR: readonly GaugeName[] = ['sa_flow', 'zone_flow', 'air_speed', 'air_full']
const BY_KIND: Partial<Record<ImpactKind, readonly GaugeName[]>> = {
  cooling: AIR,
  heating: AIR,
  simultaneous: AIR,
  outdoor_air: AIR,
  leak: AIR,
  fan: ['fan_kw', 'fan_speed', 'fan_full'],
  pump: ['pump_kw', 'pump_speed', 'pump_full'],
  chiller: ['chiller_kw', 'chiller_full'],
  boiler: ['hot_water', 'boiler_full'],
}
const COILS: readonly ImpactKind[] = ['cooling', 'heating', 'simultaneous']

/**
 * @param has whether the equipment has a point of a role
 * @returns undefined when no gauge suits: a box without a flow sensor
 */
export function chooseGauge(
  kind: ImpactKind,
  measure: Measure,
  type: EquipmentType,
  has: (role: string) => boolean,
): GaugeName | undefined {
  const names = measure === 'share' && COILS.includes(kind) ? undefined : BY_KIND[kind]
  return (names ?? ['plain']).find(name => {
    const { roles, only } = gaugeOf(name)
    return (!only || only.includes(type)) && roles.every(has)
  })
}

/** @returns the roles that would help most when there is no gauge */
export const rolesForGauge = (type: EquipmentType): string[] => [type === 'vav' || type === 'zone' ? 'zone_flow' : 'sa_flow']
