/** Haystack tags and Brick classes: what a role is called there, and which role their names mean here. */
import test from 'ava'
import { roleOfName } from '#shared/core/csv/header-names.ts'
import { EQUIPMENT_TYPES, type EquipmentType } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { mayHave } from '#shared/core/suggest/places.ts'
import { startCentral } from '../../../support/sites/central-site.ts'

/** Roles that a Brick class alone does not say, each with the reason. */
const NOT_BY_CLASS: Record<string, string> = {
  cw_pump_cmd: 'Brick tells a condenser-water pump by the class of the pump; its command is Pump_On_Off_Command as any pump’s',
  wse_status: 'Brick has no class for a water-side economizer in use; On_Off_Status is of any part',
  loop_enable: 'Brick has no class for a control loop’s enable; Enable_Command is of any part',
  ...Object.fromEntries(
    ['fan', 'pump', 'chiller'].map(part => [
      `${part}_current`,
      'Brick tells whose current it is by the part; the class is Current_Sensor',
    ]),
  ),
  load_satisfied: 'Brick has no class for a satisfied load; Status is of any part',
}

for (const vocabulary of ['haystack', 'label'] as const) {
  test(`every role comes back from its ${vocabulary} name on every equipment that may have it, or it is said why not`, t => {
    for (const [role, known] of Object.entries(ROLES)) {
      const types = EQUIPMENT_TYPES.filter(type => mayHave(type, role))
      t.true(types.length > 0, `${role} belongs to no equipment`)
      const why = vocabulary === 'label' ? NOT_BY_CLASS[role] : undefined
      const lost = types.filter(type => roleOfName(known[vocabulary], type) !== role)
      if (why === undefined) t.deepEqual(lost, [], `${role} is not what ${known[vocabulary]} means`)
      else t.true(lost.length > 0, `${role} comes back: its explanation is out of date`)
    }
  })
}

test('names are read as servers and models write them: other words, markers and namespaces', t => {
  for (const [name, type, role] of [
    ['supply air temp sensor point cur his', 'ahu', 'sa_t'],
    ['point-sensor-temp-air-discharge', 'ahu', 'sa_t'],
    ['discharge air temp sensor', 'fcu', 'discharge_t'],
    ['zone air temp effective cooling sp', 'vav', 'zone_t_sp_cool'],
    ['outdoor air humidity sensor', 'ahu', 'oa_rh'],
    ['brick:Supply_Air_Temperature_Sensor', 'rtu', 'sa_t'],
    ['https://brickschema.org/schema/Brick#Zone_Air_Temperature_Sensor', 'vav', 'zone_t'],
    ['<https://brickschema.org/schema/1.1/Brick#Outside_Air_Temperature_Sensor>', 'weather', 'wx_oa_t'],
    ['brick:Discharge_Air_Temperature_Setpoint', 'ahu', 'sa_t_sp'],
    ['brick:Supply_Air_Temperature_Setpoint', 'vav', 'discharge_t_sp'],
    ['brick:On_Off_Status', 'chw_plant', undefined],
    ['brick:Status', 'ahu', undefined],
    ['https://example.org/', 'ahu', undefined],
  ] as [string, EquipmentType, string | undefined][])
    t.is(roleOfName(name, type), role, `${name} of ${type}`)
})

test('every role is listed with its tags and its class for whoever writes a package', async t => {
  const site = await startCentral()
  try {
    const { body } = await site.call('viewer', 'GET', '/api/ingest/contract')
    const listed = new Map(body.roles.map(({ role, haystack, brick }: any) => [role, { haystack, brick }]))
    for (const [role, { haystack, label }] of Object.entries(ROLES)) t.deepEqual(listed.get(role), { haystack, brick: label })
  } finally {
    await site.close()
  }
})
