/** A small building whose samples come late, twice, corrected and out of order, and runs that resume from one to the next. */
import { isDeepStrictEqual } from 'node:util'
import { deserialize, serialize } from 'node:v8'
import { isOverride, levelMeanings } from '#shared/core/priority/priority-levels.ts'
import type { ArraySnapshot } from '#shared/core/priority/array-snapshot.ts'
import { TemplateCache } from '#shared/core/rules/compile/compile-equipment.ts'
import { createRun, type RuleRun } from '#shared/core/rules/evaluate/run-rules.ts'
import type { EquipmentOutline } from '#shared/core/rules/compile/topology.ts'
import type { EquipmentState } from '#shared/core/rules/evaluate/equipment-state.ts'
import type { Rule } from '#shared/core/rules/check/rule.ts'
import type { RunOutput, RunPlan } from '#shared/core/rules/evaluate/run-types.ts'
import type { EquipmentData, RoleSeries } from '#shared/core/rules/compile/equipment-data.ts'
import { DAY, HOUR, MINUTE, SECOND } from '#shared/core/time.ts'
import { dateOf, dayStart, nextDay } from '#shared/core/time-zone.ts'

export type Dice = { share(): number; below(n: number): number; of<T>(some: readonly T[]): T; chance(share: number): boolean }

/** mulberry32: the same sequence everywhere. */
export function diceOf(seed: number): Dice {
  let state = seed
  const share = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (n: number) => Math.floor(share() * n)
  return { share, below, of: some => some[below(some.length)]!, chance: limit => share() < limit }
}

/** What a point said, and when it came to be known. A later arrival replaces what was known of the same instant. */
type Arrival<T> = { t: number; value: T; arrives: number }
type Point = {
  equipment_id: string
  role: string
  nominalMs: number
  samples: Arrival<number>[]
  visits: Arrival<ArraySnapshot>[]
}
type World = { timezone: string; from: number; to: number; equipment: EquipmentOutline[]; points: Point[] }

/** Equipment type, roles and whom it feeds, by id; a role with `*` has its priority array visited. */
export type Plan = Record<string, { type: EquipmentOutline['equipment_type']; roles: string[]; feeds?: string[] }>

const isStarred = (role: string) => role.endsWith('*')
const bare = (role: string) => role.replace('*', '')

/** @param from an instant within the first building day */
export function worldOf(plan: Plan, timezone: string, from: number, days: number, dice: Dice): World {
  let to = from
  for (let i = 0; i < days; i++) to = nextDay(to, timezone)
  const span = { from: dice.chance(0.5) ? dayStart(from, timezone) : from, to }
  const entries = Object.entries(plan)
  return {
    timezone,
    ...span,
    equipment: entries.map(([equipment_id, { type, roles, feeds = [] }]) => {
      return { equipment_id, equipment_type: type, feeds, roles: roles.map(bare), visited: roles.filter(isStarred).map(bare) }
    }),
    points: entries.flatMap(([equipment_id, { roles }]) =>
      roles.map((name): Point => {
        const role = bare(name)
        const nominalMs = dice.of([1, 5, 15, 30]) * MINUTE
        const samples = dice.chance(0.05) ? [] : late(signal(role, nominalMs, span, dice), dice)
        const visits = isStarred(name) ? late(visitsTo(span, timezone, dice), dice) : []
        return { equipment_id, role, nominalMs, samples, visits }
      }),
    ),
  }
}

/** Level of a role's values: temperatures, signals and flags. */
function levelsOf(role: string): number[] {
  if (/status|occ|cmd$/.test(role)) return [0, 1]
  if (/valve|damper|speed/.test(role)) return [0, 0.005, 0.2, 0.5, 0.97, 1]
  if (/static/.test(role)) return [0, 120, 250, 600]
  if (/flow/.test(role)) return [0, 0.2, 1, 5]
  if (/rh/.test(role)) return [0.2, 0.5, 0.9]
  return [8, 14, 18, 21, 22, 24, 30, 200]
}

