/** A year of minutes of one air handler: made up, the same every time, with the physics that the rules look for. */
import type { PointRows } from '#shared/core/ports.ts'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'

export const YEAR_START = Date.UTC(2025, 0, 1)
export const MINUTES = 525_600

/** In canonical units, in the order of `AIR_HANDLER_ROLES`. */
export const AIR_HANDLER_ROLES = [
  'oa_t',
  'ma_t',
  'ra_t',
  'sa_t',
  'sa_t_sp',
  'duct_static',
  'duct_static_sp',
  'fan_cmd',
  'fan_status',
  'fan_speed',
  'sa_flow',
  'oa_damper',
  'ra_damper',
  'ea_damper',
  'clg_valve',
  'htg_valve',
  'occ',
  'zone_t',
  'ra_rh',
  'bldg_static',
] as const
type Role = (typeof AIR_HANDLER_ROLES)[number]

/** Faults by week of the year, counted from 0. */
const FAULT_WEEKS: Record<number, string> = {
  3: 'heating valve weak',
  7: 'mixed-air sensor off',
  11: 'outdoor-air damper stuck shut',
  15: 'runs all night',
  19: 'valves fight',
  23: 'cooling valve weak',
  27: 'cooling coil dry',
  31: 'static cannot be held',
  35: 'return sensor frozen',
  39: 'outdoor-air damper stuck open',
  43: 'fan ignores its command',
  47: 'loop hunts',
}

