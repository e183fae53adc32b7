/** What a rule reads: every role, macros, the plant above, the weather, parameters of the request. */
import test from 'ava'
import type { EquipmentType } from '#shared/core/model/model.ts'
import { createRun } from '#shared/core/rules/evaluate/run-rules.ts'
import { outlineOf } from '#shared/core/rules/compile/topology.ts'
import type { EquipmentData } from '#shared/core/rules/compile/equipment-data.ts'
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { ahu, type Rows, ruleOf, run, START, yamlOf } from '../../../../support/rules/helpers.ts'

test('a rule over every role runs on each and names it', t => {
  const rule = ruleOf(
    yamlOf({ equipment: '[any]', roles: '{ x: any }', raw: 'true', when: 'x > highest(x)', explains: '"{role} reads {x}"' }),
  )
  const { findings, results } = run([rule], [ahu({ sa_t: '200x6', oa_damper: '1x6', ra_t: '99x6' })], 30 * MINUTE)
  t.deepEqual(findings.map(({ role, evidence }) => `${role}: ${evidence.sentence}`).toSorted(), [
    'ra_t: ra_t reads 99',
    'sa_t: sa_t reads 200',
  ])
  t.is(new Set(findings.map(({ finding_id }) => finding_id)).size, 2)
  t.deepEqual(
    results.map(({ status, episodes }) => [status, episodes]),
    [['fault', 2]],
  )
})

test('a rule over sensors leaves out what rests', t => {
  const rule = ruleOf(yamlOf({ equipment: '[any]', roles: '{ x: sensor }', when: 'range(x, 30m) <= 0' }))
  const { findings } = run([rule], [ahu({ sa_t: '20x12', sa_t_sp: '13x12', fan_status: '1x12' })], HOUR)
  t.deepEqual(
    findings.map(({ role }) => role),
    ['sa_t'],
  )
})

test('a parameter of the request replaces the default and says so; one out of bounds fails that rule alone', t => {
  const rule = ruleOf(yamlOf({ params: '{ limit: { default: 20, min: 10, max: 40, unit: degC } }', when: 'sa_t > limit' }))
  const other = ruleOf(yamlOf({ id: 'OTHER' }))
  const at = (limit: number) => run([rule, other], [ahu({ sa_t: '25x6' })], 30 * MINUTE, { params: { R: { limit } } })
  t.is(at(30).findings.length, 1)
  t.deepEqual(at(24).findings.find(({ rule_id }) => rule_id === 'R')!.evidence.params, {
    limit: { value: 24, unit: 'degC', source: 'request' },
  })
  const broken = at(50)
  t.deepEqual(
    broken.failed.map(({ rule_id, error }) => [rule_id, /50 is not within 10 and 40/.test(error)]),
    [['R', true]],
  )
  t.deepEqual(
    broken.findings.map(({ rule_id }) => rule_id),
    ['OTHER'],
  )
})

test('a rule whose program is broken fails alone', t => {
  const rule = ruleOf(yamlOf({}))
  const broken = { ...rule, id: 'BROKEN', program: { ...rule.program, when: { kind: 'op' as const, op: 'nonsense', args: [] } } }
  const output = run([broken, rule], [ahu({ sa_t: '30x6' })], 30 * MINUTE)
  t.deepEqual(
    output.failed.map(({ rule_id, equipment_id }) => [rule_id, equipment_id]),
    [['BROKEN', 'ahu-1']],
  )
  t.is(output.findings.length, 1)
})

test('macros take the best proof, here or on what feeds the equipment', t => {
  const rule = ruleOf(yamlOf({ equipment: '[vav, fcu]', roles: '{ damper: fraction }', gate: 'fan_on', when: 'damper > 0.5' }))
  const status = (own: Rows, above: Rows, type: EquipmentType = 'vav') => {
    const plant = [
      ahu({ damper: '1x6', ...own }, 5 * MINUTE, { equipment_id: 'v', equipment_type: type, parent_id: 'a' }),
      ahu(above, 5 * MINUTE, { equipment_id: 'a' }),
    ]
    const { status, reason, missing_roles } = run([rule], plant, 30 * MINUTE).results[0]!
    return [status, reason, ...(missing_roles ?? [])].filter(Boolean).join(' ')
  }
  t.is(status({}, {}), 'not_evaluated missing_role fan_status')
  t.is(status({}, { fan_status: '1x6' }), 'fault')
  t.is(status({}, { fan_status: '0x6', fan_cmd: '1x6' }), 'not_evaluated gated')
  t.is(status({}, { fan_status: '_x6', fan_speed: '0.3x6' }), 'fault')
  t.is(status({}, { fan_speed: '0.04x6' }), 'not_evaluated gated')
  t.is(status({ fan_cmd: '1x6' }, { fan_status: '0x6' }, 'fcu'), 'fault')
  t.is(status({ fan_status: '0x6' }, { fan_status: '1x6' }, 'fcu'), 'not_evaluated gated')
  // A fan-powered box: its fan draws room air, and says nothing of the air handler's air.
  t.is(status({ fan_status: '0x6' }, { fan_status: '1x6' }), 'fault')
  t.is(status({ fan_status: '1x6' }, { fan_status: '0x6' }), 'not_evaluated gated')
  t.is(status({ fan_status: '1x6' }, {}), 'fault', 'nothing else proves air')
})

