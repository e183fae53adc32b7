/**
 * The simulated building: one variable-air-volume air handler, four boxes with their zones, a chiller and the meter,
 * as first-order lags with the control loops such equipment has. SI throughout: °C, m³/s, Pa, kW; signals 0..1.
 */
import type { FaultName } from './faults.ts'
import { hourOf, outdoorTemp, sunOn } from './weather.ts'

/** One step of the simulation, seconds. */
export const STEP_S = 10

/** Air: kJ per m³ and K. */
const AIR = 1.2
/** Water: kJ per litre and K. */
const WATER = 4.19

const START_HOUR = 5.5
const OCCUPIED = [6, 20] as const
/** Set points as an American operator enters them: 55 °F, 0.5 in.w.c., 74 and 69 °F occupied, 82 and 62 °F else. */
const SAT_SP = fahrenheit(55)
const STATIC_SP = 124.42
const COOL_SP = { occupied: fahrenheit(74), empty: fahrenheit(82) }
const HEAT_SP = { occupied: fahrenheit(69), empty: fahrenheit(62) }
const OA_MIN = 0.2
/** Above this outdoor temperature the economizer stays at its minimum. */
const ECON_HIGH_LIMIT = 21
const CHW_SP = fahrenheit(44)
const CONDENSER_IN = 28.5
/** Position of a stuck cooling valve. */
const CLG_STUCK = 0.18

type ZoneDesign = {
  equipment_id: string
  /** kW/K to outdoors, kJ/K of the room, kW inside when occupied, kW of sun at its best, hour of that. */
  ua: number
  capacity: number
  inside: number
  sun: number
  sunHour: number
  flowMin: number
  flowMax: number
  /** Flow with the damper wide open at the static set point. */
  flowOpen: number
  reheatKw: number
}

export const ZONES: readonly ZoneDesign[] = [
  box('VAV-101', { ua: 0.11, capacity: 5500, inside: 3.2, sun: 2.4, sunHour: 12 }),
  box('VAV-102', { ua: 0.1, capacity: 5000, inside: 3.4, sun: 2.2, sunHour: 9 }),
  box('VAV-103', { ua: 0.1, capacity: 5200, inside: 2.9, sun: 1.6, sunHour: 14 }),
  box('VAV-104', { ua: 0.03, capacity: 6500, inside: 4.6, sun: 0, sunHour: 12 }),
]

function box(equipment_id: string, room: Pick<ZoneDesign, 'ua' | 'capacity' | 'inside' | 'sun' | 'sunHour'>): ZoneDesign {
  return { equipment_id, ...room, flowMin: 0.18, flowMax: 0.8, flowOpen: 1, reheatKw: 7 }
}

export type Zone = {
  t: number
  cooling: Loop
  heating: Loop
  csp: number
  hsp: number
  flowSp: number
  damper: number
  flow: number
  /** Flow by the box's own sensor; the control loop sees only this. */
  flowSeen: number
  reheat: number
  discharge: number
}
type Loop = { integral: number; out: number }

export type Building = {
  oa: number
  occupied: boolean
  running: boolean
  fanSpeed: number
  static: number
  flow: number
  /** −1..0 heating, 0..1 economizer, 1..2 cooling. */
  demand: number
  oaDamper: number
  clgValve: number
  htgValve: number
  /** Heat that the cooling coil takes from the air, kW. */
  coilKw: number
  ma: number
  ra: number
  sa: number
  zones: Zone[]
  exhaustFan: boolean
  exhaustRuns: boolean
  chiller: boolean
  chwSupply: number
  chwReturn: number
  chwFlow: number
  cwReturn: number
  chillerKw: number
  kw: number
  kwh: number
}

const emptyZone = (): Zone => ({
  t: 24,
  cooling: { integral: 0, out: 0 },
  heating: { integral: 0, out: 0 },
  csp: COOL_SP.empty,
  hsp: HEAT_SP.empty,
  flowSp: 0,
  damper: 0,
  flow: 0,
  flowSeen: 0,
  reheat: 0,
  discharge: 23,
})

/** The building as it stands on a night before anything runs. */
export function emptyBuilding(): Building {
  return {
    oa: 20,
    occupied: false,
    running: false,
    fanSpeed: 0,
    static: 0,
    flow: 0,
    demand: 0,
    oaDamper: 0,
    clgValve: 0,
    htgValve: 0,
    coilKw: 0,
    ma: 23,
    ra: 24,
    sa: 22,
    zones: ZONES.map(emptyZone),
    exhaustFan: false,
    exhaustRuns: false,
    chiller: false,
    chwSupply: 15,
    chwReturn: 15,
    chwFlow: 0,
    cwReturn: 25,
    chillerKw: 0,
    kw: 8,
    kwh: 182_400,
  }
}