/** mulberry32: the same sequence everywhere. @returns figures in [0, 1) */
function dice(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const clamp = (value: number, low: number, high: number) => Math.min(high, Math.max(low, value))
const rounded = (value: number, step: number) => Math.round(value / step) * step
const RESOLUTION: Partial<Record<Role, number>> = { duct_static: 0.5, bldg_static: 0.1, fan_speed: 0.001, ra_rh: 0.001 }

/**
 * @param minutes how many from the start of the year
 * @returns by role: [minutes] values; NaN for one in some ten thousand, as of a controller that is being restarted
 */
function simulate(minutes: number): Record<Role, Float64Array> {
  const random = dice(20_250_101)
  const columns = Object.fromEntries(AIR_HANDLER_ROLES.map(role => [role, new Float64Array(minutes)])) as Record<
    Role,
    Float64Array
  >
  const state = { ra_t: 21, sa_t: 18, clg: 0, htg: 0, damper: 0, drift: 0, frozen: 22, silent: 0 }
  for (let i = 0; i < minutes; i++) {
    const now = step(i, state, random)
    if (random() < 1 / 20_000) state.silent = 1 + Math.floor(random() * 4)
    const silent = state.silent > 0
    if (silent) state.silent -= 1
    for (const role of AIR_HANDLER_ROLES) columns[role][i] = silent ? Number.NaN : rounded(now[role], RESOLUTION[role] ?? 0.01)
  }
  return columns
}

/** The first minutes of the year as a package brings them, point by point. */
export async function* airHandlerRows(pointOf: Record<string, string>, minutes: number): AsyncGenerator<PointRows> {
  const columns = simulate(minutes)
  const ts = Float64Array.from({ length: minutes }, (_, i) => YEAR_START + i * MINUTE)
  for (const role of AIR_HANDLER_ROLES) yield { point_id: pointOf[role]!, series: { ts, values: columns[role] } }
}

type State = {
  ra_t: number
  sa_t: number
  clg: number
  htg: number
  damper: number
  drift: number
  frozen: number
  silent: number
}

function step(i: number, state: State, random: () => number): Record<Role, number> {
  const at = YEAR_START + i * MINUTE
  const hour = (at % DAY) / HOUR
  const day = Math.floor(i / 1440)
  const fault = FAULT_WEEKS[Math.floor(day / 7)]
  const noise = (size: number) => (random() + random() + random() - 1.5) * size
  const occupied = day % 7 < 5 && hour >= 7 && hour < 19
  const wanted = occupied || (day % 7 < 5 && hour >= 6 && hour < 7) || fault === 'runs all night'
  const running = fault === 'fan ignores its command' && day % 7 === 2 ? !wanted : wanted
  state.drift += noise(0.05) - state.drift * 0.001
  const oa_t = 11 - 13 * Math.cos((2 * Math.PI * (day - 15)) / 365) - 5 * Math.cos((2 * Math.PI * (hour - 3)) / 24) + state.drift
  const load = occupied ? 0.35 + 0.3 * Math.sin((Math.PI * (hour - 7)) / 12) + (oa_t - 12) * 0.012 : 0
  const ra_t = (state.ra_t += ((running ? 22.5 + load : 19 + (oa_t - 10) * 0.12) - state.ra_t) * 0.01)
  const sa_t_sp = 13 + clamp((15 - oa_t) * 0.12, 0, 3)

  const free = running && oa_t < ra_t - 1 ? clamp((ra_t - (sa_t_sp - 1.5)) / (ra_t - oa_t), 0.2, 1) : 0.2
  const asked = running ? free : 0
  state.damper += clamp(asked - state.damper, -0.05, 0.05)
  const oa_damper = running ? clamp(state.damper, 0, 1) : 0
  const passed = fault === 'outdoor-air damper stuck shut' ? 0.02 : fault === 'outdoor-air damper stuck open' ? 0.9 : oa_damper
  const mixed = running ? ra_t + passed * (oa_t - ra_t) : ra_t + (oa_t - ra_t) * 0.1

  const need = sa_t_sp - (mixed + 1.2)
  state.htg += clamp((running ? clamp(need / 20, 0, 1) : 0) - state.htg, -0.1, 0.1)
  state.clg += clamp((running ? clamp(-need / 12, 0, 1) : 0) - state.clg, -0.1, 0.1)
  const hunting = fault === 'loop hunts' && running ? 0.5 + 0.5 * Math.sign(Math.sin(i / 4)) : 0
  const weakCooling = fault === 'cooling valve weak' ? 0.3 : fault === 'cooling coil dry' ? 0 : 1
  const clg_valve = clamp(weakCooling < 1 && running && need < -1 ? 1 : Math.max(state.clg, hunting), 0, 1)
  const htg_valve = clamp(
    fault === 'heating valve weak' && need > 1 && running ? 1 : state.htg + (fault === 'valves fight' && running ? 0.25 : 0),
    0,
    1,
  )
  const weakHeating = fault === 'heating valve weak' ? 0.2 : 1
  const target = running
    ? mixed + 1.2 + 20 * state.htg * weakHeating - 12 * state.clg * weakCooling
    : state.sa_t + (20 - state.sa_t) * 0.01
  const sa_t = (state.sa_t += (target - state.sa_t) * 0.3)

  const speed = running ? clamp(0.55 + load * 0.4, 0.4, 0.9) : 0
  const lost = fault === 'static cannot be held' && running
  if (fault !== 'return sensor frozen') state.frozen = ra_t
  return {
    oa_t: oa_t + noise(0.1),
    ma_t: mixed + noise(0.2) + (fault === 'mixed-air sensor off' ? 4 : 0),
    ra_t: state.frozen + (fault === 'return sensor frozen' ? 0 : noise(0.1)),
    sa_t: sa_t + noise(0.15),
    sa_t_sp,
    duct_static: running ? (lost ? 170 : 250) + noise(6) : noise(1),
    duct_static_sp: 250,
    fan_cmd: Number(wanted),
    fan_status: Number(running),
    fan_speed: lost ? 1 : speed,
    sa_flow: running ? speed * 9 + noise(0.2) : 0.02,
    oa_damper,
    ra_damper: running ? 1 - oa_damper : 1,
    ea_damper: oa_damper,
    clg_valve,
    htg_valve,
    occ: Number(occupied),
    zone_t: ra_t - 0.4 + noise(0.1),
    ra_rh: 0.45 + state.drift * 0.02 + noise(0.01),
    bldg_static: running ? 12 + noise(2) : noise(0.5),
  }
}
