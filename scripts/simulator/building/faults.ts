import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'

/** Faults of the simulated building. */
export type FaultName =
  | 'vav_flow_dead'
  | 'vav_reheat_leak'
  | 'exhaust_fan_off'
  | 'oa_damper_stuck'
  | 'zone_sensor_silent'
  | 'clg_valve_stuck'
  | 'htg_valve_leak'

export type ScheduledFault = {
  fault: FaultName
  equipment_id: string
  /** In words, for the person who watches. */
  says: string
  /** Lasts over `[from, to)`, ms after the site's first moment; without `to` it stays. */
  from: number
  to?: number
  /** Rules of the catalogue that may name this fault; the first ones listed are its own, the rest its consequences. */
  rules: string[]
}

/**
 * The script of the demonstration. The first five show within a few hours and without any history; those of the air
 * handler follow one another, day by day, because each would hide the next.
 */
export const SCRIPT: readonly ScheduledFault[] = [
  {
    fault: 'vav_flow_dead',
    equipment_id: 'VAV-102',
    says: 'flow sensor reads nothing, the damper runs full open',
    from: 5 * MINUTE,
    rules: ['VAV-FLOW-DEAD', 'VAV-LOW-FLOW', 'VAV-STARVED', 'SEN-FLAT'],
  },
  {
    fault: 'vav_reheat_leak',
    equipment_id: 'VAV-103',
    says: 'shut reheat valve passes hot water',
    from: 10 * MINUTE,
    rules: ['VAV-REHEAT-LEAK'],
  },
  {
    fault: 'exhaust_fan_off',
    equipment_id: 'EF-1',
    says: 'commanded on, belt broken: status stays off',
    from: 15 * MINUTE,
    to: 20 * HOUR,
    rules: ['CMD-FAN-MISMATCH'],
  },
  {
    fault: 'oa_damper_stuck',
    equipment_id: 'AHU-1',
    says: 'outdoor-air damper stuck at 80 % while commanded to its minimum',
    from: 20 * MINUTE,
    to: 16 * HOUR,
    rules: ['AHU-FC6-OUTDOOR-AIR', 'AHU-OAF-MINIMUM', 'AHU-OA-EXCESS'],
  },
  {
    fault: 'zone_sensor_silent',
    equipment_id: 'VAV-104',
    says: 'zone temperature answers an error',
    from: 60 * MINUTE,
    to: 16 * HOUR,
    rules: ['SEN-STALE'],
  },
  {
    fault: 'clg_valve_stuck',
    equipment_id: 'AHU-1',
    says: 'cooling valve stuck at 18 %',
    from: DAY,
    to: DAY + 16 * HOUR,
    rules: ['AHU-FC13-COOL-FULL', 'AHU-FC12-COOL-NO-DROP'],
  },
  {
    fault: 'htg_valve_leak',
    equipment_id: 'AHU-1',
    says: 'shut heating valve passes hot water, the cooling coil makes up for it',
    from: 2 * DAY - 4 * HOUR,
    rules: ['AHU-HEAT-SOAK', 'AHU-VALVE-PER-KELVIN'],
  },
]

/** @returns the faults that are there `since` ms after the site's first moment */
export function faultsAt(since: number, script: readonly ScheduledFault[]): ReadonlySet<FaultName> {
  return new Set(
    script.filter(({ from, to }) => since >= from && since < (to ?? Number.POSITIVE_INFINITY)).map(({ fault }) => fault),
  )
}
