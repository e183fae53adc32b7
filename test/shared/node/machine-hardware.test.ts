import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test from 'ava'
import { readHardware } from '#shared/node/machine-hardware.ts'
import { folder } from '../../support/folders.ts'

/** Files of /sys with the texts that the kernel writes. */
function tree(sys: string, files: Record<string, string>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(sys, path)), { recursive: true })
    writeFileSync(join(sys, path), text)
  }
  return sys
}

test('a machine that measures nothing says nothing', async t => {
  t.deepEqual(await readHardware(join(folder(t), 'absent')), { undervoltage: undefined, wear: [] })
  const sys = tree(folder(t), {
    'block/sda/device/model': 'disk\n',
    'class/hwmon/hwmon0/name': 'cpu_thermal\n',
    'class/hwmon/hwmon0/in0_lcrit_alarm': '1\n',
  })
  t.deepEqual(await readHardware(sys), { undervoltage: undefined, wear: [] })
})

for (const [lifeTime, spareCode, used_percent, spare] of [
  ['0x01 0x02\n', '0x01\n', 20, 'normal'],
  ['0x0a 0x03\n', '0x02\n', 100, 'warning'],
  ['0x0b 0x0b\n', '0x03\n', 110, 'urgent'],
  ['0x00 0x00\n', '0x01\n', null, 'normal'],
  ['0x00 0x04\n', '0x00\n', 40, null],
  ['0xff 0x01\n', '0x7f\n', 10, null],
] as const) {
  test(`an eMMC with life_time ${lifeTime.trim()} and pre_eol_info ${spareCode.trim()} has used ${used_percent} %`, async t => {
    const sys = tree(folder(t), {
      'block/mmcblk0/device/life_time': lifeTime,
      'block/mmcblk0/device/pre_eol_info': spareCode,
      'block/mmcblk0boot0/device/life_time': '0x0b 0x0b\n',
      'block/mmcblk1/device/type': 'SD\n',
    })
    t.deepEqual((await readHardware(sys)).wear, [{ disk: 'mmcblk0', used_percent, spare }])
  })
}

test('an eMMC that defines neither of the two does not count', async t => {
  const files = { 'block/mmcblk0/device/life_time': '0x00 0x00\n', 'block/mmcblk0/device/pre_eol_info': '0x00\n' }
  t.deepEqual((await readHardware(tree(folder(t), files))).wear, [])
})

for (const [alarm, undervoltage] of [
  ['0\n', false],
  ['1\n', true],
  ['', undefined],
] as const) {
  test(`the supply sensor of a Raspberry Pi with alarm ${JSON.stringify(alarm)} says ${undervoltage}`, async t => {
    const sys = tree(folder(t), {
      'class/hwmon/hwmon0/name': 'cpu_thermal\n',
      'class/hwmon/hwmon1/name': 'rpi_volt\n',
      'class/hwmon/hwmon1/in0_lcrit_alarm': alarm,
    })
    t.is((await readHardware(sys)).undervoltage, undervoltage)
  })
}
