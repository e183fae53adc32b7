/** The units for a plain Debian server, read as text and judged by systemd itself where it is there. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { FIELDBUS_ENV, HAYSTACK_ENV } from '#appliance/env.ts'
import { CENTRAL_ENV } from '#hub/central/env.ts'
import { HUB_ENV } from '#hub/env.ts'
import { MQTT_ENV } from '#hub/mqtt/env.ts'
import { WEB_ENV } from '#hub/web/env.ts'
import type { VariableTable } from '#shared/core/env.ts'
import { testExposure } from './exposure.ts'

const FOLDER = 'image/recipes/systemd'
const TABLES: Record<string, VariableTable> = {
  'plenum-hub': HUB_ENV,
  'plenum-central': CENTRAL_ENV,
  'plenum-central@': CENTRAL_ENV,
  'plenum-web': WEB_ENV,
  'plenum-mqtt': MQTT_ENV,
  'plenum-fieldbus': FIELDBUS_ENV,
  'plenum-bacnet-modbus': FIELDBUS_ENV,
  'plenum-haystack': HAYSTACK_ENV,
}
/** Exposure from 0 to 10. What is left is the network, to every address: browsers and edges come from anywhere. */
const EXPOSURE_MAX = 1.5

test('there is a unit for the hub and for each component of the recipes', t => {
  const units = readdirSync(FOLDER).filter(name => name.endsWith('.service'))
  t.deepEqual(
    units.toSorted(),
    Object.keys(TABLES)
      .map(name => `${name}.service`)
      .toSorted(),
  )
})

for (const [name, table] of Object.entries(TABLES)) {
  const path = join(FOLDER, `${name}.service`)
  const unit = readFileSync(path, 'utf8')

  test(`${name} is started again when it ends, and its pages know it where it has some`, t => {
    t.regex(unit, /^Restart=always$/m)
    t.is(
      unit.includes('\nEnvironment=SERVICE_SUPERVISED=1\n'),
      Object.hasOwn(table, 'SERVICE_SUPERVISED') && !name.includes('fieldbus'),
      name,
    )
  })

  test(`${name} starts a main that is there, with variables that it knows and folders of its own state`, t => {
    const [, main] = /^ExecStart=\/opt\/plenum\/node_modules\/\.bin\/node (?:--\S+ )*(\S+)$/m.exec(unit) ?? []
    t.true(existsSync(main!), main)
    for (const [, variable, value] of unit.matchAll(/^Environment=(SERVICE_\w+)=(.*)$/gm)) {
      t.true(Object.hasOwn(table, variable!), variable)
      if (!value!.startsWith('/')) continue
      const isShared = unit.includes(`\nReadWritePaths=${value}\n`)
      t.true(value!.startsWith(`/var/lib/${name.replace(/@$/, '-%i')}/`) !== isShared, value)
    }
  })

  testExposure(path, EXPOSURE_MAX)
}