for (const [macro, type, current, running, resting, command] of [
  ['fan_on', 'ahu', 'fan_current', 4.2, 0.2, 'fan_cmd'],
  ['pump_on', 'chw_plant', 'pump_current', 7, 0.1, 'pump_cmd'],
  ['chiller_on', 'chiller', 'chiller_current', 180, 3, 'chiller_cmd'],
] as const) {
  test(`a motor's current proves ${macro} before its command does, and after its status`, t => {
    const rule = ruleOf(yamlOf({ equipment: `[${type}]`, roles: '{ kw: kW }', gate: macro, when: 'kw > 9' }))
    const status = (own: Rows) => {
      const one = ahu({ kw: '20x6', ...own }, 5 * MINUTE, { equipment_id: 'e', equipment_type: type as EquipmentType })
      return [run([rule], [one], 30 * MINUTE).results[0]!].map(result => result.reason ?? result.status)[0]
    }
    const proof = command.replace('cmd', 'status')
    t.is(status({ [current]: `${running}x6`, [command]: '0x6' }), 'fault')
    t.is(status({ [current]: `${resting}x6`, [command]: '1x6' }), 'gated')
    t.is(status({ [current]: `${resting}x6`, [proof]: '1x6' }), 'fault')
  })
}

test('a current that is nothing for days is a machine at rest and no failed sensor', t => {
  const rule = ruleOf(yamlOf({ equipment: '[any]', roles: '{ x: sensor }', raw: 'true', when: 'range(x, 30m) <= 0' }))
  const { findings } = run([rule], [ahu({ sa_t: '20x12', fan_current: '0x12', fan_speed: '0x12' })], HOUR)
  t.deepEqual(
    findings.map(({ role }) => role),
    ['sa_t'],
  )
})

test('a plant without a proof of its own is on while one of its machines is', t => {
  const rule = ruleOf(
    yamlOf({ equipment: '[chw_plant]', roles: '{ chw_supply_t: degC }', gate: 'chiller_on', when: 'chw_supply_t > 9' }),
  )
  const status = (own: Rows, ...chillers: Rows[]) => {
    const plant = [
      ahu({ chw_supply_t: '12x6', ...own }, 5 * MINUTE, { equipment_id: 'p', equipment_type: 'chw_plant' }),
      ahu({ chiller_status: '1x6' }, 5 * MINUTE, { equipment_id: 'a', equipment_type: 'ahu', parent_id: 'p' }),
      ...chillers.map((rows, i) => ahu(rows, 5 * MINUTE, { equipment_id: `c${i}`, equipment_type: 'chiller', parent_id: 'p' })),
    ]
    const { status, reason } = run([rule], plant, 30 * MINUTE).results[0]!
    return [status, reason].filter(Boolean).join(' ')
  }
  t.is(status({}), 'not_evaluated missing_role')
  t.is(status({}, { chiller_status: '0x6' }, { chiller_cmd: '1x6' }), 'fault')
  t.is(status({}, { chiller_status: '0x6' }, {}), 'not_evaluated gated')
  t.is(status({ chiller_status: '0x6' }, { chiller_status: '1x6' }), 'not_evaluated gated')
  t.is(status({ chiller_current: '60x6' }), 'fault', 'where there is no status, the current proves that it runs')
  t.is(status({ chiller_current: '2x6' }), 'not_evaluated gated', 'controls and heaters draw a little at rest')
})

