/** What is made ready for one equipment serves every other of its shape, and no other. */
import test from 'ava'
import fc from 'fast-check'
import type { TemplateCache } from '#shared/core/rules/compile/compile-equipment.ts'
import { createRun } from '#shared/core/rules/evaluate/open-run.ts'
import { outlineOf } from '#shared/core/rules/compile/building-signals.ts'
import type { RunPlan } from '#shared/core/rules/evaluate/run-types.ts'
import type { EquipmentData } from '#shared/core/rules/compile/equipment-data.ts'
import { DAY, HOUR } from '#shared/core/time.ts'
import { RULES, ZONE_RULES } from '../../../../support/rules/all-kinds.ts'
import { ahu, ruleOf, START, yamlOf } from '../../../../support/rules/helpers.ts'
import { dataAt, diceOf, type Plan, runOver, worldOf } from '../../../../support/rules/world.ts'

const AIR_HANDLER = { type: 'ahu', roles: ['sa_t', 'ma_t', 'oa_damper*', 'fan_status'] } as const
const ZONE = { type: 'vav', roles: ['zone_t'] } as const
/** Two air handlers with two alike zones each; another zone beside them. */
const PLAN: Plan = {
  'ahu-1': { ...AIR_HANDLER, roles: [...AIR_HANDLER.roles], feeds: ['vav-1', 'vav-2'] },
  'ahu-2': { ...AIR_HANDLER, roles: [...AIR_HANDLER.roles], feeds: ['vav-3', 'vav-4'] },
  'vav-1': { ...ZONE, roles: [...ZONE.roles] },
  'vav-2': { ...ZONE, roles: [...ZONE.roles] },
  'vav-3': { ...ZONE, roles: [...ZONE.roles] },
  'vav-4': { ...ZONE, roles: [...ZONE.roles] },
  'vav-5': { ...ZONE, roles: [...ZONE.roles, 'damper'] },
  wx: { type: 'weather', roles: ['wx_oa_t'] },
}
/** Zones 1 to 4 where all have samples, both air handlers, zone 5, the weather. */
const SHAPES = 4
const LIMITED = ruleOf(
  yamlOf({
    id: 'LIMITED',
    equipment: '[vav]',
    roles: '{ zone_t: degC }',
    params: '{ limit: { default: 21, min: 10, max: 30, unit: degC } }',
    when: 'zone_t > limit',
  }),
)
const settings = [
  { rule_id: 'LIMITED', param: 'limit', scope: 'equipment', scope_id: 'vav-3', value: 15, unit: 'degC' } as const,
  { rule_id: 'LIMITED', param: 'limit', scope: 'type', scope_id: 'vav', value: 23, unit: 'degC' } as const,
]

/** Keeps nothing: every equipment is made ready anew. */
class Forgetful extends Map {
  override set(): this {
    return this
  }
}

test('alike equipment is told the same, to the byte, as if it were alone', t => {
  let shared = 0
  fc.assert(
    fc.property(fc.integer(), seed => {
      const dice = diceOf(seed)
      const world = worldOf(PLAN, 'Europe/Berlin', Date.UTC(2026, 2, 27, 9, 30), 4, dice)
      const resets = [{ rule_id: 'V1', equipment_id: 'vav-2', name: 'own', at: world.from + DAY }]
      const more: Partial<RunPlan> = { settings, resets, stateAt: [] }
      const setting = { world, rules: [...RULES, ...ZONE_RULES, LIMITED], dice, more }
      const data = dataAt(world, world.to, -Infinity, dice)
      const alone = runOver(setting, world, data, new Forgetful())
      const shapes: TemplateCache = new Map()
      for (const which of ['at first', 'again']) {
        const together = runOver(setting, world, data, shapes)
        if (JSON.stringify(together) !== JSON.stringify(alone)) throw new Error(`${which} it is told something else`)
      }
      // Zone 3 has a value of its own.
      if (shapes.size === SHAPES + 1) shared++
    }),
    { numRuns: 15, endOnFailure: true },
  )
  t.true(shared > 0)
})