/** Moves the building one step on. `localMs`: the building's wall clock written as if it were UTC. */
export function step(b: Building, localMs: number, faults: ReadonlySet<FaultName>): void {
  const hour = hourOf(localMs)
  b.oa = outdoorTemp(localMs)
  b.occupied = hour >= OCCUPIED[0] && hour < OCCUPIED[1]
  b.running = hour >= START_HOUR && hour < OCCUPIED[1]
  b.exhaustFan = b.running
  b.exhaustRuns = b.exhaustFan && !faults.has('exhaust_fan_off')
  for (const [i, zone] of b.zones.entries()) stepZone(zone, ZONES[i]!, b, localMs, faults)
  stepFan(b)
  stepCoils(b, faults)
  stepChiller(b, faults)
  const base = b.occupied ? 28 : 7
  b.kw = base + 6 * b.fanSpeed ** 3 + b.chillerKw
  b.kwh += (b.kw * STEP_S) / 3600
}

function stepZone(zone: Zone, design: ZoneDesign, b: Building, localMs: number, faults: ReadonlySet<FaultName>): void {
  const { flowMin, flowMax, flowOpen, reheatKw } = design
  zone.csp = b.running ? COOL_SP.occupied : COOL_SP.empty
  zone.hsp = b.running ? HEAT_SP.occupied : HEAT_SP.empty
  const cool = b.running ? pi(zone.cooling, zone.t - zone.csp, 0.5, 900) : reset(zone.cooling)
  const heat = b.running ? pi(zone.heating, zone.hsp - zone.t, 0.5, 900) : reset(zone.heating)
  zone.reheat = heat
  zone.flowSp = b.running ? flowMin + (flowMax - flowMin) * Math.max(cool, heat * 0.3) : 0

  const wanted = b.running ? zone.damper + ((zone.flowSp - zone.flowSeen) / flowMax) * (STEP_S / 60) : 0
  zone.damper = limit(wanted, zone.damper - STEP_S / 90, zone.damper + STEP_S / 90)
  zone.damper = limit(zone.damper, 0, 1)
  const flow = b.running ? flowOpen * zone.damper * Math.sqrt(b.static / STATIC_SP) : 0
  zone.flow = lag(zone.flow, flow, 20)
  const dead = faults.has('vav_flow_dead') && design.equipment_id === 'VAV-102'
  zone.flowSeen = dead ? 0 : zone.flow

  const leaks = faults.has('vav_reheat_leak') && design.equipment_id === 'VAV-103'
  const heating = reheatKw * Math.max(zone.reheat, leaks ? 0.4 : 0)
  const entering = b.sa + 0.5
  const blown = zone.flow > 0.03
  zone.discharge = lag(zone.discharge, blown ? entering + heating / (AIR * zone.flow) : zone.t - 0.3, blown ? 90 : 3000)

  const gain = design.inside * (b.occupied ? comingAndGoing(localMs, design.sunHour) : 0.08)
  const load = design.ua * (b.oa - zone.t) + gain + design.sun * sunOn(localMs, design.sunHour)
  const supplied = AIR * zone.flow * (zone.discharge - zone.t)
  zone.t += ((load + supplied) * STEP_S) / design.capacity
}

/** People come and go: the heat that they and their machines give, about 1. @param own sets one zone's hours off another's */
function comingAndGoing(localMs: number, own: number): number {
  const minutes = localMs / 60_000
  return 1 + 0.15 * Math.sin(minutes / 11 + own) + 0.1 * Math.sin(minutes / 4.7 + 3 * own)
}

function stepFan(b: Building): void {
  b.flow = b.zones.reduce((sum, { flow }) => sum + flow, 0)
  if (b.running) b.fanSpeed = limit(b.fanSpeed + ((STATIC_SP - b.static) / STATIC_SP) * (STEP_S / 120), 0.2, 1)
  else b.fanSpeed = 0
  // The fan's pressure less what filter and coils take.
  b.static = lag(b.static, Math.max(0, 1150 * b.fanSpeed ** 2 - 70 * b.flow ** 2), 15)
}

