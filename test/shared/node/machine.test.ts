import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { machineTemperature, memoryUse } from '#shared/node/machine.ts'
import { folder } from '../../support/folders.ts'

test('of the sensors of a machine the hottest counts, and one that is broken does not', async t => {
  const thermal = folder(t)
  const zone = (name: string, text?: string) => {
    mkdirSync(join(thermal, name))
    if (text !== undefined) writeFileSync(join(thermal, name, 'temp'), text)
  }
  t.is(await machineTemperature(thermal), undefined)
  t.is(await machineTemperature(join(thermal, 'absent')), undefined)
  zone('cooling_device0', '99000\n')
  zone('thermal_zone0', '48250\n')
  zone('thermal_zone1', '51000\n')
  zone('thermal_zone2', '-273200\n')
  zone('thermal_zone3', '')
  zone('thermal_zone4')
  zone('thermal_zone5', '250000\n')
  t.is(await machineTemperature(thermal), 51)
})

test('a process takes a part of the memory of its machine', t => {
  const { used, total } = memoryUse()
  t.true(used > 10_000_000 && used < total)
})