function signal(role: string, nominalMs: number, { from, to }: { from: number; to: number }, dice: Dice): [number, number][] {
  const levels = levelsOf(role)
  const kind = dice.of(['even', 'irregular', 'changes'] as const)
  const samples: [number, number][] = []
  let level = dice.of(levels)
  for (let t = from - dice.below(2) * 3 * HOUR; t < to; ) {
    if (dice.chance(nominalMs / (4 * HOUR))) level = dice.of(levels)
    const noise = levels.length > 2 && kind !== 'changes' ? (dice.below(5) - 2) / 100 : 0
    samples.push([t, dice.chance(0.02) ? Number.NaN : level + noise])
    t += kind === 'irregular' ? Math.max(SECOND, Math.round((nominalMs * 2 * dice.share()) / SECOND) * SECOND) : nominalMs
    if (dice.chance(nominalMs / (12 * HOUR))) t += dice.below(600) * MINUTE
  }
  return kind === 'changes' ? samples.filter(([, value], i) => i % 3 === 0 || value !== samples[i - 1]![1]) : samples
}

const MEANINGS = levelMeanings()

function visitsTo({ from, to }: { from: number; to: number }, timezone: string, dice: Dice): [number, ArraySnapshot][] {
  const visits: [number, ArraySnapshot][] = []
  let held = false
  let asked = 0.4
  for (let t = from + 7 * MINUTE; t < to; t += HOUR + dice.below(30) * MINUTE) {
    if (dice.chance(0.15)) held = !held
    if (dice.chance(0.2)) asked = dice.of([0, 0.4, 0.8])
    const level = dice.chance(0.05) ? Number.NaN : held ? 0 : null
    const slots = Array.from({ length: 16 }, (_, i) => (i === 7 ? level : i === 15 ? asked : null))
    visits.push([t, { t, slots, fallback: 0, date: dateOf(t, timezone), overridden: isOverride(held ? 8 : 16, MEANINGS) }])
  }
  return visits
}

/** Most are known at once, some hours or days later, and some are wrong until then. */
function late<T>(all: [number, T][], dice: Dice): Arrival<T>[] {
  const share = dice.of([0, 0.001, 0.01])
  return all.flatMap(([t, value], i): Arrival<T>[] => {
    if (!dice.chance(share)) return [{ t, value, arrives: t }]
    const arrives = t + dice.below(50) * HOUR + MINUTE
    const [, wrong] = all[Math.max(0, i - 40)]!
    const first = typeof wrong === 'number' && dice.chance(0.4) ? [{ t, value: wrong, arrives: t }] : []
    return [...first, { t, value, arrives }]
  })
}

// ---- what is known at an instant

function knownAt<T>(arrivals: Arrival<T>[], now: number): Map<number, T> {
  const known = new Map<number, T>()
  for (const { t, value, arrives } of arrivals) if (arrives < now && t < now) known.set(t, value)
  return known
}

/** The first instant with changed data; the data of a visit begins at the visit before it. */
function changedBetween({ points }: World, then: number, now: number): number {
  let changed = now
  for (const { samples, visits } of points) {
    for (const { t, arrives } of samples)
      if (Math.max(arrives, t) >= then && Math.max(arrives, t) < now) changed = Math.min(changed, t)
    const before = [...knownAt(visits, now).keys()].toSorted((a, b) => a - b)
    for (const { t, arrives } of visits) {
      if (Math.max(arrives, t) >= then && Math.max(arrives, t) < now)
        changed = Math.min(changed, before[before.indexOf(t) - 1] ?? t)
    }
  }
  return changed
}

/** @param since what is earlier is not given */
export function dataAt({ equipment, points }: World, now: number, since: number, dice: Dice): EquipmentData[] {
  return equipment.map(({ equipment_id, equipment_type, feeds }) => {
    const own = points.filter(point => point.equipment_id === equipment_id)
    const visited = own.filter(({ visits }) => visits.length > 0)
    const roles = own.map((point): [string, RoleSeries] => [point.role, seriesAt(point, now, since, dice)])
    const seen = visited.map(({ role, visits }): [string, ArraySnapshot[]] => {
      const known = [...knownAt(visits, now)].toSorted(([a], [b]) => a - b)
      return [role, known.filter(([t]) => t >= since).map(([, visit]) => visit)]
    })
    return {
      equipment_id,
      equipment_type,
      feeds,
      roles: Object.fromEntries(roles),
      visits: Object.fromEntries(seen),
      visitMs: Object.fromEntries(visited.map(({ role }) => [role, HOUR])),
    }
  })
}

/** In any order, and some of them twice. */
function seriesAt({ role, equipment_id, nominalMs, samples }: Point, now: number, since: number, dice: Dice): RoleSeries {
  const known = [...knownAt(samples, now)].filter(([t]) => t >= since)
  const twice = dice.chance(0.3) ? known.filter(() => dice.chance(0.1)) : []
  const all = [...known, ...twice]
  if (dice.chance(0.2)) all.reverse()
  const [ts, values] = [Float64Array.from(all, ([t]) => t), Float64Array.from(all, ([, value]) => value)]
  return { point_id: `${equipment_id}.${role}`, nominalMs, ts, values }
}