/** Mixing box, heating coil, cooling coil, fan heat; and the control loop of the supply air temperature. */
function stepCoils(b: Building, faults: ReadonlySet<FaultName>): void {
  const indoors = mean(b.zones.map(({ t }) => t))
  if (!b.running) {
    b.demand = 0
    b.oaDamper = 0
    b.clgValve = 0
    b.htgValve = 0
    b.coilKw = 0
    b.ra = lag(b.ra, indoors, 3600)
    b.ma = lag(b.ma, indoors - 0.5, 3600)
    // Without flow, a coil that passes hot water warms the still air around the sensor behind it.
    b.sa = lag(b.sa, faults.has('htg_valve_leak') ? indoors + 18 : indoors - 0.8, 3600)
    return
  }
  const economizer = b.oa < ECON_HIGH_LIMIT && b.oa < b.ra - 1
  b.demand = nextDemand(b.demand, b.sa - SAT_SP, economizer)
  b.htgValve = limit(-b.demand, 0, 1)
  b.clgValve = limit(b.demand - 1, 0, 1)
  b.oaDamper = economizer ? OA_MIN + (1 - OA_MIN) * limit(b.demand, 0, 1) : OA_MIN

  const damper = faults.has('oa_damper_stuck') ? 0.8 : b.oaDamper
  const cooling = faults.has('clg_valve_stuck') ? CLG_STUCK : b.clgValve
  const heating = Math.max(b.htgValve, faults.has('htg_valve_leak') ? 0.3 : 0)
  const outdoorShare = 0.01 + 0.97 * damper
  b.ra = lag(b.ra, mix(b.zones) + 0.5, 120)
  b.ma = lag(b.ma, outdoorShare * b.oa + (1 - outdoorShare) * b.ra, 60)
  const heated = b.ma + 16 * heating
  const cooled = heated - coilEffect(cooling) * (heated - b.chwSupply)
  b.sa = lag(b.sa, cooled + 0.8 * b.fanSpeed ** 2, 60)
  // A quarter of the coil's work goes into drying the air.
  b.coilKw = 1.25 * AIR * b.flow * (heated - cooled)
}

/** Share of the way to the water's temperature that the air goes. */
const coilEffect = (valve: number): number => 0.85 * valve ** 0.8

/** Where the economizer is locked out, its band of the demand is stepped over. */
function nextDemand(demand: number, error: number, economizer: boolean): number {
  const next = limit(demand + error * 0.0006 * STEP_S, -1, 2)
  if (economizer || next <= 0 || next >= 1) return next
  return error > 0 ? 1 : 0
}

function stepChiller(b: Building, faults: ReadonlySet<FaultName>): void {
  const cooling = faults.has('clg_valve_stuck') ? CLG_STUCK : b.clgValve
  b.chiller = b.running && cooling > (b.chiller ? 0.02 : 0.1)
  b.chwSupply = lag(b.chwSupply, b.chiller ? CHW_SP : 16, b.chiller ? 120 : 5400)
  const litres = 0.15 + 2.2 * cooling
  b.chwFlow = lag(b.chwFlow, b.chiller ? litres : 0, 30)
  b.chwReturn = lag(b.chwReturn, b.chiller ? b.chwSupply + b.coilKw / (WATER * litres) : b.chwSupply + 0.5, 120)
  const load = b.chiller ? WATER * b.chwFlow * Math.max(0, b.chwReturn - b.chwSupply) : 0
  b.chillerKw = b.chiller ? 1.5 + load / 4.4 : 0
  b.cwReturn = lag(b.cwReturn, b.chiller ? CONDENSER_IN + 1 + load / 10 : CONDENSER_IN, 180)
}

/** Condenser water to the chiller, °C: from a tower with constant leaving temperature. */
export const condenserIn = CONDENSER_IN
export const setPoints = { sa: SAT_SP, static: STATIC_SP, chw: CHW_SP, oaMin: OA_MIN } as const

/** Proportional and integral, 0..1, without wind-up. `gain` per K, `reset` seconds. */
function pi(loop: Loop, error: number, gain: number, resetS: number): number {
  loop.integral = limit(loop.integral + (gain * error * STEP_S) / resetS, 0, 1)
  loop.out = limit(gain * error + loop.integral, 0, 1)
  return loop.out
}

function reset(loop: Loop): number {
  loop.integral = 0
  loop.out = 0
  return 0
}

function fahrenheit(degrees: number): number {
  return (degrees - 32) / 1.8
}

const lag = (now: number, towards: number, tauS: number): number => now + (towards - now) * (1 - Math.exp(-STEP_S / tauS))
const limit = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value))
const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** Return air: the zones weighed by their flow. */
function mix(zones: Zone[]): number {
  const flow = zones.reduce((sum, zone) => sum + zone.flow, 0)
  return flow > 0.05 ? zones.reduce((sum, zone) => sum + zone.flow * zone.t, 0) / flow : mean(zones.map(({ t }) => t))
}
