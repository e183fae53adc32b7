/** A building with an air handler and two rooms, and two months of uneven history on the disk, sealed as Parquet. */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import type { Equipment, EquipmentType, Point } from '#shared/core/model/model.ts'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { type Place, temporaryHistorian } from './workspace.ts'

export const BUILDING = 'school'
export const ZONE = 'America/Chicago'
/** Ten weeks in which the clock goes back: 2 November 2025. */
export const FROM = Date.UTC(2025, 8, 10, 5)
export const TO = FROM + 70 * DAY

/** Numbers that are always the same ones. @source Steele, Lea, Flood: SplitMix; the 32-bit variant mulberry32 */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

const point = (equipment_id: string, role: string, unit: string, more: Partial<Point> = {}): Point => ({
  point_id: `${equipment_id}.${role}`,
  building_id: BUILDING,
  equipment_id,
  name: `${equipment_id} ${role}`,
  role,
  unit,
  kind: 'number',
  source: { protocol: 'csv', address: '' },
  ...more,
})
const equipment = (equipment_id: string, equipment_type: EquipmentType, more: Partial<Equipment> = {}): Equipment => ({
  equipment_id,
  building_id: BUILDING,
  name: equipment_id,
  equipment_type,
  ...more,
})
export const EQUIPMENT = [
  equipment('ahu', 'ahu', { feeds: ['room'] }),
  equipment('room', 'vav'),
  equipment('hall', 'zone', { parent_id: 'ahu' }),
  equipment('meter', 'meter'),
]
export const POINTS = [
  point('ahu', 'oa_t', 'degF'),
  point('ahu', 'ra_t', 'degF', { poll_secs: 600 }),
  point('ahu', 'ma_t', 'degC'),
  point('ahu', 'oa_damper', 'percent'),
  point('ahu', 'fan_status', 'bool', { kind: 'bool', poll_secs: 900 }),
  point('ahu', 'clg_valve', 'fraction'),
  point('ahu', 'occ', 'bool', { kind: 'bool', poll_secs: 1800 }),
  point('room', 'zone_t', 'degF'),
  point('room', 'zone_t_sp_heat', 'degC', { poll_secs: 3600 }),
  point('room', 'zone_t_sp_cool', 'degC', { poll_secs: 3600 }),
  point('hall', 'zone_t', 'degC'),
  point('meter', 'kw', 'kW'),
]

const fahrenheit = (celsius: number) => celsius * 1.8 + 32
const CLOCK_BACK = Date.UTC(2025, 10, 2, 7)
/** The hour of a day in Chicago. */
const hourOf = (t: number) => (t / HOUR - (t < CLOCK_BACK ? 5 : 6)) % 24
const outdoor = (t: number) => 14 + 9 * Math.sin((2 * Math.PI * (hourOf(t) - 9)) / 24) + 4 * Math.sin(t / (5 * DAY))
const works = (t: number) => hourOf(t) >= 7 && hourOf(t) < 19
const damper = (t: number) => (works(t) ? [0, 0.2, 0.3, 0.55, 0.8, 1, 0.42][Math.floor(t / (3 * HOUR)) % 7]! : 0)
const back = (t: number) => 22.5 + 0.5 * Math.sin(t / DAY)
const room = (t: number) => (works(t) ? 22 + 3.1 * Math.sin(t / (7 * HOUR)) : 19 + Math.sin(t / (9 * HOUR)))

/** What a point measures at `t`, in its own unit. */
const SIGNALS: Record<string, (t: number, noise: number) => number> = {
  'ahu.oa_t': (t, noise) => fahrenheit(outdoor(t) + noise),
  'ahu.ra_t': (t, noise) => fahrenheit(back(t) + noise / 2),
  'ahu.ma_t': (t, noise) => back(t) + (0.06 + 0.85 * damper(t)) * (outdoor(t) - back(t)) + noise / 2,
  'ahu.oa_damper': t => 100 * damper(t),
  'ahu.fan_status': t => Number(works(t)),
  'ahu.clg_valve': t => (works(t) && outdoor(t) > 15 ? 0.6 : 0),
  'ahu.occ': t => Number(hourOf(t) >= 8 && hourOf(t) < 17),
  'room.zone_t': (t, noise) => fahrenheit(room(t) + noise / 3),
  'room.zone_t_sp_heat': () => 21,
  'room.zone_t_sp_cool': t => (works(t) ? 23.5 : 27),
  'hall.zone_t': (t, noise) => room(t + HOUR) - 0.5 + noise / 3,
  'meter.kw': (t, noise) => (works(t) ? 80 : 20) + 3 * noise + (t > TO - 3 * DAY && t < TO - 3 * DAY + 5 * HOUR ? 60 : 0),
}

/** Uneven steps, holes of hours, single impossible and missing values. */
export function samplesOf({ point_id }: Point, seed: number): { id: string; t: number; v: number }[] {
  const next = random(seed)
  const samples: { id: string; t: number; v: number }[] = []
  const usual = 6 * MINUTE + seed * 23_000
  for (let t = FROM - 2 * HOUR; t < TO; t += Math.round(usual * (0.3 + 1.4 * next()))) {
    const luck = next()
    if (luck < 0.0008) t += Math.round(9 * HOUR * next())
    const spoiled = luck > 0.998 ? 1e6 : luck > 0.995 ? Number.NaN : undefined
    samples.push({ id: point_id, t, v: spoiled ?? SIGNALS[point_id]!(t, next() - 0.5) })
  }
  return samples
}

/** @returns the place and its Parquet files */
export async function sealedSite(t: { teardown(end: () => void): void }): Promise<Place & { files: string[] }> {
  const place = await temporaryHistorian(t)
  const { historian, root } = place
  for (const [i, one] of POINTS.entries()) await historian.append(BUILDING, samplesOf(one, i + 1))
  await historian.seal({ before: TO + DAY })
  return { ...place, files: globSync(join(root, '**/*.parquet')) }
}