// ---- runs

export type Setting = { world: World; rules: Rule[]; dice: Dice; more?: Partial<RunPlan> }

const planOf = ({ world, rules, more }: Setting, now: number, from: number): RunPlan => {
  const { timezone } = world
  const equipment = world.equipment.map(each => ({ ...each, first: firstAt(world, each.equipment_id, now) }))
  return { building_id: 'b', timezone, from, to: now, rules, equipment, ...more }
}

/** By role, the first sample that is known. */
function firstAt({ points }: World, equipment_id: string, now: number): Record<string, number> {
  const own = points.filter(point => point.equipment_id === equipment_id)
  const firsts = own.map(({ role, samples }) => [role, Math.min(...knownAt(samples, now).keys())] as const)
  return Object.fromEntries(firsts.filter(([, t]) => Number.isFinite(t)))
}

/** All of it at once. */
export function wholeRun(setting: Setting, now: number, from: number): RunOutput {
  const data = dataAt(setting.world, now, -Infinity, setting.dice)
  return runOver(setting, { from, to: now }, data, new TemplateCache())
}

/** All of `data` at once. */
export function runOver(
  setting: Setting,
  span: { from: number; to: number },
  data: EquipmentData[],
  templates: TemplateCache,
): RunOutput {
  const run = createRun(planOf(setting, span.to, span.from), templates)
  for (const equipment_id of run.order) run.evaluate(equipment_id, data)
  return run.finish()
}

/** Days whose states are stored, as files would be. */
const STATES_KEPT = 3

/** Runs that resume from one to the next; `resumed` counts the equipment that did, `outdated` the states that could not be used. */
export function chainOf(setting: Setting) {
  const { world, dice } = setting
  const stored = new Map<string, Uint8Array[]>()
  const templates = new TemplateCache()
  const counts = { resumed: 0, outdated: 0 }
  let then = -Infinity

  const statesOf = (equipment_id: string): EquipmentState[] =>
    (stored.get(equipment_id) ?? []).map(bytes => deserialize(bytes) as EquipmentState)

  function goOn(run: RuleRun, equipment_id: string, now: number, changed: number): EquipmentState[] {
    const usable = dice.chance(0.05) ? [] : statesOf(equipment_id).filter(({ at }) => at <= changed)
    for (const resume of usable.toReversed()) {
      const before: unknown = deserialize(serialize(resume))
      const evaluated = run.evaluate(equipment_id, needed(run, equipment_id, now, resume.at), resume)
      if (!isDeepStrictEqual(before, resume)) throw new Error('a run has changed the state that it went on from')
      if (evaluated.outdated === undefined) {
        counts.resumed++
        return [...usable.filter(({ at }) => at <= resume.at), ...evaluated.states]
      }
      counts.outdated++
    }
    const evaluated = run.evaluate(equipment_id, needed(run, equipment_id, now, -Infinity))
    if (evaluated.outdated !== undefined) throw new Error(evaluated.outdated)
    return evaluated.states
  }

  /** Only what the run says that it needs. */
  function needed(run: RuleRun, equipment_id: string, now: number, since: number): EquipmentData[] {
    const needs = new Map(run.needs(equipment_id).map(need => [need.equipment_id, need]))
    return dataAt(world, now, since, dice).flatMap(data => {
      const need = needs.get(data.equipment_id)
      if (!need) return []
      const roles = Object.fromEntries(Object.entries(data.roles).filter(([role]) => need.roles.includes(role)))
      const visits = Object.fromEntries(Object.entries(data.visits ?? {}).filter(([role]) => need.visits.includes(role)))
      return [{ ...data, roles, visits }]
    })
  }

  return {
    counts,
    runTo(now: number, from: number): RunOutput {
      const changed = changedBetween(world, then, now)
      const stateAt: number[] = []
      for (let at = dayStart(now, world.timezone); stateAt.length < STATES_KEPT; at = dayStart(at - DAY / 2, world.timezone))
        stateAt.push(at)
      const run = createRun({ ...planOf(setting, now, from), saveStatesAt: stateAt }, templates)
      for (const equipment_id of run.order) {
        const states = goOn(run, equipment_id, now, changed).filter(() => !dice.chance(0.05))
        stored.set(equipment_id, states.slice(-STATES_KEPT).map(serialize))
      }
      then = now
      return run.finish()
    },
  }
}