const zone = (equipment_id: string, rows: Record<string, string>): EquipmentData => ({
  ...ahu(rows, HOUR),
  equipment_id,
  equipment_type: 'vav',
})
const rule = (keys: Record<string, string>) => ruleOf(yamlOf({ equipment: '[vav]', roles: '{ zone_t: degC }', ...keys }))

function statuses(rules: ReturnType<typeof rule>[], data: EquipmentData[], shapes: TemplateCache = new Map()): string[] {
  const span = { from: START, to: START + DAY }
  const run = createRun({ building_id: 'b', timezone: 'UTC', ...span, rules, equipment: data.map(outlineOf) }, shapes)
  for (const equipment_id of run.order) run.evaluate(equipment_id, data)
  return run.finish().results.map(({ equipment_id, status }) => `${equipment_id} ${status}`)
}

test('a proof that has no samples is another shape', t => {
  const rules = [rule({ when: 'zone_t > 20', gate: 'fan_on' })]
  const data = [zone('a', { zone_t: '25x24', fan_status: '1x24' }), zone('b', { zone_t: '25x24', fan_status: '_x24' })]
  t.deepEqual(statuses(rules, data), ['a fault', 'b not_evaluated'])
  t.deepEqual(statuses(rules, data.toReversed()), ['a fault', 'b not_evaluated'])
})

test('what an equipment feeds is part of its shape: a machine tells that a plant runs, anything else does not', t => {
  const plants = ruleOf(
    yamlOf({ equipment: '[chw_plant]', roles: '{ chw_supply_t: degC }', when: 'chw_supply_t > 9', gate: 'pump_on' }),
  )
  const plant = (equipment_id: string, fed: string): EquipmentData => {
    return { ...ahu({ chw_supply_t: '12x24' }, HOUR), equipment_id, equipment_type: 'chw_plant', feeds: [fed] }
  }
  const proof = (equipment_id: string, equipment_type: EquipmentData['equipment_type']): EquipmentData => {
    return { ...ahu({ pump_status: '1x24' }, HOUR), equipment_id, equipment_type }
  }
  const data = [plant('a', 'pump'), plant('b', 'other'), proof('pump', 'pump'), proof('other', 'ahu')]
  t.deepEqual(statuses([plants], data), ['a fault', 'b not_evaluated'])
})

test('a rule that has been read anew is another rule', t => {
  const shapes: TemplateCache = new Map()
  const data = [zone('a', { zone_t: '25x24' })]
  t.deepEqual(statuses([rule({ when: 'zone_t > 20' })], data, shapes), ['a fault'])
  t.deepEqual(statuses([rule({ when: 'zone_t > 30' })], data, shapes), ['a pass'])
})

test('what is ready keeps no samples', t => {
  const shapes: TemplateCache = new Map()
  statuses([rule({ when: 'avg(zone_t, 2h) > 20' })], [zone('a', { zone_t: '25x24' })], shapes)
  const [kept] = shapes.values()
  t.deepEqual(
    kept!.leaves.map(({ role, steps }) => [role, steps.ts.length]),
    [['zone_t', 0]],
  )
})

test('shapes are kept as long as they are used', t => {
  const shapes: TemplateCache = new Map()
  const rules = [rule({ when: 'zone_t > 20' })]
  const other = (n: number) => [
    zone('a', { zone_t: '25x24', ...Object.fromEntries(ROLES.slice(0, n).map(role => [role, '1x24'])) }),
  ]
  const [first] = (statuses(rules, other(0), shapes), shapes.values())
  for (let n = 1; n <= ROLES.length; n++) {
    statuses(rules, other(n), shapes)
    statuses(rules, other(0), shapes)
  }
  t.is([...shapes.values()].at(-1), first)
  t.true(shapes.size < ROLES.length)
})
const ROLES = [
  ...['zone_t_sp', 'zone_rh', 'zone_co2', 'damper', 'damper_cmd', 'reheat_valve', 'flow', 'flow_sp', 'flow_min_sp', 'occ'],
  ...['fan_status', 'fan_cmd', 'fan_speed', 'da_t', 'sa_t', 'ra_t', 'ma_t', 'oa_t', 'cool_valve', 'heat_valve'],
]
