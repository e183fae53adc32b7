/** What is made ready for one equipment serves every other of its shape, and no other. */
import test from 'ava'
import fc from 'fast-check'
import { TemplateCache } from '#shared/core/rules/compile/compile-equipment.ts'
import { createRun } from '#shared/core/rules/evaluate/run-rules.ts'
import { outlineOf } from '#shared/core/rules/compile/topology.ts'
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
const TEMPLATES = 4
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

/** Caches no template: every equipment is compiled again. */
class NoCache extends TemplateCache {
  override put(): void {}
}

test('equipment that shares a template gets the same results, to the byte, as with a template of its own', t => {
  let shared = 0
  fc.assert(
    fc.property(fc.integer(), seed => {
      const dice = diceOf(seed)
      const world = worldOf(PLAN, 'Europe/Berlin', Date.UTC(2026, 2, 27, 9, 30), 4, dice)
      const resets = [{ rule_id: 'V1', equipment_id: 'vav-2', name: 'own', at: world.from + DAY }]
      const more: Partial<RunPlan> = { settings, resets, saveStatesAt: [] }
      const setting = { world, rules: [...RULES, ...ZONE_RULES, LIMITED], dice, more }
      const data = dataAt(world, world.to, -Infinity, dice)
      const alone = runOver(setting, world, data, new NoCache())
      const templates = new TemplateCache()
      for (const which of ['at first', 'again']) {
        const together = runOver(setting, world, data, templates)
        if (JSON.stringify(together) !== JSON.stringify(alone)) throw new Error(`${which} the results differ`)
      }
      // Zone 3 has a value of its own.
      if (templates.size === TEMPLATES + 1) shared++
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

function statuses(rules: ReturnType<typeof rule>[], data: EquipmentData[], templates = new TemplateCache()): string[] {
  const span = { from: START, to: START + DAY }
  const run = createRun({ building_id: 'b', timezone: 'UTC', ...span, rules, equipment: data.map(outlineOf) }, templates)
  for (const equipment_id of run.order) run.evaluate(equipment_id, data)
  return run.finish().results.map(({ equipment_id, status }) => `${equipment_id} ${status}`)
}

test('a proof without samples needs another template', t => {
  const rules = [rule({ when: 'zone_t > 20', gate: 'fan_on' })]
  const data = [zone('a', { zone_t: '25x24', fan_status: '1x24' }), zone('b', { zone_t: '25x24', fan_status: '_x24' })]
  t.deepEqual(statuses(rules, data), ['a fault', 'b not_evaluated'])
  t.deepEqual(statuses(rules, data.toReversed()), ['a fault', 'b not_evaluated'])
})

test('the equipment that is fed decides on the template: a machine proves that a plant runs, other equipment does not', t => {
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

test('the share of what is fed that has a role leaves out the machines of the plant, and makes a template of its own', t => {
  const plants = ruleOf(
    yamlOf({
      equipment: '[chw_plant]',
      roles: '{ chw_supply_t: degC }',
      when: 'chw_supply_t > 9 and zones(clg_valve, share) == 1',
    }),
  )
  const of = (
    equipment_id: string,
    equipment_type: EquipmentData['equipment_type'],
    roles: Record<string, string>,
    feeds: string[],
  ) => {
    return { ...ahu(roles, HOUR), equipment_id, equipment_type, feeds }
  }
  const data = [
    of('all', 'chw_plant', { chw_supply_t: '12x24' }, ['pump', 'read']),
    of('half', 'chw_plant', { chw_supply_t: '12x24' }, ['other', 'unread']),
    of('none', 'chw_plant', { chw_supply_t: '12x24' }, ['idle']),
    of('pump', 'pump', { pump_status: '1x24' }, []),
    of('idle', 'pump', { pump_status: '1x24' }, []),
    of('read', 'ahu', { clg_valve: '0x24' }, []),
    of('other', 'ahu', { clg_valve: '0x24' }, []),
    of('unread', 'ahu', { sa_t: '20x24' }, []),
  ]
  t.deepEqual(statuses([plants], data), ['all fault', 'half pass', 'none pass'])
})

test('a rule that was loaded again has another template', t => {
  const templates = new TemplateCache()
  const data = [zone('a', { zone_t: '25x24' })]
  t.deepEqual(statuses([rule({ when: 'zone_t > 20' })], data, templates), ['a fault'])
  t.deepEqual(statuses([rule({ when: 'zone_t > 30' })], data, templates), ['a pass'])
})

test('a template keeps no samples', t => {
  const templates = new TemplateCache()
  statuses([rule({ when: 'avg(zone_t, 2h) > 20' })], [zone('a', { zone_t: '25x24' })], templates)
  const [template] = templates.values()
  t.deepEqual(
    template!.leaves.map(({ role, signal }) => [role, signal.ts.length]),
    [['zone_t', 0]],
  )
})

test('the most recently used templates are kept', t => {
  const templates = new TemplateCache()
  const rules = [rule({ when: 'zone_t > 20' })]
  const other = (n: number) => [
    zone('a', { zone_t: '25x24', ...Object.fromEntries(ROLES.slice(0, n).map(role => [role, '1x24'])) }),
  ]
  const [first] = (statuses(rules, other(0), templates), templates.values())
  for (let n = 1; n <= ROLES.length; n++) {
    statuses(rules, other(n), templates)
    statuses(rules, other(0), templates)
  }
  t.is([...templates.values()].at(-1), first)
  t.true(templates.size < ROLES.length)
})
const ROLES = [
  ...['zone_t_sp', 'zone_rh', 'zone_co2', 'damper', 'damper_cmd', 'reheat_valve', 'flow', 'flow_sp', 'flow_min_sp', 'occ'],
  ...['fan_status', 'fan_cmd', 'fan_speed', 'da_t', 'sa_t', 'ra_t', 'ma_t', 'oa_t', 'cool_valve', 'heat_valve'],
]
