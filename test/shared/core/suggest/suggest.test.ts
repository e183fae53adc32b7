import test from 'ava'
import fc from 'fast-check'
import type { EquipmentType } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { type Asked, suggestRoles } from '#shared/core/suggest/suggest.ts'
import { readName } from '#shared/core/suggest/words.ts'
import { conversion, UNITS } from '#shared/core/model/unit.ts'
import { GERMAN_NAMES } from './german-names.ts'
import { NAMES } from './names.ts'

const asked = (name: string, unit: string, kind: Asked['kind'], equipment_type?: EquipmentType, address = '1'): Asked => ({
  point_id: name,
  name,
  unit,
  kind,
  source: { protocol: 'bacnet', address },
  ...(equipment_type && { equipment_type }),
})
const first = (point: Asked) => suggestRoles([point]).get(point.point_id)![0]

const LISTS = [...Object.entries(NAMES), ...Object.entries(GERMAN_NAMES).map(([type, lists]) => [type, lists, 'German'] as const)]
for (const [type, systems, language = 'English'] of LISTS) {
  for (const [i, points] of systems.entries()) {
    test(`${language} points of ${type} in habit ${i + 1} are known by their names, and nothing else is`, t => {
      const found = suggestRoles(points.map(([name, unit, kind]) => asked(name, unit, kind, type as EquipmentType)))
      t.deepEqual(
        points.map(([name]) => `${name}: ${found.get(name)![0]?.role ?? null}`),
        points.map(([name, , , role]) => `${name}: ${role}`),
      )
    })
  }
}

test('a unit rules out what it cannot measure', t => {
  t.is(first(asked('SAT', 'degF', 'number', 'ahu'))?.role, 'sa_t')
  t.is(first(asked('SAT', 'kW', 'number', 'ahu')), undefined)
  t.is(first(asked('SAT', 'bool', 'bool', 'ahu')), undefined)
})

test('an output is what is driven, an input what is measured', t => {
  t.is(first(asked('Cooling Valve', 'percent', 'number', 'ahu', 'analog-output,1'))?.role, 'clg_valve')
  t.is(first(asked('Cooling Valve', 'percent', 'number', 'ahu', 'analog-input,1'))?.role, 'clg_valve_pos')
})

test('a name that a command and a speed share is the speed where the point has numbers', t => {
  t.is(first(asked('fan-cmd', 'percent', 'number', 'ahu'))?.role, 'fan_speed')
  t.is(first(asked('fan-cmd', 'bool', 'bool', 'ahu'))?.role, 'fan_cmd')
  t.is(first(asked('chw-pump-cmd', 'percent', 'number', 'chw_plant'))?.role, 'pump_speed')
})

test('the name of the equipment in front says nothing of the point, unless it is a word itself', t => {
  const of = (name: string, equipment_id: string, unit: string, type: EquipmentType) =>
    first({ ...asked(name, unit, 'number', type), equipment_id })?.role
  t.is(of('CHWP1.HwSupTemp', 'CHWP-1', 'degF', 'hw_plant'), 'hw_supply_t')
  t.is(of('HWP1.HwSupTemp', 'HWP-1', 'degF', 'hw_plant'), 'hw_supply_t')
  t.is(of('VAV_2_11 DischargeAirTemp', 'VAV-2-11', 'degF', 'vav'), 'discharge_t')
  t.is(of('CHW Sup Tmp', 'CHW', 'degF', 'chw_plant'), 'chw_supply_t')
})

test('a position that may be sensed or told, and a fan that may be on or off or driven, stay unsure', t => {
  const SURE = 0.85
  const { unit: _unit, ...unstated } = asked('SF-C', '', 'number', 'ahu')
  for (const one of [asked('Damper Position', 'percent', 'number', 'vav'), unstated]) {
    const [best, second] = suggestRoles([one]).get(one.point_id)!
    t.true(best!.confidence < SURE && second !== undefined, one.name)
    t.true(second!.confidence <= best!.confidence, one.name)
  }
  const flag = { ...unstated, values: { min: 0, max: 1, isOnOff: true } }
  t.is(first(flag)?.role, 'fan_cmd')
  const driven = { ...unstated, values: { min: 0, max: 80, isOnOff: false } }
  t.is(first(driven)?.role, 'fan_speed')
})

test('values of a failed sensor do not hide what it is, and tell a quantity where no unit is stated', t => {
  const broken = { ...asked('DA-T', 'degF', 'number', 'vav'), values: { min: -250, max: -250, isOnOff: false } }
  t.is(first(broken)?.role, 'discharge_t')
  const { unit: _unit, ...unstated } = asked('SAT', '', 'number', 'ahu')
  t.is(first({ ...unstated, values: { min: 50, max: 75, isOnOff: false } })?.role, 'sa_t')
  t.is(first({ ...unstated, values: { min: 5000, max: 9000, isOnOff: false } }), undefined)
})

test('a motor’s current is the one of its machine', t => {
  t.is(first(asked('SF Amps', 'A', 'number', 'ahu'))?.role, 'fan_current')
  t.is(first(asked('Supply Fan Current', 'A', 'number', 'ahu'))?.role, 'fan_current')
  t.is(first(asked('CHWP-1 Amps', 'A', 'number', 'chw_plant'))?.role, 'pump_current')
  t.is(first(asked('CH-1 Current', 'A', 'number', 'chiller'))?.role, 'chiller_current')
  t.is(first(asked('OA Humidity', 'percent', 'number', 'ahu'))?.role, 'oa_rh')
})

