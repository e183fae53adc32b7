/** What Linux says of the wear of flash storage and of the supply voltage of the machine. Most machines say neither. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

export type DiskWear = {
  /** As the kernel names it: `mmcblk0`. */
  disk: string
  /** How much of its life is used, at most, percent in steps of 10; above 100 it has outlived it; null where it does not say. */
  used_percent: number | null
  /** Spare blocks: `warning` from 80 % used, `urgent` from 90 %; null where it does not say. */
  spare: 'normal' | 'warning' | 'urgent' | null
}
export type MachineHardware = {
  /** Whether the supply voltage is or was just now too low; undefined where nobody measures it. */
  undervoltage: boolean | undefined
  /** Of each disk that tells. */
  wear: DiskWear[]
}

/** One step of the estimate; `0x0b` means more than all of them. @source JESD84-B51, DEVICE_LIFE_TIME_EST_TYP_A and _B */
const STEP_PERCENT = 10
const STEPS_MAX = 11
/** @source JESD84-B51, PRE_EOL_INFO */
const SPARE = [null, 'normal', 'warning', 'urgent'] as const
/** Parts of a disk that the kernel lists beside it. */
const PART = /boot\d+$|rpmb$/
/** Name of the sensor of a Raspberry Pi. */
const SUPPLY_SENSOR = 'rpi_volt'

/** @param sys where the kernel's sysfs is */
export async function readHardware(sys = '/sys'): Promise<MachineHardware> {
  const disks = (await namesIn(join(sys, 'block'))).filter(name => !PART.test(name))
  const wear = await Promise.all(disks.map(disk => wearOf(disk, join(sys, 'block', disk, 'device'))))
  return { undervoltage: await readUndervoltage(join(sys, 'class/hwmon')), wear: wear.filter(one => one !== undefined) }
}

async function wearOf(disk: string, device: string): Promise<DiskWear | undefined> {
  const steps = hexadecimals(await textOf(join(device, 'life_time'))).filter(step => step >= 1 && step <= STEPS_MAX)
  const [spareCode = 0] = hexadecimals(await textOf(join(device, 'pre_eol_info')))
  const used_percent = steps.length === 0 ? null : Math.max(...steps) * STEP_PERCENT
  const spare = SPARE[spareCode] ?? null
  return used_percent === null && spare === null ? undefined : { disk, used_percent, spare }
}

async function readUndervoltage(folder: string): Promise<boolean | undefined> {
  for (const sensor of await namesIn(folder)) {
    if ((await textOf(join(folder, sensor, 'name'))).trim() !== SUPPLY_SENSOR) continue
    const alarm = (await textOf(join(folder, sensor, 'in0_lcrit_alarm'))).trim()
    if (alarm === '0' || alarm === '1') return alarm === '1'
  }
  return undefined
}

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])
const textOf = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '')
const hexadecimals = (text: string): number[] =>
  Array.from(text.matchAll(/0x([0-9a-f]{2})\b/gi), ([, digits]) => Number(`0x${digits}`))