test('what a plant feeds knows by the machines whether the plant is on, where the plant has no proof of its own', t => {
  const rule = ruleOf(yamlOf({ equipment: '[vav, chiller]', roles: '{ zone_t: degC }', gate: 'chiller_on', when: 'zone_t > 9' }))
  const fans = ruleOf(yamlOf({ equipment: '[vav]', roles: '{ zone_t: degC }', gate: 'running', when: 'zone_t > 9' }))
  const more = (equipment_id: string, equipment_type: EquipmentType, parent_id?: string) => ({
    equipment_id,
    equipment_type,
    ...(parent_id !== undefined && { parent_id }),
  })
  const plantOf = (plant: Rows, chiller: Rows, type: EquipmentType = 'chiller') => [
    ahu(plant, 5 * MINUTE, more('p', 'chw_plant')),
    ahu({}, 5 * MINUTE, more('a', 'ahu', 'p')),
    ahu({ zone_t: '12x6' }, 5 * MINUTE, more('v', 'vav', 'a')),
    ahu(chiller, 5 * MINUTE, more('c', type, 'p')),
    ahu({ zone_t: '12x6' }, 5 * MINUTE, more('d', 'chiller', 'p')),
  ]
  const status = (plant: Rows, chiller: Rows, { id = 'v', of = rule, type = 'chiller' as EquipmentType } = {}) => {
    const found = run([of], plantOf(plant, chiller, type), 30 * MINUTE).results.find(each => each.equipment_id === id)!
    return [found.status, found.reason].filter(Boolean).join(' ')
  }
  t.is(status({}, {}), 'not_evaluated missing_role')
  t.is(status({}, { chiller_status: '1x6' }), 'fault')
  t.is(status({}, { chiller_status: '0x6' }), 'not_evaluated gated')
  t.is(status({ chiller_status: '0x6' }, { chiller_status: '1x6' }), 'not_evaluated gated')
  // One chiller says nothing of another, a fan's running is no matter of a chiller, and what is no machine proves nothing.
  t.is(status({}, { chiller_status: '1x6' }, { id: 'd' }), 'not_evaluated missing_role')
  t.is(status({}, { chiller_status: '1x6' }, { of: fans }), 'not_evaluated missing_role')
  t.is(status({}, { chiller_status: '1x6' }, { type: 'ahu' }), 'not_evaluated missing_role')
  const equipment = plantOf({}, { chiller_status: '1x6', chw_supply_t: '7x6' }).map(outlineOf)
  const { needs } = createRun({ building_id: 'b', timezone: 'UTC', from: START, to: START + HOUR, rules: [rule], equipment })
  t.deepEqual(
    needs('v').map(({ equipment_id, roles }) => [equipment_id, roles]),
    [
      ['v', ['zone_t']],
      ['c', ['chiller_status']],
    ],
  )
})

test("the weather's roles are the site's, and a faulty weather station silences everywhere", t => {
  const warm = ruleOf(yamlOf({ equipment: '[ahu, weather]', roles: '{ wx_oa_t: degC }', when: 'wx_oa_t > 30', severity: '4' }))
  const flat = ruleOf(
    yamlOf({
      id: 'F',
      equipment: '[weather]',
      roles: '{ wx_wb_t: degC }',
      when: 'wx_wb_t > 30',
      suppresses: '[R]',
      severity: '3',
    }),
  )
  const plant = [
    ahu({ sa_t: '20x6' }, 5 * MINUTE, { equipment_id: 'a' }),
    ahu({ wx_oa_t: '10x6' }, 5 * MINUTE, { equipment_id: 'b' }),
    ahu({ wx_oa_t: '35x6', wx_wb_t: '35x6' }, 5 * MINUTE, { equipment_id: 'w', equipment_type: 'weather' }),
  ]
  const { results, findings } = run([warm, flat], plant, 30 * MINUTE)
  t.deepEqual(results.map(({ rule_id, equipment_id, status }) => `${rule_id} ${equipment_id} ${status}`).toSorted(), [
    'F w fault',
    'R a fault',
    'R b pass',
    'R w fault',
  ])
  const by = findings.find(({ rule_id }) => rule_id === 'F')!.finding_id
  t.deepEqual(
    findings.filter(({ rule_id }) => rule_id === 'R').map(({ suppressed_by }) => suppressed_by),
    [by, by],
  )
})

test('the outdoor-air fraction is gated while the airs are too close to tell', t => {
  const rule = ruleOf(yamlOf({ roles: '{ oa_damper: fraction }', when: 'oaf > 0.5' }))
  const status = (oa_t: string) =>
    run([rule], [ahu({ oa_t, ra_t: '20x6', ma_t: '18x6', oa_damper: '0x6' })], 30 * MINUTE).results[0]!
  t.is(status('17x6').status, 'fault')
  t.is(status('17.1x6').reason, 'gated')
  t.is(run([rule], [ahu({ oa_damper: '0x6' })], 30 * MINUTE).results[0]!.reason, 'missing_role')
})