test('the same name is another part on another equipment', t => {
  t.is(first(asked('Discharge Air Temp', 'degF', 'number', 'ahu'))?.role, 'sa_t')
  t.is(first(asked('Discharge Air Temp', 'degF', 'number', 'vav'))?.role, 'discharge_t')
  t.is(first(asked('Heating Valve', 'percent', 'number', 'vav'))?.role, 'reheat_valve')
  t.is(first(asked('OA-T', 'degF', 'number', 'weather'))?.role, 'wx_oa_t')
})

test('what is likely enough to be chosen for a person is never what the name does not mean', t => {
  const LIKELY = 0.9
  for (const [name, unit, kind, type] of [
    // Set points of other hours, limits and what people move by hand.
    ['Unocc Cooling Setpoint', 'degF', 'number', 'vav'],
    ['Standby Heating SP', 'degF', 'number', 'vav'],
    ['Local Setpoint Adjust', 'degF', 'number', 'vav'],
    ['DA-T Low Limit', 'degF', 'number', 'ahu'],
    // What a box is fed with is not what it gives, and not its room.
    ['Primary Air Temp', 'degF', 'number', 'vav'],
    ['AHU SAT', 'degF', 'number', 'vav'],
    // Numbered states begin with 1, so they are never off.
    ['Occupancy Command', 'enum', 'enum', 'ahu'],
  ] as const) {
    const { confidence = 0, role } = first(asked(name, unit, kind, type)) ?? {}
    t.true(confidence < LIKELY, `${name}: ${role} ${confidence}`)
  }
})

test('a name that leaves open which part is meant, or measures something else, is suggested nothing', t => {
  for (const [name, unit, kind] of [
    ['', 'degF', 'number'],
    ['Temperature', 'degF', 'number'],
    ['Valve', 'percent', 'number'],
    ['XQ-SS', 'bool', 'bool'],
    ['Temperatura mandata', 'degC', 'number'],
  ] as const)
    t.deepEqual(suggestRoles([asked(name, unit, kind, 'ahu')]).get(name), [], name)
})

test('the same part is known when it is said to be of the box, and what enters a coil from what leaves it', t => {
  t.like(first(asked('AHU-2 VAV-7 DAT', 'degF', 'number', 'vav')), { role: 'discharge_t', confidence: 0.98 })
  t.is(first(asked('CC LAT', 'degF', 'number', 'ahu'))?.role, 'clg_coil_leave_t')
  t.is(first(asked('CC EAT', 'degF', 'number', 'ahu'))?.role, 'clg_coil_enter_t')
  t.is(first(asked('Primary CHW Flow', 'gpm', 'number', 'chw_plant'))?.role, 'chw_flow')
})

test('Haystack tags and a Brick class are names too', t => {
  for (const [role, { haystack, label, unit, kind }] of Object.entries({ ma_t: ROLES.ma_t!, duct_static: ROLES.duct_static! })) {
    for (const name of [haystack, haystack.replaceAll(' ', '-'), label]) {
      t.like(first(asked(name, unit, kind, 'ahu')), { role, confidence: 0.98 }, name)
    }
  }
})

test('two points that look alike make each other doubtful, and say so', t => {
  const [one, two] = [asked('SAT', 'degF', 'number', 'ahu'), asked('Supply Air Temp', 'degF', 'number', 'ahu')]
  const found = suggestRoles([one, two])
  for (const { point_id } of [one, two]) {
    const [best] = found.get(point_id)!
    t.true(best!.confidence < 0.6)
    t.regex(best!.why.join(), /2 points of this equipment fit sa_t/)
  }
})

test('words that are run together are told apart, and which equipment it is is no word', t => {
  t.deepEqual(readName('supflosp'), { tags: ['discharge', 'air', 'flow', 'sp'], unread: [] })
  t.deepEqual(readName('S-7_ZN-T'), { tags: ['zone', 'air', 'temp'], unread: [] })
  t.deepEqual(readName('xyzzy'), { tags: [], unread: ['xyzzy'] })
})

test('whatever a point is called, what is suggested fits its unit, and confidence falls', t => {
  const words = fc.constantFrom('SA', 'Temp', 'VLV', 'sp', 'fan', '7', 'zone', 'x', 'Flow', '-', 'T', 'CHW', 'alarm', '\u00e9')
  const name = fc.oneof(
    fc.array(words, { maxLength: 6 }).map(all => all.join('_')),
    fc.string({ maxLength: 200 }),
  )
  const holds = (text: string, unit: string) => {
    const kind = unit === 'bool' ? 'bool' : unit === 'enum' ? 'enum' : 'number'
    const suggestions = suggestRoles([asked(text, unit, kind, 'ahu')]).get(text)!
    const fits = suggestions.every(({ role }) => kind !== 'number' || conversion(unit, ROLES[role]!.unit) !== undefined)
    return fits && suggestions.every(({ confidence }, i) => confidence <= (suggestions[i - 1]?.confidence ?? 0.98))
  }
  t.notThrows(() => fc.assert(fc.property(name, fc.constantFrom(...Object.keys(UNITS)), holds), { numRuns: 500 }))
})