test('a box reads its air handler and its plant, whatever the order, and its own parent before another of that type', t => {
  const rule = ruleOf(
    yamlOf({
      equipment: '[vav]',
      roles: '{ zone_t: degC }',
      when: 'fan_on and boiler_on and parent(sa_t) > 15 and parent(hw_supply_t) > 30',
    }),
  )
  const at = (equipment_id: string, equipment_type: EquipmentType, rows: Rows, feeds: string[] = []) => ({
    ...ahu(rows, 5 * MINUTE, { equipment_id, feeds }),
    equipment_type,
  })
  const handler = at('a', 'ahu', { sa_t: '20x12', fan_status: '1x12' }, ['v'])
  const other = at('b', 'ahu', { sa_t: '10x12', fan_status: '0x12' }, ['v'])
  const plant = at('h', 'hw_plant', { hw_supply_t: '60x12', boiler_status: '1x12', fan_speed: '0x12' }, ['v', 'w'])
  const box = { ...at('v', 'vav', { zone_t: '20x12' }), parent_id: 'a' }
  const statusOf = (...equipment: EquipmentData[]) =>
    run([rule], equipment, HOUR).results.find(one => one.equipment_id === 'v')!.status
  t.is(statusOf(handler, plant, box), 'fault')
  t.is(statusOf(plant, box, handler), 'fault')
  t.is(statusOf(other, handler, plant, box), 'fault')
  t.is(statusOf(handler, other, plant, box), 'fault')
  t.is(statusOf(plant, { ...box, parent_id: 'none' }), 'not_evaluated')
  const fans = ruleOf(yamlOf({ equipment: '[fcu]', roles: '{ zone_t: degC }', when: 'fan_on' }))
  const coil = { ...box, equipment_type: 'fcu' as const, parent_id: 'h' }
  t.deepEqual(
    run([fans], [plant, coil], HOUR).results.map(({ missing_roles }) => missing_roles),
    [['fan_status']],
  )
})

test('a rule knows a plant that is not there from one whose data stopped', t => {
  const rule = ruleOf(
    yamlOf({
      equipment: '[vav]',
      roles: '{ zone_t: degC }',
      when: 'if(has(boiler_on), boiler_on, zone_t > 9)',
      persistence: '10m',
    }),
  )
  const box = ahu({ zone_t: '12x24' }, 5 * MINUTE, { equipment_id: 'v', equipment_type: 'vav' })
  const told = (boiler_status?: string) => {
    const rows: Rows = boiler_status === undefined ? {} : { boiler_status }
    const plant = ahu(rows, 5 * MINUTE, { equipment_id: 'p', equipment_type: 'hw_plant', feeds: ['v'] })
    const { results, findings } = run([rule], [box, plant], 2 * HOUR)
    const { status, reason } = results.find(each => each.equipment_id === 'v')!
    return [status, reason, ...findings.map(({ to }) => (to === null ? 'to the end' : 'over'))].filter(Boolean).join(' ')
  }
  t.is(told(), 'fault to the end', 'no plant: the other branch, and the proof is not missed')
  t.is(told('_x24'), 'fault to the end', 'a plant that never gave a value')
  t.is(told('1x24'), 'fault to the end')
  t.is(told('0x24'), 'pass')
  t.is(told('0x6 _x18'), 'not_evaluated stale', 'a plant whose data stopped')
  const own = ruleOf(yamlOf({ roles: '{ sa_t: degC }', optional: '{ occ: bool }', when: 'sa_t > 9 and not has(occ)' }))
  const above = ahu({ occ: '1x6' }, 5 * MINUTE, { equipment_id: 'b', feeds: ['a'] })
  const handler = ahu({ sa_t: '12x6' }, 5 * MINUTE, { equipment_id: 'a' })
  const { results } = run([own], [handler, above], 30 * MINUTE)
  t.is(results.find(each => each.equipment_id === 'a')!.status, 'fault', 'a name that is declared as a role is that role')
})

test('that a proof exists is no reading of it: it is no input, and its faults explain nothing', t => {
  const rule = ruleOf(yamlOf({ equipment: '[vav]', roles: '{ zone_t: degC }', when: 'has(boiler_on) and zone_t > 9' }))
  const range = ruleOf(
    yamlOf({ id: 'S', equipment: '[any]', roles: '{ x: any }', when: 'x == 1', kind: 'sensor', suppresses: 'readers' }),
  )
  const box = ahu({ zone_t: '12x24' }, 5 * MINUTE, { equipment_id: 'v', equipment_type: 'vav' })
  const plant = ahu({ boiler_status: '1x24' }, 5 * MINUTE, { equipment_id: 'p', equipment_type: 'hw_plant', feeds: ['v'] })
  const { findings } = run([rule, range], [box, plant], 2 * HOUR)
  t.deepEqual(
    findings.map(({ equipment_id, evidence, suppressed_by }) => [equipment_id, evidence.inputs, suppressed_by]),
    [
      ['p', { boiler_status: 1 }, undefined],
      ['v', { zone_t: 12 }, undefined],
    ],
  )
})
